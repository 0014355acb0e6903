//! What only a gate needs that was found while requests were under way.

use super::{Answered, Change, Gate, is_about_itself};
use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::{Reason, Timestamp};

impl Gate {
    pub(crate) fn rename(&mut self, name: &str) {
        self.name = name.into();
    }

    /// Its upstream has served others: refusals are about the pace and not about whether anybody is there.
    pub(crate) const fn is_alive(&mut self) {
        self.circuit.is_alive();
    }

    /// Nothing is under way, and nothing holds the next one back.
    pub(crate) fn is_idle(&self, now: Timestamp) -> bool {
        let opening = self.opens(now, Ahead::NOTHING, &Cost::default());
        self.in_flight == 0 && opening.is_open(now)
    }

    /// When what was reported to be left is enough for so many more, who may not have to be paid for.
    pub(crate) fn leaves_room(
        &self,
        now: Timestamp,
        ahead: Ahead<'_>,
        more: u64,
        cost: &Cost,
    ) -> Opening {
        let opening = self.windows.room(now, ahead.and(more), cost);
        if more == 0 || opening.is_open(now) {
            return Opening::NOW;
        }
        let again = opening.look_again(now);
        let again = again.map_or(Timestamp::MAX, |again| again.at);
        Opening::completion(Reason::Window, again)
    }

    /// Only its windows of an answer that is about something else.
    pub(crate) fn hear_windows(
        &mut self,
        now: Timestamp,
        answer: Answered<'_>,
        rng: &mut fastrand::Rng,
    ) {
        self.windows
            .answered(answer.told(now), answer.cost, answer.seen, || rng.f64());
        self.belief.unsent(answer.order);
        self.circuit.unsent(now, answer.order);
    }

    /// Windows on an answer to a request that was not charged here.
    pub(crate) fn report(&mut self, now: Timestamp, answer: Answered<'_>, rng: &mut fastrand::Rng) {
        self.windows
            .overheard(answer.told(now), answer.cost, answer.seen, || rng.f64());
    }

    /// An answer that speaks of this gate, to a request that was not charged to it: nothing is learned from its send.
    pub(crate) fn overhear(
        &mut self,
        now: Timestamp,
        answer: Answered<'_>,
        rng: &mut fastrand::Rng,
        changed: &mut dyn FnMut(Change),
    ) {
        self.report(now, answer, rng);
        if answer.seen.is_served() {
            self.cold_start = None;
            self.served_order = self.served_order.max(answer.order);
            self.obey(now, answer, rng, &mut |change| changed(change));
        } else if !is_about_itself(answer.seen) {
            self.heed(now, answer, false, rng, &mut |change| changed(change));
        }
    }
}
