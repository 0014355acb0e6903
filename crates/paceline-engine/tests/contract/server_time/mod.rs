//! A budget of server time: what requests take together, in any stretch of so long.

mod any;
mod shift;
mod slow;

use std::time::Duration;

use super::*;
use shift::Shift;

/// Twenty seconds of work in any ten.
const BUDGET: &str = "20s server time / 10s";

/// Requests take half a second, as is known by a hundred; nothing of that is in the books any more. Names go on from a
/// hundred, time from a minute.
fn known(limit: &str) -> Driver {
    let mut driver = Driver::new(&[&[limit]]);
    for name in 0..100 {
        driver.ask(&through(&[API]));
        driver.pass(ms(500));
        driver.answer(name, &ok());
    }
    driver.pass(ms(10_000));
    driver
}

/// How many of those who asked after the first hundred have started.
fn started(driver: &Driver) -> usize {
    driver.starts.len() - 100
}

/// What a request is expected to take.
fn expects(driver: &Driver) -> Option<Duration> {
    let snapshot = driver.engine.snapshot(driver.now);
    snapshot.gates[0].limits[0].expected
}

#[test]
fn while_nothing_is_known_no_more_go_than_could_take_for_ever() {
    for (limit, at_once) in [
        (BUDGET, 2),
        ("59s server time / 10s", 5),
        ("2s server time / 10s", 1),
    ] {
        let mut driver = Driver::new(&[&[limit]]);
        driver.ask_all(20, &through(&[API]));
        driver.pass(ms(60_000));
        assert_eq!(driver.starts.len(), at_once, "{limit}");
    }
}

#[test]
fn each_that_shows_what_it_takes_lets_one_more_go() {
    let mut driver = Driver::new(&[&[BUDGET]]);
    driver.ask_all(100, &through(&[API]));
    let mut under_way = Vec::new();
    for _ in 0..4 {
        under_way.push(driver.under_way.len());
        driver.pass(ms(100));
        let names: Vec<_> = driver.under_way.keys().copied().collect();
        names
            .into_iter()
            .for_each(|name| driver.answer(name, &ok()));
    }
    assert_eq!(under_way, [2, 4, 8, 16]);
}

#[test]
fn what_is_expected_goes_at_once_and_comes_back_a_period_after_it_ended() {
    let mut driver = known(BUDGET);
    driver.ask_all(60, &through(&[API]));
    assert_eq!((started(&driver), driver.available(0)), (40, vec![0]));
    driver.pass(ms(500));
    for name in 100..140 {
        driver.answer(name, &ok());
    }
    assert_eq!((started(&driver), driver.available(0)), (40, vec![0]));
    let wakes = driver.wait();
    assert_eq!((wakes.at, wakes.reason), (at(70_500), Reason::Limit));
    assert_eq!(started(&driver), 60);
}

#[test]
fn what_takes_less_serves_those_who_wait_at_once() {
    let mut driver = known(BUDGET);
    driver.ask_all(60, &through(&[API]));
    driver.pass(ms(100));
    driver.answer(100, &ok());
    let expected = expects(&driver);
    assert_eq!((started(&driver), expected), (45, Some(ms(450))));
}

#[test]
fn the_work_of_a_request_ends_with_its_body() {
    let mut driver = known(BUDGET);
    driver.ask(&through(&[API]));
    driver.settle(100, &ok());
    driver.pass(ms(5_000));
    assert_eq!(driver.available(0), [15_000]);
    driver.finish(100);
    assert_eq!(driver.available(0), [15_000]);
}

#[test]
fn one_that_was_not_sent_leaves_no_trace() {
    let mut driver = known(BUDGET);
    driver.ask_all(41, &through(&[API]));
    driver.pass(ms(100));
    driver.refund(100);
    assert_eq!(started(&driver), 41);
    driver.refund(101);
    assert_eq!(driver.available(0), [500]);
}

#[test]
fn refusals_take_what_they_take_and_nobody_is_expected_to_be_as_quick() {
    let mut driver = known(BUDGET);
    driver.ask(&through(&[API]));
    driver.pass(ms(5));
    driver.answer(100, &refused());
    let left = driver.available(0);
    assert_eq!((left, expects(&driver)), (vec![19_995], Some(ms(500))));
}

/// A redirect that was followed unseen is a part of the request that is still under way.
#[test]
fn no_time_counts_twice() {
    let mut driver = known(BUDGET);
    driver.ask(&through(&[API]));
    driver.pass(ms(400));
    let gates = through(&[API]).gates;
    driver.input(|engine, now| engine.spend(now, gates, Cost::default()));
    assert_eq!(driver.available(0), [19_500]);
}

#[test]
fn what_a_request_costs_otherwise_plays_no_part() {
    let mut driver = known(BUDGET);
    let dear = through(&[API]).cost(Cost::requests(0).and("tokens", 9_000_000));
    driver.ask_all(60, &dear);
    assert_eq!((started(&driver), driver.refusals.len()), (40, 0));
}

#[test]
fn a_change_keeps_what_was_spent_and_what_is_known() {
    let mut driver = known(BUDGET);
    driver.ask_all(20, &through(&[API]));
    driver.pass(ms(500));
    for name in 100..120 {
        driver.answer(name, &ok());
    }
    driver.change_limits(API, &["30s server time / 20s"]);
    assert_eq!(driver.available(0), [20_000]);
    driver.ask_all(60, &through(&[API]));
    assert_eq!(started(&driver), 60);
    driver.change_limits(API, &["5s server time / 10s"]);
    assert_eq!(driver.available(0), [0]);
    driver.change_limits(API, &["10/s"]);
    assert_eq!(
        started(&driver),
        70,
        "ten a second are about something else"
    );
}

/// What is over counts for ten seconds from its end, so that forty go in ten and a half.
#[test]
fn half_seconds_use_nineteen_parts_of_twenty() {
    let mut shift = Shift::new(BUDGET);
    shift.work(50, at(520_500), |_| ms(500));
    let rounds = 20;
    let worked = shift.worked(at(520_500 - rounds * 10_500), at(520_500));
    assert_eq!(worked, u128::from(rounds) * 20_000_000_000);
}
