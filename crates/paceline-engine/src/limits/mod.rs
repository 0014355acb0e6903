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
mod server_time;
mod strict;
mod text;
mod usual;

pub(crate) use account::Account;
pub(crate) use text::Time;

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
/// let work: Limit = "20s server time / 10s".parse()?; // what requests take, together
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
    /// The most that one request may ever spend of it; of server time, in milliseconds.
    pub const fn most(&self) -> u64 {
        match self.kind {
            LimitKind::Bucket { burst, .. } => burst.get(),
            LimitKind::Strict { amount, .. } => amount.get(),
            LimitKind::InFlight { .. } => u64::MAX,
            LimitKind::ServerTime { amount, .. } => {
                let seconds = amount.as_secs().saturating_mul(1000);
                seconds.saturating_add(amount.subsec_millis() as u64)
            }
        }
    }

    /// Whether a request of `cost` can never start under it, and why. What it takes of the server's time no cost says.
    pub fn too_costly(&self, cost: &Cost) -> Option<TooCostly> {
        if matches!(self.kind, LimitKind::ServerTime { .. }) {
            return None;
        }
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
    /// Never more than `amount` of the server's time in any `period`: a request spends as much as it takes, from its start to
    /// the end of its response's body, as far as is seen from here, whatever its [`Cost`] says. [GitHub][1] counts 90 s of
    /// its processors' time a minute and says that this is how to estimate it.
    ///
    /// Until it is over, what requests usually take is reserved for it, or what it took so far, if that is more. So only those
    /// under way can exceed it.
    ///
    /// [1]: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
    #[n(3)]
    ServerTime {
        /// The most in any period; never zero.
        #[n(0)]
        #[cbor(with = "crate::record::duration")]
        amount: Duration,
        /// The period; never zero.
        #[n(1)]
        #[cbor(with = "crate::record::duration")]
        period: Duration,
    },
}
