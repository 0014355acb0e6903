//! Who starts next, who never will, and when to look again.

use core::time::Duration;

use super::Engine;
use super::share::Call;
use crate::cost::{Ahead, Cost};
use crate::effects::Effect;
use crate::gates::GateSet;
use crate::line::{Place, Ticket, TicketId};
use crate::opening::Opening;
use crate::ticket::{Refusal, TooCostly, Want};
use crate::{Deadline, Reason, Timestamp};

impl Engine {
    /// Why a newcomer need not even wait.
    pub(super) fn turn_away(
        &self,
        now: Timestamp,
        want: &Want,
        place: Place,
        opening: Opening,
        not_before: Timestamp,
    ) -> Option<Refusal> {
        if let Some(reason) = opening.refusal() {
            return Some(Refusal {
                too_costly: self.too_costly(now, want.gates, &want.cost),
                ..self.refusal(now, want.gates, reason, opening)
            });
        }
        if want.best_effort && (!opening.is_open(now) || !self.line.is_empty()) {
            return Some(self.refusal(now, want.gates, Reason::BestEffort, opening));
        }
        let ahead = self.line.ahead_of(want.gates, place);
        let own = Opening::at(not_before, Reason::Backoff);
        let bounds = self.bounds(now, want.gates, ahead, &want.cost).and(own);
        if want
            .deadline
            .is_some_and(|deadline| deadline < bounds.earliest().max(now))
        {
            return Some(self.refusal(now, want.gates, Reason::Deadline, bounds));
        }
        (self.line.len() >= self.max_waiting)
            .then(|| self.refusal(now, want.gates, Reason::QueueFull, opening))
    }

    fn refusal(&self, now: Timestamp, gates: GateSet, reason: Reason, opening: Opening) -> Refusal {
        let at = opening.earliest();
        let waiting_for = opening.reason(now);
        Refusal {
            reason,
            waiting_for: (waiting_for != reason).then_some(waiting_for),
            possible_at: (at > now && at < Timestamp::MAX).then_some(at),
            asked: gates
                .iter()
                .filter_map(|index| self.gates.get(index)?.asked(now))
                .max(),
            too_costly: None,
        }
    }

    fn too_costly(&self, now: Timestamp, gates: GateSet, cost: &Cost) -> Option<Box<TooCostly>> {
        let mut gates = gates.iter().filter_map(|index| self.gates.get(index));
        let too_costly = gates.find_map(|gate| gate.too_costly(now, cost));
        too_costly.map(Box::new)
    }

    /// Limits have changed: whoever can never start any more is told now, and not when its turn would have come.
    pub(super) fn refuse_too_costly(&mut self, now: Timestamp) {
        let tickets = self.line.tickets();
        let dear: Vec<_> = tickets
            .filter_map(|ticket| {
                let too_costly = self.too_costly(now, ticket.gates, &ticket.cost)?;
                Some((ticket.id, too_costly))
            })
            .collect();
        for (id, too_costly) in dear {
            let refusal = Refusal {
                too_costly: Some(too_costly),
                ..Refusal::because(Reason::TooCostly)
            };
            self.refuse(id, refusal);
        }
    }

    /// Admits everybody who may start, refuses everybody who never will, and finds out when to look again. Of a line that is
    /// shared, each owner does that for its own, and is called when it has to look earlier than it would.
    pub(super) fn serve(&mut self, now: Timestamp) {
        if self.line.is_empty() {
            self.looks(None, Vec::new());
            return;
        }
        loop {
            self.line.promote(now);
            match self.step(now) {
                Step::Admit(id) => self.admit(now, id),
                Step::Refuse(refusals) => {
                    for (id, refusal) in refusals {
                        self.refuse(id, refusal);
                    }
                }
                Step::Wait(wake, calls) => {
                    self.looks(wake, calls);
                    return;
                }
            }
        }
    }

    /// The next thing to do for the line as it stands.
    fn step(&mut self, now: Timestamp) -> Step {
        let mut calls = Vec::new();
        let overdue = self.ours_among(self.ended(now, now), now, &mut calls);
        if !overdue.is_empty() {
            return Step::Refuse(overdue);
        }
        let mut wake = self
            .line
            .next_change(self.me())
            .map(|(at, reason)| Deadline::new(at, reason));
        let mut look = |ticket: &Ticket, at: Option<Deadline>, calls: &mut Vec<Call>| {
            if ticket.owner == self.me() {
                wake = sooner(wake, at);
            } else if let (Some(owner), Some(at)) = (ticket.owner, at) {
                calls.push((owner, at.at));
            }
        };
        let mut blocked: Vec<(&Ticket, Opening)> = Vec::new();
        let mut reasons = Vec::new();
        for head in self.line.heads() {
            let opening = self.opens(now, head.gates, Ahead::NOTHING, &head.cost);
            if let Some(reason) = opening.refusal() {
                let refusal = Refusal {
                    too_costly: self.too_costly(now, head.gates, &head.cost),
                    ..self.refusal(now, head.gates, reason, opening)
                };
                let all = self.line.ready_in(head.gates).into_iter();
                let all = all.map(|id| (id, refusal.clone())).collect();
                let ours = self.ours_among(all, now, &mut calls);
                if ours.is_empty() {
                    continue;
                }
                return Step::Refuse(ours);
            }
            if opening.is_open(now) {
                let before: Vec<_> = blocked
                    .iter()
                    .filter(|(earlier, at)| !self.may_pass(now, head, earlier, at))
                    .collect();
                if before.is_empty() {
                    if head.owner == self.me() {
                        return Step::Admit(head.id);
                    }
                    look(head, Some(Deadline::new(now, Reason::Turn)), &mut calls);
                }
                for (earlier, _) in before {
                    look(head, self.room_for_both(now, head, earlier), &mut calls);
                }
            }
            let hopeless = self.ours_among(self.hopeless(now, head, opening), now, &mut calls);
            if !hopeless.is_empty() {
                return Step::Refuse(hopeless);
            }
            look(head, opening.look_again(now), &mut calls);
            reasons.push((
                head.gates,
                if opening.is_open(now) {
                    Reason::Turn
                } else {
                    opening.reason(now)
                },
            ));
            blocked.push((head, opening));
        }
        // Nobody else may start now, so whose time ends now has had its last chance; waking for it again would not end.
        let ended = self.ended(now, now + Duration::from_nanos(1));
        let ended = self.ours_among(ended, now, &mut calls);
        if !ended.is_empty() {
            return Step::Refuse(ended);
        }
        for (gates, reason) in reasons {
            self.line.blocked(gates, reason);
        }
        Step::Wait(wake, calls)
    }

    /// Those whose time ends before `until`.
    fn ended(&self, now: Timestamp, until: Timestamp) -> Vec<(TicketId, Refusal)> {
        self.line
            .due_before(until)
            .filter_map(|(_, id)| Some((id, self.line.gates_of(id)?)))
            .map(|(id, gates)| {
                let opening = self.opens(now, gates, Ahead::NOTHING, &Cost::default());
                (id, self.refusal(now, gates, Reason::Deadline, opening))
            })
            .collect()
    }

    /// Whether `later` may start now although `earlier` is blocked: only if `earlier` starts no later for it. A place in
    /// flight is kept for one that starts soon; until a start that is far off, it will be free again.
    fn may_pass(
        &self,
        now: Timestamp,
        later: &Ticket,
        earlier: &Ticket,
        opening: &Opening,
    ) -> bool {
        let start = opening.earliest().max(now);
        let ahead = Ahead::one(&later.cost);
        later
            .gates
            .iter()
            .filter(|index| earlier.gates.contains(*index))
            .filter_map(|index| self.gates.get(index))
            .map(|gate| gate.opens(now, ahead, &earlier.cost))
            .all(|after| {
                if start <= now + SOON {
                    after.opens_by(start)
                } else {
                    after.opens_by_with_completions(start)
                }
            })
    }

    /// When time alone brings what both need of the gates that they share; `None` if it never does.
    fn room_for_both(&self, now: Timestamp, later: &Ticket, earlier: &Ticket) -> Option<Deadline> {
        let ahead = Ahead::one(&later.cost);
        let opening = |at| {
            let shared = later
                .gates
                .iter()
                .filter(|index| earlier.gates.contains(*index));
            shared
                .filter_map(|index| self.gates.get(index))
                .fold(Opening::NOW, |opening, gate| {
                    opening.and(gate.opens(at, ahead, &earlier.cost))
                })
        };
        let mut at = now;
        for _ in 0..LOOKS {
            at = opening(at).look_again(at).filter(|again| again.at > at)?.at;
            if opening(at).opens_by(at) {
                return Some(Deadline::new(at, Reason::Turn));
            }
        }
        None
    }

    /// Those of a lane whose time ends before its head can possibly start; `opening` is no earlier than that.
    fn hopeless(
        &self,
        now: Timestamp,
        head: &Ticket,
        opening: Opening,
    ) -> Vec<(TicketId, Refusal)> {
        let mut due = self.line.due_in(head.gates, opening.earliest());
        if due.next().is_none() {
            return Vec::new();
        }
        let bounds = self.bounds(now, head.gates, Ahead::NOTHING, &head.cost);
        self.line
            .due_in(head.gates, bounds.earliest())
            .map(|id| (id, self.refusal(now, head.gates, Reason::Deadline, bounds)))
            .collect()
    }

    fn admit(&mut self, now: Timestamp, id: TicketId) {
        let Some((ticket, reason)) = self.line.leave(id) else {
            return;
        };
        self.line.yielded(ticket.gates, ticket.place);
        let waited = now.since(ticket.joined);
        let mut sent = self.take(now, ticket.gates, ticket.cost, ticket.refused);
        sent.route = ticket.route;
        self.leaves(&mut sent);
        self.effects.push_back(Effect::Admitted {
            ticket: id,
            sent,
            waited,
            reason,
        });
    }

    pub(super) fn refuse(&mut self, id: TicketId, refusal: Refusal) {
        if self.line.leave(id).is_some() {
            self.effects.push_back(Effect::Refused {
                ticket: id,
                refusal,
            });
        }
    }
}

/// Most requests are over by then.
const SOON: Duration = Duration::from_secs(1);

/// A time may open one part of a gate and leave another that gives up waiting for an end later; there are not more kinds.
const LOOKS: usize = 3;

enum Step {
    Admit(TicketId),
    Refuse(Vec<(TicketId, Refusal)>),
    Wait(Option<Deadline>, Vec<Call>),
}

fn sooner(a: Option<Deadline>, b: Option<Deadline>) -> Option<Deadline> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
        (a, b) => a.or(b),
    }
}
