//! The book of gates that were found: which route goes to which, and which bucket is whose.
//!
//! It knows no gates, only their indices. What it forgets is found anew.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::gates::GateSet;
use crate::record::encode_into;
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
    pub(super) book: Book,
    /// How many are under way whose bucket is not known, by what they are about.
    doubtful: BTreeMap<Option<u64>, u64>,
}

/// What is known of them, for all who share the gates.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct Book {
    #[n(0)]
    gates: BTreeMap<u16, Entry>,
    #[n(1)]
    routes: BTreeMap<RouteKey, Way>,
    #[n(2)]
    buckets: BTreeMap<Box<str>, BTreeMap<Option<u64>, u16>>,
    /// The bucket that a path was in last, whatever its object.
    #[n(3)]
    paths: BTreeMap<u64, Box<str>>,
    /// Shared by those for whom there is no room.
    #[n(4)]
    rest: Option<u16>,
    /// How many requests have asked.
    #[n(5)]
    asked: u64,
    /// More is known than was saved. Who used what last is no news.
    #[cbor(skip)]
    changed: bool,
}

#[derive(Clone, Copy, Debug, Default, Encode, Decode)]
struct Entry {
    /// Its bucket has been named.
    #[n(0)]
    named: bool,
    /// What it is about, if its bucket has a gate for each object.
    #[n(1)]
    resource: Option<u64>,
    /// Its only route is in a bucket that has another gate.
    #[n(2)]
    left: bool,
    #[n(3)]
    used: u64,
}

/// Where a route goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct Way {
    #[n(0)]
    pub(super) gate: u16,
    /// The bucket that refused it, where that is another than serves it.
    #[n(1)]
    also: Option<u16>,
    #[n(2)]
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
            book: Book::new(),
            doubtful: BTreeMap::new(),
        }
    }

    /// Whether the gate at `index` was found. Those before it, or between, are configured.
    pub(super) fn has(&self, index: usize) -> bool {
        self.entry_at(index).is_some()
    }

    /// Its number among those that were found, from 1.
    pub(super) fn number(&self, gate: u16) -> usize {
        self.book.gates.range(..=gate).count()
    }

    pub(super) const fn rest(&self) -> Option<u16> {
        self.book.rest
    }

    /// Where a route goes, as far as is known.
    pub(super) fn look(&self, route: RouteKey) -> Option<Way> {
        if let Some(way) = self.book.routes.get(&route) {
            return Some(*way);
        }
        self.bucket(self.presumed(route)?, route.resource)
            .map(Way::to)
    }

    /// The same for a request that goes there now. It is kept: what is presumed may change, and those who come later must
    /// not go another way than those who wait.
    pub(super) fn visit(&mut self, route: RouteKey) -> Option<Way> {
        self.book.asked += 1;
        let way = self.look(route)?;
        match self.book.routes.get_mut(&route) {
            Some(own) => own.used = self.book.asked,
            None => self.route(route, way),
        }
        for gate in [Some(way.gate), way.also].into_iter().flatten() {
            self.entry(gate).used = self.book.asked;
        }
        Some(way)
    }

    /// The gate of a bucket.
    pub(super) fn bucket(&self, name: &str, resource: Option<u64>) -> Option<u16> {
        self.book.buckets.get(name)?.get(&resource).copied()
    }

    /// The bucket that a route of which nothing was told is taken to be in.
    pub(super) fn presumed(&self, route: RouteKey) -> Option<&str> {
        let known = || self.rule.known.get(usize::from(route.known?));
        let name = self.book.paths.get(&route.path).or_else(known)?;
        Some(name)
    }

    /// Its bucket is not known.
    pub(super) fn is_provisional(&self, gate: u16) -> bool {
        self.is_provisional_at(usize::from(gate))
    }

    pub(super) fn is_provisional_at(&self, index: usize) -> bool {
        self.rule.by == GatesBy::Bucket
            && self.book.rest.map(usize::from) != Some(index)
            && self.entry_at(index).is_some_and(|own| !own.named)
    }

    /// One more is under way whose bucket is not known.
    pub(super) fn doubt(&mut self, resource: Option<u64>) {
        *self.doubtful.entry(resource).or_default() += 1;
    }

    /// All that are under way whose bucket is not known, by what they are about.
    pub(super) fn doubt_anew(&mut self, resources: impl Iterator<Item = Option<u64>>) {
        self.doubtful.clear();
        resources.for_each(|resource| self.doubt(resource));
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
        self.book.changed = true;
        if self.book.routes.len() >= MOST_ROUTES && !self.book.routes.contains_key(&route) {
            self.forget_routes();
        }
        let used = self.book.asked;
        self.book.routes.insert(route, Way { used, ..way });
    }

    /// Requests of its path are in this bucket.
    pub(super) fn told(&mut self, route: RouteKey, name: &str) {
        if self.presumed(route) == Some(name) {
            return;
        }
        self.book.changed = true;
        if self.book.paths.len() >= MOST_ROUTES {
            self.book.paths.clear();
        }
        self.book.paths.insert(route.path, name.into());
    }

    /// A route leaves the gate that nobody else shares.
    pub(super) fn leave(&mut self, gate: u16) {
        self.book.changed = true;
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
        self.book.changed = true;
        let entry = self.entry(gate);
        (entry.named, entry.resource) = (true, resource);
        match self.book.buckets.get_mut(name) {
            Some(own) => {
                own.insert(resource, gate);
            }
            None => {
                let own = BTreeMap::from([(resource, gate)]);
                self.book.buckets.insert(name.into(), own);
            }
        }
    }

    /// Room for a gate: one more at `next`, or one that is used no more. `idle` says which may be.
    pub(super) fn make_room(&mut self, next: usize, idle: impl Fn(usize) -> bool) -> Room {
        let mut left = self.book.gates.iter().filter(|(_, own)| own.left);
        if let Some((gate, _)) = left.find(|(gate, _)| idle(usize::from(**gate))) {
            return self.reuse(*gate);
        }
        let next = u16::try_from(next).ok();
        if let Some(gate) = next.filter(|_| self.book.gates.len() < MOST_FOUND) {
            self.book.changed = true;
            self.book.gates.insert(gate, Entry::default());
            let last = self.book.gates.len() == MOST_FOUND;
            self.book.rest = last.then_some(gate);
            return if last { Room::Rest(gate) } else { Room::New };
        }
        let gates = self.book.gates.iter().map(|(gate, own)| (own.used, *gate));
        let mut gates: Vec<_> = gates
            .filter(|(_, gate)| self.book.rest != Some(*gate))
            .collect();
        gates.sort_unstable();
        let mut gates = gates.into_iter();
        match gates.find(|(_, gate)| idle(usize::from(*gate))) {
            Some((_, gate)) => self.reuse(gate),
            None => self.book.rest.map_or(Room::None, Room::Full),
        }
    }

    fn reuse(&mut self, gate: u16) -> Room {
        self.book.changed = true;
        self.book.routes.retain(|_, way| way.gate != gate);
        for way in self.book.routes.values_mut() {
            way.also = way.also.filter(|own| *own != gate);
        }
        self.book.buckets.retain(|_, own| {
            own.retain(|_, own| *own != gate);
            !own.is_empty()
        });
        *self.entry(gate) = Entry {
            used: self.book.asked,
            ..Entry::default()
        };
        Room::Again(gate)
    }

    /// Nobody goes there any more.
    pub(super) fn is_left(&self, gate: usize) -> bool {
        self.entry_at(gate).is_some_and(|own| own.left)
    }

    fn entry_at(&self, index: usize) -> Option<&Entry> {
        self.book.gates.get(&u16::try_from(index).ok()?)
    }

    fn forget_routes(&mut self) {
        let mut used: Vec<_> = self.book.routes.values().map(|way| way.used).collect();
        used.sort_unstable();
        let oldest = used.get(MOST_ROUTES / 10).copied().unwrap_or(u64::MAX);
        self.book.routes.retain(|_, way| way.used > oldest);
    }

    fn entry(&mut self, gate: u16) -> &mut Entry {
        self.book.gates.entry(gate).or_default()
    }
}

impl Book {
    const fn new() -> Self {
        Self {
            gates: BTreeMap::new(),
            routes: BTreeMap::new(),
            buckets: BTreeMap::new(),
            paths: BTreeMap::new(),
            rest: None,
            asked: 0,
            changed: false,
        }
    }

    /// It has to be saved.
    pub(super) const fn touch(&mut self) {
        self.changed = true;
    }

    pub(super) fn save(&mut self, into: &mut Vec<u8>) -> bool {
        let changed = core::mem::take(&mut self.changed);
        if changed {
            encode_into(self, into);
        }
        changed
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
