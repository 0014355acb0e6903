//! The line as bytes: its tickets, in any order.

use super::{Lane, Line, Ticket};
use crate::gates::GateSet;
use crate::{Reason, Timestamp};

impl Line {
    /// Its tickets, if any came, went or yielded since it was saved last.
    pub(crate) fn save(&mut self) -> Option<Vec<u8>> {
        if !core::mem::take(&mut self.changed) {
            return None;
        }
        let tickets: Vec<_> = self.tickets().collect();
        Some(crate::record::encode(&tickets))
    }

    /// The same tickets again.
    pub(crate) fn load(&mut self, now: Timestamp, tickets: Vec<Ticket>) {
        let reasons = self
            .lanes
            .iter()
            .map(|(gates, lane)| (*gates, lane.blocked_by));
        let reasons: Vec<(GateSet, Option<Reason>)> = reasons.collect();
        *self = Self::default();
        for ticket in tickets {
            self.join(now, ticket);
        }
        for (gates, reason) in reasons {
            if let Some(Lane { blocked_by, .. }) = self.lanes.get_mut(&gates) {
                *blocked_by = reason;
            }
        }
        self.changed = false;
    }

    /// All of it has to be saved.
    pub(crate) const fn touch(&mut self) {
        self.changed = true;
    }
}
