//! What the hidden limit is believed to be, learned from answers in send order.
//!
//! The seam: every send is announced with its order, every answer comes with the order of its send, and the gate asks for
//! the earliest start that the belief finds admissible. Whatever learns better replaces `spacing.rs` and nothing else.

mod spacing;

use core::time::Duration;

use crate::Timestamp;
use crate::opening::Opening;
use spacing::Spacing;

/// What an answer says about a limit on the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The upstream took the request.
    Accepted,
    /// It refused because of a limit.
    Refused,
}

/// The learned pace of one gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Belief {
    spacing: Spacing,
    /// From before the run of refusals that is going on: an outage must not be taken for a limit.
    before: Option<Spacing>,
}

impl Belief {
    /// A request leaves.
    pub(crate) const fn sent(&mut self, now: Timestamp) {
        self.spacing.sent(now);
    }

    /// The request that left at `taken` did not leave after all.
    pub(crate) fn unsent(&mut self, taken: Timestamp) {
        self.spacing.unsent(taken);
    }

    /// An answer to the request that left as `order` at `sent`; `next_order` is the order that the next one will have.
    pub(crate) fn observe(&mut self, sent: Timestamp, order: u64, next_order: u64, seen: Evidence) {
        match seen {
            Evidence::Accepted => {
                if self.spacing.accepted(order) {
                    self.before = None;
                }
            }
            Evidence::Refused => {
                let before = self.spacing.clone();
                if self.spacing.refused(sent, order, next_order) {
                    self.before.get_or_insert(before);
                }
            }
        }
    }

    /// A run of refusals that had opened the circuit ended after `refused_for`: it may have been an outage, or a limit so
    /// slow that this is its interval.
    pub(crate) fn run_ended(&mut self, next_order: u64, refused_for: Duration) {
        match self.before.take() {
            Some(before) if !before.interval().is_zero() => self.spacing.restore(before),
            _ => self.spacing.try_after(refused_for),
        }
        self.spacing.all_stale(next_order);
    }

    /// Nothing is believed: no refusal, or none that still matters.
    pub(crate) const fn is_idle(&self) -> bool {
        self.spacing.interval().is_zero()
    }

    pub(crate) fn opens(&self, ahead: u64) -> Opening {
        self.spacing.opens(ahead)
    }

    /// The time between two starts; zero when no limit is believed in.
    pub(crate) const fn interval(&self) -> Duration {
        self.spacing.interval()
    }

    /// Fresh refusals that shaped it, and answers taken since the last of them.
    pub(crate) const fn grounds(&self) -> (u64, u64) {
        self.spacing.grounds()
    }
}
