//! Stretches of time in which everything is refused.

use core::time::Duration;

use super::TOLERANCE;

#[derive(Clone, Debug)]
pub(super) struct Outage {
    /// [from, to) in nanoseconds, in order; those that touch or overlap are one.
    windows: Vec<(u64, u64)>,
}

impl Outage {
    pub(super) fn new(windows: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut sorted: Vec<_> = windows.into_iter().collect();
        sorted.sort_unstable();
        let mut windows: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
        for (from, to) in sorted {
            match windows.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => windows.push((from, to)),
            }
        }
        Self { windows }
    }

    pub(super) fn ask(&self, now: u64) -> Result<(), Duration> {
        let later = now.saturating_add(TOLERANCE);
        let hit = self
            .windows
            .iter()
            .find(|&&(from, to)| from <= now && later < to);
        hit.map_or(Ok(()), |&(_, to)| Err(Duration::from_nanos(to - now)))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::lab::{Lab, ms, secs};
    use crate::{RetryAfter, ServerSpec, Wrap};

    #[test]
    fn an_outage_holds_from_its_first_instant_and_not_at_its_last() {
        let outage = Wrap::outage([secs(5)..secs(8)])
            .status(503)
            .retry_after(RetryAfter::Ceil);
        let mut lab = Lab::new(ServerSpec::open().wrap(outage));
        lab.at_nanos(4_999_999_999).admits(1);
        lab.at(secs(5))
            .refuses_for(secs(3))
            .saying("3")
            .with_status(503);
        lab.at(ms(6500)).refuses_for(ms(1500)).saying("2");
        lab.at_nanos(7_999_999_899)
            .refuses_for(Duration::from_nanos(101));
        lab.at_nanos(7_999_999_900).admits(1);
    }

    #[test]
    fn windows_that_touch_are_one_outage() {
        let mut lab =
            Lab::new(ServerSpec::open().wrap(Wrap::outage([secs(2)..secs(4), secs(0)..secs(2)])));
        lab.at(secs(1)).refuses_for(secs(3));
        lab.at(secs(4)).admits(1);
    }

    #[test]
    fn an_outage_charges_nothing_below() {
        let mut lab = Lab::new(
            ServerSpec::fixed_window(2, secs(60), secs(0)).wrap(Wrap::outage([secs(0)..secs(1)])),
        );
        lab.at(secs(0)).refuses(100);
        lab.at(secs(1)).admits(2).refuses_for(secs(59));
    }
}
