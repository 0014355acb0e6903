//! One pace line: the gates that requests of one upstream share, and those who wait for them.
//!
//! A driver calls one input (`join`, `settle`, `finish`, `refund`, `leave`, `handle_timeout`, …) with the time, then drains
//! the [`Effects`] that come back, which the borrow checker makes sure of, and calls `handle_timeout` at the deadline that
//! [`Effects::finish`] returns. Calling it early changes nothing and returns the same deadline.

use core::time::Duration;
use std::collections::VecDeque;

use crate::cost::{Ahead, Cost};
use crate::effects::{Effect, Effects};
use crate::event::{Event, EventKind};
use crate::gate::{Change, Gate, Moved};
use crate::gates::GateSet;
use crate::line::{Line, Place, Ticket, TicketId};
use crate::opening::Opening;
use crate::retry::{self, Attempts, Budget, Decision, Neighbours, Repeatable, RetryPolicy};
use crate::ticket::{Charge, Ended, Refusal, Sent, Want};
use crate::{Answer, Deadline, Limit, Observation, Reason, Snapshot, Timestamp};

mod costs;
mod doubt;
mod find;
mod found;
mod gates;
mod hear;
mod outstanding;
mod record;
mod serve;
mod share;

/// The gates of one upstream and partition, and the line before them.
#[derive(Debug)]
pub struct Engine {
    gates: gates::Gates,
    line: Line,
    max_waiting: usize,
    budget: Budget,
    answers: Neighbours,
    rng: fastrand::Rng,
    next_order: u64,
    next_ticket: u64,
    effects: VecDeque<Effect>,
    wake: Option<Deadline>,
    shut: bool,
    /// Gates that are found from responses, if any are.
    found: Option<Box<found::Found>>,
    /// What only one of several engines with one line knows.
    sharing: Option<Box<share::Sharing>>,
    /// Where sections are made.
    scratch: Vec<u8>,
}

/// What became of a request that asked.
#[derive(Debug)]
#[must_use]
#[allow(
    clippy::exhaustive_enums,
    reason = "a request is admitted, refused or waits"
)]
pub enum Joined<'a> {
    /// It may be sent now, once.
    Admitted(Sent),
    /// It waits; its admission or refusal will be an effect, perhaps one of these.
    Waiting(TicketId, Effects<'a>),
    /// It will not be sent; nothing was charged.
    Refused(Refusal),
}

impl Engine {
    /// A pace line without gates. `max_waiting` bounds the line; `seed` decides all jitter.
    pub fn new(max_waiting: usize, seed: u64) -> Self {
        Self {
            gates: gates::Gates::default(),
            line: Line::default(),
            max_waiting,
            budget: Budget::default(),
            answers: Neighbours::default(),
            rng: fastrand::Rng::with_seed(seed),
            next_order: 1,
            next_ticket: 0,
            effects: VecDeque::new(),
            wake: None,
            shut: false,
            found: None,
            sharing: None,
            scratch: Vec::new(),
        }
    }

    /// Adds a gate; its index goes into [`GateSet`]s. `None` if there are 65,536 already.
    pub fn add_gate(&mut self, now: Timestamp, name: &str, limits: Vec<Limit>) -> Option<u16> {
        let index = u16::try_from(self.gates.len()).ok()?;
        self.gates.push(Gate::new(name, now, limits));
        Some(index)
    }

    /// From now on, where a bucket of requests was full, what flows into it is not counted on before an answer shows that a
    /// request arrived, for a second at most: until then it may be full at the server as well, where a connection is still
    /// being made. Nothing is lost by that, for all that flowed in since is there then.
    pub fn hold_refills(&mut self) {
        for index in 0..self.gates.len() {
            if let Some(gate) = self.gates.get_mut(index) {
                gate.hold_refills();
            }
        }
    }

    /// At most so many are under way at this gate before the first has been served.
    pub fn cold_start(&mut self, gate: u16, most: u64) {
        let index = self.place_of(usize::from(gate));
        if let Some(gate) = self.gates.get_mut(index) {
            gate.cold_start(most);
        }
    }

    /// A request asks to be sent. `place` is where it stood at its earlier attempts, `not_before` the end of its own delay.
    pub fn join(
        &mut self,
        now: Timestamp,
        want: &Want,
        place: Option<Place>,
        attempts: &Attempts,
        not_before: Timestamp,
    ) -> Joined<'_> {
        if self.shut {
            return Joined::Refused(Refusal::because(Reason::Shutdown));
        }
        let placed;
        let want = if self.found.is_some() || self.sharing.is_some() {
            let gates = self.gates_for(now, want);
            placed = Want {
                gates,
                ..want.clone()
            };
            &placed
        } else {
            want
        };
        let in_time = want.deadline.is_none_or(|deadline| deadline >= now);
        let free = self.line.is_empty() && not_before <= now && in_time;
        let opening = self.opens(now, want.gates, Ahead::NOTHING, &want.cost);
        if free && opening.is_open(now) {
            let (cost, refused) = (want.cost.clone(), attempts.last_refused());
            let mut sent = self.take(now, want.gates, cost, refused);
            sent.route = want.route;
            self.leaves(&mut sent);
            return Joined::Admitted(sent);
        }
        let place = place.unwrap_or_else(|| self.place(now, want));
        if let Some(refusal) = self.turn_away(now, want, place, opening, not_before) {
            return Joined::Refused(refusal);
        }
        let id = self.next_id();
        let ticket = Ticket {
            id,
            owner: self.me(),
            place,
            gates: want.gates,
            cost: want.cost.clone(),
            deadline: want.deadline,
            not_before,
            joined: now,
            yields: attempts.yields(),
            route: want.route,
            refused: attempts.last_refused(),
        };
        self.line.join(now, ticket);
        self.serve(now);
        Joined::Waiting(id, Effects::new(self))
    }

    fn next_id(&mut self) -> TicketId {
        if let Some(sharing) = &mut self.sharing {
            return sharing.ticket();
        }
        self.next_ticket += 1;
        TicketId(self.next_ticket)
    }

    /// A place at the end of its priority's part of the line, for all attempts of a request.
    pub fn place(&mut self, now: Timestamp, want: &Want) -> Place {
        self.next_ticket += 1;
        Place::new(now, want.priority, self.next_ticket)
    }

    /// An answer, or the lack of one. Once per send.
    pub fn settle(&mut self, now: Timestamp, sent: &mut Sent, seen: &Observation) -> Effects<'_> {
        if !core::mem::replace(&mut sent.answered, true) && self.knows(sent) {
            self.no_more_doubts(sent);
            // Refused again although everybody in between was served: about this request, not about the pace.
            let alone = sent
                .refused
                .is_some_and(|then| self.answers.since(then).all_served());
            self.answers.answered(seen.verdict.is_refusal());
            if seen.is_served() {
                sent.served = true;
                self.budget.deposit();
            }
            if matches!(seen.answer, Answer::Status(_)) {
                for index in sent.gates().iter() {
                    if let Some(gate) = self.gates.get_mut(index) {
                        gate.arrived(now, sent.at());
                    }
                }
            }
            if self.found.is_some() {
                self.hear(now, sent, alone, seen);
            } else {
                for index in sent.gates().iter() {
                    self.tell(now, index, sent, (alone, false), seen);
                }
            }
            self.cost_told(now, sent, seen);
            if let Some(outstanding) = self.outstanding() {
                outstanding.answered(sent);
            }
            self.serve(now);
        }
        Effects::new(self)
    }

    /// The response has ended, was dropped, or will never come: it is not in flight any more.
    pub fn finish(&mut self, now: Timestamp, sent: Sent) -> Effects<'_> {
        if self.is_ours_still(&sent) {
            let ended = sent.ended();
            self.end(now, sent, ended);
        }
        self.serve(now);
        Effects::new(self)
    }

    fn end(&mut self, now: Timestamp, mut sent: Sent, ended: Ended) {
        self.no_more_doubts(&mut sent);
        for index in sent.gates().iter() {
            let Some(gate) = self.gates.get_mut(index) else {
                continue;
            };
            gate.finish(now, &sent.charge, ended);
            if !sent.answered {
                gate.abandoned(now, &sent.charge);
            }
        }
        if sent.estimate && !sent.receipt_gone {
            self.cost_stands(&sent.charge);
        }
    }

    /// It was not sent after all. Whose real cost was told, or will be, has been sent: that stays charged.
    pub fn refund(&mut self, now: Timestamp, sent: Sent) -> Effects<'_> {
        if self.is_ours_still(&sent) {
            self.unsend(now, sent);
        }
        self.serve(now);
        Effects::new(self)
    }

    fn unsend(&mut self, now: Timestamp, mut sent: Sent) {
        self.no_more_doubts(&mut sent);
        for index in sent.gates().iter() {
            let Some(gate) = self.gates.get_mut(index) else {
                continue;
            };
            if sent.answered {
                // The gates have heard how it ended.
            } else if sent.has_left() {
                gate.abandoned(now, &sent.charge);
            } else {
                gate.refund(now, &sent.charge);
            }
            gate.finish(now, &sent.charge, sent.ended());
        }
        if (sent.answered || sent.has_left()) && !sent.receipt_gone {
            self.cost_stands(&sent.charge);
        }
    }

    /// Charges a request that has already been sent and answered without asking (a redirect that was followed unseen).
    pub fn spend(&mut self, now: Timestamp, gates: GateSet, cost: Cost) -> Effects<'_> {
        let sent = self.take(now, gates, cost, None);
        // What it took is a part of what the one took that is under way.
        self.end(now, sent, Ended::Answered);
        self.serve(now);
        Effects::new(self)
    }

    /// A waiting request goes away; nothing was charged.
    pub fn leave(&mut self, now: Timestamp, ticket: TicketId) -> Effects<'_> {
        if self.line.leave(ticket).is_some() {
            self.serve(now);
        }
        Effects::new(self)
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Timestamp) -> Effects<'_> {
        self.serve(now);
        Effects::new(self)
    }

    /// A gate's limits change while it runs: what was spent stays spent.
    pub fn change_limits(&mut self, now: Timestamp, gate: u16, limits: Vec<Limit>) -> Effects<'_> {
        if self.change_shared(now, gate, &limits) {
            self.serve(now);
        } else if let Some(gate) = self.gates.get_mut(usize::from(gate)) {
            gate.change_limits(now, self.next_order, limits);
            self.refuse_too_costly(now);
            self.serve(now);
        }
        Effects::new(self)
    }

    /// A person knows better than what this gate learned and was told: it forgets pauses, windows, its belief and that its
    /// circuit is open. What was spent of configured limits stays spent. Gates go by the place that a snapshot tells.
    pub fn reset(&mut self, now: Timestamp, place: usize) -> Effects<'_> {
        if let Some(gate) = self.gates.get_mut(place) {
            gate.reset();
            self.serve(now);
        }
        Effects::new(self)
    }

    /// A person wants nobody to start at this gate for so long, whatever its upstream says. The last word counts, also where it
    /// is a shorter one; no time at all ends it, and so does a [`reset`](Self::reset). Gates go by the place that a snapshot
    /// tells.
    pub fn pause(&mut self, now: Timestamp, place: usize, length: Duration) -> Effects<'_> {
        if let Some(gate) = self.gates.get_mut(place) {
            gate.pause_by_hand(now, length);
            self.serve(now);
        }
        Effects::new(self)
    }

    /// Everybody who waits, and whoever comes later, is refused.
    pub fn shut_down(&mut self) -> Effects<'_> {
        self.shut = true;
        for id in self.line.ids_of(self.me()) {
            self.refuse(id, Refusal::because(Reason::Shutdown));
        }
        self.wake = None;
        Effects::new(self)
    }

    /// What to do with an answer that was settled: give it to the caller, or send the request again.
    pub fn decide(
        &mut self,
        now: Timestamp,
        want: &Want,
        policy: &RetryPolicy,
        attempts: &mut Attempts,
        repeatable: Repeatable,
        seen: &Observation,
    ) -> Decision {
        if seen.is_too_dear(&want.cost) {
            return Decision::Return(Reason::TooCostly);
        }
        let found = self.through_known(want);
        let want = found.as_ref().unwrap_or(want);
        let around = retry::Surroundings {
            now,
            neighbours: self.answers,
            circuit_closed: want
                .gates
                .iter()
                .all(|index| self.gates.get(index).is_none_or(Gate::circuit_is_closed)),
            // A gate that was just found has not, and its upstream may have.
            has_served: want
                .gates
                .iter()
                .filter(|index| !self.is_found(*index))
                .all(|index| self.gates.get(index).is_none_or(Gate::has_served)),
            risk: want
                .gates
                .iter()
                .filter_map(|index| self.gates.get(index))
                .map(Gate::risk)
                .fold(0.0, f64::max),
            budget: &mut self.budget,
            rng: &mut self.rng,
        };
        let decision = retry::decide(policy, attempts, repeatable, seen, around);
        let Decision::Again { not_before } = decision else {
            return decision;
        };
        if let Some(reason) = self
            .opens(now, want.gates, Ahead::NOTHING, &want.cost)
            .refusal()
        {
            return Decision::Return(reason);
        }
        let earliest = self
            .bounds(now, want.gates, Ahead::NOTHING, &want.cost)
            .earliest();
        match want.deadline {
            Some(deadline) if deadline < earliest.max(not_before) => {
                Decision::Return(Reason::Deadline)
            }
            _ => decision,
        }
    }

    /// When a request could start if nobody were waiting, and why not before; `None` if at once.
    pub fn next_start(&self, now: Timestamp, want: &Want) -> Option<Deadline> {
        let found = self.through_known(want);
        let want = found.as_ref().unwrap_or(want);
        let opening = self.opens(now, want.gates, Ahead::NOTHING, &want.cost);
        (!opening.is_open(now))
            .then(|| Deadline::new(opening.earliest().max(now), opening.reason(now)))
    }

    /// Everything that is, as data.
    pub fn snapshot(&self, now: Timestamp) -> Snapshot {
        let gates = self.gates.iter().enumerate();
        Snapshot {
            at: now,
            gates: gates
                .filter(|(i, gate)| !(self.is_left(*i) && gate.in_flight() == 0))
                .map(|(i, gate)| gate.snapshot(now, i, self.line.waiting_for(i)))
                .collect(),
            waiting: self.line.len() as u64,
        }
    }

    /// Name, requests waiting and in flight, believed interval and circuit of a gate, without the cost of a snapshot.
    pub fn gauges(&self, gate: u16) -> Option<Gauges<'_>> {
        let index = self.place_of(usize::from(gate));
        self.gates.get(index).map(|gate| Gauges {
            name: gate.name(),
            waiting: self.line.waiting_for(index),
            in_flight: gate.in_flight(),
            interval: gate.interval(),
            circuit: gate.circuit_word(),
        })
    }

    /// Nobody waits, and time plays no part at these gates: a driver may save itself the look at its clock and tell the
    /// time of its last input again.
    pub fn is_calm(&self, gates: GateSet) -> bool {
        self.line.is_empty()
            && gates
                .iter()
                .all(|index| self.gates.get(index).is_none_or(Gate::is_calm))
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    pub(crate) fn next_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    pub(crate) const fn wake(&self) -> Option<Deadline> {
        self.wake
    }

    #[inline]
    fn opens(&self, now: Timestamp, gates: GateSet, ahead: Ahead<'_>, cost: &Cost) -> Opening {
        let opening = gates
            .iter()
            .filter_map(|index| self.gates.get(index))
            .fold(Opening::NOW, |opening, gate| {
                opening.and(gate.opens(now, ahead, cost))
            });
        if self.found.is_none() {
            return opening;
        }
        gates.iter().fold(opening, |opening, index| {
            opening.and(self.leaves_room(now, index, ahead, cost))
        })
    }

    fn bounds(&self, now: Timestamp, gates: GateSet, ahead: Ahead<'_>, cost: &Cost) -> Opening {
        gates
            .iter()
            .filter_map(|index| self.gates.get(index))
            .fold(Opening::NOW, |opening, gate| {
                opening.and(gate.bounds(now, ahead, cost))
            })
    }

    fn take(
        &mut self,
        now: Timestamp,
        gates: GateSet,
        cost: Cost,
        refused: Option<Neighbours>,
    ) -> Sent {
        let order = self.next_order;
        self.next_order += 1;
        let mut estimate = cost.is_estimate();
        for index in gates.iter() {
            if let Some(gate) = self.gates.get_mut(index) {
                gate.take(now, order, &cost);
                estimate |= gate.counts_others();
            }
        }
        Sent {
            charge: Charge {
                order,
                at: now,
                gates,
                cost,
                told: Cost::default(),
            },
            estimate,
            receipt_gone: false,
            answered: false,
            route: None,
            doubtful: false,
            refused,
            served: false,
        }
    }
}

/// What a status line or a gauge needs of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gauges<'a> {
    /// Its name.
    pub name: &'a str,
    /// Requests waiting for it.
    pub waiting: u64,
    /// Requests under way.
    pub in_flight: u64,
    /// The believed time between two starts; zero for no limit.
    pub interval: Duration,
    /// `closed`, `open` or `probing`.
    pub circuit: &'static str,
}

fn event(index: usize, change: Change) -> Event {
    let kind = match change {
        Change::Paused { until, asked } => EventKind::Paused { until, asked },
        Change::Resumed => EventKind::Resumed,
        Change::Pace { interval } => EventKind::Pace { interval },
        Change::Circuit(Moved::Opened) => EventKind::CircuitOpened,
        Change::Circuit(Moved::Closed) => EventKind::CircuitClosed,
        Change::Circuit(Moved::Died) => EventKind::CircuitGaveUp,
    };
    Event {
        gate: u16::try_from(index).expect("at most 65,536 gates are added"),
        kind,
    }
}
