//! What the hidden limit is believed to be, learned from answers in send order.
//!
//! The seam: every send is announced with its order, every answer comes with the order of its send, and the gate asks for
//! the earliest start that the belief finds admissible. Until the first refusal nothing is kept but the latest sends.
//!
//! ```text
//! answers ──► journal ──► buckets, slots, trial ──► choice ──► the next start
//!             in send     hypotheses, weighed       how much
//!             order       by how well they explain  to risk
//! ```
//!
//! `bucket` (made of `cell`s, each a `part` of the rates with tokens as a `line` over it; `zoom` moves the grid, `start` asks
//! it for an instant) is a bucket of any rate behind any noise; `slots` is a cap on requests under way; `change` notices that
//! the limit is another one now; `window` follows one that lets the same number through each time; `run` walks refusals that do not end; `trial` decides afterwards between the belief from
//! before and the new one; `early` looks for limits that were raised; `burst` bounds what a bucket can hold; `learned` takes
//! an answer through all of them.

mod bucket;
mod burst;
mod cell;
mod change;
mod choice;
mod early;
mod journal;
mod learned;
mod line;
mod part;
mod record;
mod run;
mod slots;
mod start;
#[cfg(test)]
mod tests;
mod trial;
mod window;
mod zoom;

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound};
use crate::{Reason, Timestamp};
use burst::Burst;
use learned::Learned;

/// What an answer says about a limit on the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// The upstream took the request.
    Accepted,
    /// It refused because of a limit, and asked for a pause of so many seconds. `chance`, from 0 to 1, is drawn for it.
    Refused { asked: f64, chance: f64 },
}

/// An answer, and when and where among the others its request left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    pub(crate) sent: Timestamp,
    pub(crate) order: u64,
    /// The order that the next request will have.
    pub(crate) next_order: u64,
    pub(crate) under_way: u64,
    /// The shortest time from a send to its answer so far.
    pub(crate) quickest: Option<Duration>,
    pub(crate) seen: Evidence,
}

/// The learned pace of one gate.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(crate) struct Belief {
    #[n(0)]
    burst: Burst,
    #[n(1)]
    learned: Option<Box<Learned>>,
}

/// So much peace without a limit in sight, and the refusals are forgotten.
const FORGOTTEN_AFTER: u64 = 500;
const NO_LIMIT: f64 = 0.99;
/// Whoever is late, and a second at least, is not waited for.
const A_SECOND: f64 = 1.0;

fn secs(at: Timestamp) -> f64 {
    at.as_nanos() as f64 / 1e9
}

fn timestamp(secs: f64) -> Timestamp {
    if secs <= 0.0 {
        Timestamp::ZERO
    } else {
        Timestamp::from_nanos((secs * 1e9) as u64)
    }
}

fn duration(secs: f64) -> Duration {
    Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX)
}

impl Belief {
    /// A request leaves.
    pub(crate) fn sent(&mut self, now: Timestamp, order: u64) {
        let now = secs(now);
        match &mut self.learned {
            None => self.burst.sent(order, now),
            Some(learned) => learned.sent(now, order),
        }
    }

    /// The request that left as `order` did not leave after all, or nobody will tell.
    pub(crate) fn unsent(&mut self, order: u64) {
        match &mut self.learned {
            None => {
                self.burst.forget(order);
            }
            Some(learned) => learned.lost(order),
        }
    }

    /// The request that left as `order` failed, which does not speak of a limit.
    pub(crate) fn failed(&mut self, order: u64) {
        if self.learned.is_none() {
            self.burst.forget(order);
        }
    }

    /// The request that left as `order` was served, and nothing is believed yet.
    pub(crate) fn served(&mut self, order: u64) {
        self.burst.served(order);
    }

    /// An answer that speaks of a limit, or of none.
    pub(crate) fn observe(&mut self, now: Timestamp, answer: Sighting) {
        let Sighting {
            order,
            next_order,
            seen,
            ..
        } = answer;
        let (now, sent) = (secs(now), secs(answer.sent));
        let accepted = seen == Evidence::Accepted;
        if self.learned.is_none() && !accepted {
            let quickest = answer.quickest.map(|own| own.as_secs_f64());
            let quickest = quickest.unwrap_or(now - sent);
            self.burst.ends_before(order, now, quickest);
            self.learned = Some(Box::new(Learned::new(
                (order, sent),
                answer.under_way,
                &self.burst,
            )));
        }
        let Some(learned) = &mut self.learned else {
            return;
        };
        let asked = match seen {
            Evidence::Accepted => 0.0,
            Evidence::Refused { asked, chance } => {
                learned.run.draw(chance);
                learned.asks(asked);
                asked
            }
        };
        if !learned.journal.answered(now, order, accepted, asked) {
            learned.meet(
                now,
                (order, sent),
                accepted,
                asked,
                next_order,
                &mut self.burst,
            );
        }
        while let Some(send) = learned.journal.next(now) {
            learned.judge(&send, next_order, &self.burst);
        }
        let forgotten = learned.peace > FORGOTTEN_AFTER && learned.trial.is_none();
        let followed = learned.window.known().is_some();
        if forgotten && !followed && learned.buckets.free() > NO_LIMIT {
            *self = Self::default();
        }
    }

    /// Nothing is believed: no refusal, or none that still matters.
    pub(crate) const fn is_idle(&self) -> bool {
        self.learned.is_none()
    }

    /// Refusals of requests that each left after the one before was known, so far.
    pub(crate) fn run(&self) -> u32 {
        self.learned
            .as_ref()
            .map_or(0, |learned| learned.run.length)
    }

    /// The chance of a refusal that is taken on purpose, to learn.
    pub(crate) fn risk(&self) -> f64 {
        self.learned.as_ref().map_or(0.0, |learned| learned.risk())
    }

    /// Refusals come at random and have nothing to do with the rate.
    pub(crate) fn is_noise(&self) -> bool {
        self.learned
            .as_ref()
            .is_some_and(|learned| learned.window.known().is_none() && learned.lead().free() > 0.5)
    }

    pub(crate) fn opens(&self, under_way: u64, ahead: u64) -> Opening {
        let Some(learned) = &self.learned else {
            return Opening::NOW;
        };
        // Whoever never comes back is not waited for.
        let recheck = timestamp(learned.last_sent + learned.journal.patience().max(A_SECOND));
        let until_somebody_ends = Opening::at(recheck, Reason::Belief);
        if let Some(cap) = learned.slots.cap() {
            return if under_way + ahead < cap {
                Opening::NOW
            } else {
                until_somebody_ends
            };
        }
        let start = learned.start(ahead);
        let opening = Opening::at(timestamp(start.at), Reason::Belief);
        if start.alone {
            opening.and(until_somebody_ends)
        } else {
            opening
        }
    }

    /// The time between two starts; zero when no limit is believed in. While a trial is undecided it is the limit's.
    pub(crate) fn interval(&self) -> Duration {
        if let Some((count, length)) = self.window() {
            return length / u32::try_from(count).unwrap_or(u32::MAX);
        }
        match &self.learned {
            Some(learned) if learned.buckets.free() < 0.5 => {
                duration(1.0 / learned.buckets.spread().middle)
            }
            _ => Duration::ZERO,
        }
    }

    /// Between which two times that interval most probably lies.
    pub(crate) fn between(&self) -> Option<[Duration; 2]> {
        let spread = self.learned.as_ref()?.buckets.spread();
        Some([spread.high, spread.low].map(|rate| duration(1.0 / rate)))
    }

    /// How likely it is that nothing limits the rate.
    pub(crate) fn no_limit_percent(&self) -> u8 {
        self.learned
            .as_ref()
            .map_or(100, |learned| (learned.lead().free() * 100.0).round() as u8)
    }

    /// How many may be under way, if that is what limits.
    pub(crate) fn at_once(&self) -> Option<u64> {
        self.learned.as_ref()?.slots.cap()
    }

    /// So many in any stretch of so long, if that is what limits.
    pub(crate) fn window(&self) -> Option<(u64, Duration)> {
        let (count, length) = self.learned.as_ref()?.window.known()?;
        Some((count as u64, duration(length.max(0.0))))
    }

    /// Refusals that shaped it, and answers taken since the last of them.
    pub(crate) fn grounds(&self) -> (u64, u64) {
        self.learned
            .as_ref()
            .map_or((0, 0), |learned| (learned.refusals, learned.peace))
    }
}

impl Sound for Belief {
    fn check(&self) -> Result<(), Flaw> {
        self.burst.check()?;
        self.learned.check()
    }
}
