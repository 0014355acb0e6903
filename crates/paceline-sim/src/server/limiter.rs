//! The kinds of limiter, behind one set of verbs.

use core::time::Duration;

use super::UNKNOWN_WAIT;
use super::all_of::AllOf;
use super::concurrency::Concurrency;
use super::fixed_window::FixedWindow;
use super::sliding_log::SlidingLog;
use super::token_bucket::TokenBucket;

/// The order is always: [`ask`](Self::ask); if it admits and everybody else does,
/// [`charge`](Self::charge) at the same instant; [`release`](Self::release) when the response has
/// left. `now` never decreases.
#[derive(Clone, Debug)]
pub(super) enum Limiter {
    TokenBucket(TokenBucket),
    FixedWindow(FixedWindow),
    SlidingLog(SlidingLog),
    Concurrency(Concurrency),
    AllOf(AllOf),
    /// Refuses nothing.
    Open,
    /// Refuses everything.
    Always,
}

impl Limiter {
    /// Whether it admits a request now, without charging it; otherwise how long until it would.
    pub(super) fn ask(&mut self, now: u64, request: Option<u64>) -> Result<(), Duration> {
        match self {
            Self::TokenBucket(bucket) => bucket.ask(now),
            Self::FixedWindow(window) => window.ask(now),
            Self::SlidingLog(log) => log.ask(now),
            Self::Concurrency(slots) => slots.ask(),
            Self::AllOf(all) => all.ask(now, request),
            Self::Open => Ok(()),
            Self::Always => Err(UNKNOWN_WAIT),
        }
    }

    pub(super) fn charge(&mut self, now: u64) {
        match self {
            Self::TokenBucket(bucket) => bucket.charge(),
            Self::FixedWindow(window) => window.charge(),
            Self::SlidingLog(log) => log.charge(now),
            Self::Concurrency(slots) => slots.charge(),
            Self::AllOf(all) => all.charge(now),
            Self::Open | Self::Always => {}
        }
    }

    pub(super) fn release(&mut self, now: u64) {
        match self {
            Self::Concurrency(slots) => slots.release(),
            Self::AllOf(all) => all.release(now),
            _ => {}
        }
    }

    pub(super) fn silence(&mut self) {
        if let Self::AllOf(all) = self {
            all.silence();
        }
    }

    pub(super) fn holds_slots(&self) -> bool {
        match self {
            Self::Concurrency(_) => true,
            Self::AllOf(all) => all.holds_slots(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lab::{Lab, secs};
    use crate::{RetryAfter, ServerSpec};

    #[test]
    fn open_admits_everything() {
        Lab::new(ServerSpec::open()).at(secs(0)).admits(10_000);
    }

    #[test]
    fn always_refuses_everything_for_one_second_or_what_it_is_told_to_say() {
        let mut lab = Lab::new(ServerSpec::always());
        lab.at(secs(0))
            .refuses_for(secs(1))
            .silent()
            .with_status(429);
        let mut lab = Lab::new(ServerSpec::always().retry_after(RetryAfter::Seconds(60.0)));
        lab.at(secs(3600)).refuses_for(secs(1)).saying("60");
    }
}
