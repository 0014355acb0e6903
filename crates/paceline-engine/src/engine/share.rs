//! A pace line that several programs share: whose a request is, who has to look when, and what the dead leave behind.
//!
//! Each of them has an engine. Before an input it loads what the others saved, after it saves what it changed, and the store
//! that it does this in lets one do so at a time. Each owner admits and refuses its own requests only, in the order of the
//! one line; whoever finds that another has to look earlier than it would says so ([`Effect::Call`]).

use std::collections::{BTreeMap, BTreeSet};

use minicbor::{Decode, Encode};

use super::Engine;
use super::outstanding::Outstanding;
use super::record::Head;
use crate::effects::{Effect, Effects};
use crate::gate::Gate;
use crate::gates::GateSet;
use crate::line::TicketId;
use crate::owner::Owner;
use crate::record::encode_into;
use crate::ticket::Sent;
use crate::{Deadline, Limit, Timestamp};

/// Owners are numbered one after another, tickets too.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Who has to look, and when.
pub(super) type Call = (Owner, Timestamp);

/// What only an engine that shares its line knows.
#[derive(Debug)]
pub(super) struct Sharing {
    pub(super) owner: Owner,
    /// The gates that were added here, as they began.
    pub(super) added: Vec<Gate>,
    /// Where those are in the record.
    places: Vec<u16>,
    /// What we name for them, once we are a member.
    limits: Vec<(u16, Vec<Limit>)>,
    /// What our next ticket is called: nobody else calls one so.
    next_id: u64,
    pub(super) head: Head,
    pub(super) common: Common,
}

/// What is in the record besides gates and the line.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub(super) outstanding: Outstanding,
    pub(super) members: Members,
    pub(super) looks: Looks,
}

/// Who shares it, and the limits that each names for a gate.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct Members {
    #[n(0)]
    all: BTreeMap<Owner, Vec<(u16, Vec<Limit>)>>,
    #[cbor(skip)]
    pub(super) changed: bool,
}

/// When each of those who have requests in line will look by itself.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct Looks {
    #[n(0)]
    all: BTreeMap<Owner, Timestamp>,
    #[cbor(skip)]
    pub(super) changed: bool,
}

impl Engine {
    /// From now on it is one of several engines with one line, as `owner`. Call it once, after the last
    /// [`add_gate`](Self::add_gate) and before the first request.
    pub fn share(&mut self, owner: Owner) {
        self.sharing = Some(Box::new(Sharing {
            owner,
            added: self.gates.iter().cloned().collect(),
            places: (0..).take(self.gates.len()).collect(),
            limits: Vec::new(),
            next_id: owner.number().wrapping_mul(SPREAD),
            head: Head::default(),
            common: Common::default(),
        }));
        self.gates.watch();
    }

    /// Becomes a member of the record that was loaded, or of a new one: its gates are found there by their names or added,
    /// and its limits hold for everybody until it is [`gone`](Self::gone).
    pub fn enroll(&mut self, now: Timestamp) -> Effects<'_> {
        let Some(sharing) = self.sharing.take() else {
            return Effects::new(self);
        };
        let mut places = Vec::new();
        for gate in &sharing.added {
            let index = self.place_for(gate, &places);
            if index == self.gates.len() {
                self.gates.push(gate.clone());
            }
            places.extend(u16::try_from(index));
        }
        let limits = sharing
            .added
            .iter()
            .map(|gate| gate.limits().cloned().collect());
        let limits = places.iter().copied().zip(limits).collect();
        let sharing = self.sharing.insert(sharing);
        sharing.limits = limits;
        sharing.places.clone_from(&places);
        sharing.regain();
        for gate in places {
            self.agree(now, gate);
        }
        self.serve(now);
        Effects::new(self)
    }

    /// The first that has its name, was configured, and is not `taken`; or the next to be added.
    fn place_for(&self, gate: &Gate, taken: &[u16]) -> usize {
        let mut gates = self.gates.iter().enumerate();
        let same = gates.find(|(index, own)| {
            own.name() == gate.name()
                && !self.is_found(*index)
                && !taken.iter().any(|taken| usize::from(*taken) == *index)
        });
        same.map_or(self.gates.len(), |(index, _)| index)
    }

    /// Those who share it.
    pub fn owners(&self) -> BTreeSet<Owner> {
        let common = self.sharing.iter().map(|sharing| &sharing.common);
        common
            .flat_map(|common| {
                let members = common.members.all.keys().copied();
                let looks = common.looks.all.keys().copied();
                members.chain(looks).chain(common.outstanding.owners())
            })
            .collect()
    }

    /// An owner is dead. What it had under way may have been sent and will not be answered; its place in line is free.
    pub fn gone(&mut self, now: Timestamp, owner: Owner) -> Effects<'_> {
        let Some(sharing) = &mut self.sharing else {
            return Effects::new(self);
        };
        let common = &mut sharing.common;
        let behind = common.outstanding.take(owner);
        common.looks.forget(owner);
        let limited = common.members.leave(owner);
        for id in self.line.ids_of(Some(owner)) {
            self.line.leave(id);
        }
        for entry in behind {
            let mut sent = entry.sent;
            sent.receipt_gone = entry.told;
            if entry.finished {
                self.cost_stands(&sent.charge);
            } else {
                let ended = sent.ended();
                self.end(now, sent, ended);
            }
        }
        for gate in limited {
            self.agree(now, gate);
        }
        self.serve(now);
        Effects::new(self)
    }

    pub(super) fn me(&self) -> Option<Owner> {
        self.sharing.as_ref().map(|sharing| sharing.owner)
    }

    /// It leaves.
    pub(super) fn leaves(&mut self, sent: &mut Sent) {
        self.doubts(sent);
        if let Some(sharing) = &mut self.sharing {
            sharing.common.outstanding.begin(sharing.owner, sent);
        }
    }

    /// Whether its gates still wait for its answer.
    pub(super) fn knows(&self, sent: &Sent) -> bool {
        let sharing = self.sharing.as_ref();
        sharing.is_none_or(|sharing| sharing.common.outstanding.has(sent.order()))
    }

    /// Whether it is ours to end: an owner that was taken for dead has nothing any more. Notes that it ends.
    pub(super) fn is_ours_still(&mut self, sent: &Sent) -> bool {
        self.outstanding()
            .is_none_or(|outstanding| outstanding.finish(sent))
    }

    pub(super) fn outstanding(&mut self) -> Option<&mut Outstanding> {
        self.sharing
            .as_mut()
            .map(|sharing| &mut sharing.common.outstanding)
    }

    /// Our own; the others of those `all` have to be seen to by their owners.
    pub(super) fn ours_among<T>(
        &self,
        mut all: Vec<(TicketId, T)>,
        now: Timestamp,
        calls: &mut Vec<Call>,
    ) -> Vec<(TicketId, T)> {
        let me = self.me();
        all.retain(|(id, _)| {
            let owner = self.line.owner_of(*id);
            calls.extend(owner.filter(|_| owner != me).map(|owner| (owner, now)));
            owner == me
        });
        all
    }

    /// When to look again here, and who else has to look when.
    pub(super) fn looks(&mut self, wake: Option<Deadline>, calls: Vec<Call>) {
        self.wake = wake;
        let Some(sharing) = &mut self.sharing else {
            return;
        };
        let looks = &mut sharing.common.looks;
        if self.line.has(Some(sharing.owner)) {
            looks.set(sharing.owner, wake.map_or(Timestamp::MAX, |wake| wake.at));
        } else {
            looks.forget(sharing.owner);
        }
        for (owner, at) in calls {
            if looks.bring_forward(owner, at) {
                let call = Effect::Call { owner };
                if !self.effects.contains(&call) {
                    self.effects.push_back(call);
                }
            }
        }
    }

    /// The gate that was added here as `index`.
    pub(super) fn place_of(&self, index: usize) -> usize {
        let sharing = self.sharing.as_ref();
        let place = sharing.and_then(|sharing| sharing.places.get(index));
        place.map_or(index, |place| usize::from(*place))
    }

    /// Gates as they were added here, where they are in the record.
    pub(super) fn placed_set(&self, gates: GateSet) -> GateSet {
        if self.sharing.is_none() {
            return gates;
        }
        let places = gates.iter().map(|index| self.place_of(index));
        let places = places.filter_map(|place| u16::try_from(place).ok());
        places.fold(GateSet::default(), |set, place| {
            set.with(place).unwrap_or(set)
        })
    }

    /// Other limits for one of our gates; `false` if it is nobody's but ours.
    pub(super) fn change_shared(&mut self, now: Timestamp, gate: u16, limits: &[Limit]) -> bool {
        let Ok(gate) = u16::try_from(self.place_of(usize::from(gate))) else {
            return false;
        };
        let Some(sharing) = &mut self.sharing else {
            return false;
        };
        for (_, own) in sharing.limits.iter_mut().filter(|(own, _)| *own == gate) {
            *own = limits.to_vec();
        }
        sharing.regain();
        self.agree(now, gate);
        true
    }

    /// The limits of a gate are those that its members name: each obeys all of them. Nobody's limits are kept, with their
    /// books, until somebody names others.
    fn agree(&mut self, now: Timestamp, gate: u16) {
        let Some(sharing) = &self.sharing else {
            return;
        };
        let named = sharing.common.members.limits_of(gate);
        let next_order = self.next_order;
        let index = usize::from(gate);
        let differs = |gate: &Gate| {
            gate.limits().len() != named.len() || gate.limits().any(|own| !named.contains(own))
        };
        if sharing.common.members.name(gate)
            && self.gates.get(index).is_some_and(differs)
            && let Some(gate) = self.gates.get_mut(index)
        {
            gate.change_limits(now, next_order, named);
            self.refuse_too_costly(now);
        }
    }
}

impl Sharing {
    /// A member is one in every record.
    pub(super) fn regain(&mut self) {
        if !self.limits.is_empty() {
            self.common.members.enroll(self.owner, &self.limits);
        }
    }

    pub(super) const fn ticket(&mut self) -> TicketId {
        self.next_id = self.next_id.wrapping_add(1);
        TicketId(self.next_id)
    }
}

impl Members {
    pub(super) fn save(&mut self, into: &mut Vec<u8>) -> bool {
        let changed = core::mem::take(&mut self.changed);
        if changed {
            encode_into(self, into);
        }
        changed
    }

    fn enroll(&mut self, owner: Owner, limits: &[(u16, Vec<Limit>)]) {
        if self.all.get(&owner).is_none_or(|own| own != limits) {
            self.all.insert(owner, limits.to_vec());
            self.changed = true;
        }
    }

    fn leave(&mut self, owner: Owner) -> Vec<u16> {
        let Some(limits) = self.all.remove(&owner) else {
            return Vec::new();
        };
        self.changed = true;
        limits.into_iter().map(|(gate, _)| gate).collect()
    }

    fn name(&self, gate: u16) -> bool {
        let mut named = self.all.values().flatten();
        named.any(|(own, _)| *own == gate)
    }

    /// Each once.
    fn limits_of(&self, gate: u16) -> Vec<Limit> {
        let named = self.all.values().flatten().filter(|(own, _)| *own == gate);
        let mut limits: Vec<Limit> = Vec::new();
        for limit in named.flat_map(|(_, limits)| limits) {
            if !limits.contains(limit) {
                limits.push(limit.clone());
            }
        }
        limits
    }
}

impl Looks {
    pub(super) fn save(&mut self, into: &mut Vec<u8>) -> bool {
        let changed = core::mem::take(&mut self.changed);
        if changed {
            encode_into(self, into);
        }
        changed
    }

    fn set(&mut self, owner: Owner, at: Timestamp) {
        self.changed |= self.all.insert(owner, at) != Some(at);
    }

    fn forget(&mut self, owner: Owner) {
        self.changed |= self.all.remove(&owner).is_some();
    }

    /// `true` if it would have looked later only.
    fn bring_forward(&mut self, owner: Owner, at: Timestamp) -> bool {
        let own = self.all.entry(owner).or_insert(Timestamp::MAX);
        let later = *own > at;
        if later {
            *own = at;
            self.changed = true;
        }
        later
    }
}
