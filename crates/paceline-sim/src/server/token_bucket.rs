//! Token buckets that start full: so many requests at once, then a steady rate; GCRA is the one
//! with a burst of 1.
//!
//! Tokens are counted in 10⁻²⁴ parts, so that a rate such as 1/1.9 per second is off by less than a
//! nanosecond in thirty years, and a bucket that is asked a million times has lost nothing by it.

use core::time::Duration;

use super::TOLERANCE;

#[derive(Clone, Debug)]
pub(super) struct TokenBucket {
    /// From when (ns), and how much comes in per nanosecond; in order of time. The first also holds
    /// before its time.
    rates: Vec<(u64, i128)>,
    segment: usize,
    capacity: i128,
    /// Below zero by at most what the tolerance gave away, which the next request then waits for.
    level: i128,
    at: u64,
}

impl TokenBucket {
    /// `rates` in order of time, not empty, each finite and not negative, at most [`MAX_RATE`];
    /// `burst` at most [`MAX_BURST`].
    pub(super) fn new(rates: impl IntoIterator<Item = (u64, f64)>, burst: u64) -> Self {
        let capacity = TOKEN * i128::from(burst);
        let rates = rates
            .into_iter()
            .map(|(from, rate)| (from, per_nanosecond(rate)))
            .collect();
        Self {
            rates,
            segment: 0,
            capacity,
            level: capacity,
            at: 0,
        }
    }

    pub(super) fn ask(&mut self, now: u64) -> Result<(), Duration> {
        self.refill(now);
        let (_, rate) = self.rates[self.segment];
        if self.level + rate * i128::from(TOLERANCE) >= TOKEN {
            Ok(())
        } else {
            Err(self.wait())
        }
    }

    pub(super) fn charge(&mut self) {
        self.level -= TOKEN;
    }

    /// A rate change keeps the tokens: each part of the schedule refills for as long as it holds.
    fn refill(&mut self, now: u64) {
        while let Some(&(from, _)) = self.rates.get(self.segment + 1)
            && from <= now
        {
            self.add(from);
            self.segment += 1;
        }
        self.add(now);
    }

    fn add(&mut self, to: u64) {
        let (_, rate) = self.rates[self.segment];
        let gained = rate.saturating_mul(i128::from(to - self.at));
        self.level = self.level.saturating_add(gained).min(self.capacity);
        self.at = to;
    }

    /// From `at` to the first nanosecond with a whole token.
    fn wait(&self) -> Duration {
        let mut missing = TOKEN - self.level;
        let mut at = self.at;
        for (index, &(_, rate)) in self.rates.iter().enumerate().skip(self.segment) {
            let end = self
                .rates
                .get(index + 1)
                .map_or(u64::MAX, |&(from, _)| from);
            let gain = rate.saturating_mul(i128::from(end - at));
            if gain >= missing {
                let rest = (missing + rate - 1) / rate;
                let rest = u64::try_from(rest).expect("a part of what lies before `end`");
                return Duration::from_nanos(at - self.at + rest);
            }
            missing -= gain;
            at = end;
        }
        Duration::MAX
    }
}

/// The fastest rate, requests per second: one a nanosecond, the finest that the clock can tell
/// apart.
pub(super) const MAX_RATE: f64 = 1e9;

/// The largest burst; far more than anybody sends, and far from overflow.
pub(super) const MAX_BURST: u64 = 1_000_000_000;

const TOKEN: i128 = 10_i128.pow(24);

fn per_nanosecond(rate: f64) -> i128 {
    // 10²⁴ parts a token over 10⁹ nanoseconds a second; exact for every rate with up to 15 digits.
    (rate * 1e15).round() as i128
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::lab::{Lab, ms, secs};
    use crate::{RetryAfter, ServerSpec};

    #[test]
    fn three_a_second_with_a_burst_of_three() {
        let mut lab = Lab::new(ServerSpec::token_bucket(3.0, 3).retry_after(RetryAfter::Float));
        lab.at_nanos(0)
            .admits(3)
            .refuses_for(Duration::from_nanos(333_333_334))
            .saying("0.333333334");
        // The token is whole at 333 333 333⅓ ns, and 100 ns of rounding are forgiven.
        lab.at_nanos(333_333_233)
            .refuses_for(Duration::from_nanos(101));
        lab.at_nanos(333_333_234).admits(1).refuses(1);
        // What was forgiven is owed: the second token is whole at 666 666 666⅔ ns, not later.
        lab.at_nanos(666_666_566).refuses(1);
        lab.at_nanos(666_666_567).admits(1);
    }

    #[test]
    fn it_never_holds_more_than_the_burst() {
        let mut lab = Lab::new(ServerSpec::token_bucket(3.0, 3));
        lab.at(secs(3600)).admits(3).refuses(1);
        lab.at(secs(3601)).admits(3).refuses(1);
    }

    #[test]
    fn a_thousand_thirds_of_a_second_lose_nothing() {
        let mut lab = Lab::new(ServerSpec::gcra(3.0));
        for n in 0..1000_u64 {
            lab.at_nanos((n * 1_000_000_000).div_ceil(3))
                .admits(1)
                .refuses(1);
        }
    }

    #[test]
    fn a_period_of_1_9_seconds_is_worded_as_that() {
        let mut lab = Lab::new(ServerSpec::gcra(1.0 / 1.9).retry_after(RetryAfter::Floor));
        lab.at(secs(0)).admits(1).refuses(1).saying("1");
        lab.at(secs(1))
            .refuses_for(Duration::from_nanos(900_000_001))
            .saying("0");
        lab.at(ms(1900)).admits(1);
    }

    #[test]
    fn a_rate_change_keeps_the_tokens_and_the_wait_foresees_it() {
        let schedule = [(secs(0), 10.0), (secs(20), 2.0), (secs(80), 10.0)];
        let mut lab = Lab::new(ServerSpec::token_bucket_with_rates(schedule, 1));
        // Half a token by 20.00 s at 10/s, the other half by 20.25 s at 2/s.
        lab.at(ms(19_950)).admits(1).refuses_for(ms(300));
        lab.at(ms(20_249)).refuses_for(ms(1));
        lab.at(ms(20_250)).admits(1).refuses_for(ms(500));
        // 0.4 tokens by 80.00 s at 2/s, the other 0.6 by 80.06 s at 10/s.
        lab.at(ms(79_800)).admits(1).refuses_for(ms(260));
        lab.at(ms(80_060)).admits(1).refuses_for(ms(100));
    }

    #[test]
    fn a_rate_of_zero_waits_for_the_next_one_or_for_ever() {
        let schedule = [
            (secs(0), 1.0),
            (secs(10), 0.0),
            (secs(30), 2.0),
            (secs(40), 0.0),
        ];
        let mut lab = Lab::new(
            ServerSpec::token_bucket_with_rates(schedule, 1).retry_after(RetryAfter::Ceil),
        );
        lab.at(secs(10))
            .admits(1)
            .refuses_for(ms(20_500))
            .saying("21");
        lab.at(secs(40))
            .admits(1)
            .refuses_for(Duration::MAX)
            .silent();
    }
}
