//! What a server allows in the long run, and when it is down: what a picture of a run shows.

use core::ops::Range;
use core::time::Duration;
use std::collections::BTreeSet;

use super::spec::{Kind, ServerSpec};
use super::wrap::WrapKind;

impl ServerSpec {
    /// The requests per second that its limits allow on average: each value holds from that time
    /// on, the first one from the origin. A window allows its limit divided by its length, and of
    /// several limits the lowest counts. `None` where no rate is limited, so for slots, too; what
    /// is wrapped around a limiter does not count.
    pub fn rate_over_time(&self) -> Vec<(Duration, Option<f64>)> {
        match &self.kind {
            Kind::TokenBucket { rates, .. } => {
                let rates = rates.iter().enumerate();
                // The first also holds before its time.
                let from = |index, from| if index == 0 { Duration::ZERO } else { from };
                rates
                    .map(|(index, &(since, rate))| (from(index, since), Some(rate)))
                    .collect()
            }
            Kind::FixedWindow { limit, window, .. } | Kind::SlidingLog { limit, window, .. } => {
                vec![(Duration::ZERO, Some(*limit as f64 / window.as_secs_f64()))]
            }
            Kind::AllOf { parts } => lowest(parts),
            Kind::Concurrency { .. } | Kind::Open => vec![(Duration::ZERO, None)],
            Kind::Always => vec![(Duration::ZERO, Some(0.0))],
        }
    }

    /// The stretches in which it refuses everything, those of its parts included.
    pub fn outages(&self) -> Vec<Range<Duration>> {
        let own = self.wraps.iter().filter_map(|wrap| match &wrap.kind {
            WrapKind::Outage { windows } => Some(windows.clone()),
            _ => None,
        });
        let parts = match &self.kind {
            Kind::AllOf { parts } => parts.as_slice(),
            _ => &[],
        };
        own.flatten()
            .chain(parts.iter().flat_map(Self::outages))
            .collect()
    }
}

fn lowest(parts: &[ServerSpec]) -> Vec<(Duration, Option<f64>)> {
    let parts: Vec<_> = parts.iter().map(ServerSpec::rate_over_time).collect();
    let times: BTreeSet<Duration> = parts.iter().flatten().map(|(from, _)| *from).collect();
    let at = |time: Duration| {
        let rates = parts.iter().filter_map(|part| {
            let so_far = part.iter().take_while(|(from, _)| *from <= time);
            so_far.last().and_then(|(_, rate)| *rate)
        });
        rates.reduce(f64::min)
    };
    times.into_iter().map(|time| (time, at(time))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wrap;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn each_kind_has_its_rate() {
        for (spec, rate) in [
            (ServerSpec::gcra(2.0), Some(2.0)),
            (ServerSpec::fixed_window(30, s(60), s(3)), Some(0.5)),
            (ServerSpec::sliding_log(30, s(10)), Some(3.0)),
            (ServerSpec::concurrency(3), None),
            (ServerSpec::open().wrap(Wrap::rival(1.0)), None),
            (ServerSpec::always(), Some(0.0)),
        ] {
            assert_eq!(spec.rate_over_time(), [(s(0), rate)], "{spec:?}");
        }
    }

    #[test]
    fn of_several_limits_the_lowest_counts_at_each_time() {
        let changing =
            ServerSpec::token_bucket_with_rates([(s(0), 10.0), (s(20), 2.0), (s(80), 10.0)], 1);
        let whole =
            ServerSpec::all_of([changing, ServerSpec::gcra(5.0), ServerSpec::concurrency(1)]);
        assert_eq!(
            whole.rate_over_time(),
            [(s(0), Some(5.0)), (s(20), Some(2.0)), (s(80), Some(5.0))]
        );
    }

    #[test]
    fn the_first_rate_holds_before_its_time() {
        let late = ServerSpec::token_bucket_with_rates([(s(5), 1.0), (s(9), 2.0)], 1);
        assert_eq!(
            late.rate_over_time(),
            [(s(0), Some(1.0)), (s(9), Some(2.0))]
        );
    }

    #[test]
    fn outages_of_parts_are_outages() {
        let part = ServerSpec::open().wrap(Wrap::outage([s(8)..s(9)]));
        let whole = ServerSpec::all_of([part])
            .wrap(Wrap::poison(1))
            .wrap(Wrap::outage([s(1)..s(2), s(3)..s(4)]));
        assert_eq!(whole.outages(), [s(1)..s(2), s(3)..s(4), s(8)..s(9)]);
    }
}
