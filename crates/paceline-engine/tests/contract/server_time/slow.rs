//! Requests that take longer than others did, or for ever, or whose end nobody hears of.

use super::*;

#[test]
fn one_that_is_slow_counts_as_it_goes_on() {
    let mut driver = known(BUDGET);
    driver.ask(&through(&[API]));
    for (after, left) in [
        (400, 19_500),
        (600, 19_000),
        (7_000, 12_000),
        (9_000, 10_000),
    ] {
        driver.pass(ms(after));
        assert_eq!(driver.available(0), [left], "after {after} ms more");
    }
}

#[test]
fn nobody_starts_while_those_under_way_take_all_of_it() {
    let mut driver = known(BUDGET);
    driver.ask_all(60, &through(&[API]));
    driver.pass(ms(5_000));
    assert_eq!((started(&driver), driver.wake), (40, None));
    driver.answer(100, &ok());
    assert_eq!(started(&driver), 40, "two hundred seconds of work");
    driver.pass(ms(60_000));
    assert_eq!(started(&driver), 40);
}

/// Requests of five minutes, where ten seconds are counted: as many at a time as seconds a second, ten seconds apart.
#[test]
fn streams_that_never_end_are_as_many_as_the_budget_has_seconds_a_second() {
    let mut shift = Shift::new("35s server time / 10s");
    shift.work(50, at(1_000_000), |_| ms(300_000));
    let starts = shift.driver.times();
    let starts: Vec<_> = starts.iter().map(|(_, at)| *at / 1000).collect();
    assert_eq!(
        starts,
        [0, 0, 0, 310, 310, 310, 620, 620, 620, 930, 930, 930]
    );
}

/// Nobody can know before: the first one goes alone. Then nobody waits for what cannot be.
#[test]
fn whoever_is_known_to_take_more_than_there_is_fails_at_once_and_says_why() {
    let mut driver = Driver::new(&[&["2s server time / 10s"]]);
    driver.ask_all(3, &through(&[API]));
    driver.pass(ms(5_000));
    driver.answer(0, &ok());
    let late = driver.ask(&through(&[API]));
    for name in [1, 2, late] {
        let refusal = driver.refusal(name);
        assert_eq!(
            (refusal.reason, refusal.possible_at),
            (Reason::TooCostly, Some(at(15_000)))
        );
        let why = refusal.too_costly.expect("which limit").to_string();
        assert_eq!(why, "requests take 5s where 2s server time / 10s allows 2s");
    }
    assert_eq!(driver.order(), [0]);
}

/// Else a server that was slow once would never be asked again, however quick it has become.
#[test]
fn one_at_a_time_finds_out_whether_that_is_still_so() {
    let mut driver = Driver::new(&[&["2s server time / 10s"]]);
    driver.ask(&through(&[API]));
    driver.pass(ms(5_000));
    driver.answer(0, &ok());
    for round in 0..9 {
        driver.pass(ms(9_999));
        let early = driver.ask(&through(&[API]));
        assert_eq!(driver.refusal(early).reason, Reason::TooCostly, "{round}");
        driver.pass(ms(1));
        let alone = driver.ask(&through(&[API]));
        driver.pass(ms(100));
        driver.answer(alone, &ok());
        if expects(&driver) < Some(ms(2_400)) {
            break;
        }
    }
    driver.ask_all(2, &through(&[API]));
    driver.pass(ms(10_000));
    assert_eq!((driver.under_way.len(), driver.refusals.len()), (1, 6));
}

/// One that was slow once is no reason to fail others.
#[test]
fn what_took_longer_once_or_twice_goes_alone() {
    let mut driver = Driver::new(&[&["2s server time / 10s"]]);
    driver.ask_all(3, &through(&[API]));
    for (name, start) in [(0, 0), (1, 13_000), (2, 26_000)] {
        assert_eq!(driver.times().last(), Some(&(name, start)));
        driver.pass(ms(3_000));
        driver.answer(name, &ok());
        driver.pass(ms(10_000));
    }
    assert_eq!(driver.refusals, []);
}

#[test]
fn what_was_given_up_costs_what_was_reserved_for_it_at_least() {
    let mut driver = known(BUDGET);
    driver.ask_all(2, &through(&[API]));
    driver.pass(ms(10));
    driver.finish(100);
    assert_eq!(driver.available(0), [19_000]);
    driver.pass(ms(990));
    driver.finish(101);
    assert_eq!(driver.available(0), [18_500]);
}

/// A wait that cannot end in time fails at once; what is under way may turn out otherwise.
#[test]
fn only_what_is_over_makes_a_wait_hopeless() {
    let mut driver = known(BUDGET);
    driver.ask_all(38, &through(&[API]));
    driver.pass(ms(500));
    (100..138).for_each(|name| driver.answer(name, &ok()));
    driver.ask_all(2, &through(&[API]));
    driver.pass(ms(600));
    driver.answer(138, &ok());
    let soon = through(&[API]).deadline(at(65_000));
    let hopes = driver.ask(&soon);
    assert_eq!(driver.refusals, [], "one is under way");
    driver.pass(ms(10));
    driver.answer(139, &ok());
    for name in [hopes, driver.ask(&soon)] {
        let refusal = driver.refusal(name);
        assert_eq!(
            (refusal.reason, refusal.waiting_for, refusal.possible_at),
            (Reason::Deadline, Some(Reason::Limit), Some(at(70_500)))
        );
    }
}

#[test]
fn nothing_under_way_changes_what_is_expected() {
    let mut driver = known(BUDGET);
    driver.ask_all(39, &through(&[API]));
    driver.pass(ms(500));
    (100..139).for_each(|name| driver.answer(name, &ok()));
    driver.ask(&through(&[API]));
    driver.pass(ms(200));
    driver.answer(139, &ok());
    let late = driver.ask(&through(&[API]).deadline(at(65_000)));
    assert_eq!(
        driver.available(0),
        [300],
        "less than one is expected to take"
    );
    assert_eq!(driver.refusal(late).possible_at, Some(at(70_500)));
}

#[test]
fn a_server_that_becomes_slow_is_asked_less_often() {
    let mut driver = known(BUDGET);
    for name in 100..140 {
        driver.ask(&through(&[API]));
        driver.pass(ms(2_000));
        driver.answer(name, &ok());
    }
    driver.pass(ms(10_000));
    driver.ask_all(60, &through(&[API]));
    assert_eq!(
        started(&driver),
        40 + 9,
        "each takes two seconds, or a little more"
    );
}
