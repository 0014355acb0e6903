//! What is not over yet, and whose it is: what an owner leaves behind when it dies.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::gates::GateSet;
use crate::owner::Owner;
use crate::record::encode_into;
use crate::ticket::Sent;

/// By the order of the sends.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct Outstanding {
    #[n(0)]
    all: BTreeMap<u64, Entry>,
    #[cbor(skip)]
    changed: bool,
}

/// One request, as it was when it was heard of last.
#[derive(Debug, Encode, Decode)]
pub(super) struct Entry {
    #[n(0)]
    pub(super) owner: Owner,
    #[n(1)]
    pub(super) sent: Sent,
    /// Its response has ended.
    #[n(2)]
    pub(super) finished: bool,
    /// What it did cost was said, or will not be.
    #[n(3)]
    pub(super) told: bool,
}

impl Outstanding {
    /// It leaves.
    pub(super) fn begin(&mut self, owner: Owner, sent: &Sent) {
        self.changed = true;
        let entry = Entry {
            owner,
            sent: sent.twin(),
            finished: false,
            told: false,
        };
        self.all.insert(sent.order(), entry);
    }

    pub(super) fn has(&self, order: u64) -> bool {
        self.all.get(&order).is_some_and(|entry| !entry.finished)
    }

    /// It was answered.
    pub(super) fn answered(&mut self, sent: &Sent) {
        if let Some(entry) = self.all.get_mut(&sent.order()) {
            self.changed = true;
            entry.sent = sent.twin();
        }
    }

    /// Its response has ended; what it did cost may still be told. `false` if it was given up already.
    pub(super) fn finish(&mut self, sent: &Sent) -> bool {
        let Some(entry) = self.all.get_mut(&sent.order()) else {
            return false;
        };
        self.changed = true;
        if sent.receipt_gone && !entry.told {
            (entry.sent, entry.finished) = (sent.twin(), true);
        } else {
            self.all.remove(&sent.order());
        }
        true
    }

    /// What the request that left as `order` did cost was said, or will not be.
    pub(super) fn told(&mut self, order: u64) {
        let Some(entry) = self.all.get_mut(&order) else {
            return;
        };
        self.changed = true;
        entry.told = true;
        if entry.finished {
            self.all.remove(&order);
        }
    }

    /// Takes out all that `owner` leaves behind.
    pub(super) fn take(&mut self, owner: Owner) -> Vec<Entry> {
        let theirs = self.all.iter().filter(|(_, entry)| entry.owner == owner);
        let orders: Vec<_> = theirs.map(|(order, _)| *order).collect();
        self.changed |= !orders.is_empty();
        let orders = orders.into_iter();
        orders.filter_map(|order| self.all.remove(&order)).collect()
    }

    /// What each is charged to.
    pub(super) fn gates(&self) -> impl Iterator<Item = GateSet> {
        self.all.values().map(|entry| entry.sent.gates())
    }

    /// What those are about whose bucket is not known.
    pub(super) fn doubtful(&self) -> impl Iterator<Item = Option<u64>> {
        let doubtful = self.all.values().filter(|entry| entry.sent.doubtful);
        doubtful.map(|entry| entry.sent.route.and_then(|route| route.resource))
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

    pub(super) fn owners(&self) -> impl Iterator<Item = Owner> {
        self.all.values().map(|entry| entry.owner)
    }
}
