//! Whose a request is, where several programs share a pace line.

use core::num::NonZeroU64;

use minicbor::{Decode, Encode};

/// One of those who share a record: a pace of a process. Nobody else has its number while it lives, and long after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct Owner(#[n(0)] NonZeroU64);

impl Owner {
    /// Whoever has this number.
    pub const fn new(number: NonZeroU64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0.get()
    }
}
