//! Another client that shares the quota and never retries.

use fastrand::Rng;

/// A rival tries everything that is listed below it, from the origin on, and goes first at equal
/// times.
#[derive(Clone, Debug)]
pub(super) struct Rival {
    /// Tries per second.
    rate: f64,
    tried: u64,
    next: u64,
    /// The dice of a Poisson rival; an even one has none.
    dice: Option<Rng>,
}

impl Rival {
    /// `rate` is positive and at most [`MAX_RATE`].
    pub(super) fn new(rate: f64, dice: Option<Rng>) -> Self {
        Self {
            rate,
            tried: 0,
            next: 0,
            dice,
        }
    }

    /// The next try, if it lies at or before `now`.
    pub(super) fn next_until(&mut self, now: u64) -> Option<u64> {
        let at = self.next;
        if at > now {
            return None;
        }
        self.tried += 1;
        self.next = match &mut self.dice {
            // Counted from the origin, so that rounding to a nanosecond does not add up.
            None => (self.tried as f64 * 1e9 / self.rate).round() as u64,
            // 1 − u lies in (0, 1], so the logarithm is finite.
            Some(dice) => {
                at.saturating_add((-(1.0 - dice.f64()).ln() / self.rate * 1e9).round() as u64)
            }
        };
        Some(at)
    }
}

/// A rival that is looked at after an idle hour has at most 3.6 billion tries to make up for.
pub(super) const MAX_RATE: f64 = 1e6;

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use fastrand::Rng;

    use super::super::lab::{Lab, ms, secs};
    use super::Rival;
    use crate::{ServerSpec, Wrap};

    #[test]
    fn an_even_rival_starts_at_zero_and_goes_first() {
        let mut lab = Lab::new(ServerSpec::token_bucket(10.0, 10).wrap(Wrap::rival(5.0)));
        lab.at(secs(0)).admits(9).refuses_for(ms(100));
        lab.at(ms(100)).admits(1).refuses(1);
        // One token since; the rival, at 200 ms too, is the one who has it.
        lab.at(ms(200)).refuses_for(ms(100));
        // Two tokens at 400 ms, one of them the rival's.
        lab.at(ms(400)).admits(1).refuses(1);
    }

    #[test]
    fn a_rival_who_is_refused_never_retries() {
        let spec = ServerSpec::fixed_window(2, secs(1), Duration::ZERO).wrap(Wrap::rival(1.0));
        let mut lab = Lab::new(spec);
        lab.at(secs(0)).admits(1).refuses(1);
        let mut lab = Lab::new(ServerSpec::sliding_log(1, secs(10)).wrap(Wrap::rival(0.25)));
        // The rival is served at 0, refused at 4 and 8; at 10 the place is ours, so it is refused
        // at 12 and 16 as well.
        lab.at(secs(10)).admits(1);
        // At 20 it is its turn: its try at 20 comes before ours.
        lab.at(secs(20)).refuses_for(secs(10));
    }

    #[test]
    fn a_rivals_try_is_no_request_of_ours_but_counts_below() {
        let spec = ServerSpec::open()
            .wrap(Wrap::poison(0))
            .wrap(Wrap::rival(1.0))
            .wrap(Wrap::nth([2]));
        let mut lab = Lab::new(spec);
        // Request 0 is poisoned above the rival; request 1 is the second arrival at the wrap below
        // it.
        lab.at(secs(0)).refuses(1).refuses(1).admits(1);
        // A rival's try has no number, so no poison below stops it from taking the only place.
        let spec = ServerSpec::sliding_log(1, secs(10))
            .wrap(Wrap::rival(0.01))
            .wrap(Wrap::poison(0));
        let mut lab = Lab::new(spec);
        lab.request = 1;
        lab.at(secs(0)).refuses_for(secs(10));
    }

    #[test]
    fn a_rival_takes_no_slot_and_sees_slots_as_they_were() {
        let parts = [ServerSpec::token_bucket(1.0, 2), ServerSpec::concurrency(1)];
        let mut lab = Lab::new(ServerSpec::all_of(parts).wrap(Wrap::rival(1.0)));
        // At 0 the rival takes one of two tokens, we the other and the slot.
        lab.at(secs(0)).admits(1).refuses(1);
        // At 1 s the slot was ours and the rival refused; at 1.5 s it is free, and the token is
        // still there.
        lab.at(ms(1500)).finishes(1).admits(1);
    }

    #[test]
    fn a_poisson_rival_keeps_its_rate_and_its_seed() {
        let tries = |seed| {
            let mut rival = Rival::new(5.0, Some(Rng::with_seed(seed)));
            core::iter::from_fn(move || rival.next_until(1_000_000_000_000)).collect::<Vec<_>>()
        };
        let (first, again, other) = (tries(1), tries(1), tries(2));
        assert_eq!(first, again);
        assert_ne!(first, other);
        assert_eq!(first[0], 0);
        // 5,000 in 1,000 s, give or take four times the root of it.
        assert!((4_720..5_280).contains(&first.len()), "{}", first.len());
        // Gaps of a Poisson process vary by as much as they last: a 63% share is shorter than the
        // mean of 200 ms.
        let short = first
            .windows(2)
            .filter(|pair| pair[1] - pair[0] < 200_000_000)
            .count();
        assert!(
            (0.60..0.66).contains(&(short as f64 / first.len() as f64)),
            "{short}"
        );
    }
}
