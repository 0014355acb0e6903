//! The gates of a request, those included that are found for its route.

use super::Engine;
use super::found::{Found, Room, Way};
use crate::gate::Gate;
use crate::gates::GateSet;
use crate::ticket::Want;
use crate::{FindGates, GatesBy, Observation, RouteKey, Timestamp};

impl Engine {
    /// From now on gates are found for requests that name their route. Call it once, after the last
    /// [`add_gate`](Self::add_gate).
    ///
    /// A route whose gate is not known gets one of its own. When a response names the route's bucket, that gate becomes the
    /// bucket's, or the route and whoever waits for it move to the gate that the bucket has already, each to its place in
    /// line. There are at most 512; then those are used again that have been idle longest, and if all are busy, whoever
    /// comes shares the last.
    pub fn find_gates(&mut self, rule: FindGates) {
        self.found = Some(Box::new(Found::new(rule)));
    }

    /// The gates that a request is charged to; those of its route are found if they are not known.
    pub fn gates_for(&mut self, now: Timestamp, want: &Want) -> GateSet {
        let gates = self.placed_set(want.gates);
        let (Some(found), Some(route)) = (self.found.as_mut(), want.route) else {
            return gates;
        };
        let way = found.visit(route);
        let way = way.or_else(|| self.first_way(now, route));
        way.map_or(gates, |way| way.on_top_of(gates))
    }

    /// The same, as far as they are known.
    pub(super) fn known_gates_for(&self, want: &Want) -> GateSet {
        let found = self.found.as_ref();
        let way = found.and_then(|found| {
            let rest = || found.rest().map(Way::to);
            found.look(want.route?).or_else(rest)
        });
        let gates = self.placed_set(want.gates);
        way.map_or(gates, |way| way.on_top_of(gates))
    }

    /// A request that wants it through all the gates that are known.
    pub(super) fn through_known(&self, want: &Want) -> Option<Want> {
        let is_found = self.found.is_some() && want.route.is_some();
        (is_found || self.sharing.is_some()).then(|| Want {
            gates: self.known_gates_for(want),
            ..want.clone()
        })
    }

    /// Whether the gate at `index` was found.
    pub(super) fn is_found(&self, index: usize) -> bool {
        self.found.as_ref().is_some_and(|found| found.has(index))
    }

    /// Nobody goes through it any more: its only route is in a bucket that has another gate.
    pub(super) fn is_left(&self, gate: usize) -> bool {
        let found = self.found.as_ref();
        found.is_some_and(|found| found.is_left(gate))
    }

    fn first_way(&mut self, now: Timestamp, route: RouteKey) -> Option<Way> {
        let presumed = self.found.as_ref()?.presumed(route);
        let presumed: Option<Box<str>> = presumed.map(Into::into);
        let (gate, own) = self.make_gate(now, presumed.as_deref(), route.resource)?;
        let way = Way::to(gate);
        if own {
            self.found.as_mut()?.route(route, way);
        }
        Some(way)
    }

    /// What a response says of its route: the gate that it speaks of. Requests that wait for their turn elsewhere move there.
    pub(super) fn told(
        &mut self,
        now: Timestamp,
        route: RouteKey,
        seen: &Observation,
    ) -> Option<u16> {
        let found = self.found.as_mut()?;
        let way = found.look(route);
        let named = seen.bucket.as_deref();
        let Some(name) = named.filter(|_| found.rule.by == GatesBy::Bucket) else {
            let way = way.or_else(|| found.rest().map(Way::to));
            return way.map(|way| way.gate);
        };
        let refused = seen.verdict.is_refusal();
        let own = way.filter(|way| found.is_provisional(way.gate));
        let known = found.bucket(name, route.resource);
        if !refused || own.is_some() {
            found.told(route, name);
        }
        let gate = match (known, own, way) {
            (Some(gate), _, Some(way)) if way.has(gate) && (refused || way.gate == gate) => {
                return Some(gate);
            }
            (Some(gate), ..) => gate,
            (None, Some(own), _) => {
                found.name(own.gate, name, route.resource);
                self.rename(own.gate, Some(name));
                return Some(own.gate);
            }
            (None, None, _) => {
                let (gate, own) = self.make_gate(now, Some(name), route.resource)?;
                if !own {
                    return Some(gate);
                }
                gate
            }
        };
        let found = self.found.as_mut()?;
        // Making room may have taken the one where it was.
        let way = found.look(route);
        let to = match way {
            Some(way) if own.is_none() => Found::moved(way, gate, refused),
            _ => Way::to(gate),
        };
        if let Some(own) = own {
            found.leave(own.gate);
        }
        found.route(route, to);
        self.line.reroute(now, route, |gates| {
            to.on_top_of(gates.without(|index| found.has(index)))
        });
        Some(gate)
    }

    /// A gate for a bucket, or for a route whose bucket is not known; `false` if it is shared by all for whom there is no
    /// room.
    fn make_gate(
        &mut self,
        now: Timestamp,
        bucket: Option<&str>,
        resource: Option<u64>,
    ) -> Option<(u16, bool)> {
        let Self {
            found, gates, line, ..
        } = self;
        let found = found.as_mut()?;
        let waited_for = line.gates_waited_for();
        let room = found.make_room(gates.len(), |index| {
            gates.get(index).is_some_and(|gate| gate.is_idle(now)) && !waited_for.contains(&index)
        });
        let cold_start = match found.rule.by {
            GatesBy::Bucket if bucket.is_none() => Some(found.rule.cold_start.unwrap_or(1)),
            _ => found.rule.cold_start,
        };
        let index = match room {
            Room::Again(index) => index,
            Room::New | Room::Rest(_) => u16::try_from(gates.len()).ok()?,
            Room::Full(index) => return Some((index, false)),
            Room::None => return None,
        };
        let mut gate = Gate::new("", now, Vec::new());
        if let Some(most) = cold_start {
            gate.cold_start(most);
        }
        if gates.first().is_some_and(Gate::has_served) {
            gate.is_alive();
        }
        match gates.get_mut(usize::from(index)) {
            Some(own) => *own = gate,
            None => gates.push(gate),
        }
        let own = !matches!(room, Room::Rest(_));
        if own && let Some(name) = bucket {
            found.name(index, name, resource);
        }
        self.rename(index, bucket.filter(|_| own));
        Some((index, own))
    }

    /// What people see: the upstream's name, and the bucket's if that is a plain word.
    fn rename(&mut self, gate: u16, bucket: Option<&str>) {
        let found = self.found.as_ref();
        let number = found.map_or(0, |found| found.number(gate));
        let upstream = self.gates.first().map_or("", Gate::name);
        let plain = |word: &&str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
            word.len() <= LONGEST_WORD && word.bytes().all(plain)
        };
        let name = match bucket.filter(plain) {
            Some(word) => format!("{upstream} {word} #{number}"),
            None => format!("{upstream} #{number}"),
        };
        if let Some(gate) = self.gates.get_mut(usize::from(gate)) {
            gate.rename(&name);
        }
    }
}

/// Longer words are no names that a person gave.
const LONGEST_WORD: usize = 40;
