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

use std::collections::VecDeque;

/// What the windows so far let through, and the one that is followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// Accepted sends since the last run ended: order and seconds of the latest, and the number of all.
    passed: VecDeque<(u64, f64)>,
    count: usize,
    /// When the first of them left.
    first: f64,
    /// Sends before this one are counted already.
    from: u64,
    /// How many the window before let through.
    before: usize,
    /// Sends refused since the first of the window left.
    refused: usize,
    /// A first one of the next window left too early.
    tried: bool,
    known: Option<Known>,
    /// How often a window was followed that was none.
    wrong: u32,
}

#[derive(Clone, Debug)]
struct Known {
    count: usize,
    /// Between these lies its length, in seconds.
    least: f64,
    most: f64,
    /// What is refused counts in it, too.
    counts_refused: bool,
    is_wrong: bool,
    /// The latest sends that count or may.
    sends: VecDeque<Sent>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    order: u64,
    at: f64,
    /// The first of a window: one length after the first of the window before.
    first: bool,
}

/// One in a window is a rate.
const FEWEST: usize = 3;
const DENSE: f64 = 0.5;
/// Larger ones are not kept send by send.
const KEPT: usize = 256;
/// A length that is known to this part is known well enough.
const EXACT: f64 = 0.02;
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
        Some((known.count, known.most))
    }

    /// A request leaves.
    pub(super) fn sent(&mut self, order: u64, at: f64) {
        if let Some(known) = &mut self.known {
            known.push(order, at);
        }
    }

    /// It did not leave after all.
    pub(super) fn forget(&mut self, order: u64) {
        if let Some(known) = &mut self.known {
            known.forget(order);
        }
    }

    /// A send was let through.
    pub(super) fn accepted(&mut self, order: u64, at: f64) {
        if order < self.from {
            return;
        }
        let length = at - self.first;
        if let Some(known) = &mut self.known
            && self.count > 0
            && known.is_first(order)
        {
            known.most = known.most.min(length);
            known.least = known.least.min(length);
            self.begin(at);
        }
        self.count += 1;
        self.passed.push_back((order, at));
        if self.passed.len() > KEPT {
            self.passed.pop_front();
        }
        let lets_more_through = |known: &Known| self.count > known.count;
        if self.known.as_ref().is_some_and(lets_more_through) {
            self.known = None;
        }
    }

    /// A send was refused; if it `begins` a run, the window is used up, or is none.
    pub(super) fn refused(&mut self, order: u64, at: f64, begins: bool) {
        if let Some(known) = &mut self.known {
            if begins && self.count < known.count {
                known.is_wrong = known.counts_refused || self.count + self.refused < known.count;
                known.counts_refused = true;
            }
            if known.is_first(order) {
                known.least = known.least.max(at - self.first).min(known.most);
                self.tried = true;
            }
            known.refuse(order);
        }
        if self.known.as_ref().is_some_and(|known| known.is_wrong) {
            self.known = None;
            self.wrong += 1;
        }
        self.refused += 1;
    }

    /// A run of refusals, the last of them at `refused`, ended with an acceptance at `at`. The end of a wait that the server
    /// `named` is the window's.
    pub(super) fn opened(&mut self, refused: f64, order: u64, at: f64, named: bool) {
        let length = at - self.first;
        let least = if named {
            length
        } else {
            (refused - self.first).min(length)
        };
        let last = self.passed.back().map_or(self.first, |(_, at)| *at);
        let dense = last - self.first <= DENSE * length;
        let alike =
            self.count == self.before && (FEWEST..=KEPT).contains(&self.count) && dense && !named;
        if let Some(known) = &mut self.known {
            known.least = known.least.max(least).min(length);
            known.most = length;
            known.begin(order);
        } else if alike && self.wrong < MOST_WRONG {
            let mut known = Known {
                count: self.count,
                least,
                most: length,
                counts_refused: false,
                is_wrong: false,
                sends: VecDeque::new(),
            };
            for (order, at) in &self.passed {
                known.push(*order, *at);
            }
            known.push(order, at);
            known.begin(order);
            self.known = Some(known);
        }
        self.begin(at);
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

    /// When the next send may leave behind `ahead` others; if it may be `bold`, half of what is not known sooner.
    pub(super) fn opens(&self, ahead: usize, bold: bool) -> Option<f64> {
        let known = self.known.as_ref()?;
        let kept = known.sends.len();
        // So many whole windows are in front of it.
        let rounds = ahead / known.count;
        let back = known.count - ahead % known.count;
        let Some(send) = kept
            .checked_sub(back)
            .and_then(|place| known.sends.get(place))
        else {
            return Some(f64::NEG_INFINITY);
        };
        let length = if bold && send.first && ahead == 0 && self.is_unsure() {
            f64::midpoint(known.least, known.most)
        } else {
            known.most
        };
        Some(send.at + length + rounds as f64 * known.most)
    }
}

impl Known {
    fn push(&mut self, order: u64, at: f64) {
        let back = self.sends.len().checked_sub(self.count);
        let first = back.is_some_and(|place| self.sends[place].first);
        self.sends.push_back(Sent { order, at, first });
        if self.sends.len() > 2 * self.count {
            self.sends.pop_front();
        }
    }

    fn place(&self, order: u64) -> Option<usize> {
        self.sends
            .binary_search_by_key(&order, |send| send.order)
            .ok()
    }

    fn is_first(&self, order: u64) -> bool {
        self.place(order)
            .is_some_and(|place| self.sends[place].first)
    }

    /// The send `order` is the first of a window.
    fn begin(&mut self, order: u64) {
        if let Some(place) = self.place(order) {
            self.sends[place].first = true;
        }
    }

    fn forget(&mut self, order: u64) {
        if let Some(place) = self.place(order) {
            self.sends.remove(place);
        }
    }

    fn refuse(&mut self, order: u64) {
        if !self.counts_refused {
            self.forget(order);
        } else if let Some(place) = self.place(order) {
            self.sends[place].first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed window of `count` in ten seconds, asked by one at a time as the window says, or at once before it is known;
    /// refused probes come every second.
    struct Lab {
        window: Window,
        order: u64,
        now: f64,
        count: usize,
        left: usize,
        resets: f64,
        refused: u32,
        running: bool,
        last_refused: f64,
    }

    const LENGTH: f64 = 10.0;

    impl Lab {
        fn new(count: usize) -> Self {
            Self {
                window: Window::after(count, 0.0, 1),
                order: 0,
                now: 0.0,
                count,
                left: 0,
                resets: LENGTH,
                refused: 0,
                running: false,
                last_refused: 0.0,
            }
        }

        fn send(&mut self) -> bool {
            let opens = self.window.opens(0, !self.running);
            self.now = self.now.max(opens.unwrap_or(self.now));
            while self.now >= self.resets {
                self.left = self.count;
                self.resets += LENGTH;
            }
            self.order += 1;
            self.window.sent(self.order, self.now);
            let accepted = self.left > 0;
            if accepted {
                self.left -= 1;
                if self.running {
                    let (last, now) = (self.last_refused, self.now);
                    self.window.opened(last, self.order, now, false);
                }
                self.window.accepted(self.order, self.now);
            } else {
                self.window.refused(self.order, self.now, !self.running);
                self.last_refused = self.now;
                self.refused += 1;
                self.now += 0.7;
            }
            self.running = !accepted;
            accepted
        }

        fn windows(&mut self, windows: f64) {
            let until = self.now + windows * LENGTH;
            while self.now < until {
                self.send();
            }
        }
    }

    #[test]
    fn two_that_let_the_same_number_through_are_followed_and_the_length_closes_in() {
        let mut lab = Lab::new(20);
        lab.windows(2.5);
        let (count, length) = lab.window.known().expect("two are over");
        assert_eq!(count, 20);
        // Each end of it is known to the distance of two probes.
        assert!((length - LENGTH).abs() < 0.8, "{length}");
        let before = lab.refused;
        lab.windows(10.0);
        let length = lab.window.known().expect("it is followed").1;
        assert!((length / LENGTH - 1.0).abs() < EXACT, "{length}");
        let learning = lab.refused - before;
        assert!(learning <= 8, "{learning} refused");
        let (before, sent) = (lab.refused, lab.order);
        lab.windows(20.0);
        let (refused, sent) = (lab.refused - before, lab.order - sent);
        assert!(refused <= 2, "{refused} refused");
        assert!(sent > 20 * 20 * 97 / 100, "{sent} sent");
    }

    #[test]
    fn one_that_lets_less_through_is_followed_no_more_and_one_that_lets_more_through_neither() {
        for count in [15, 25] {
            let mut lab = Lab::new(20);
            lab.windows(4.0);
            assert!(lab.window.known().is_some());
            lab.count = count;
            lab.windows(2.0);
            if count > 20 {
                // A test: one more than it is known to let through.
                lab.window.accepted(lab.order + 1, lab.now);
                for order in 0..20 {
                    lab.window.accepted(lab.order + 2 + order, lab.now);
                }
            }
            assert!(lab.window.known().is_none(), "{count}");
        }
    }

    #[test]
    fn one_at_a_time_is_a_rate_and_no_window() {
        let mut lab = Lab::new(1);
        lab.windows(10.0);
        assert_eq!(lab.window.known(), None);
    }

    #[test]
    fn what_counts_refused_ones_is_told_from_one_that_is_none() {
        let mut lab = Lab::new(20);
        lab.windows(2.5);
        lab.window.begin(lab.now);
        for order in 0..18 {
            lab.window.accepted(1000 + order, lab.now);
        }
        lab.window.refused = 2;
        lab.window.refused(1020, lab.now, true);
        assert!(lab.window.known().is_some(), "two were refused before");
        lab.window.begin(lab.now);
        lab.window.refused(1021, lab.now, true);
        assert_eq!(lab.window.known(), None);
    }

    #[test]
    fn who_is_far_behind_waits_for_a_later_window() {
        let mut lab = Lab::new(20);
        lab.windows(4.0);
        let (_, length) = lab.window.known().expect("it is followed");
        let next = |ahead| lab.window.opens(ahead, false).expect("it is followed");
        assert!((next(40) - next(20) - length).abs() < 1e-9);
        assert!(next(19) <= next(20));
    }
}
