//! What can be wrapped around a limiter: asked first, in the order given; one that refuses charges
//! nothing below it.

use core::ops::Range;
use core::time::Duration;
use std::collections::BTreeSet;

use fastrand::Rng;

use super::build::SpecError;
use super::outage::Outage;
use super::retry_after::{RetryAfter, Wording};
use super::rival::{self, Rival};
use super::{UNKNOWN_WAIT, nanos};

/// One wrap as plain data; given to [`ServerSpec::wrap`](crate::ServerSpec::wrap).
///
/// A refusal has status 429 and no Retry-After unless told otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrap {
    pub(crate) kind: WrapKind,
    pub(crate) wording: Wording,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WrapKind {
    Random { p: f64 },
    Outage { windows: Vec<Range<Duration>> },
    Nth { arrivals: BTreeSet<u64> },
    Poison { request: u64 },
    Rival { rate: f64, poisson: bool },
}

impl Wrap {
    /// Refuses each arrival with probability `p` (0 to 1).
    pub fn random(p: f64) -> Self {
        Self::new(WrapKind::Random { p })
    }

    /// Refuses everything in these stretches, `from..to` since the origin; `to` itself is served.
    pub fn outage(windows: impl IntoIterator<Item = Range<Duration>>) -> Self {
        Self::new(WrapKind::Outage {
            windows: windows.into_iter().collect(),
        })
    }

    /// Refuses these arrivals, counted from 1.
    pub fn nth(arrivals: impl IntoIterator<Item = u64>) -> Self {
        Self::new(WrapKind::Nth {
            arrivals: arrivals.into_iter().collect(),
        })
    }

    /// Refuses request number `request` each time it arrives.
    pub fn poison(request: u64) -> Self {
        Self::new(WrapKind::Poison { request })
    }

    /// Another client tries `rate` requests per second, evenly spaced from the origin on, and never
    /// retries.
    pub fn rival(rate: f64) -> Self {
        Self::new(WrapKind::Rival {
            rate,
            poisson: false,
        })
    }

    /// As [`rival`](Self::rival), but with random gaps: the first try at the origin, then a Poisson
    /// process.
    pub fn poisson_rival(rate: f64) -> Self {
        Self::new(WrapKind::Rival {
            rate,
            poisson: true,
        })
    }

    /// The status of this wrap's refusals.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.wording.status = status;
        self
    }

    /// What this wrap's refusals say about the wait: to the end of an outage, else one second.
    #[must_use]
    pub fn retry_after(mut self, retry_after: RetryAfter) -> Self {
        self.wording.retry_after = retry_after;
        self
    }

    fn new(kind: WrapKind) -> Self {
        Self {
            kind,
            wording: Wording {
                status: 429,
                retry_after: RetryAfter::None,
            },
        }
    }

    /// Every wrap is given its own dice, so that one does not disturb another's.
    pub(super) fn layer(&self, dice: Rng) -> Result<Layer, SpecError> {
        self.wording.check()?;
        let refusing = match &self.kind {
            WrapKind::Random { p } => {
                if !(0.0..=1.0).contains(p) {
                    return Err(SpecError::new(
                        "p",
                        format!("must be a probability from 0 to 1, not {p}"),
                    ));
                }
                Refusing::Random { p: *p, dice }
            }
            WrapKind::Outage { windows } => {
                if let Some(window) = windows.iter().find(|window| window.is_empty()) {
                    return Err(SpecError::new(
                        "windows",
                        format!("{window:?} must end after it begins"),
                    ));
                }
                Refusing::Outage(Outage::new(
                    windows
                        .iter()
                        .map(|window| (nanos(window.start), nanos(window.end))),
                ))
            }
            WrapKind::Nth { arrivals } => Refusing::Nth {
                arrivals: arrivals.clone(),
                count: 0,
            },
            WrapKind::Poison { request } => Refusing::Poison { request: *request },
            WrapKind::Rival { rate, poisson } => {
                if !(*rate > 0.0 && *rate <= rival::MAX_RATE) {
                    let most = rival::MAX_RATE;
                    return Err(SpecError::new(
                        "rate",
                        format!("must be above 0 and at most {most}, not {rate}"),
                    ));
                }
                return Ok(Layer::Rival(Rival::new(*rate, poisson.then_some(dice))));
            }
        };
        Ok(Layer::Refusing(refusing, self.wording))
    }
}

/// A wrap at work.
#[derive(Clone, Debug)]
pub(super) enum Layer {
    Refusing(Refusing, Wording),
    Rival(Rival),
}

impl Layer {
    /// Whether it refuses for reasons that no waiting helps against.
    pub(super) const fn is_noise(&self) -> bool {
        match self {
            Self::Refusing(Refusing::Outage(_), _) | Self::Rival(_) => false,
            Self::Refusing(..) => true,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Refusing {
    Random { p: f64, dice: Rng },
    Outage(Outage),
    Nth { arrivals: BTreeSet<u64>, count: u64 },
    Poison { request: u64 },
}

impl Refusing {
    pub(super) fn ask(&mut self, now: u64, request: Option<u64>) -> Result<(), Duration> {
        let refuses = match self {
            Self::Random { p, dice } => dice.f64() < *p,
            Self::Outage(outage) => return outage.ask(now),
            Self::Nth { arrivals, count } => {
                *count += 1;
                arrivals.contains(count)
            }
            Self::Poison { request: poisoned } => request == Some(*poisoned),
        };
        if refuses { Err(UNKNOWN_WAIT) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lab::{Lab, secs};
    use super::*;
    use crate::ServerSpec;

    #[test]
    fn nth_counts_arrivals_from_one() {
        let first = Wrap::nth([1, 4])
            .status(503)
            .retry_after(RetryAfter::Seconds(30.0));
        let mut lab = Lab::new(ServerSpec::open().wrap(first));
        lab.at(secs(0))
            .refuses_for(secs(1))
            .saying("30")
            .with_status(503);
        lab.at(secs(0)).admits(2).refuses(1).admits(100);
    }

    #[test]
    fn poison_refuses_that_request_each_time() {
        let mut lab =
            Lab::new(ServerSpec::open().wrap(Wrap::poison(7).retry_after(RetryAfter::Ceil)));
        lab.at(secs(0))
            .admits(7)
            .refuses_for(secs(1))
            .saying("1")
            .admits(50);
        lab.request = 7;
        lab.at(secs(9)).refuses(1).admits(1);
    }

    #[test]
    fn random_refuses_its_share_and_replays_from_the_seed() {
        let refused = |seed| {
            let mut lab = Lab::seeded(ServerSpec::open().wrap(Wrap::random(0.03)), seed);
            (0..100_000)
                .filter(|_| lab.arrive() != crate::Decision::Admit)
                .collect::<Vec<u32>>()
        };
        let first = refused(1);
        assert_eq!(first, refused(1));
        assert_ne!(first, refused(2));
        // 3,000 expected, with a standard deviation of 54.
        assert!((2_785..3_215).contains(&first.len()), "{}", first.len());
        assert_eq!(
            Lab::new(ServerSpec::open().wrap(Wrap::random(0.0)))
                .at(secs(0))
                .admits(1_000)
                .count(),
            0
        );
        assert_eq!(
            Lab::new(ServerSpec::open().wrap(Wrap::random(1.0)))
                .at(secs(0))
                .refuses(1_000)
                .count(),
            1_000
        );
    }

    #[test]
    fn wraps_are_asked_in_order_and_the_first_to_refuse_is_the_only_one_who_counts() {
        let spec = ServerSpec::token_bucket(1.0, 2)
            .wrap(Wrap::nth([1]).status(503))
            .wrap(Wrap::nth([1]).status(420));
        let mut lab = Lab::new(spec);
        lab.at(secs(0))
            .refuses(1)
            .with_status(503)
            .refuses(1)
            .with_status(420);
        // Neither has cost a token.
        lab.at(secs(0))
            .admits(2)
            .refuses_for(secs(1))
            .with_status(429);
    }
}
