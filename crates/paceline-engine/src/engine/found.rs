//! The book of gates that were found: which route goes to which, and which bucket is whose.
//!
//! It knows no gates, only their indices. What it forgets is found anew.

use std::collections::BTreeMap;

use crate::gates::GateSet;
use crate::{FindGates, GatesBy, RouteKey};

/// More would be more state than a pace is worth, and longer looks at those who wait. Whoever comes when all of them are
/// busy shares the last one.
pub(super) const MOST_FOUND: usize = 512;

/// Several routes for each gate. Whichever were used longest ago are forgotten, a tenth at once, since finding them means
/// looking at all.
const MOST_ROUTES: usize = 8 * MOST_FOUND;

#[derive(Debug)]
pub(super) struct Found {
    pub(super) rule: FindGates,
    gates: BTreeMap<u16, Entry>,
    routes: BTreeMap<RouteKey, Way>,
    buckets: BTreeMap<Box<str>, BTreeMap<Option<u64>, u16>>,
    /// The bucket that a path was in last, whatever its object.
    paths: BTreeMap<u64, Box<str>>,
    /// How many are under way whose bucket is not known, by what they are about.
    doubtful: BTreeMap<Option<u64>, u64>,
    /// Shared by those for whom there is no room.
    rest: Option<u16>,
    /// How many requests have asked.
    asked: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Its bucket has been named.
    named: bool,
    /// What it is about, if its bucket has a gate for each object.
    resource: Option<u64>,
    /// Its only route is in a bucket that has another gate.
    left: bool,
    used: u64,
}

/// Where a route goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) gate: u16,
    /// The bucket that refused it, where that is another than serves it.
    also: Option<u16>,
    used: u64,
}

impl Way {
    pub(super) const fn to(gate: u16) -> Self {
        Self {
            gate,
            also: None,
            used: 0,
        }
    }

    pub(super) fn has(&self, gate: u16) -> bool {
        self.gate == gate || self.also == Some(gate)
    }

    /// With what it is charged to whatever its route.
    pub(super) fn on_top_of(&self, gates: GateSet) -> GateSet {
        let found = [Some(self.gate), self.also].into_iter().flatten();
        found.fold(gates, |gates, own| gates.with(own).unwrap_or(gates))
    }
}

impl Found {
    pub(super) const fn new(rule: FindGates) -> Self {
        Self {
            rule,
            gates: BTreeMap::new(),
            routes: BTreeMap::new(),
            buckets: BTreeMap::new(),
            paths: BTreeMap::new(),
            doubtful: BTreeMap::new(),
            rest: None,
            asked: 0,
        }
    }

    /// Whether the gate at `index` was found. Those before it, or between, are configured.
    pub(super) fn has(&self, index: usize) -> bool {
        self.entry_at(index).is_some()
    }

    /// Its number among those that were found, from 1.
    pub(super) fn number(&self, gate: u16) -> usize {
        self.gates.range(..=gate).count()
    }

    pub(super) const fn rest(&self) -> Option<u16> {
        self.rest
    }

    /// Where a route goes, as far as is known.
    pub(super) fn look(&self, route: RouteKey) -> Option<Way> {
        if let Some(way) = self.routes.get(&route) {
            return Some(*way);
        }
        self.bucket(self.presumed(route)?, route.resource)
            .map(Way::to)
    }

    /// The same for a request that goes there now. It is kept: what is presumed may change, and those who come later must
    /// not go another way than those who wait.
    pub(super) fn visit(&mut self, route: RouteKey) -> Option<Way> {
        self.asked += 1;
        let way = self.look(route)?;
        match self.routes.get_mut(&route) {
            Some(own) => own.used = self.asked,
            None => self.route(route, way),
        }
        for gate in [Some(way.gate), way.also].into_iter().flatten() {
            self.entry(gate).used = self.asked;
        }
        Some(way)
    }

    /// The gate of a bucket.
    pub(super) fn bucket(&self, name: &str, resource: Option<u64>) -> Option<u16> {
        self.buckets.get(name)?.get(&resource).copied()
    }

    /// The bucket that a route of which nothing was told is taken to be in.
    pub(super) fn presumed(&self, route: RouteKey) -> Option<&str> {
        let known = || self.rule.known.get(usize::from(route.known?));
        let name = self.paths.get(&route.path).or_else(known)?;
        Some(name)
    }

    /// Its bucket is not known.
    pub(super) fn is_provisional(&self, gate: u16) -> bool {
        self.is_provisional_at(usize::from(gate))
    }

    pub(super) fn is_provisional_at(&self, index: usize) -> bool {
        self.rule.by == GatesBy::Bucket
            && self.rest.map(usize::from) != Some(index)
            && self.entry_at(index).is_some_and(|own| !own.named)
    }

    /// One more is under way whose bucket is not known.
    pub(super) fn doubt(&mut self, resource: Option<u64>) {
        *self.doubtful.entry(resource).or_default() += 1;
    }

    pub(super) fn no_doubt(&mut self, resource: Option<u64>) {
        if let Some(count) = self.doubtful.get_mut(&resource) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.doubtful.remove(&resource);
            }
        }
    }

    /// How many are under way that may be in the bucket of this gate, and are not charged to it.
    pub(super) fn doubtful_at(&self, index: usize) -> u64 {
        let bucket = self.entry_at(index).filter(|own| own.named);
        bucket.map_or(0, |own| {
            self.doubtful.get(&own.resource).copied().unwrap_or(0)
        })
    }

    /// From now on a route goes there.
    pub(super) fn route(&mut self, route: RouteKey, way: Way) {
        if self.routes.len() >= MOST_ROUTES && !self.routes.contains_key(&route) {
            self.forget_routes();
        }
        let used = self.asked;
        self.routes.insert(route, Way { used, ..way });
    }

    /// Requests of its path are in this bucket.
    pub(super) fn told(&mut self, route: RouteKey, name: &str) {
        if self.presumed(route) == Some(name) {
            return;
        }
        if self.paths.len() >= MOST_ROUTES {
            self.paths.clear();
        }
        self.paths.insert(route.path, name.into());
    }

    /// A route leaves the gate that nobody else shares.
    pub(super) fn leave(&mut self, gate: u16) {
        self.entry(gate).left = true;
    }

    /// The way of a route that another bucket refused, or served.
    pub(super) fn moved(way: Way, gate: u16, refused: bool) -> Way {
        match refused {
            true => Way {
                also: Some(gate),
                ..way
            },
            false => Way {
                gate,
                also: way.also.filter(|own| *own != gate),
                ..way
            },
        }
    }

    /// The gate is that of a bucket.
    pub(super) fn name(&mut self, gate: u16, name: &str, resource: Option<u64>) {
        let entry = self.entry(gate);
        (entry.named, entry.resource) = (true, resource);
        match self.buckets.get_mut(name) {
            Some(own) => {
                own.insert(resource, gate);
            }
            None => {
                let own = BTreeMap::from([(resource, gate)]);
                self.buckets.insert(name.into(), own);
            }
        }
    }

    /// Room for a gate: one more at `next`, or one that is used no more. `idle` says which may be.
    pub(super) fn make_room(&mut self, next: usize, idle: impl Fn(usize) -> bool) -> Room {
        let mut left = self.gates.iter().filter(|(_, own)| own.left);
        if let Some((gate, _)) = left.find(|(gate, _)| idle(usize::from(**gate))) {
            return self.reuse(*gate);
        }
        let next = u16::try_from(next).ok();
        if let Some(gate) = next.filter(|_| self.gates.len() < MOST_FOUND) {
            self.gates.insert(gate, Entry::default());
            let last = self.gates.len() == MOST_FOUND;
            self.rest = last.then_some(gate);
            return if last { Room::Rest(gate) } else { Room::New };
        }
        let gates = self.gates.iter().map(|(gate, own)| (own.used, *gate));
        let mut gates: Vec<_> = gates.filter(|(_, gate)| self.rest != Some(*gate)).collect();
        gates.sort_unstable();
        let mut gates = gates.into_iter();
        match gates.find(|(_, gate)| idle(usize::from(*gate))) {
            Some((_, gate)) => self.reuse(gate),
            None => self.rest.map_or(Room::None, Room::Full),
        }
    }

    fn reuse(&mut self, gate: u16) -> Room {
        self.routes.retain(|_, way| way.gate != gate);
        for way in self.routes.values_mut() {
            way.also = way.also.filter(|own| *own != gate);
        }
        self.buckets.retain(|_, own| {
            own.retain(|_, own| *own != gate);
            !own.is_empty()
        });
        *self.entry(gate) = Entry {
            used: self.asked,
            ..Entry::default()
        };
        Room::Again(gate)
    }

    /// Nobody goes there any more.
    pub(super) fn is_left(&self, gate: usize) -> bool {
        self.entry_at(gate).is_some_and(|own| own.left)
    }

    fn entry_at(&self, index: usize) -> Option<&Entry> {
        self.gates.get(&u16::try_from(index).ok()?)
    }

    fn forget_routes(&mut self) {
        let mut used: Vec<_> = self.routes.values().map(|way| way.used).collect();
        used.sort_unstable();
        let oldest = used.get(MOST_ROUTES / 10).copied().unwrap_or(u64::MAX);
        self.routes.retain(|_, way| way.used > oldest);
    }

    fn entry(&mut self, gate: u16) -> &mut Entry {
        self.gates.entry(gate).or_default()
    }
}

/// Where a gate can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// After all others.
    New,
    /// Where one was that is used no more.
    Again(u16),
    /// After all others, and it is the last.
    Rest(u16),
    /// Only in the one that is shared.
    Full(u16),
    /// Nowhere.
    None,
}
