//! Several engines, one record, one time: what a store and a driver in each process do.

use std::num::NonZeroU64;

use super::*;

/// An engine of its own, by the order in which it came.
pub(super) type Who = usize;

pub(super) struct Member {
    pub(super) engine: Engine,
    pub(super) alive: bool,
    due: Option<Deadline>,
    called: bool,
    tickets: BTreeMap<TicketId, Name>,
}

/// A request that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) name: Name,
    pub(super) who: Who,
    pub(super) at: Timestamp,
}

#[derive(Default)]
pub(super) struct Lab {
    pub(super) record: BTreeMap<u32, Vec<u8>>,
    pub(super) members: Vec<Member>,
    pub(super) now: Timestamp,
    pub(super) starts: Vec<Begun>,
    pub(super) refusals: BTreeMap<Name, Refusal>,
    pub(super) under_way: BTreeMap<Name, (Who, Sent)>,
    /// Nobody hears a call.
    pub(super) deaf: bool,
    pub(super) calls: u64,
    asked: usize,
}

pub(super) fn owner(who: Who) -> Owner {
    Owner::new(NonZeroU64::MIN.saturating_add(who as u64))
}

impl Lab {
    /// So many engines with one gate.
    pub(super) fn new(count: usize, texts: &[&str]) -> Self {
        let mut lab = Self::default();
        for _ in 0..count {
            lab.comes(&[("api", texts)]);
        }
        lab
    }

    /// A program starts, with these gates.
    pub(super) fn comes(&mut self, gates: &[(&str, &[&str])]) -> Who {
        self.starts(gates, false)
    }

    /// One that holds refills until somebody has arrived.
    pub(super) fn comes_holding(&mut self, gates: &[(&str, &[&str])]) -> Who {
        self.starts(gates, true)
    }

    fn starts(&mut self, gates: &[(&str, &[&str])], holding: bool) -> Who {
        let who = self.members.len();
        let mut engine = Engine::new(10_000, who as u64);
        for (name, texts) in gates {
            engine.add_gate(self.now, name, limits(texts));
        }
        if holding {
            engine.hold_refills();
        }
        engine.share(owner(who));
        self.members.push(Member {
            engine,
            alive: true,
            due: None,
            called: false,
            tickets: BTreeMap::new(),
        });
        self.looks_around(who);
        self.step(who, |engine, now| engine.enroll(now));
        self.answer_calls();
        who
    }

    pub(super) fn ask(&mut self, who: Who) -> Name {
        self.ask_for(who, &through(&[API]))
    }

    pub(super) fn ask_for(&mut self, who: Who, want: &Want) -> Name {
        let name = self.asked;
        self.asked += 1;
        self.load(who);
        let now = self.now;
        let engine = &mut self.members[who].engine;
        match engine.join(now, want, None, &Attempts::default(), now) {
            Joined::Admitted(sent) => self.began(name, who, sent),
            Joined::Refused(refusal) => drop(self.refusals.insert(name, refusal)),
            Joined::Waiting(ticket, mut effects) => {
                let all: Vec<_> = effects.by_ref().collect();
                let due = effects.finish();
                self.members[who].tickets.insert(ticket, name);
                self.apply(who, all, due);
            }
        }
        self.save(who);
        self.answer_calls();
        name
    }

    pub(super) fn settle(&mut self, name: Name, seen: &Observation) {
        let (who, mut sent) = self.under_way.remove(&name).expect("under way");
        self.step(who, |engine, now| engine.settle(now, &mut sent, seen));
        self.under_way.insert(name, (who, sent));
        self.answer_calls();
    }

    pub(super) fn finish(&mut self, name: Name) {
        let (who, sent) = self.under_way.remove(&name).expect("under way");
        self.step(who, |engine, now| engine.finish(now, sent));
        self.answer_calls();
    }

    pub(super) fn answer(&mut self, name: Name, seen: &Observation) {
        self.settle(name, seen);
        self.finish(name);
    }

    pub(super) fn answer_all(&mut self) {
        let names: Vec<_> = self.under_way.keys().copied().collect();
        names.into_iter().for_each(|name| self.answer(name, &ok()));
    }

    pub(super) fn leave(&mut self, name: Name) {
        let waits = |member: &Member| {
            let mut tickets = member.tickets.iter();
            tickets.find(|(_, own)| **own == name).map(|(id, _)| *id)
        };
        let mut members = self.members.iter().enumerate();
        let (who, ticket) = members
            .find_map(|(who, member)| Some((who, waits(member)?)))
            .expect("it waits");
        self.members[who].tickets.remove(&ticket);
        self.step(who, |engine, now| engine.leave(now, ticket));
        self.answer_calls();
    }

    /// It is killed: what it had under way is never answered, and it hears nothing any more.
    pub(super) fn dies(&mut self, who: Who) {
        self.members[who].alive = false;
        self.members[who].due = None;
        self.members[who].tickets.clear();
        self.under_way.retain(|_, (own, _)| *own != who);
    }

    /// It looks after the others, as everybody does who waits for long.
    pub(super) fn looks_around(&mut self, who: Who) {
        self.load(who);
        let dead: Vec<_> = self.members[who].engine.owners().into_iter().collect();
        let dead = dead.into_iter().filter(|own| {
            let mut members = self.members.iter().enumerate();
            members.any(|(who, member)| owner(who) == *own && !member.alive)
        });
        for own in dead.collect::<Vec<_>>() {
            self.step(who, |engine, now| engine.gone(now, own));
        }
        self.step(who, |engine, now| engine.handle_timeout(now));
        self.answer_calls();
    }

    pub(super) fn pass_to(&mut self, until: Timestamp) {
        loop {
            let due = self.members.iter().enumerate();
            let due = due.filter_map(|(who, member)| Some((member.due?.at, who)));
            let Some((at, who)) = due.min().filter(|(at, _)| *at <= until) else {
                break;
            };
            self.now = self.now.max(at);
            self.step(who, |engine, now| engine.handle_timeout(now));
            self.answer_calls();
        }
        self.now = self.now.max(until);
    }

    pub(super) fn pass(&mut self, duration: Duration) {
        self.pass_to(self.now + duration);
    }

    pub(super) fn waiting_of(&self, who: Who) -> Vec<Name> {
        self.members[who].tickets.values().copied().collect()
    }

    pub(super) fn waiting(&self) -> Vec<Name> {
        let members = self.members.iter();
        members
            .flat_map(|member| member.tickets.values().copied())
            .collect()
    }

    pub(super) fn order(&self) -> Vec<Name> {
        self.starts.iter().map(|begun| begun.name).collect()
    }

    /// One input of one engine, in a transaction.
    pub(super) fn step(
        &mut self,
        who: Who,
        input: impl FnOnce(&mut Engine, Timestamp) -> Effects<'_>,
    ) {
        assert!(self.members[who].alive);
        self.load(who);
        let mut effects = input(&mut self.members[who].engine, self.now);
        let all: Vec<_> = effects.by_ref().collect();
        let due = effects.finish();
        self.apply(who, all, due);
        self.save(who);
    }

    pub(super) fn snapshot(&mut self, who: Who) -> Snapshot {
        self.load(who);
        self.members[who].engine.snapshot(self.now)
    }

    fn load(&mut self, who: Who) {
        let loaded = self.members[who].engine.load(&self.record);
        loaded.expect("it can be read");
    }

    fn save(&mut self, who: Who) {
        let generation = self.asked as u64 + 7;
        self.members[who]
            .engine
            .save(self.now, generation, &mut self.record);
    }

    fn apply(&mut self, who: Who, effects: Vec<Effect>, due: Option<Deadline>) {
        for effect in effects {
            match effect {
                Effect::Admitted { ticket, sent, .. } => {
                    let name = self.members[who].tickets.remove(&ticket);
                    self.began(name.expect("its own"), who, sent);
                }
                Effect::Refused { ticket, refusal } => {
                    let name = self.members[who].tickets.remove(&ticket);
                    self.refusals.insert(name.expect("its own"), refusal);
                }
                Effect::Call { owner: own } => {
                    assert_ne!(own, owner(who), "nobody calls itself");
                    self.calls += 1;
                    let mut members = self.members.iter_mut().enumerate();
                    let member = members.find(|(who, _)| owner(*who) == own);
                    let member = member.expect("a member").1;
                    member.called |= member.alive && !self.deaf;
                }
                _ => {}
            }
        }
        let member = &mut self.members[who];
        member.due = due.filter(|_| !member.tickets.is_empty());
    }

    pub(super) fn answer_calls(&mut self) {
        while let Some(who) = self.members.iter().position(|member| member.called) {
            self.members[who].called = false;
            if self.members[who].alive {
                self.step(who, |engine, now| engine.handle_timeout(now));
            }
        }
    }

    fn began(&mut self, name: Name, who: Who, sent: Sent) {
        let at = sent.at();
        self.starts.push(Begun { name, who, at });
        self.under_way.insert(name, (who, sent));
    }
}
