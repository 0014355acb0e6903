//! The hypothesis "so many in any stretch of so many seconds": fixed windows and sliding logs.
//!
//! A window shows itself by what it lets through between two runs of refusals: the same number each time. Once two in a row
//! let the same number through, the next ones are spent like a log: each send leaves one length after the one that many
//! before it. That keeps to a fixed window as well, whatever its phase.
//!
//! ```text
//! served ████████░░░░░░░░████████░░░░░░░░█       the length lies between the last refused
//!        ▲ first         ▲ first         ▲       and the first served probe of a run
//! ```

mod sends;
#[cfg(test)]
mod tests;

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, ensure, numbers};
use sends::Sends;

/// What the windows so far let through, and the one that is followed.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct Window {
    /// Accepted sends since the last run ended: order and seconds of as many as a window may have, and the number of all.
    #[n(0)]
    passed: Vec<(u64, f64)>,
    #[n(1)]
    count: usize,
    /// When the first of them left.
    #[n(2)]
    first: f64,
    /// Sends before this one are counted already.
    #[n(3)]
    from: u64,
    /// How many the window before let through.
    #[n(4)]
    before: usize,
    /// Sends refused since the first of the window left.
    #[n(5)]
    refused: usize,
    /// A first one of the next window left too early.
    #[n(6)]
    tried: bool,
    #[n(7)]
    known: Option<Known>,
    /// How often a window was followed that was none.
    #[n(8)]
    wrong: u32,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Known {
    /// Between these lies its length, in seconds.
    #[n(0)]
    least: f64,
    #[n(1)]
    most: f64,
    /// What is refused counts in it, too.
    #[n(2)]
    counts_refused: bool,
    /// In a row, runs that were longer than a window can be.
    #[n(3)]
    longer: u32,
    #[n(4)]
    sends: Sends,
}

/// How much sooner the first send of a window leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dares {
    Nothing,
    /// Half of what is not known of the length.
    Bold,
    /// Much too early: so a window that has become shorter or larger is found.
    Test,
}

/// One in a window is a rate.
const FEWEST: usize = 3;
const DENSE: f64 = 0.5;
/// Larger ones are not kept send by send.
const KEPT: usize = 256;
/// A length that is known to this part is known well enough.
const EXACT: f64 = 0.02;
/// A window that opens so many times later than it ever had to is an outage, or another window; twice in a row, the latter.
const STRETCH: f64 = 1.5;
const LONGER: u32 = 2;
/// Where nobody probed for longer than this, as times of the latest refusal, the length is not known.
const PROBED: f64 = 2.0;
/// A test leaves after so much of the length.
const TESTED: f64 = 0.5;
/// So often wrong, and no window is looked for any more.
const MOST_WRONG: u32 = 3;

impl Window {
    /// Nothing known but that `count` were let through from `first` until the send `refused` was not.
    pub(super) fn after(count: usize, first: f64, refused: u64) -> Self {
        Self {
            count,
            first,
            from: refused,
            ..Self::default()
        }
    }

    /// How many are let through in how many seconds, if a window is followed.
    pub(super) fn known(&self) -> Option<(usize, f64)> {
        let known = self.known.as_ref()?;
        Some((known.sends.count(), known.most))
    }

    /// A request leaves.
    pub(super) fn sent(&mut self, order: u64, at: f64) {
        if let Some(known) = &mut self.known {
            known.sends.push(order, at);
        }
    }

    /// It did not leave after all.
    pub(super) fn forget(&mut self, order: u64) {
        if let Some(known) = &mut self.known {
            known.sends.forget(order);
        }
    }

    /// A send was let through. Says whether it shows that the window is shorter than believed.
    pub(super) fn accepted(&mut self, order: u64, at: f64) -> bool {
        if order < self.from {
            return false;
        }
        let length = at - self.first;
        let mut shorter = false;
        if let Some(known) = &mut self.known
            && self.count > 0
            && length > 0.0
            && known.sends.is_first(order)
        {
            shorter = length * (1.0 + EXACT) < known.most;
            known.most = known.most.min(length);
            known.least = known.least.min(length);
            known.longer = 0;
            self.begin(at);
        }
        self.count += 1;
        if self.count <= KEPT {
            self.passed.push((order, at));
        }
        let lets_more_through = |known: &Known| self.count > known.sends.count();
        if self.known.as_ref().is_some_and(lets_more_through) {
            self.known = None;
        }
        shorter
    }

    /// Nobody knows what became of a send. A window begins all the same.
    pub(super) fn missed(&mut self, order: u64, at: f64) {
        let is_first = |known: &Known| known.sends.is_first(order);
        if self.count > 0 && at > self.first && self.known.as_ref().is_some_and(is_first) {
            self.begin(at);
            self.count = 1;
        }
    }

    /// A send was refused; if it `begins` a run, the window is used up, or is none.
    pub(super) fn refused(&mut self, order: u64, at: f64, begins: bool) {
        let mut wrong = false;
        if let Some(known) = &mut self.known {
            if begins && self.count < known.sends.count() {
                wrong = known.counts_refused || self.count + self.refused < known.sends.count();
                known.counts_refused = true;
            }
            if known.sends.is_first(order) {
                known.least = known.least.max(at - self.first).min(known.most);
                self.tried = true;
            }
            known.sends.refuse(order, known.counts_refused);
        }
        if wrong {
            self.known = None;
            self.wrong += 1;
        }
        self.refused += 1;
    }

    /// A run of refusals, the last of them at `refused`, ended with an acceptance at `at`. The end of a wait that the server
    /// `named` is the window's.
    pub(super) fn opened(&mut self, refused: f64, order: u64, at: f64, named: bool) {
        let length = at - self.first;
        let refused = refused - self.first;
        let least = if named { length } else { refused.min(length) };
        if let Some(known) = &mut self.known {
            known.sends.begin(order);
            if length > STRETCH * known.most {
                known.longer += 1;
            } else {
                known.longer = 0;
                known.least = known.least.max(least).min(length);
                known.most = length;
            }
            if known.longer >= LONGER {
                self.known = None;
            }
        } else if self.is_one(refused, length, named) {
            let passed = self.passed.iter().copied().chain([(order, at)]);
            let mut sends = Sends::of(self.count, passed);
            sends.begin(order);
            self.known = Some(Known {
                least,
                most: length,
                counts_refused: false,
                longer: 0,
                sends,
            });
        }
        self.begin(at);
    }

    /// What has just passed looks like one: as many as in the one before, all in its first part, then an unnamed wait that
    /// was probed to its end.
    fn is_one(&self, refused: f64, length: f64, named: bool) -> bool {
        let last = self.passed.last().map_or(self.first, |(_, at)| *at);
        self.wrong < MOST_WRONG
            && self.count == self.before
            && (FEWEST..=KEPT).contains(&self.count)
            && last - self.first <= DENSE * length
            && !named
            && length <= PROBED * refused
    }

    /// Its length is worth a refusal a window.
    pub(super) fn is_unsure(&self) -> bool {
        let unsure = |known: &Known| known.most > known.least * (1.0 + EXACT);
        !self.tried && self.known.as_ref().is_some_and(unsure)
    }

    fn begin(&mut self, at: f64) {
        self.before = self.count;
        self.count = 0;
        self.refused = 0;
        self.tried = false;
        self.passed.clear();
        self.first = at;
    }

    /// When the next send may leave behind `ahead` others. The first of a window may leave sooner where it `dares` to.
    pub(super) fn opens(&self, ahead: usize, dares: Dares) -> Option<f64> {
        let known = self.known.as_ref()?;
        // So many whole windows are in front of it.
        let (rounds, rest) = (ahead / known.sends.count(), ahead % known.sends.count());
        let Some(send) = known.sends.before_next(rest) else {
            return Some(f64::NEG_INFINITY);
        };
        let first = send.first && ahead == 0;
        let length = match dares {
            Dares::Bold if first => f64::midpoint(known.least, known.most),
            Dares::Test if first => TESTED * known.most,
            _ => known.most,
        };
        Some(send.at + length + rounds as f64 * known.most)
    }
}

impl Sound for Window {
    fn check(&self) -> Result<(), Flaw> {
        let counted = self.count.max(self.refused);
        let sound =
            self.passed.len() <= KEPT && counted <= usize::MAX / 4 && self.wrong <= MOST_WRONG;
        ensure(sound, "a window that lets nothing like that through")?;
        numbers([self.first])?;
        self.passed.iter().try_for_each(|(_, at)| numbers([*at]))?;
        self.known.check()
    }
}

impl Sound for Known {
    fn check(&self) -> Result<(), Flaw> {
        ensure(self.longer < LONGER, "a window that is none any more")?;
        numbers([self.least, self.most])?;
        self.sends.check()
    }
}
