//! The waiting line: by priority, then by first arrival, with ageing.
//!
//! A place in the line is a rank: the time of first arrival plus an allowance that is larger the less a request matters.
//! The order is the order of ranks, so nothing is ever sorted anew, and whoever waited longer than the difference of the
//! allowances goes first whatever its priority.
//!
//! Requests that need the same gates stand in one lane. Within a lane the order is strict.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use minicbor::{Decode, Encode};

use crate::cost::{Ahead, Cost};
use crate::gates::GateSet;
use crate::owner::Owner;
use crate::retry::Neighbours;
use crate::{Priority, Reason, RouteKey, Timestamp, Unit};

mod record;
mod reroute;

/// A request waiting for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct TicketId(#[n(0)] pub(crate) u64);

/// A place in the order, kept through all attempts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Place {
    #[n(0)]
    rank: Timestamp,
    #[n(1)]
    arrival: u64,
}

impl Place {
    pub(crate) fn new(now: Timestamp, priority: Priority, arrival: u64) -> Self {
        Self {
            rank: now + allowance(priority),
            arrival,
        }
    }
}

/// How much longer a request waits before it goes ahead of later ones that matter more.
const fn allowance(priority: Priority) -> Duration {
    match priority {
        Priority::Interactive => Duration::ZERO,
        Priority::Normal => Duration::from_secs(10),
        Priority::Background => Duration::from_secs(60),
    }
}

/// One ticket.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct Ticket {
    #[n(0)]
    pub(crate) id: TicketId,
    /// Whose it is, where several share the line.
    #[n(1)]
    pub(crate) owner: Option<Owner>,
    #[n(2)]
    pub(crate) place: Place,
    #[n(3)]
    pub(crate) gates: GateSet,
    #[n(4)]
    pub(crate) cost: Cost,
    #[n(5)]
    pub(crate) deadline: Option<Timestamp>,
    #[n(6)]
    pub(crate) not_before: Timestamp,
    #[n(7)]
    pub(crate) joined: Timestamp,
    /// So many that come after it in its lane go first: it was refused again and again, they may show that it is alone.
    #[n(8)]
    pub(crate) yields: u32,
    /// Where gates are found from responses.
    #[n(9)]
    pub(crate) route: Option<RouteKey>,
    /// How its neighbours had been answered when it was refused last.
    #[n(10)]
    pub(crate) refused: Option<Neighbours>,
}

/// All waiting tickets of one pace line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    lanes: BTreeMap<GateSet, Lane>,
    spots: BTreeMap<TicketId, Spot>,
    deadlines: BTreeSet<(Timestamp, TicketId)>,
    /// Somebody came, went or yielded since it was saved.
    changed: bool,
}

/// Where a ticket is found.
#[derive(Clone, Copy, Debug)]
struct Spot {
    gates: GateSet,
    place: Place,
    not_before: Timestamp,
    owner: Option<Owner>,
}

/// Those who need the same gates.
#[derive(Clone, Debug, Default)]
struct Lane {
    ready: BTreeMap<Place, Ticket>,
    /// Their own delay is not over.
    delayed: BTreeMap<(Timestamp, Place), Ticket>,
    deadlines: BTreeSet<(Timestamp, TicketId)>,
    /// What those who are ready cost together, in requests.
    ready_cost: u128,
    blocked_by: Option<Reason>,
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.spots.len()
    }

    pub(crate) fn join(&mut self, now: Timestamp, ticket: Ticket) {
        self.changed = true;
        let spot = Spot {
            gates: ticket.gates,
            place: ticket.place,
            not_before: ticket.not_before,
            owner: ticket.owner,
        };
        self.spots.insert(ticket.id, spot);
        let lane = self.lanes.entry(ticket.gates).or_default();
        if let Some(deadline) = ticket.deadline {
            self.deadlines.insert((deadline, ticket.id));
            lane.deadlines.insert((deadline, ticket.id));
        }
        if ticket.not_before > now {
            lane.delayed
                .insert((ticket.not_before, ticket.place), ticket);
        } else {
            lane.stand(ticket);
        }
    }

    /// Takes a ticket out; with it comes what its lane waited for last.
    pub(crate) fn leave(&mut self, id: TicketId) -> Option<(Ticket, Reason)> {
        let Spot {
            gates,
            place,
            not_before,
            ..
        } = self.spots.remove(&id)?;
        self.changed = true;
        let lane = self.lanes.get_mut(&gates)?;
        let ticket = match lane.ready.remove(&place) {
            Some(ticket) => {
                lane.ready_cost -= u128::from(ticket.cost.of(&Unit::Requests));
                ticket
            }
            None => lane.delayed.remove(&(not_before, place))?,
        };
        if let Some(deadline) = ticket.deadline {
            lane.deadlines.remove(&(deadline, id));
        }
        let reason = lane.blocked_by.unwrap_or(Reason::Turn);
        if lane.ready.is_empty() && lane.delayed.is_empty() {
            self.lanes.remove(&gates);
        }
        if let Some(deadline) = ticket.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some((ticket, reason))
    }

    /// Notes what the head of a lane waits for.
    pub(crate) fn blocked(&mut self, gates: GateSet, reason: Reason) {
        if let Some(lane) = self.lanes.get_mut(&gates) {
            lane.blocked_by = Some(reason);
        }
    }

    /// Lets those whose own delay is over stand in line.
    pub(crate) fn promote(&mut self, now: Timestamp) {
        for lane in self.lanes.values_mut() {
            while let Some(entry) = lane.delayed.first_entry()
                && entry.key().0 <= now
            {
                let ticket = entry.remove();
                lane.stand(ticket);
            }
        }
    }

    /// The first of every lane, in the order of the line.
    pub(crate) fn heads(&self) -> Vec<&Ticket> {
        let mut heads: Vec<_> = self.lanes.values().filter_map(Lane::head).collect();
        heads.sort_by_key(|ticket| ticket.place);
        heads
    }

    /// Somebody at `place` went: whoever stands before it and yields has yielded once more.
    pub(crate) fn yielded(&mut self, gates: GateSet, place: Place) {
        if let Some(lane) = self.lanes.get_mut(&gates) {
            for (_, ticket) in lane.ready.range_mut(..place) {
                self.changed |= ticket.yields > 0;
                ticket.yields = ticket.yields.saturating_sub(1);
            }
        }
    }

    /// What is sure to start before a newcomer at `place`: all of its own lane, if it comes last there.
    pub(crate) fn ahead_of(&self, gates: GateSet, place: Place) -> Ahead<'static> {
        match self.lanes.get(&gates) {
            Some(lane)
                if lane
                    .ready
                    .last_key_value()
                    .is_some_and(|(last, _)| *last < place) =>
            {
                let cost = u64::try_from(lane.ready_cost).unwrap_or(u64::MAX);
                Ahead::line(lane.ready.len() as u64, cost)
            }
            _ => Ahead::NOTHING,
        }
    }

    /// Those whose deadline is before `until`, earliest first.
    pub(crate) fn due_before(
        &self,
        until: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, TicketId)> {
        self.deadlines
            .iter()
            .take_while(move |(deadline, _)| *deadline < until)
            .copied()
    }

    /// Those of one lane whose deadline is before `until`, earliest first: where there are many lanes, a look at all who wait
    /// for each of them would take too long.
    pub(crate) fn due_in(
        &self,
        gates: GateSet,
        until: Timestamp,
    ) -> impl Iterator<Item = TicketId> {
        let lane = self.lanes.get(&gates);
        let deadlines = lane.into_iter().flat_map(|lane| &lane.deadlines);
        deadlines
            .take_while(move |(deadline, _)| *deadline < until)
            .map(|(_, id)| *id)
    }

    pub(crate) fn gates_of(&self, id: TicketId) -> Option<GateSet> {
        self.spots.get(&id).map(|spot| spot.gates)
    }

    pub(crate) fn owner_of(&self, id: TicketId) -> Option<Owner> {
        self.spots.get(&id)?.owner
    }

    /// The next instant at which a ticket of `owner` changes by itself: its delay or its deadline ends.
    pub(crate) fn next_change(&self, owner: Option<Owner>) -> Option<(Timestamp, Reason)> {
        let delays = self.lanes.values().filter_map(|lane| {
            let mut delayed = lane.delayed.iter();
            let own = delayed.find(|(_, ticket)| ticket.owner == owner);
            own.map(|((at, _), _)| *at)
        });
        let delay = delays.min().map(|at| (at, Reason::Backoff));
        let mut deadlines = self.deadlines.iter();
        let deadline = deadlines
            .find(|(_, id)| self.owner_of(*id) == owner)
            .map(|(at, _)| (*at, Reason::Deadline));
        match (delay, deadline) {
            (Some(delay), Some(deadline)) => Some(if deadline.0 < delay.0 {
                deadline
            } else {
                delay
            }),
            (delay, deadline) => delay.or(deadline),
        }
    }

    /// How many wait for a gate.
    pub(crate) fn waiting_for(&self, gate: usize) -> u64 {
        self.lanes
            .iter()
            .filter(|(gates, _)| gates.contains(gate))
            .map(|(_, lane)| (lane.ready.len() + lane.delayed.len()) as u64)
            .sum()
    }

    /// The tickets of `owner`.
    pub(crate) fn ids_of(&self, owner: Option<Owner>) -> Vec<TicketId> {
        let own = self.spots.iter().filter(|(_, spot)| spot.owner == owner);
        own.map(|(id, _)| *id).collect()
    }

    pub(crate) fn has(&self, owner: Option<Owner>) -> bool {
        self.spots.values().any(|spot| spot.owner == owner)
    }

    /// All tickets, whether they stand in line or their own delay is not over.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        let lanes = self.lanes.values();
        lanes.flat_map(|lane| lane.ready.values().chain(lane.delayed.values()))
    }

    /// The tickets of one lane that stand in line, for when none of them can ever start.
    pub(crate) fn ready_in(&self, gates: GateSet) -> Vec<TicketId> {
        self.lanes
            .get(&gates)
            .map_or_else(Vec::new, |lane| lane.ready.values().map(|t| t.id).collect())
    }
}

impl Lane {
    fn stand(&mut self, ticket: Ticket) {
        self.ready_cost += u128::from(ticket.cost.of(&Unit::Requests));
        self.ready.insert(ticket.place, ticket);
    }

    /// The first that does not yield; if all do, the first.
    fn head(&self) -> Option<&Ticket> {
        let mut ready = self.ready.values();
        ready
            .find(|ticket| ticket.yields == 0)
            .or_else(|| self.ready.values().next())
    }
}
