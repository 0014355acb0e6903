//! An unbroken run of refusals: walked with one probe at a time, at growing gaps.
//!
//! What ends a run and when is not known, a tenth of a second or a minute. Gaps that grow with what has passed find its
//! end within a part of its length, for a number of probes that grows with the logarithm of it.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, ensure, numbers};

/// The run that is going on, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct Run {
    /// Refusals of requests that left after the one before was known.
    #[n(0)]
    pub(super) length: u32,
    #[n(1)]
    pub(super) started: f64,
    /// The latest refused send.
    #[n(2)]
    pub(super) last: f64,
    #[n(3)]
    fresh_from: u64,
    /// By how much of the gap the next probe comes sooner.
    #[n(4)]
    sooner: f64,
}

/// Seconds. At first about as long as what has passed, later about half of it, in round numbers.
const GAPS: [f64; 16] = [
    0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0,
];
/// A rung that is so much further than what has passed is further at all.
const CLEARLY: f64 = 1.25;
/// Probes come up to so much of their gap sooner, at random: neither in step with what else asks the server nor with others
/// that were refused at the same time.
const JITTER: f64 = 0.1;
/// No probe before so much more of what has passed.
const SOONEST: f64 = 0.25;

impl Run {
    /// How much sooner the next probe comes, from 0 to 1.
    pub(super) const fn draw(&mut self, chance: f64) {
        self.sooner = JITTER * chance;
    }

    /// A refused send. Says whether it left after the refusal before it was known.
    pub(super) fn refused(&mut self, at: f64, order: u64, next_order: u64) -> bool {
        if self.length > 0 && order < self.fresh_from {
            self.last = self.last.max(at);
            return false;
        }
        if self.length == 0 {
            self.started = at;
        }
        self.length += 1;
        self.last = at;
        self.fresh_from = next_order;
        true
    }

    pub(super) const fn is_fresh(&self, order: u64) -> bool {
        order >= self.fresh_from
    }

    /// When to probe at the latest: at the next rung that is clearly further than what has passed.
    pub(super) fn probe_by(&self) -> f64 {
        let passed = self.last - self.started;
        let mut rungs = GAPS.iter().scan(0.0, |rung, gap| {
            *rung += gap;
            Some(*rung)
        });
        let next = rungs.find(|rung| *rung > passed * CLEARLY);
        let gap = next.map_or(GAPS[GAPS.len() - 1], |rung| rung - passed);
        self.last + gap * (1.0 - self.sooner)
    }

    /// Not before this: a belief that would probe sooner has just been wrong.
    pub(super) fn probe_from(&self) -> f64 {
        self.last + SOONEST * (self.last - self.started)
    }
}

impl Sound for Run {
    fn check(&self) -> Result<(), Flaw> {
        ensure(
            self.length <= u32::MAX / 4,
            "a longer run than anybody walked",
        )?;
        numbers([self.started, self.last, self.sooner])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volley_counts_once_and_each_probe_after_it_once() {
        let mut run = Run::default();
        let volley: Vec<_> = (1..=10).map(|order| run.refused(0.0, order, 11)).collect();
        assert_eq!(volley.iter().filter(|fresh| **fresh).count(), 1);
        assert!(run.refused(0.05, 11, 12));
        assert_eq!(
            (run.length, run.is_fresh(11), run.is_fresh(12)),
            (2, false, true)
        );
    }

    #[test]
    fn a_gap_is_at_first_about_as_long_as_what_has_passed_and_later_half_of_it() {
        let mut run = Run::default();
        let mut now = 0.0;
        for order in 1..=16 {
            run.refused(now, order, order + 1);
            let gap = run.probe_by() - now;
            let part = if now > 4.0 { 0.8 } else { 2.0 };
            assert!(gap <= now * part + 0.06, "{gap} s after {now} s");
            now += gap;
        }
        assert!(now > 280.0, "{now}");
        run.refused(now, 17, 18);
        assert_eq!(run.probe_by() - now, 90.0);
    }

    #[test]
    fn probes_come_up_to_a_tenth_of_their_gap_sooner() {
        let mut run = Run::default();
        run.refused(0.0, 1, 2);
        run.refused(1.0, 2, 3);
        let latest = run.probe_by();
        run.draw(1.0);
        let soonest = run.probe_by();
        assert!(
            (1.0 + 0.9 * (latest - 1.0) - soonest).abs() < 1e-9,
            "{latest} {soonest}"
        );
    }
}
