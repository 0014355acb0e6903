//! When the next token is there, as surely as is asked.
//!
//! Each rate says when its bucket holds a token again. From the fastest rate down, their weights add up to the probability
//! that the limit is at least that fast; where the sum reaches the certainty asked for lies the answer.

use super::bucket::{Buckets, RATES};
use super::cell::BLUR;

impl Buckets {
    /// The earliest instant at which a request behind `ahead` others under way finds a token with probability `sure`, as
    /// far as a limit is concerned: noise strikes whenever it likes. `last` is when the latest one left.
    pub(super) fn opens(&self, sure: f64, need: f64, ahead: f64, last: f64) -> f64 {
        let mut reached = self.free();
        if reached >= sure {
            return f64::NEG_INFINITY;
        }
        let mut latest = f64::NEG_INFINITY;
        for i in (0..RATES).rev() {
            let own = self.columns[i];
            let cell = self.likely(i);
            // Within the last cell the weight is spread evenly from its fastest to its slowest rate.
            let x = if reached + own < sure {
                cell.part.from
            } else {
                cell.part
                    .top_share((sure - reached) / own.max(f64::MIN_POSITIVE))
            };
            let rate = self.rate(i) * (1.0 + x);
            let (low, high) = (cell.low.on(x), cell.high.on(x));
            let tokens = high + (low - high) * sure;
            let inflow = rate * (1.0 + BLUR - 2.0 * BLUR * sure);
            let level = self.at + (need + ahead - tokens) / inflow;
            // The latest send left at most the capacity less its own token.
            let full = if ahead > 0.0 {
                last + (need + 1.0 - self.capacity[i]) / inflow
            } else {
                f64::NEG_INFINITY
            };
            latest = latest.max(level.max(full));
            reached += own;
            if reached >= sure {
                return latest;
            }
        }
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::tests::{ask, wide};

    #[test]
    fn behind_one_under_way_a_bucket_of_one_asks_for_the_margin_that_it_asks_for_alone() {
        let (mut buckets, mut served) = (wide(), 0.0);
        for _ in 0..60 {
            served = ask(&mut buckets, 1.0, served);
        }
        // It comes late, so the bucket is full and what the pace left is lost.
        let last = buckets.opens(0.985, 1.0, 0.0, served) + 0.5;
        let behind = buckets.opens(0.985, 1.0, 1.0, last) - last;
        buckets.learn(last, true, 0.0);
        let alone = buckets.opens(0.985, 1.0, 0.0, last) - last;
        assert!(behind > alone - 0.001, "{behind} {alone}");
    }
}
