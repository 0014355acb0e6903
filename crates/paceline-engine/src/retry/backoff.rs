//! A request's own delay before it is sent again: full jitter in integer nanoseconds.

use core::time::Duration;

use crate::time::nanos;

/// Full jitter: a floor plus a uniform draw from zero to a bound that doubles with each attempt.
///
/// The draw is over the whole range, in nanoseconds: drawing seconds and nanoseconds apart would give no jitter at all for
/// a base of a whole second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The bound of the first draw. Raising it spreads retries wider and makes them later.
    pub base: Duration,
    /// The bound never exceeds this.
    pub cap: Duration,
}

/// No retry is sooner, so that a hint of zero never becomes a loop.
const FLOOR: Duration = Duration::from_millis(10);

impl Backoff {
    /// After failures: half a second, one, two on the average.
    pub const FAILURES: Self = Self {
        base: Duration::from_secs(1),
        cap: Duration::from_secs(30),
    };
    /// After refusals without a hint: short, because the gate's pace decides; growing, in case the gate knows nothing.
    pub const REFUSALS: Self = Self {
        base: Duration::from_millis(50),
        cap: Duration::from_secs(30),
    };

    /// The delay after `earlier` attempts that went wrong before this one.
    pub fn delay(self, earlier: u32, rng: &mut fastrand::Rng) -> Duration {
        FLOOR + Duration::from_nanos(rng.u64(0..=self.bound(earlier)))
    }

    /// The largest draw, in nanoseconds.
    fn bound(self, earlier: u32) -> u64 {
        let base = u128::from(nanos(self.base));
        let bound = base << earlier.min(63);
        u64::try_from(bound)
            .unwrap_or(u64::MAX)
            .min(nanos(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The oracle: the definition, 10 ms + uniform [0, min(cap, base * 2^k)]. Every eighth of the range is drawn.
        #[test]
        fn the_whole_range_is_drawn_and_nothing_outside(
            base in 1_u64..10_000_000_000, cap in 1_u64..60_000_000_000, earlier in 0_u32..70, seed: u64,
        ) {
            let backoff = Backoff { base: Duration::from_nanos(base), cap: Duration::from_nanos(cap) };
            let bound = (u128::from(base) * 2_u128.pow(earlier.min(63))).min(u128::from(cap));
            let mut rng = fastrand::Rng::with_seed(seed);
            let draws: Vec<u128> =
                (0..400).map(|_| (backoff.delay(earlier, &mut rng) - FLOOR).as_nanos()).collect();
            prop_assert!(draws.iter().all(|draw| *draw <= bound));
            if bound >= 8 {
                for eighth in 0..8 {
                    let (from, to) = (bound * eighth / 8, bound * (eighth + 1) / 8);
                    prop_assert!(draws.iter().any(|draw| (from..=to).contains(draw)), "{eighth} of {bound}");
                }
            }
        }
    }

    #[test]
    fn a_base_of_whole_seconds_is_jittered_to_the_nanosecond() {
        let mut rng = fastrand::Rng::with_seed(3);
        let draws: Vec<_> = (0..100)
            .map(|_| Backoff::FAILURES.delay(0, &mut rng))
            .collect();
        assert!(draws.iter().any(|delay| delay.subsec_nanos() % 1000 != 0));
        assert!(draws.iter().max() > draws.iter().min());
    }
}
