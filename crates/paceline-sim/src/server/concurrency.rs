//! A cap on requests in flight.

use core::time::Duration;

use super::UNKNOWN_WAIT;

#[derive(Clone, Debug)]
pub(super) struct Concurrency {
    max: u64,
    in_flight: u64,
}

impl Concurrency {
    pub(super) fn new(max: u64) -> Self {
        Self { max, in_flight: 0 }
    }

    pub(super) fn ask(&self) -> Result<(), Duration> {
        if self.in_flight < self.max {
            Ok(())
        } else {
            Err(UNKNOWN_WAIT)
        }
    }

    pub(super) fn charge(&mut self) {
        self.in_flight += 1;
    }

    pub(super) fn release(&mut self) {
        debug_assert!(
            self.in_flight > 0,
            "finish is called once for each admitted request"
        );
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::lab::{Lab, ms, secs};
    use crate::{RetryAfter, ServerSpec, Wrap};

    #[test]
    fn five_in_flight_and_the_sixth_is_told_one_second() {
        let mut lab = Lab::new(ServerSpec::concurrency(5).retry_after(RetryAfter::Ceil));
        lab.at(secs(0)).admits(5).refuses_for(secs(1)).saying("1");
        lab.at(ms(200)).finishes(2).admits(2).refuses(1);
        // Time alone frees nothing.
        lab.at(secs(3600)).refuses_for(secs(1));
        assert!(lab.model.holds_slots());
    }

    #[test]
    fn slots_are_freed_under_wraps_and_inside_all_of() {
        let parts = [
            ServerSpec::token_bucket(1.0, 10),
            ServerSpec::concurrency(1),
        ];
        let mut lab = Lab::new(ServerSpec::all_of(parts).wrap(Wrap::nth([2])));
        lab.at(secs(0)).admits(1).refuses(2);
        lab.at(ms(1)).finishes(1).admits(1).refuses(1);
        assert!(lab.model.holds_slots());
        assert!(
            !Lab::new(ServerSpec::token_bucket(1.0, 1))
                .model
                .holds_slots()
        );
    }
}
