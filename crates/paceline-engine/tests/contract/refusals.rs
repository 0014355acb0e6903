//! Why a request is not sent, and when it could have been.

use super::*;

#[test]
fn a_deadline_before_the_turn_says_when_it_would_have_been_and_charges_nothing() {
    let mut driver = Driver::new(&[&["1/s"]]);
    driver.ask_all(3, &through(&[API]));
    let late = driver.ask(&through(&[API]).deadline(at(2999)));
    let refusal = driver.refusal(late);
    assert_eq!(refusal.reason, Reason::Deadline);
    assert_eq!(refusal.waiting_for, Some(Reason::Limit));
    assert_eq!(refusal.possible_at, Some(at(3000)));
    let just = driver.ask(&through(&[API]).deadline(at(3000)));
    driver.pass(ms(5000));
    assert_eq!(driver.times(), [(0, 0), (1, 1000), (2, 2000), (just, 3000)]);
}

#[test]
fn a_pause_that_outlasts_a_waiters_deadline_ends_it_at_once() {
    let mut driver = Driver::new(&[&["2/s"]]);
    driver.ask_all(2, &through(&[API]));
    let patient = driver.ask(&through(&[API]));
    let hasty = driver.ask(&through(&[API]).deadline(at(10_000)));
    driver.answer(0, &ok());
    driver.answer(1, &refused_for(ms(30_000)));
    let refusal = driver.refusal(hasty);
    assert_eq!(refusal.reason, Reason::Deadline);
    assert_eq!(refusal.waiting_for, Some(Reason::Pause));
    assert_eq!(refusal.asked, Some(ms(30_000)));
    assert!(refusal.possible_at >= Some(at(30_000)));
    assert_eq!(driver.tickets.values().collect::<Vec<_>>(), [&patient]);
}

/// Woken for the deadline, it could neither start nor fail, and asked to be woken at the same instant for ever.
#[test]
fn who_cannot_start_at_its_deadline_fails_then() {
    let mut driver = Driver::new(&[&["1 in flight"]]);
    driver.ask(&through(&[API]));
    let late = driver.ask(&through(&[API]).deadline(at(2000)));
    assert_eq!(driver.wait(), Deadline::new(at(2000), Reason::Deadline));
    assert_eq!(driver.refusal(late).waiting_for, Some(Reason::InFlight));
}

#[test]
fn who_comes_after_its_deadline_is_not_sent() {
    let mut driver = Driver::new(&[&[]]);
    driver.pass(ms(10));
    let late = driver.ask(&through(&[API]).deadline(at(9)));
    assert_eq!(driver.refusal(late).reason, Reason::Deadline);
    driver.ask(&through(&[API]).deadline(at(10)));
    assert_eq!(driver.order(), [1]);
}

#[test]
fn an_own_delay_that_outlasts_the_deadline_is_said_to_be_that() {
    let mut driver = Driver::new(&[&[]]);
    let want = through(&[API]).deadline(at(1000));
    let name = driver.ask_again(&want, None, &Attempts::default(), at(3000));
    let refusal = driver.refusal(name);
    assert_eq!(refusal.reason, Reason::Deadline);
    assert_eq!(refusal.waiting_for, Some(Reason::Backoff));
    assert_eq!(refusal.possible_at, Some(at(3000)));
}

#[test]
fn a_full_line_refuses_the_next() {
    let mut driver = Driver::with(1, 2, &[&["1/s"]]);
    driver.ask_all(3, &through(&[API]));
    let fourth = driver.ask(&through(&[API]));
    assert_eq!(driver.refusal(fourth).reason, Reason::QueueFull);
    driver.wait();
    driver.ask(&through(&[API]));
    assert_eq!((driver.tickets.len(), driver.refusals.len()), (2, 1));
}

#[test]
fn what_costs_more_than_a_limit_ever_allows_fails_at_once() {
    for limit in ["4/s", "100/s burst 4"] {
        let mut driver = Driver::new(&[&[limit]]);
        let dear = driver.ask(&through(&[API]).cost(Cost::requests(5)));
        assert_eq!(driver.refusal(dear).reason, Reason::TooCostly);
        assert_eq!(driver.refusal(dear).possible_at, None);
        assert_eq!(driver.available(0), [4], "nothing was charged");
    }
}

#[test]
fn what_a_lowered_limit_makes_too_costly_fails_and_lets_the_next_pass() {
    let mut driver = Driver::new(&[&["4/s"]]);
    driver.ask_all(2, &through(&[API]).cost(Cost::requests(3)));
    driver.ask(&through(&[API]));
    driver.change_limits(API, &["2/s"]);
    assert_eq!(driver.refusal(1).reason, Reason::TooCostly);
    driver.pass(ms(1000));
    assert_eq!(driver.times(), [(0, 0), (2, 1000)]);
}

#[test]
fn best_effort_goes_now_or_not_at_all() {
    let mut driver = Driver::new(&[&["2/s"]]);
    let want = through(&[API]).best_effort();
    driver.ask_all(3, &want);
    assert_eq!(driver.order(), [0, 1]);
    let refusal = driver.refusal(2);
    assert_eq!(refusal.reason, Reason::BestEffort);
    assert_eq!(refusal.waiting_for, Some(Reason::Limit));
    assert_eq!(refusal.possible_at, Some(at(1000)));
}

#[test]
fn a_shutdown_refuses_those_who_wait_and_those_who_come() {
    let mut driver = Driver::new(&[&["1/s"]]);
    driver.ask_all(3, &through(&[API]));
    driver.input(|engine, _| engine.shut_down());
    driver.ask(&through(&[API]));
    let refusals: Vec<_> = driver
        .refusals
        .iter()
        .map(|(n, r)| (*n, r.reason))
        .collect();
    assert_eq!(refusals, [1, 2, 3].map(|name| (name, Reason::Shutdown)));
    driver.answer(0, &ok());
    assert_eq!((driver.wake, driver.in_flight(API)), (None, 0));
}
