//! Those who wait: their wakers, their answers, and which of them keeps the time.

use core::time::Duration;
use std::collections::BTreeMap;
use std::task::Waker;

use paceline_engine::{Deadline, Effect, Effects, Owner, TicketId, Timestamp};

use super::Answer;
use crate::telemetry::Telemetry;

/// A task that polls its futures only now and then (`buffer_unordered`, whose items take long) may hold the keeper, and is
/// found out by those who rest: all of them together look about four times a second.
const LOOK_AFTER: Duration = Duration::from_millis(250);
/// In a line so long that each would look less often than this, there are more looks.
const LONGEST_REST: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Waiters {
    waiting: BTreeMap<TicketId, Waiter>,
    answered: BTreeMap<TicketId, Answer>,
    /// Who sleeps until the deadline for all.
    keeper: Option<TicketId>,
    due: Option<Timestamp>,
    /// Until when the keeper sleeps.
    armed: Option<Timestamp>,
    woken: Vec<Waker>,
    /// Others who share the line and have to look.
    called: Vec<Owner>,
}

#[derive(Debug, Default)]
struct Waiter {
    waker: Option<Waker>,
}

/// Wakers to call once the lock is released.
#[must_use]
pub(super) struct Woken(Vec<Waker>);

impl Woken {
    pub(super) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

/// What a waiter does next.
#[derive(Debug)]
pub(super) enum Turn {
    Answered(Answer),
    /// Somebody else keeps the time: look again when this long has passed and nothing was heard.
    Rest(Duration),
    /// This one keeps the time: sleep until then (or until woken), then look again.
    Keep(Option<Timestamp>),
}

impl Waiters {
    pub(super) fn add(&mut self, ticket: TicketId) {
        self.waiting.insert(ticket, Waiter::default());
    }

    /// Hands the effects of an input to those whom they concern.
    pub(super) fn apply(
        &mut self,
        mut effects: Effects<'_>,
        telemetry: &Telemetry,
    ) -> Option<Deadline> {
        for effect in effects.by_ref() {
            match effect {
                Effect::Admitted {
                    ticket,
                    sent,
                    waited,
                    reason,
                } => {
                    telemetry.waited(&sent, waited, reason);
                    self.answer(ticket, Answer::Admitted(sent, waited, reason));
                }
                Effect::Refused { ticket, refusal } => {
                    self.answer(ticket, Answer::Refused(refusal));
                }
                Effect::Event(event) => telemetry.event(&event),
                Effect::Call { owner } => self.called.push(owner),
                _ => {}
            }
        }
        effects.finish()
    }

    /// Whom to call once the lock is released.
    pub(super) fn called(&mut self) -> Vec<Owner> {
        core::mem::take(&mut self.called)
    }

    /// Takes note of the next deadline and sees to it that somebody sleeps no longer than that, or than until `look` where
    /// the line is shared.
    pub(super) fn arm(&mut self, due: Option<Deadline>, look: Option<Timestamp>) -> Woken {
        self.due = due.map(|deadline| deadline.at);
        if !self.waiting.is_empty()
            && let Some(look) = look
        {
            self.due = Some(self.due.map_or(look, |due| due.min(look)));
        }
        if !self
            .keeper
            .is_some_and(|keeper| self.waiting.contains_key(&keeper))
        {
            // The latest arrival is likely to wait longest, so the time is handed over least often. Who was never polled
            // may never be.
            let mut looking = self.waiting.iter().rev();
            let latest = looking
                .find(|(_, waiter)| waiter.waker.is_some())
                .or_else(|| self.waiting.last_key_value());
            self.keeper = latest.map(|(ticket, _)| *ticket);
            self.armed = None;
        }
        let late = match (self.due, self.armed) {
            (Some(due), Some(armed)) => due < armed,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if late
            && let Some(waiter) = self.keeper.and_then(|keeper| self.waiting.get_mut(&keeper))
            && let Some(waker) = waiter.waker.take()
        {
            self.woken.push(waker);
        }
        Woken(core::mem::take(&mut self.woken))
    }

    /// What `ticket` does next; its waker is kept if it rests or sleeps. The one that was kept before comes back, for the
    /// caller to drop once the lock is released: with it may go its task, and all that the task has in line.
    pub(super) fn turn(&mut self, ticket: TicketId, waker: &Waker) -> (Turn, Option<Waker>) {
        if let Some(answer) = self.answered.remove(&ticket) {
            return (Turn::Answered(answer), None);
        }
        if !self.keeper_looks() {
            self.keeper = Some(ticket);
        }
        let patience = self.patience();
        let Some(waiter) = self.waiting.get_mut(&ticket) else {
            return (Turn::Rest(patience), None);
        };
        let before = match &waiter.waker {
            Some(own) if own.will_wake(waker) => None,
            _ => waiter.waker.replace(waker.clone()),
        };
        let turn = if self.keeper == Some(ticket) {
            self.armed = self.due;
            Turn::Keep(self.due)
        } else {
            Turn::Rest(patience)
        };
        (turn, before)
    }

    /// `ticket` keeps the time from now on, because it looked first.
    pub(super) fn take_over(&mut self, ticket: TicketId) {
        if self.waiting.contains_key(&ticket) {
            self.keeper = Some(ticket);
        }
    }

    /// Whether the keeper sleeps, and so will look by itself: it was polled and has not been woken since.
    fn keeper_looks(&self) -> bool {
        let keeper = self.keeper.and_then(|keeper| self.waiting.get(&keeper));
        keeper.is_some_and(|keeper| keeper.waker.is_some())
    }

    /// How long one of those who rest waits before it looks after the keeper.
    fn patience(&self) -> Duration {
        let waiting = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        LOOK_AFTER.saturating_mul(waiting).min(LONGEST_REST)
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// A waiter goes away; its answer, if it had one already, and its waker, as in [`turn`](Self::turn).
    pub(super) fn remove(&mut self, ticket: TicketId) -> (Option<Answer>, Option<Waker>) {
        let waker = self.waiting.remove(&ticket).and_then(|waiter| waiter.waker);
        (self.answered.remove(&ticket), waker)
    }

    fn answer(&mut self, ticket: TicketId, answer: Answer) {
        if let Some(waiter) = self.waiting.remove(&ticket) {
            self.woken.extend(waiter.waker);
            self.answered.insert(ticket, answer);
        }
    }
}
