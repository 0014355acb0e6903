//! Whether an upstream that refuses or fails everything is asked at all.
//!
//! ```text
//!            refused or failed, again and again, nothing served
//!   closed ──────────────────────────────────────────────► open ◄──┐
//!     ▲                                                      │ gap │ refused or failed:
//!     │ served: a few at first, then everybody               ▼     │ the next gap is longer
//!     └────────────────────────────────────────────────── probing ─┘
//! ```

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, ensure};
use crate::{Reason, Timestamp};

/// The circuit of one gate.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct Circuit {
    #[n(0)]
    state: State,
    /// It has served us at least once since we know it.
    #[n(1)]
    served: bool,
    #[n(2)]
    run: Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
enum State {
    /// Everybody may ask. `admits` bounds what is in flight just after it closed.
    #[n(0)]
    Closed {
        #[n(0)]
        admits: u64,
    },
    /// Nobody may ask before `probe_at`.
    #[n(1)]
    Open {
        #[n(0)]
        since: Timestamp,
        #[n(1)]
        probe_at: Timestamp,
        #[n(2)]
        gaps: u32,
        #[n(3)]
        dead: bool,
    },
    /// One request asks for all.
    #[n(2)]
    Probing {
        #[n(0)]
        since: Timestamp,
        #[n(1)]
        asked_at: Timestamp,
        #[n(2)]
        order: u64,
        #[n(3)]
        gaps: u32,
        #[n(4)]
        dead: bool,
    },
}

/// An unbroken run of refusals or failures, of requests that left after the one before was known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
struct Run {
    #[n(0)]
    length: u32,
    #[n(1)]
    started: Timestamp,
    /// Requests that left before this order were under way when the run last grew: they say nothing new.
    #[n(2)]
    fresh_from: u64,
}

/// What moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    Opened,
    Closed,
    /// An upstream that never served us is given up: whoever waits fails now.
    Died,
}

/// One more than a lone request's attempts, so that a lone request never opens it.
const FAILURES_TO_OPEN: u32 = 5;

/// With the gaps below, a request that waits behind the probes of a dead upstream fails about when a lone one would have
/// used up its four attempts (1 + 2 + 4 s).
const DEAD_AFTER: Duration = Duration::from_secs(7);
const DEAD_AFTER_RUN: u32 = 4;

/// The first gap; each next one is twice as long. Five probes in 7.75 s.
const FIRST_GAP: Duration = Duration::from_millis(250);
const LONGEST_GAP: Duration = Duration::from_secs(30);

/// A probe that has not been answered by then no longer keeps others from asking.
const PROBE_PATIENCE: Duration = Duration::from_secs(30);

/// Just after it closed, this many at once; each success lets one more through, so the line is never dumped.
const FIRST_ADMITTED: u64 = 2;
const ALL_ADMITTED: u64 = 64;

impl Default for Circuit {
    fn default() -> Self {
        Self {
            state: State::Closed { admits: u64::MAX },
            served: false,
            run: Run::default(),
        }
    }
}

impl Circuit {
    /// Closed, and nothing has gone wrong since something was served.
    pub(crate) const fn is_calm(&self) -> bool {
        matches!(self.state, State::Closed { admits: u64::MAX }) && self.run.length == 0
    }

    pub(crate) const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// The word for it: `closed`, `open`, `probing`.
    pub(crate) const fn word(&self) -> &'static str {
        match self.state {
            State::Closed { .. } => "closed",
            State::Open { .. } => "open",
            State::Probing { .. } => "probing",
        }
    }

    #[cfg(test)]
    const fn probe_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Open { probe_at, .. } => Some(probe_at),
            _ => None,
        }
    }

    /// Since when it has not been closed.
    pub(crate) const fn since(&self) -> Option<Timestamp> {
        match self.state {
            State::Closed { .. } => None,
            State::Open { since, .. } | State::Probing { since, .. } => Some(since),
        }
    }

    pub(crate) fn opens(&self, now: Timestamp, in_flight: u64, ahead: u64) -> Opening {
        match self.state {
            State::Closed { admits } if in_flight.saturating_add(ahead) < admits => Opening::NOW,
            State::Closed { .. } => Opening::completion(Reason::Circuit, Timestamp::MAX),
            State::Open {
                probe_at,
                dead: true,
                ..
            } if probe_at > now => Opening::never(Reason::Circuit, probe_at),
            // The probe that is ahead has to come back first.
            State::Open { .. } if ahead > 0 => Opening::completion(Reason::Circuit, Timestamp::MAX),
            State::Open { probe_at, .. } => Opening::at(probe_at, Reason::Circuit),
            State::Probing { asked_at, dead, .. } => {
                let patience = asked_at + PROBE_PATIENCE;
                if patience <= now {
                    Opening::NOW
                } else if dead {
                    Opening::never(Reason::Circuit, patience)
                } else {
                    Opening::completion(Reason::Circuit, patience)
                }
            }
        }
    }

    /// It is known to serve, from elsewhere.
    pub(crate) const fn is_alive(&mut self) {
        self.served = true;
    }

    /// A request leaves.
    pub(crate) fn sent(&mut self, now: Timestamp, order: u64) {
        match self.state {
            State::Closed { .. } => {}
            State::Open {
                since, gaps, dead, ..
            }
            | State::Probing {
                since, gaps, dead, ..
            } => {
                self.state = State::Probing {
                    since,
                    asked_at: now,
                    order,
                    gaps,
                    dead,
                };
            }
        }
    }

    /// A request that left was not sent after all, or nobody will tell how it ended.
    pub(crate) fn unsent(&mut self, now: Timestamp, sent_order: u64) {
        if let State::Probing {
            since,
            order,
            gaps,
            dead,
            ..
        } = self.state
            && order == sent_order
        {
            self.state = State::Open {
                since,
                probe_at: now,
                gaps,
                dead,
            };
        }
    }

    /// A request was served.
    pub(crate) fn served(&mut self, order: u64) -> Option<Moved> {
        self.served = true;
        match &mut self.state {
            State::Closed { admits } => {
                if order >= self.run.fresh_from {
                    self.run.length = 0;
                }
                if *admits != u64::MAX {
                    *admits = if *admits >= ALL_ADMITTED {
                        u64::MAX
                    } else {
                        *admits + 1
                    };
                }
                None
            }
            // What left before the run was known had its answer under way: it does not speak for now.
            State::Open { .. } | State::Probing { .. } if order < self.run.fresh_from => None,
            state => {
                *state = State::Closed {
                    admits: FIRST_ADMITTED,
                };
                self.run.length = 0;
                Some(Moved::Closed)
            }
        }
    }

    /// A request was refused or failed. `next_order` is the order that the next request will have.
    pub(crate) fn unserved(
        &mut self,
        now: Timestamp,
        order: u64,
        next_order: u64,
        refused: bool,
        rng: &mut fastrand::Rng,
    ) -> Option<Moved> {
        // One that served us is paced, not given up: its refusals are what the belief learns from.
        let paced = refused && self.served && self.is_closed();
        if paced || order < self.run.fresh_from {
            return None;
        }
        if self.run.length == 0 {
            self.run.started = now;
        }
        self.run.length += 1;
        self.run.fresh_from = next_order;

        let (since, gaps, was_dead) = match self.state {
            State::Open {
                since, gaps, dead, ..
            }
            | State::Probing {
                since, gaps, dead, ..
            } => (since, gaps + 1, dead),
            State::Closed { .. } if self.run.length >= Self::needed_to_open(refused) => {
                (now, 0, false)
            }
            State::Closed { .. } => return None,
        };
        let dead = was_dead
            || (!self.served
                && self.run.length >= DEAD_AFTER_RUN
                && now.since(self.run.started) >= DEAD_AFTER);
        self.state = State::Open {
            since,
            probe_at: now + gap(gaps, rng),
            gaps,
            dead,
        };
        match (dead && !was_dead, gaps) {
            (true, _) => Some(Moved::Died),
            (false, 0) => Some(Moved::Opened),
            (false, _) => None,
        }
    }

    /// Refusals only open it while it has never served: then one asks for all from the first one on.
    const fn needed_to_open(refused: bool) -> u32 {
        if refused { 1 } else { FAILURES_TO_OPEN }
    }
}

/// The gap before the next probe, up to a sixteenth longer so that processes do not probe together.
fn gap(gaps: u32, rng: &mut fastrand::Rng) -> Duration {
    let plain = FIRST_GAP.saturating_mul(1 << gaps.min(16)).min(LONGEST_GAP);
    let spread = u64::try_from(plain.as_nanos() / 16).unwrap_or(0);
    plain + Duration::from_nanos(rng.u64(0..=spread))
}

impl Sound for Circuit {
    fn check(&self) -> Result<(), Flaw> {
        let sound = match self.state {
            State::Closed { admits } => admits > 0,
            State::Open { gaps, .. } | State::Probing { gaps, .. } => gaps <= u32::MAX / 4,
        };
        ensure(
            sound && self.run.length <= u32::MAX / 4,
            "a circuit that cannot be",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(millis)
    }

    /// Asks as soon as it may, always refused; returns the probes' times until it dies.
    fn walk(circuit: &mut Circuit) -> Vec<Timestamp> {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut asked = vec![at(0)];
        circuit.sent(at(0), 0);
        for order in 0.. {
            let now = asked[asked.len() - 1];
            if circuit.unserved(now, order, order + 1, true, &mut rng) == Some(Moved::Died) {
                break;
            }
            let next = circuit.opens(now, 0, 0).earliest().max(now);
            circuit.sent(next, order + 1);
            asked.push(next);
        }
        asked
    }

    #[test]
    fn an_upstream_that_never_served_is_given_up_after_about_seven_seconds_and_five_probes() {
        let asked = walk(&mut Circuit::default());
        assert_eq!(asked.len(), 1 + 5);
        let end = asked[asked.len() - 1];
        assert!((at(7000)..=at(8300)).contains(&end), "{end:?}");
    }

    #[test]
    fn after_that_callers_fail_at_once_and_one_probe_goes_out_per_growing_gap() {
        let mut circuit = Circuit::default();
        let end = walk(&mut circuit)[5];
        assert_eq!(circuit.opens(end, 0, 0).refusal(), Some(Reason::Circuit));
        let probe = circuit.probe_at().expect("open");
        assert!(probe >= end + Duration::from_secs(8));
        assert!(circuit.opens(probe, 0, 0).is_open(probe));
        circuit.sent(probe, 100);
        assert_eq!(circuit.opens(probe, 1, 0).refusal(), Some(Reason::Circuit));
        assert!(matches!(circuit.served(100), Some(Moved::Closed)));
    }

    #[test]
    fn what_was_under_way_when_it_opened_neither_closes_nor_lengthens_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut circuit = Circuit::default();
        assert_eq!(
            circuit.unserved(at(0), 3, 10, true, &mut rng),
            Some(Moved::Opened)
        );
        let before = circuit.probe_at();
        assert_eq!(circuit.unserved(at(1), 9, 10, true, &mut rng), None);
        assert_eq!(circuit.probe_at(), before);
        assert_eq!(circuit.served(9), None);
        assert_eq!(circuit.word(), "open");
    }

    #[test]
    fn refusals_never_open_it_once_it_has_served_and_failures_never_kill_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut circuit = Circuit::default();
        circuit.served(0);
        for order in 1..100 {
            let moved = circuit.unserved(at(order), order, order + 1, true, &mut rng);
            assert_eq!((moved, circuit.is_closed()), (None, true));
        }
        for order in 100..104 {
            let moved = circuit.unserved(at(order), order, order + 1, false, &mut rng);
            assert_eq!(moved, None);
        }
        let moved = circuit.unserved(at(104), 104, 105, false, &mut rng);
        assert_eq!(moved, Some(Moved::Opened));
        for order in 105..150 {
            let now = circuit.probe_at().expect("open");
            circuit.sent(now, order);
            let moved = circuit.unserved(now, order, order + 1, false, &mut rng);
            assert_eq!(moved, None);
        }
    }

    #[test]
    fn closing_it_lets_a_few_through_and_then_everybody() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut circuit = Circuit::default();
        circuit.unserved(at(0), 0, 1, true, &mut rng);
        circuit.sent(at(250), 1);
        circuit.served(1);
        assert!(circuit.opens(at(250), 1, 0).is_open(at(250)));
        assert!(!circuit.opens(at(250), 2, 0).is_open(at(250)));
        for order in 2..100 {
            circuit.served(order);
        }
        assert!(circuit.opens(at(250), 1_000_000, 0).is_open(at(250)));
    }

    #[test]
    fn a_probe_that_was_never_sent_gives_its_place_to_the_next() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut circuit = Circuit::default();
        circuit.unserved(at(0), 0, 1, true, &mut rng);
        circuit.sent(at(300), 1);
        assert!(!circuit.opens(at(300), 0, 0).is_open(at(300)));
        circuit.unsent(at(301), 1);
        assert!(circuit.opens(at(301), 0, 0).is_open(at(301)));
    }
}
