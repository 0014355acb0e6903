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
    /// In a row, runs that were longer than a window can be.
    longer: u32,
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
            && known.is_first(order)
        {
            shorter = length * (1.0 + EXACT) < known.most;
            known.most = known.most.min(length);
            known.least = known.least.min(length);
            known.longer = 0;
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
        shorter
    }

    /// Nobody knows what became of a send. A window begins all the same.
    pub(super) fn missed(&mut self, order: u64, at: f64) {
        let is_first = |known: &Known| known.is_first(order);
        if self.count > 0 && at > self.first && self.known.as_ref().is_some_and(is_first) {
            self.begin(at);
            self.count = 1;
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
        let refused = refused - self.first;
        let least = if named { length } else { refused.min(length) };
        if let Some(known) = &mut self.known {
            known.begin(order);
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
            let mut passed: Vec<_> = self.passed.iter().copied().collect();
            passed.sort_unstable_by_key(|(order, _)| *order);
            let mut known = Known {
                count: self.count,
                least,
                most: length,
                counts_refused: false,
                is_wrong: false,
                longer: 0,
                sends: VecDeque::new(),
            };
            for (order, at) in passed {
                known.push(order, at);
            }
            known.push(order, at);
            known.begin(order);
            self.known = Some(known);
        }
        self.begin(at);
    }

    /// What has just passed looks like one: as many as in the one before, all in its first part, then an unnamed wait that
    /// was probed to its end.
    fn is_one(&self, refused: f64, length: f64, named: bool) -> bool {
        let last = self.passed.back().map_or(self.first, |(_, at)| *at);
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
        let first = send.first && ahead == 0;
        let length = match dares {
            Dares::Bold if first && self.is_unsure() => f64::midpoint(known.least, known.most),
            Dares::Test if first && !self.tried => TESTED * known.most,
            _ => known.most,
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
        let Some(place) = self.place(order) else {
            return;
        };
        // The next one is the first then, be it under way or still to come.
        if self.sends.remove(place).is_some_and(|send| send.first)
            && let Some(next) = self.sends.get_mut(place)
        {
            next.first = true;
        }
    }

    fn refuse(&mut self, order: u64) {
        if let Some(place) = self.place(order) {
            self.sends[place].first = false;
            if !self.counts_refused {
                self.sends.remove(place);
            }
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
            let dares = if self.running {
                Dares::Nothing
            } else {
                Dares::Bold
            };
            let opens = self.window.opens(0, dares);
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
        let next = |ahead| {
            lab.window
                .opens(ahead, Dares::Nothing)
                .expect("it is followed")
        };
        assert!((next(40) - next(20) - length).abs() < 1e-9);
        assert!(next(19) <= next(20));
    }

    fn known() -> (Lab, f64) {
        let mut lab = Lab::new(20);
        lab.windows(8.0);
        let (_, length) = lab.window.known().expect("it is followed");
        (lab, length)
    }

    /// Uses the window up, and is refused for `seconds`.
    fn down(lab: &mut Lab, seconds: f64) {
        let count = lab.window.known().map_or(0, |(count, _)| count);
        while lab.window.count < count {
            lab.send();
        }
        let (first, until) = (lab.window.first, lab.window.first + seconds);
        let mut at = first + 0.4 * LENGTH;
        while at < until {
            lab.order += 1;
            lab.window.sent(lab.order, at);
            lab.window.refused(lab.order, at, !lab.running);
            lab.running = true;
            lab.last_refused = at;
            at *= 1.3;
        }
        (lab.now, lab.left, lab.resets) = (until, 0, until);
        assert!(lab.send(), "it is up");
    }

    #[test]
    fn an_outage_does_not_make_it_longer_and_two_in_a_row_are_another_window() {
        let (mut lab, length) = known();
        down(&mut lab, 300.0);
        assert_eq!(lab.window.known(), Some((20, length)));
        lab.windows(3.0);
        assert!(lab.window.known().expect("it is followed").1 < 1.05 * LENGTH);
        down(&mut lab, 300.0);
        down(&mut lab, 300.0);
        assert_eq!(lab.window.known(), None);
    }

    #[test]
    fn what_nobody_probed_to_its_end_is_not_taken_for_its_length() {
        let mut window = Window::after(20, 0.0, 1);
        window.refused(1, 0.0, true);
        window.opened(9.5, 2, 10.2, false);
        for order in 2..22 {
            window.accepted(order, 10.2);
        }
        window.refused(22, 10.3, true);
        window.opened(10.3, 23, 3600.0, false);
        assert_eq!(window.known(), None);
    }

    #[test]
    fn a_test_finds_one_that_has_become_shorter() {
        let (mut lab, length) = known();
        while lab.window.count < 20 {
            lab.send();
        }
        let test = lab.window.opens(0, Dares::Test).expect("it is followed");
        let careful = lab.window.opens(0, Dares::Nothing).expect("it is followed");
        assert!(
            (careful - test - length / 2.0).abs() < 1e-9,
            "{test} {careful}"
        );
        lab.window.sent(lab.order + 1, test);
        assert!(lab.window.accepted(lab.order + 1, test), "shorter");
        let (count, shorter) = lab.window.known().expect("it is followed");
        assert!(
            count == 20 && (shorter - length / 2.0).abs() < 0.1,
            "{shorter}"
        );
    }

    #[test]
    fn where_the_first_of_a_window_is_lost_the_next_one_is_the_first() {
        let (mut lab, _) = known();
        for window in 0..6 {
            while lab.window.count < 20 {
                lab.send();
            }
            let next = lab.order + 1;
            let at = lab
                .window
                .opens(0, Dares::Nothing)
                .expect("it is followed")
                .max(lab.resets);
            lab.window.sent(next, at);
            lab.window.sent(next + 1, at);
            lab.window.forget(next);
            (lab.order, lab.now) = (next + 1, at);
            if window % 2 == 0 {
                lab.window.accepted(next + 1, at);
                while lab.now >= lab.resets {
                    lab.left = lab.count;
                    lab.resets += LENGTH;
                }
                lab.left -= 1;
            } else {
                lab.window.forget(next + 1);
                lab.send();
            }
            assert!(lab.window.known().is_some(), "window {window}");
        }
    }

    #[test]
    fn a_send_of_which_nobody_knows_counts_in_no_window_that_is_not_followed_yet() {
        let mut window = Window::after(20, 0.0, 1);
        window.refused(1, 0.0, true);
        window.opened(9.5, 2, 10.2, false);
        for order in 2..22 {
            window.accepted(order, 10.2);
        }
        window.missed(22, 10.2);
        window.refused(23, 10.3, true);
        window.opened(20.0, 24, 20.5, false);
        assert!(window.known().is_some_and(|(count, _)| count == 20));
    }
}
