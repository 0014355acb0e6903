//! A line of requests that wait for their start, and the one alarm that calls the first of them.

use std::collections::VecDeque;

use paceline_engine::Timestamp;

use crate::client::Orders;

/// First come, first served.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiting: VecDeque<u64>,
    /// Of the alarms ordered, only the latest counts.
    alarm: Option<Timestamp>,
}

impl Line {
    pub(super) fn join(&mut self, request: u64) {
        self.waiting.push_back(request);
    }

    pub(super) fn leave(&mut self) -> Option<u64> {
        self.waiting.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether an alarm is ordered that has not yet come.
    pub(super) fn is_called(&self) -> bool {
        self.alarm.is_some()
    }

    /// Asks to be woken for the first in line, unless that is already ordered.
    pub(super) fn call_at(&mut self, at: Timestamp, orders: &mut Orders) {
        if self.alarm != Some(at) {
            self.alarm = Some(at);
            orders.wake(at, ALARM);
        }
    }

    /// Whether a wake-up is the line's, and not one that it has since replaced.
    pub(super) fn comes(&mut self, now: Timestamp) -> bool {
        let comes = self.alarm == Some(now);
        if comes {
            self.alarm = None;
        }
        comes
    }
}

/// The token of the line's own wake-ups; no request has this number.
pub(super) const ALARM: u64 = u64::MAX;
