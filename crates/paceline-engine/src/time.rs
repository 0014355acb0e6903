//! Time as an argument: an instant, a wall clock reading, and a deadline that says why.

use core::time::Duration;
use core::{fmt, ops};

use minicbor::{Decode, Encode};

use crate::Reason;

/// An instant in nanoseconds since an origin that the driver chose.
///
/// Only a driver's clock and a simulator's world make one; the engine compares and adds. All arithmetic saturates: an
/// upstream that asks for a million years must not wrap round to "now".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct Timestamp(#[n(0)] u64);

impl Timestamp {
    /// The origin.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens: "never" in a comparison.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// In nanoseconds.
pub(crate) const MILLISECOND: u64 = 1_000_000;

/// Nanoseconds of a duration, saturating (584 years).
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

impl ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(duration)))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Duration::from_nanos(self.0))
    }
}

/// A reading of the wall clock: time since the Unix epoch.
///
/// Needed only to turn the dates that upstreams send into durations; nothing is ever scheduled by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub Duration);

/// When something may happen, and why not before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadline {
    /// The instant.
    pub at: Timestamp,
    /// What makes it that instant.
    pub reason: Reason,
}

impl Deadline {
    /// A deadline at `at` because of `reason`.
    pub const fn new(at: Timestamp, reason: Reason) -> Self {
        Self { at, reason }
    }

    /// The later of two; the first one's reason at equal times.
    #[must_use]
    pub fn latest(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Timestamp::ZERO + Duration::MAX, Timestamp::MAX);
        assert_eq!(Timestamp::ZERO - Duration::MAX, Timestamp::ZERO);
        assert_eq!(Timestamp::ZERO.since(Timestamp::MAX), Duration::ZERO);
    }

    #[test]
    fn the_latest_deadline_keeps_its_own_reason() {
        let pause = Deadline::new(Timestamp::from_nanos(2), Reason::Pause);
        let limit = Deadline::new(Timestamp::from_nanos(2), Reason::Limit);
        assert_eq!(pause.latest(limit).reason, Reason::Pause);
        let later = Deadline::new(Timestamp::from_nanos(3), Reason::Belief);
        assert_eq!(pause.latest(later).reason, Reason::Belief);
    }
}
