//! Configured limits: what they are.
//!
//! How each kind is enforced lives beside this page, one kind a file.

use core::num::NonZeroU64;
use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::cost::Cost;
use crate::observation::Unit;
use crate::ticket::TooCostly;

mod account;
mod bucket;
mod error;
mod marks;
mod rest;
mod scan;
mod strict;
mod text;

pub(crate) use account::Account;

pub use error::{LIMIT_GRAMMAR, LimitError};

/// A configured quota on a gate.
///
/// Made by parsing the grammar that options, configuration and errors share:
///
/// ```
/// use paceline_engine::Limit;
///
/// let search: Limit = "30/m".parse()?; // never more than 30 in any minute
/// let pages: Limit = "10/s burst 50".parse()?; // a token bucket that starts full
/// let connections: Limit = "100 in flight".parse()?;
/// # Ok::<(), paceline_engine::LimitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub struct Limit {
    /// What is bounded.
    #[n(0)]
    pub kind: LimitKind,
    /// What it counts.
    #[n(1)]
    pub unit: Unit,
}

impl Limit {
    /// The most that one request may ever spend of it.
    pub const fn most(&self) -> u64 {
        match self.kind {
            LimitKind::Bucket { burst, .. } => burst.get(),
            LimitKind::Strict { amount, .. } => amount.get(),
            LimitKind::InFlight { .. } => u64::MAX,
        }
    }

    /// Whether a request of `cost` can never start under it, and why.
    pub fn too_costly(&self, cost: &Cost) -> Option<TooCostly> {
        let cost = cost.of(&self.unit);
        (cost > self.most()).then(|| TooCostly {
            cost,
            limit: self.clone(),
        })
    }
}

/// What a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum LimitKind {
    /// A token bucket: `amount` tokens flow in per `period`, at most `burst` are kept, it starts full.
    #[n(0)]
    Bucket {
        /// Tokens per period.
        #[n(0)]
        amount: NonZeroU64,
        /// The period; never zero.
        #[n(1)]
        #[cbor(with = "crate::record::period")]
        period: Duration,
        /// The most that is kept.
        #[n(2)]
        burst: NonZeroU64,
    },
    /// Never more than `amount` in any `period`.
    #[n(1)]
    Strict {
        /// The most in any period.
        #[n(0)]
        amount: NonZeroU64,
        /// The period; never zero.
        #[n(1)]
        #[cbor(with = "crate::record::period")]
        period: Duration,
    },
    /// Never more than `max` at the same time, from the start of a request to the end of its response's body.
    #[n(2)]
    InFlight {
        /// The most at once.
        #[n(0)]
        max: NonZeroU64,
    },
}
