//! One window: what is known of it, and when a request may be charged to it.
//!
//! ```text
//! reset ──► one scout ──► its answer: the window, spent to its end ──► reset
//!              └──► no answer in time: as much as the window is known to hold
//! ```
//!
//! Past its reset nothing is known for sure: the clocks may differ, others may have been quicker, a window that moves gives
//! back bit by bit. One request finds out, and costs no time where windows begin with a request.

use core::time::Duration;

use minicbor::{Decode, Encode};

use super::left::Left;
use super::others::Others;
use super::reset::{Relation, Reset};
use super::{SILENT, Spending};
use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::record::sound::{Flaw, Sound, ensure};
use crate::snapshot::WindowSnapshot;
use crate::{Reason, Timestamp, Unit, Window};

/// A request whose answer tells of windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) now: Timestamp,
    pub(crate) sent: Timestamp,
    pub(crate) order: u64,
    /// The order that the next request will have.
    pub(crate) next_order: u64,
    pub(crate) refused: bool,
}

/// What is known of one window.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct Reported {
    #[n(0)]
    pub(super) name: Option<Box<str>>,
    #[n(1)]
    pub(super) unit: Unit,
    #[n(2)]
    limit: Option<u64>,
    #[n(3)]
    left: Left,
    #[n(4)]
    pub(super) reset: Reset,
    #[n(5)]
    others: Others,
    /// More was left although the reset had not come.
    #[n(6)]
    moves: bool,
    /// How much too early the server tells its resets.
    #[n(7)]
    #[cbor(with = "crate::record::duration")]
    rounding: Duration,
    /// The longest wait for a reset so far: about the window's length.
    #[n(8)]
    #[cbor(with = "crate::record::duration")]
    longest: Duration,
    /// When the first request left after the reset.
    #[n(9)]
    scout: Option<Timestamp>,
    /// Answers in a row that did not tell of it although it was over, or used up.
    #[n(10)]
    pub(super) silent: u64,
    /// Which answer told of it last.
    #[n(11)]
    pub(super) told_by: u64,
}

/// The scout is waited for no longer: some requests take minutes.
const PATIENCE: Duration = Duration::from_secs(1);
/// In windows that are no longer, a rise is the next window.
const SHORT: Duration = Duration::from_secs(2);
/// Rounding down is a second's matter, with a Date that is rounded two's.
const MOST_ROUNDING: Duration = Duration::from_secs(2);
const SECOND: Duration = Duration::from_secs(1);

impl Reported {
    /// A window that was not known, with `remaining` left and `reset` to come; `chance`, from 0 to 1, is drawn for it.
    pub(super) fn new(
        told: Told,
        (window, remaining, reset): (&Window, u64, Duration),
        spending: &Spending,
        chance: f64,
    ) -> Self {
        let mut own = Self {
            name: window.name.clone(),
            unit: window.unit.clone(),
            limit: window.limit(),
            left: Left::new(remaining, told.next_order),
            reset: Reset::told(told.sent, told.now, reset, window.length),
            others: Others::begin(told.now, remaining, spending.under_way(&window.unit)),
            moves: false,
            rounding: Duration::ZERO,
            longest: reset,
            scout: None,
            silent: 0,
            told_by: told.order,
        };
        own.reset.spread(told.now, Duration::ZERO, chance);
        own
    }

    pub(super) fn is_told_by(&self, window: &Window) -> bool {
        self.name == window.name && self.unit == window.unit
    }

    /// The window is told of again.
    pub(super) fn learn(
        &mut self,
        told: Told,
        (window, remaining, reset): (&Window, u64, Duration),
        spending: &Spending,
        chance: f64,
    ) {
        let seen = Reset::told(told.sent, told.now, reset, window.length);
        let was = self.left.shown();
        let is_news = self.left.is_news(told.order);
        match self.reset.relation(&seen, told.sent) {
            // It left before the known one was told of and belongs to the window before: it was overtaken.
            Relation::Before if !is_news => return,
            Relation::Same if !(remaining > was && is_news && self.longest <= SHORT) => {
                self.left.show(remaining, told.order, told.next_order);
                self.moves |= self.left.shown() > was;
                self.reset.narrow(&seen, self.moves);
                self.others.told(told.now, remaining);
            }
            _ => {
                if told.refused && remaining == 0 && self.came_too_early(told.sent, reset) {
                    self.rounding = (self.rounding + SECOND).min(MOST_ROUNDING);
                }
                self.left = Left::new(remaining, told.next_order);
                self.reset = seen;
                self.reset.spread(told.now, self.rounding, chance);
                let ours = spending.under_way(&self.unit);
                self.others = self.others.next(told.now, remaining, ours);
            }
        }
        self.limit = window.limit().or(self.limit);
        self.longest = self.longest.max(reset);
        self.scout = None;
        self.silent = 0;
        self.told_by = told.order;
    }

    /// A request leaves.
    pub(super) fn sent(&mut self, now: Timestamp, units: u64) {
        self.others.sent(units);
        if self.is_over(now) && self.scout.is_none() {
            self.scout = Some(now);
        }
    }

    /// It left as one that is charged elsewhere, and is ours all the same.
    pub(super) fn counted(&mut self, units: u64) {
        self.others.sent(units);
    }

    /// It did not leave after all.
    pub(super) fn unsent(&mut self, units: u64) {
        self.others.unsent(units);
    }

    /// It may have been counted, and no answer will tell.
    pub(super) fn lost(&mut self, units: u64) {
        self.left.spend(units);
    }

    /// Nothing is under way: nobody can tell any more.
    pub(super) const fn nobody_tells(&mut self) {
        self.scout = None;
    }

    /// Served without a word. Whether that was counted, nobody said; whoever is served when nothing is left was not.
    pub(super) fn served_silently(&mut self, told: Told, units: u64) {
        let is_contradicted = self.left.is_news(told.order) && self.left.count() == 0;
        if is_contradicted || self.is_over(told.sent) {
            self.silent += 1;
        }
        self.left.show_nothing(units, told.order);
    }

    /// Refused without a word: others were quicker.
    pub(super) const fn exhaust(&mut self) {
        self.left.spend(u64::MAX);
    }

    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        now >= self.reset.at()
    }

    /// How much the server said was left, at the least.
    pub(super) fn remaining(&self) -> u64 {
        self.left.count()
    }

    /// As the server tells it.
    pub(super) fn snapshot(&self) -> WindowSnapshot {
        WindowSnapshot {
            name: self.name.clone(),
            limit: self.limit,
            remaining: self.remaining(),
            reset: self.reset.told_for(),
        }
    }

    /// When a request of `cost` may be charged to it after those `ahead`.
    pub(super) fn opens(
        &self,
        now: Timestamp,
        spending: &Spending,
        ahead: Ahead<'_>,
        cost: &Cost,
    ) -> Opening {
        let cost = self.charge(spending.charge(&self.unit, cost));
        if cost == 0 {
            return Opening::NOW;
        }
        let asked = spending.ahead(&self.unit, ahead).saturating_add(cost);
        let with_theirs = spending.under_way(&self.unit).saturating_add(asked);
        let is_first = ahead.requests == 0 && spending.is_nothing();
        let left = self.left.count();
        if self.is_over(now) {
            // Starting anew takes nothing away, unless others are there.
            if with_theirs <= left && !self.others.are_there() {
                return Opening::NOW;
            }
            return self.opens_anew(now, ahead, with_theirs, is_first);
        }
        if asked > self.left.shown() {
            return Opening::at(self.reset.at(), Reason::Window);
        }
        if is_first || with_theirs <= self.others.leave_us(now, left) {
            return Opening::NOW;
        }
        // It may fit when those under way turn out to be counted already, or those answered not to be: answers will tell.
        Opening::completion(Reason::Window, self.reset.at())
    }

    fn opens_anew(&self, now: Timestamp, ahead: Ahead<'_>, needed: u64, is_first: bool) -> Opening {
        match self.scout {
            None if ahead.requests == 0 => Opening::NOW,
            None => Opening::completion(Reason::Window, Timestamp::MAX),
            Some(left) if now < left + PATIENCE && self.silent == 0 => {
                Opening::completion(Reason::Window, left + PATIENCE)
            }
            Some(_) => match self.limit {
                Some(limit) if needed > limit && !is_first => {
                    Opening::completion(Reason::Window, Timestamp::MAX)
                }
                _ => Opening::NOW,
            },
        }
    }

    /// One that costs more than the window holds needs all of it, and the server decides.
    fn charge(&self, charge: u64) -> u64 {
        match self.limit {
            Some(limit) => charge.min(limit.max(1)),
            None => charge,
        }
    }

    /// Refused right at the known reset, by a window that ends within the second: the server rounds down.
    fn came_too_early(&self, sent: Timestamp, reset: Duration) -> bool {
        let waited = self.reset.at();
        sent >= waited
            && sent < waited + MOST_ROUNDING
            && reset <= SECOND
            && self.longest >= MOST_ROUNDING
    }
}

impl Sound for Reported {
    fn check(&self) -> Result<(), Flaw> {
        let sound = self.silent < SILENT && self.rounding <= MOST_ROUNDING;
        ensure(sound, "a window that is forgotten, or told too early")
    }
}
