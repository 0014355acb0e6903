//! Lab protocol: a fixed window of ten seconds, asked by one at a time.

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
        let dares = if !self.running && self.window.is_unsure() {
            Dares::Bold
        } else {
            Dares::Nothing
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
