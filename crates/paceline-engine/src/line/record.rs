//! The line as bytes: its tickets, in any order.

use super::{Lane, Line, Ticket};
use crate::gates::GateSet;
use crate::owner::Owner;
use crate::record::encode_into;
use crate::{Reason, Timestamp};

impl Line {
    /// Its tickets, if any came, went or yielded since it was saved last.
    pub(crate) fn save(&mut self, into: &mut Vec<u8>) -> bool {
        let changed = core::mem::take(&mut self.changed);
        if changed {
            let tickets: Vec<_> = self.tickets().collect();
            encode_into(&tickets, into);
        }
        changed
    }

    pub(crate) fn tickets_of(&self, owner: Option<Owner>) -> Vec<Ticket> {
        let own = self.tickets().filter(|ticket| ticket.owner == owner);
        own.cloned().collect()
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

    /// One that stood in a line that was lost, whose place may be somebody else's by now.
    pub(crate) fn squeeze_in(&mut self, now: Timestamp, mut ticket: Ticket) {
        while self.spots.values().any(|spot| spot.place == ticket.place) {
            ticket.place.arrival += 1;
        }
        self.join(now, ticket);
    }

    /// All of it has to be saved.
    pub(crate) const fn touch(&mut self) {
        self.changed = true;
    }
}
