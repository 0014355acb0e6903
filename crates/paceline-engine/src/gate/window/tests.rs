//! Windows as a gate sees them: requests leave, answers come, time passes.

use super::*;
use crate::{Reason, Verdict};

mod units;

/// One gate's windows, with everything under way in the order of its departure.
struct Lab {
    windows: Windows,
    under_way: Vec<(u64, Timestamp, Cost)>,
    next_order: u64,
}

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

fn window(limit: u64, remaining: u64, reset: u64) -> Window {
    Window {
        limit_milli: Some(u128::from(limit) * 1000),
        remaining: Some(remaining),
        reset: Some(Duration::from_secs(reset)),
        ..Window::unknown()
    }
}

fn tokens(limit: u64, remaining: u64, reset: u64) -> Window {
    Window {
        unit: Unit::Other("tokens".into()),
        ..window(limit, remaining, reset)
    }
}

fn served(windows: &[Window]) -> Observation {
    Observation {
        windows: windows.to_vec(),
        ..Observation::status(Verdict::Ok, 200)
    }
}

fn refused(windows: &[Window]) -> Observation {
    Observation {
        windows: windows.to_vec(),
        ..Observation::status(Verdict::RateLimited, 429)
    }
}

impl Lab {
    fn new() -> Self {
        Self {
            windows: Windows::default(),
            under_way: Vec::new(),
            next_order: 1,
        }
    }

    fn opens(&self, ms: u64, cost: &Cost) -> Opening {
        self.windows.opens(at(ms), Ahead::NOTHING, cost)
    }

    fn is_open(&self, ms: u64) -> bool {
        self.opens(ms, &Cost::default()).is_open(at(ms))
    }

    fn send(&mut self, ms: u64, cost: &Cost) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        self.windows.sent(at(ms), cost);
        self.under_way.push((order, at(ms), cost.clone()));
        order
    }

    /// Sends as many as may go at once, at most `wanted`.
    fn volley(&mut self, ms: u64, wanted: u64) -> u64 {
        let mut sent = 0;
        while sent < wanted && self.is_open(ms) {
            self.send(ms, &Cost::default());
            sent += 1;
        }
        sent
    }

    /// The answer to the request that left as `order`; no chance is drawn, so resets are exact.
    fn answer(&mut self, ms: u64, order: u64, seen: &Observation) -> bool {
        let place = self.under_way.iter().position(|(own, ..)| *own == order);
        let (order, sent, cost) = self.under_way.remove(place.expect("it is under way"));
        let told = Told {
            now: at(ms),
            sent,
            order,
            next_order: self.next_order,
            refused: seen.verdict.is_refusal(),
        };
        self.windows.answered(told, &cost, seen, || 0.0)
    }

    /// The answers to all that are under way, the server counting down from `left`.
    fn answer_all(&mut self, ms: u64, limit: u64, mut left: u64, reset: u64) {
        while let Some((order, ..)) = self.under_way.first().cloned() {
            left -= 1;
            self.answer(ms, order, &served(&[window(limit, left, reset)]));
        }
    }
}

#[test]
fn a_window_is_spent_to_its_end_and_no_further() {
    let mut lab = Lab::new();
    assert_eq!(lab.volley(0, 3), 3);
    lab.answer(10, 1, &served(&[window(5, 4, 10)]));
    assert_eq!(lab.volley(10, 9), 2, "two more are under way");
    lab.answer(20, 2, &served(&[window(5, 3, 10)]));
    assert_eq!(lab.volley(20, 9), 0, "three are under way");
    lab.answer_all(30, 5, 3, 10);
    assert_eq!(
        lab.opens(30, &Cost::default()),
        Opening::at(at(10_010), Reason::Window)
    );
}

#[test]
fn past_the_reset_one_request_finds_out_and_the_others_follow_its_answer() {
    let mut lab = Lab::new();
    lab.volley(0, 10);
    lab.answer_all(5, 10, 10, 5);
    assert!(!lab.is_open(5004));
    assert_eq!(lab.volley(5005, 10), 1);
    lab.answer(5010, 11, &served(&[window(10, 9, 5)]));
    assert_eq!(lab.volley(5010, 20), 9);
}

#[test]
fn a_scout_that_is_slow_is_not_waited_for_but_the_limit_is_kept() {
    let mut lab = Lab::new();
    lab.volley(0, 10);
    lab.answer_all(5, 10, 10, 5);
    assert_eq!(lab.volley(60_000, 20), 1, "after an idle minute, too");
    assert_eq!(
        lab.opens(60_000, &Cost::default())
            .look_again(at(60_000))
            .map(|wake| wake.at),
        Some(at(61_000))
    );
    assert_eq!(lab.volley(61_000, 20), 9);
}

#[test]
fn a_scout_that_never_left_or_never_returns_lets_the_next_one_go() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(5, 1, &served(&[window(10, 0, 5)]));
    assert_eq!(lab.volley(6000, 5), 1);
    lab.windows.unsent(&Cost::default());
    assert_eq!(lab.volley(6000, 5), 1);
    lab.windows.lost(at(6000), &Cost::default());
    assert_eq!(lab.volley(6000, 5), 1);
}

#[test]
fn a_window_that_is_not_used_up_goes_on_over_its_reset_without_a_stop() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(5, 1, &served(&[window(100, 50, 5)]));
    assert_eq!(lab.volley(6000, 50), 50);
    lab.answer(6010, 2, &served(&[window(100, 99, 5)]));
    assert_eq!(lab.volley(6010, 100), 50, "49 are under way");
}

#[test]
fn answers_of_the_window_before_change_nothing() {
    let mut lab = Lab::new();
    lab.volley(0, 3);
    lab.answer(10, 2, &served(&[window(10, 9, 60)]));
    // The first was counted before the reset and comes back after it.
    lab.answer(20, 1, &served(&[window(10, 0, 1)]));
    assert_eq!(lab.volley(20, 20), 8);
}

#[test]
fn whoever_left_later_is_believed_even_if_the_window_ends_sooner_now() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[window(10, 0, 3600)]));
    let order = lab.send(20, &Cost::default());
    lab.answer(30, order, &served(&[window(10, 9, 60)]));
    assert_eq!(lab.volley(30, 20), 9);
}

#[test]
fn who_was_not_recognised_is_told_a_neighbour_s_numbers() {
    let mut lab = Lab::new();
    lab.volley(0, 2);
    let unauthorized = Observation {
        windows: vec![window(10, 0, 60)],
        ..Observation::status(Verdict::Other, 401)
    };
    lab.answer(10, 1, &unauthorized);
    assert!(lab.windows.is_empty());
    lab.answer(10, 2, &served(&[window(10, 5, 60)]));
    let order = lab.send(20, &Cost::default());
    lab.answer(30, order, &unauthorized);
    assert_eq!(lab.volley(30, 20), 5);
}

#[test]
fn while_others_spend_half_of_what_is_left_may_be_under_way() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[window(100, 99, 60)]));
    let order = lab.send(20, &Cost::default());
    lab.answer(30, order, &served(&[window(100, 40, 60)]));
    assert_eq!(lab.volley(30, 100), 20);
    for left in (1..=40).rev() {
        if let Some((order, ..)) = lab.under_way.first().cloned() {
            lab.answer(30, order, &served(&[window(100, left - 1, 60)]));
        }
        lab.volley(30, 100);
    }
    assert!(!lab.is_open(30), "and still it was spent to its end");
    assert!(lab.under_way.is_empty());
}

#[test]
fn tokens_are_charged_to_who_names_them_and_stop_the_others_only_when_used_up() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[tokens(1000, 500, 60)]));
    let dear = Cost::requests(1).and("tokens", 300);
    assert!(lab.opens(10, &dear).is_open(at(10)));
    let order = lab.send(10, &dear);
    assert_eq!(
        lab.opens(10, &dear),
        Opening::completion(Reason::Window, at(60_010))
    );
    assert_eq!(lab.volley(10, 100), 100, "they are not spent as requests");
    lab.answer(20, order, &served(&[tokens(1000, 200, 60)]));
    assert_eq!(
        lab.opens(20, &dear),
        Opening::at(at(60_010), Reason::Window)
    );

    let order = lab.send(30, &Cost::default());
    lab.answer(40, order, &served(&[tokens(1000, 0, 60)]));
    assert!(!lab.is_open(40), "nothing is left for anybody");
}

#[test]
fn what_costs_more_than_a_window_holds_waits_for_a_whole_one() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[tokens(1000, 999, 60)]));
    let huge = Cost::requests(1).and("tokens", 5000);
    assert_eq!(
        lab.opens(10, &huge),
        Opening::at(at(60_010), Reason::Window)
    );
    assert!(lab.opens(60_010, &huge).is_open(at(60_010)));
}

#[test]
fn a_refusal_is_explained_by_a_window_that_is_used_up() {
    let mut lab = Lab::new();
    lab.volley(0, 10);
    lab.answer(10, 1, &served(&[window(5, 4, 60)]));
    assert!(
        lab.answer(10, 6, &refused(&[window(5, 0, 60)])),
        "it says so"
    );
    assert!(
        lab.answer(10, 7, &refused(&[])),
        "others under way were enough"
    );
    assert!(!lab.is_open(20));

    let mut lab = Lab::new();
    lab.volley(0, 3);
    lab.answer(10, 1, &served(&[window(5000, 4000, 60)]));
    assert!(!lab.answer(10, 2, &refused(&[window(5000, 3999, 60)])));
    assert!(!lab.answer(10, 3, &refused(&[])));
}

#[test]
fn a_server_that_rounds_down_is_asked_a_second_later_from_then_on() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[window(1, 0, 4)]));
    // The reset is at 4.99 s, and told as 4.
    assert_eq!(lab.volley(4010, 1), 1);
    lab.answer(4020, 2, &refused(&[window(1, 0, 0)]));
    assert!(!lab.is_open(5019));
    assert_eq!(lab.volley(5020, 1), 1);
    lab.answer(5030, 3, &served(&[window(1, 0, 4)]));
    assert!(!lab.is_open(10_029));
    assert!(lab.is_open(10_030));
}

#[test]
fn a_window_that_moves_gives_back_bit_by_bit() {
    let mut lab = Lab::new();
    lab.volley(0, 2);
    lab.answer(10, 1, &served(&[window(10, 1, 60)]));
    lab.answer(20, 2, &served(&[window(10, 0, 60)]));
    assert_eq!(lab.volley(60_010, 5), 1);
    // The next of them ends three seconds later.
    lab.answer(60_020, 3, &served(&[window(10, 2, 3)]));
    assert_eq!(lab.volley(60_020, 5), 2);
    assert_eq!(
        lab.opens(60_020, &Cost::default())
            .look_again(at(60_020))
            .map(|wake| wake.at),
        Some(at(63_020))
    );
}

#[test]
fn a_window_that_nobody_tells_of_any_more_is_forgotten() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[window(1, 0, 1)]));
    for _ in 0..SILENT {
        let order = lab.send(2000, &Cost::default());
        lab.answer(2010, order, &served(&[]));
    }
    assert!(lab.windows.is_empty());
}

#[test]
fn answers_that_tell_nothing_are_taken_to_spend_and_then_one_finds_out() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[window(10, 4, 3600)]));
    assert_eq!(lab.volley(20, 100), 4);
    for order in 2..=5 {
        lab.answer(30, order, &served(&[]));
    }
    assert_eq!(lab.volley(40, 100), 1, "the four may be spent, or not");
    assert!(lab.answer(50, 6, &refused(&[])), "they were");
    assert_eq!(
        lab.opens(60, &Cost::default()),
        Opening::at(at(3_600_010), Reason::Window)
    );
}

#[test]
fn a_window_that_is_contradicted_by_silence_is_forgotten() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    let month = Window {
        name: Some("month".into()),
        ..window(1000, 1, 30 * 86_400)
    };
    lab.answer(10, 1, &served(&[month]));
    for n in 0..=SILENT {
        assert_eq!(lab.volley(20, 100), 1);
        lab.answer(30, 2 + n, &served(&[]));
    }
    assert!(lab.windows.is_empty());
}

#[test]
fn one_word_ends_the_silence() {
    let mut lab = Lab::new();
    lab.volley(0, 1);
    lab.answer(10, 1, &served(&[window(10, 4, 60)]));
    assert_eq!(lab.volley(20, 100), 4);
    for order in 2..=4 {
        lab.answer(30, order, &served(&[]));
    }
    assert_eq!(lab.volley(40, 100), 0, "one is left, and under way");
    lab.answer(50, 5, &served(&[window(10, 3, 60)]));
    assert_eq!(lab.volley(60, 100), 3, "the three were not counted");
}

#[test]
fn a_server_that_invents_windows_fills_a_few_and_those_that_are_over_make_room() {
    let mut lab = Lab::new();
    for n in 0..100 {
        let named = Window {
            name: Some(format!("w{n}").into()),
            ..window(1000, 500, 60)
        };
        let order = lab.send(0, &Cost::default());
        lab.answer(0, order, &served(&[named]));
    }
    assert_eq!(lab.windows.known.len(), MOST_WINDOWS);
    let order = lab.send(61_000, &Cost::default());
    lab.answer(61_000, order, &served(&[window(10, 0, 60)]));
    assert_eq!(lab.windows.known.len(), MOST_WINDOWS);
    assert!(!lab.is_open(61_000));
}

#[test]
fn what_nobody_answers_for_may_have_been_counted() {
    let mut lab = Lab::new();
    let first = lab.send(0, &Cost::default());
    lab.answer(20, first, &served(&[window(10, 2, 60)]));
    lab.send(30, &Cost::default());
    let (_, _, cost) = lab.under_way.pop().expect("one under way");
    lab.windows.lost(at(40), &cost);
    assert_eq!(lab.volley(40, 10), 1);
}

#[test]
fn a_bucket_that_was_short_explains_a_refusal_and_one_that_was_not_does_not() {
    let points = |left| Window {
        unit: Unit::Other("points".into()),
        refill: Some(Duration::from_millis(20)),
        reset: None,
        ..window(1000, left, 0)
    };
    let dear = Cost::default().and("points", 100);
    let mut lab = Lab::new();
    for (left, explained) in [(99, true), (100, false)] {
        let order = lab.send(0, &dear);
        let seen = refused(&[points(left)]);
        assert_eq!(lab.answer(50, order, &seen), explained, "{left}");
    }
    assert!(lab.opens(50, &dear).is_open(at(50)));
    assert!(!lab.windows.govern(), "points are not requests");
}

#[test]
fn a_bucket_that_does_not_tell_its_refill_once_is_the_one_that_did() {
    let told = |left, refill| Window {
        refill,
        reset: Some(Duration::from_millis(100)),
        ..window(10, left, 0)
    };
    let mut lab = Lab::new();
    // Full at first: there is nothing to tell the refill from.
    for (left, refill) in [(10, None), (0, Some(500)), (1, None)] {
        let order = lab.send(0, &Cost::default());
        let refill = refill.map(Duration::from_millis);
        lab.answer(0, order, &served(&[told(left, refill)]));
        assert_eq!(lab.windows.known.len() + lab.windows.buckets.len(), 1);
    }
    assert!(lab.is_open(0));
    lab.send(0, &Cost::default());
    assert!(!lab.is_open(499) && lab.is_open(500));
}
