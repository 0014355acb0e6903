//! Several buckets for one route, several objects in one bucket, and more of them than there are gates.

use super::*;

/// A bucket's name does not tell its objects apart.
#[test]
fn objects_with_quotas_of_their_own_have_gates_of_their_own() {
    let mut driver = buckets(Some(1));
    let first = driver.ask(&about(MESSAGES, 100));
    driver.answer(first, &left("b1", 0, 10_000));
    driver.ask(&about(MESSAGES, 100));
    let second = driver.ask(&about(MESSAGES, 200));
    assert_eq!(driver.order(), [first, second]);
    // Refused for its object, whoever asks: the gate is that of the object.
    let mut shared = refused_for(ms(600_000));
    shared.scope = Scope::Resource;
    driver.answer(second, &shared);
    driver.ask(&about(MESSAGES, 200));
    let third = driver.ask(&about(MESSAGES, 300));
    assert_eq!(driver.order(), [first, second, third]);
    driver.answer(third, &left("b1", 4, 10_000));
    // Another route, the same bucket and object.
    let other = driver.ask(&about(REACTIONS, 100));
    driver.answer(other, &left("b1", 0, 9_000));
    let held = driver.ask(&about(REACTIONS, 100));
    driver.pass_to(at(9_999));
    assert!(!driver.order().contains(&held));
    driver.pass_to(at(10_100));
    assert!(driver.order().contains(&held));
}

/// Served out of one bucket, refused by another one that is narrower.
#[test]
fn a_route_that_two_buckets_bound_waits_for_both() {
    let mut driver = buckets(None);
    let rename = route(MESSAGES);
    for _ in 0..2 {
        let served = driver.ask(&rename);
        driver.answer(served, &left("b1", 5, 60_000));
    }
    let refused = driver.ask(&rename);
    driver.answer(refused, &spent("b2", 600_000));
    let held = driver.ask(&rename);
    assert_eq!(driver.wait().reason, Reason::Pause);
    assert!(driver.now >= at(600_000));
    assert_eq!(driver.order().last(), Some(&held));
    // What serves it now does not make the other one forgotten.
    driver.answer(held, &left("b1", 5, 60_000));
    let again = driver.ask(&rename);
    driver.answer(again, &spent("b2", 600_000));
    driver.ask(&rename);
    assert_eq!(driver.order().last(), Some(&again));
}

#[test]
fn a_bucket_that_refused_a_route_does_not_free_it_of_the_other() {
    let mut driver = buckets(None);
    for path in [MESSAGES, MEMBERS] {
        let name = driver.ask(&route(path));
        driver.answer(name, &left("b1", 5, 60_000));
    }
    let refused = driver.ask(&route(MESSAGES));
    driver.answer(refused, &spent("b2", 1_000));
    let last = driver.ask(&route(MEMBERS));
    driver.answer(last, &left("b1", 0, 60_000));
    let held = driver.ask(&route(MESSAGES));
    driver.pass_to(at(59_999));
    assert!(!driver.order().contains(&held));
    driver.pass_to(at(60_600));
    assert!(driver.order().contains(&held));
}

#[test]
fn there_are_at_most_512_and_idle_ones_are_used_again() {
    let mut driver = buckets(Some(1));
    let busy = driver.ask(&route(0));
    for path in 1..2_000 {
        let name = driver.ask(&route(path));
        driver.answer(name, &left(&format!("b{path}"), 5, 1_000));
    }
    assert_eq!(driver.engine.snapshot(driver.now).gates.len(), 513);
    assert_eq!(driver.in_flight(1), 1, "not the one that is busy");
    driver.answer(busy, &left("b0", 0, 1_000));
    // One whose gate was taken is found anew.
    let name = driver.ask(&route(1));
    driver.answer(name, &left("b1", 0, 1_000));
    let held = driver.ask(&route(1));
    assert!(is_reset(driver.wait(), 1_000));
    assert_eq!(driver.order().last(), Some(&held));
}

#[test]
fn whoever_comes_when_all_are_busy_shares_the_last() {
    let mut driver = buckets(Some(1));
    for path in 0..600 {
        driver.ask(&route(path));
    }
    // One each at 511 of them, and one at the last.
    assert_eq!(driver.order().len(), 512);
    assert_eq!(driver.waiting(512), 88);
    driver.answer(511, &left("b", 5, 1_000));
    assert_eq!(driver.order().len(), 512 + 5);
    let all: Vec<_> = driver.order();
    let mut next = 0;
    while next < driver.order().len() {
        let name = driver.order()[next];
        if driver.under_way.contains_key(&name) {
            driver.answer(name, &ok());
        }
        next += 1;
    }
    assert!(all.len() < 600);
    driver.pass(ms(1_000));
    assert_eq!(driver.order().len(), 600, "all of them in the end");
}
