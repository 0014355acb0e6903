//! Sends and their answers, brought into the order of the sends.
//!
//! Answers overtake each other; a limit was spent in the order in which requests left. So an answer waits for those that
//! left before it, but not for ever: one that takes much longer than the others is passed over.

use std::collections::VecDeque;

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, counts, ensure, numbers};

/// Sends that are not judged yet.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct Journal {
    #[n(0)]
    sends: VecDeque<Send>,
    /// A smoothed time from send to answer, in seconds, of what was accepted: refusals are quick. None yet: `None`.
    #[n(1)]
    trip: Option<f64>,
    #[n(2)]
    unanswered: u64,
    #[n(3)]
    answers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub(super) struct Send {
    #[n(0)]
    pub(super) order: u64,
    #[n(1)]
    pub(super) at: f64,
    #[n(2)]
    pub(super) answer: Option<bool>,
    /// How many answers had come when it left.
    #[n(3)]
    pub(super) after: u64,
    /// The pause that a refusal asked for.
    #[n(4)]
    pub(super) asked: f64,
    /// Which answer in the order of arrival.
    #[n(5)]
    pub(super) arrived: u64,
}

/// More are not kept waiting for their order.
const KEPT: usize = 256;
/// An answer is late after so many usual trips and some seconds more, or after this as long as no trip is known.
const LATE: f64 = 3.0;
const SLACK: f64 = 0.05;
const A_TRIP: f64 = 1.0;

impl Journal {
    pub(super) fn sent(&mut self, order: u64, at: f64) {
        self.sends.push_back(Send {
            order,
            at,
            answer: None,
            after: self.answers,
            asked: 0.0,
            arrived: u64::MAX,
        });
        self.unanswered += 1;
    }

    /// An answer to one that was not noted when it left.
    pub(super) fn stranger(
        &mut self,
        now: f64,
        order: u64,
        at: f64,
        accepted: bool,
        asked: f64,
    ) -> Send {
        self.answers += 1;
        if accepted {
            self.travelled(now - at);
        }
        Send {
            order,
            at,
            after: 0,
            answer: Some(accepted),
            asked,
            arrived: self.answers,
        }
    }

    /// It was not sent after all, or nobody will tell. Says whether it waited for an answer.
    pub(super) fn forget(&mut self, order: u64) -> bool {
        let place = self.sends.binary_search_by_key(&order, |send| send.order);
        let Some(index) = place
            .ok()
            .filter(|index| self.sends[*index].answer.is_none())
        else {
            return false;
        };
        self.sends.remove(index);
        self.unanswered = self.unanswered.saturating_sub(1);
        true
    }

    /// Notes an answer. Says whether its send is known.
    pub(super) fn answered(&mut self, now: f64, order: u64, accepted: bool, asked: f64) -> bool {
        let Ok(index) = self.sends.binary_search_by_key(&order, |send| send.order) else {
            return false;
        };
        let send = &mut self.sends[index];
        if send.answer.is_none() {
            send.answer = Some(accepted);
            send.asked = asked;
            self.answers += 1;
            send.arrived = self.answers;
            self.unanswered = self.unanswered.saturating_sub(1);
            if accepted {
                let trip = now - send.at;
                self.travelled(trip);
            }
        }
        true
    }

    /// The next send in order that can be judged; `answer` is `None` if it is passed over. What left at the same instant
    /// is in the order of its answers.
    pub(super) fn next(&mut self, now: f64) -> Option<Send> {
        let front = *self.sends.front()?;
        let together = self.sends.iter().take_while(|send| send.at == front.at);
        let (index, first) = together.enumerate().min_by_key(|(_, send)| send.arrived)?;
        if first.answer.is_some() {
            return self.sends.remove(index);
        }
        let late = now - front.at > self.patience();
        let overtaken = late && self.sends.iter().any(|send| send.answer.is_some());
        if !overtaken && self.sends.len() <= KEPT {
            return None;
        }
        self.unanswered = self.unanswered.saturating_sub(1);
        self.sends.pop_front()
    }

    /// Sends that have not been judged.
    pub(super) fn pending(&self) -> usize {
        self.sends.len()
    }

    pub(super) const fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// How many answers have come.
    pub(super) const fn answers(&self) -> u64 {
        self.answers
    }

    /// How long an answer is waited for.
    pub(super) fn patience(&self) -> f64 {
        self.trip.map_or(A_TRIP, |trip| LATE * trip + SLACK)
    }

    fn travelled(&mut self, trip: f64) {
        let usual = self.trip.get_or_insert(trip);
        *usual += (trip - *usual) / 8.0;
    }
}

impl Sound for Journal {
    fn check(&self) -> Result<(), Flaw> {
        counts([self.unanswered, self.answers])?;
        numbers([self.trip.unwrap_or(A_TRIP)])?;
        let mut sends = self.sends.iter();
        sends.try_for_each(|send| {
            let known = send.answer.is_none() || send.arrived <= self.answers;
            ensure(known, "an answer to come")?;
            numbers([send.at, send.asked])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders that can be judged at `now`, and whether they were answered.
    fn judged(journal: &mut Journal, now: f64) -> Vec<(u64, Option<bool>)> {
        core::iter::from_fn(|| journal.next(now))
            .map(|send| (send.order, send.answer))
            .collect()
    }

    fn sent(at: &[f64]) -> Journal {
        let mut journal = Journal::default();
        for (order, at) in (1..).zip(at) {
            journal.sent(order, *at);
        }
        journal
    }

    #[test]
    fn an_answer_waits_for_those_that_left_before_it() {
        let mut journal = sent(&[0.0, 0.1, 0.2]);
        assert!(journal.answered(0.3, 3, true, 0.0));
        assert!(journal.answered(0.3, 2, false, 0.0));
        assert_eq!(judged(&mut journal, 0.3), []);
        assert!(journal.answered(0.35, 1, true, 0.0));
        let all = [(1, Some(true)), (2, Some(false)), (3, Some(true))];
        assert_eq!(judged(&mut journal, 0.35), all);
    }

    #[test]
    fn one_that_takes_much_longer_is_passed_over_and_its_answer_is_a_stranger() {
        let mut journal = sent(&[0.0, 0.1]);
        journal.answered(0.2, 2, true, 0.0);
        assert_eq!(judged(&mut journal, 0.3), []);
        assert_eq!(judged(&mut journal, 0.5), [(1, None), (2, Some(true))]);
        assert_eq!(journal.unanswered(), 0);
        assert!(!journal.answered(0.6, 1, true, 0.0));
    }

    #[test]
    fn what_left_at_one_instant_is_in_the_order_of_its_answers() {
        let mut journal = sent(&[0.0, 0.0, 0.0]);
        journal.answered(0.0, 3, true, 0.0);
        journal.answered(0.0, 1, false, 0.0);
        assert_eq!(
            judged(&mut journal, 0.0),
            [(3, Some(true)), (1, Some(false))]
        );
    }

    #[test]
    fn nobody_waits_for_what_was_never_sent() {
        let mut journal = sent(&[0.0, 0.1]);
        journal.answered(0.2, 2, true, 0.0);
        assert!(journal.forget(1) && !journal.forget(1));
        assert_eq!(judged(&mut journal, 0.2), [(2, Some(true))]);
        assert_eq!((journal.pending(), journal.unanswered()), (0, 0));
    }
}
