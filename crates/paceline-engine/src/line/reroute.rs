//! Tickets that need other gates than when they joined: they move to another lane, each to its place.

use std::collections::BTreeSet;

use super::{Line, Ticket};
use crate::gates::GateSet;
use crate::{RouteKey, Timestamp};

impl Line {
    /// Whoever waits and takes this route needs the gates that `to` makes of those it needed.
    pub(crate) fn reroute(
        &mut self,
        now: Timestamp,
        route: RouteKey,
        to: impl Fn(GateSet) -> GateSet,
    ) {
        let mut moved = Vec::new();
        for (gates, lane) in &self.lanes {
            if to(*gates) != *gates {
                let all = lane.ready.values().chain(lane.delayed.values());
                let on_route = all.filter(|ticket: &&Ticket| ticket.route == Some(route));
                moved.extend(on_route.map(|ticket| ticket.id));
            }
        }
        for id in moved {
            if let Some((mut ticket, _)) = self.leave(id) {
                ticket.gates = to(ticket.gates);
                self.join(now, ticket);
            }
        }
    }

    /// The gates that somebody waits for.
    pub(crate) fn gates_waited_for(&self) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for gates in self.lanes.keys() {
            all.extend(gates.iter());
        }
        all
    }
}
