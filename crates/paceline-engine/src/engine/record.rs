//! A pace line as bytes: what is loaded before an input, and what is saved after it.
//!
//! | section | what |
//! |---|---|
//! | 0 | the head: versions, the next orders, how many gates there are |
//! | 1 | the line |
//! | 2 | members and the limits that each names |
//! | 3 | gates that were found |
//! | 4 | requests that are not over |
//! | 5 | who looks when |
//! | 16 and up | one gate each |
//!
//! Only what changed is saved, and only what others changed is loaded: the head says which sections changed in its latest
//! versions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use minicbor::{Decode, Decoder, Encode};

use super::Engine;
use super::found::Book;
use super::outstanding::Outstanding;
use super::share::{Common, Looks, Members};
use crate::gate::Gate;
use crate::record::{Sections, Unreadable, decode, encode_into};
use crate::{Timestamp, line};

const HEAD: u32 = 0;
const LINE: u32 = 1;
const MEMBERS: u32 = 2;
const FOUND: u32 = 3;
const OUTSTANDING: u32 = 4;
const LOOKS: u32 = 5;
const FIRST_GATE: u32 = 16;

/// Fields may be added without a new one; whoever does not know them leaves them out.
const FORMAT: u32 = 1;
/// More changes than anybody missed.
const A_LONG_WAY: u64 = 1 << 20;
/// Who is further behind loads everything.
const REMEMBERED: usize = 16;

/// What comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Head {
    /// When it was begun, about. One that was begun later, by somebody who knew of none, gives way.
    #[n(0)]
    generation: u64,
    /// One more with every change.
    #[n(1)]
    version: u64,
    /// What it takes to understand the sections.
    #[n(2)]
    format: u32,
    #[n(3)]
    next_order: u64,
    #[n(4)]
    next_ticket: u64,
    #[n(5)]
    gates: u16,
    /// The time of the latest change.
    #[n(6)]
    now: Timestamp,
    /// What the latest versions changed, the newest last.
    #[n(7)]
    latest: VecDeque<Changed>,
}

/// A set of sections: one bit each, and the last for all that are further up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
struct Changed(#[n(0)] u64);

impl Changed {
    const ALL: Self = Self(u64::MAX);

    const fn bit(section: u32) -> u64 {
        1 << if section < 63 { section } else { 63 }
    }

    const fn add(&mut self, section: u32) {
        self.0 |= Self::bit(section);
    }

    const fn has(self, section: u32) -> bool {
        self.0 & Self::bit(section) != 0
    }
}

impl Engine {
    /// Takes over what the others saved since it was loaded or saved last. `false` if there is nothing that is worth more than
    /// what is known here, because it was removed or begun anew: then the next [`save`](Self::save) saves everything.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the engine stays as it was.
    pub fn load(&mut self, from: &(impl Sections + ?Sized)) -> Result<bool, Unreadable> {
        let Some(sharing) = &self.sharing else {
            return Ok(false);
        };
        let known = &sharing.head;
        let is_known = known.version > 0;
        let Some(bytes) = from.get(HEAD) else {
            self.restore();
            return Ok(false);
        };
        // Mostly nobody was here in between.
        if is_known && known.is_named_by(bytes) {
            return Ok(true);
        }
        let head: Head = decode(HEAD, bytes)?;
        if head.format > FORMAT {
            return Err(Unreadable::newer(HEAD));
        }
        if is_known && head.generation > known.generation {
            self.restore();
            return Ok(false);
        }
        if (head.generation, head.version) == (known.generation, known.version) {
            return Ok(true);
        }
        let changed = head.changed_since(known);
        let loaded = Loaded::read(from, &head, changed.unwrap_or(Changed::ALL))?;
        let ours = changed.is_none().then(|| self.line.tickets_of(self.me()));
        self.install(loaded, head);
        self.regain(ours.unwrap_or_default());
        Ok(true)
    }

    /// The same as if all of it were news: after an error, nothing that is known here may be true.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn load_anew(&mut self, from: &(impl Sections + ?Sized)) -> Result<bool, Unreadable> {
        if let Some(sharing) = &mut self.sharing {
            sharing.head = Head::default();
        }
        self.load(from)
    }

    /// Saves what changed. `generation` names the record if this is the first time: the time, with something random behind it.
    pub fn save(&mut self, now: Timestamp, generation: u64, into: &mut (impl Sections + ?Sized)) {
        let mut changed = Changed::default();
        let mut bytes = core::mem::take(&mut self.scratch);
        for index in self.gates.take_touched() {
            if let Some(gate) = self.gates.get(usize::from(index)) {
                bytes.clear();
                gate.save(&mut bytes);
                let section = FIRST_GATE + u32::from(index);
                into.put(section, &bytes);
                changed.add(section);
            }
        }
        let Some(sharing) = &mut self.sharing else {
            return;
        };
        let Common {
            outstanding,
            members,
            looks,
        } = &mut sharing.common;
        let mut put = |section, save: &mut dyn FnMut(&mut Vec<u8>) -> bool| {
            bytes.clear();
            if save(&mut bytes) {
                into.put(section, &bytes);
                changed.add(section);
            }
        };
        put(LINE, &mut |bytes| self.line.save(bytes));
        put(MEMBERS, &mut |bytes| members.save(bytes));
        put(FOUND, &mut |bytes| {
            let found = self.found.as_mut();
            found.is_some_and(|found| found.book.save(bytes))
        });
        put(OUTSTANDING, &mut |bytes| outstanding.save(bytes));
        put(LOOKS, &mut |bytes| looks.save(bytes));
        let head = &mut sharing.head;
        let orders = (self.next_order, self.next_ticket);
        if changed == Changed::default() && orders == (head.next_order, head.next_ticket) {
            self.scratch = bytes;
            return;
        }
        if head.version == 0 {
            head.generation = generation;
        }
        head.version += 1;
        head.format = FORMAT;
        (head.next_order, head.next_ticket) = orders;
        head.gates = u16::try_from(self.gates.len()).unwrap_or(u16::MAX);
        head.now = head.now.max(now);
        head.latest.push_back(changed);
        if head.latest.len() > REMEMBERED {
            head.latest.pop_front();
        }
        bytes.clear();
        encode_into(&*head, &mut bytes);
        into.put(HEAD, &bytes);
        self.scratch = bytes;
    }

    /// The record cannot be read, and what it said is lost. What is known here goes into a new one; whoever knows nothing yet
    /// takes its limits for used up, for so they may be.
    pub fn distrust(&mut self, now: Timestamp) {
        let is_known = self
            .sharing
            .as_ref()
            .is_some_and(|own| own.head.version > 0);
        if is_known {
            return self.restore();
        }
        for index in 0..self.gates.len() {
            if let Some(gate) = self.gates.get_mut(index) {
                gate.use_up(now);
            }
        }
        if let Some(sharing) = &mut self.sharing {
            sharing.added = self.gates.iter().cloned().collect();
        }
    }

    /// The latest time that the record knows of: whoever shares it is not told an earlier one.
    pub fn latest(&self) -> Timestamp {
        let sharing = self.sharing.as_ref();
        sharing.map_or(Timestamp::ZERO, |sharing| sharing.head.now)
    }

    /// The record was lost: all that is known here goes into the next one.
    fn restore(&mut self) {
        let Some(sharing) = &mut self.sharing else {
            return;
        };
        if sharing.head.version > 0 {
            // Whoever knew more of the lost one loads everything.
            sharing.head.version += A_LONG_WAY;
            sharing.head.latest.clear();
            self.gates.watch();
            self.line.touch();
            sharing.common.outstanding.touch();
            sharing.common.members.changed = true;
            sharing.common.looks.changed = true;
            if let Some(found) = &mut self.found {
                found.book.touch();
            }
        }
    }

    /// What is ours and was lost with the record. What was under way is not: those who wrote the new one did not count it.
    fn regain(&mut self, ours: Vec<line::Ticket>) {
        let at = self.latest();
        for ticket in ours {
            if self.line.gates_of(ticket.id).is_none() {
                self.line.squeeze_in(at, ticket);
            }
        }
        if let Some(sharing) = &mut self.sharing {
            sharing.regain();
        }
    }

    fn install(&mut self, loaded: Loaded, head: Head) {
        let Loaded {
            line,
            members,
            found,
            outstanding,
            looks,
            gates,
        } = loaded;
        // What was known of a lost record may be ahead of the one that was begun from less.
        self.next_order = self.next_order.max(head.next_order);
        self.next_ticket = self.next_ticket.max(head.next_ticket);
        self.gates.load(gates, usize::from(head.gates));
        if let Some(tickets) = line {
            self.line.load(head.now, tickets);
        }
        if let (Some(own), Some(book)) = (&mut self.found, found) {
            own.book = book;
        }
        let Some(sharing) = &mut self.sharing else {
            return;
        };
        let common = &mut sharing.common;
        if let Some(members) = members {
            common.members = members;
        }
        if let Some(outstanding) = outstanding {
            common.outstanding = outstanding;
            if let Some(found) = &mut self.found {
                found.doubt_anew(common.outstanding.doubtful());
            }
        }
        if let Some(looks) = looks {
            common.looks = looks;
        }
        sharing.head = head;
    }
}

/// What others changed.
struct Loaded {
    line: Option<Vec<line::Ticket>>,
    members: Option<Members>,
    found: Option<Book>,
    outstanding: Option<Outstanding>,
    looks: Option<Looks>,
    gates: BTreeMap<u16, Gate>,
}

impl Loaded {
    /// Those of these sections.
    fn read(
        from: &(impl Sections + ?Sized),
        head: &Head,
        changed: Changed,
    ) -> Result<Self, Unreadable> {
        let is_wanted = |section| changed.has(section);
        let mut gates = BTreeMap::new();
        for index in 0..head.gates {
            let section = FIRST_GATE + u32::from(index);
            if is_wanted(section) {
                let bytes = from
                    .get(section)
                    .ok_or_else(|| Unreadable::missing(section))?;
                gates.insert(index, Gate::load(section, bytes)?);
            }
        }
        let own = Self {
            line: part(from, LINE, &is_wanted)?,
            members: part(from, MEMBERS, &is_wanted)?,
            found: part(from, FOUND, &is_wanted)?,
            outstanding: part(from, OUTSTANDING, &is_wanted)?,
            looks: part(from, LOOKS, &is_wanted)?,
            gates,
        };
        own.check(head)?;
        Ok(own)
    }

    /// Whatever is charged to a gate, or waits for it, names one that there is.
    fn check(&self, head: &Head) -> Result<(), Unreadable> {
        let is_there = |index: usize| index < usize::from(head.gates);
        let tickets = self.line.iter().flatten();
        let (mut places, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for ticket in tickets {
            if !ticket.gates.iter().all(is_there) || ticket.owner.is_none() {
                return Err(Unreadable::because(
                    LINE,
                    "a ticket names a gate or an owner that is not there",
                ));
            }
            if !places.insert(ticket.place) || !ids.insert(ticket.id) {
                return Err(Unreadable::because(LINE, "two tickets are one"));
            }
        }
        let outstanding = self.outstanding.iter();
        let mut sets = outstanding.flat_map(Outstanding::gates);
        if !sets.all(|set| set.iter().all(is_there)) {
            return Err(Unreadable::because(
                OUTSTANDING,
                "a request names a gate that is not there",
            ));
        }
        Ok(())
    }
}

/// One section, if it is wanted; one that was never saved is empty.
fn part<T: for<'b> Decode<'b, ()> + Default>(
    from: &(impl Sections + ?Sized),
    section: u32,
    is_wanted: &impl Fn(u32) -> bool,
) -> Result<Option<T>, Unreadable> {
    if !is_wanted(section) {
        return Ok(None);
    }
    match from.get(section) {
        Some(bytes) => decode(section, bytes).map(Some),
        None => Ok(Some(T::default())),
    }
}

impl Head {
    /// Whether these bytes are those of the same version.
    fn is_named_by(&self, bytes: &[u8]) -> bool {
        let mut d = Decoder::new(bytes);
        let named = |d: &mut Decoder<'_>| {
            d.array()?;
            Ok::<_, minicbor::decode::Error>((d.u64()?, d.u64()?))
        };
        named(&mut d).is_ok_and(|named| named == (self.generation, self.version))
    }

    /// Which sections changed since `known`; `None` if that is not known.
    fn changed_since(&self, known: &Self) -> Option<Changed> {
        if self.generation != known.generation || known.version == 0 {
            return None;
        }
        let behind = usize::try_from(self.version.checked_sub(known.version)?).ok()?;
        let first = self.latest.len().checked_sub(behind)?;
        let latest = self.latest.iter().skip(first);
        Some(Changed(latest.fold(0, |all, changed| all | changed.0)))
    }
}
