//! Limits that change while it runs.

use super::*;

/// Spends all of `before`, changes it to `after`, and says when the next three start.
fn check(before: &str, after: &str, starts: [u128; 3]) {
    let mut driver = Driver::new(&[&[before]]);
    let spent = driver.available(0)[0];
    driver.ask_all(usize::try_from(spent).expect("a few"), &through(&[API]));
    driver.change_limits(API, &[after]);
    driver.ask_all(3, &through(&[API]));
    driver.pass(ms(100_000));
    let times = driver.times();
    let next: Vec<_> = times
        .iter()
        .skip(spent as usize)
        .map(|(_, ms)| *ms)
        .collect();
    assert_eq!(next, starts, "{before} to {after}");
}

#[test]
fn none_grants_a_burst() {
    check("1/s burst 5", "2/s burst 5", [500, 1000, 1500]);
    check("1/s burst 5", "1/s burst 2", [1000, 2000, 3000]);
    check("1/s burst 5", "1/s burst 500", [1000, 2000, 3000]);
    check("5/10s", "2/10s", [10_000, 10_000, 20_000]);
    check("5/10s", "6/10s", [0, 10_000, 10_000]);
    check("5/10s", "5/20s", [20_000, 20_000, 20_000]);
    check("5/10s", "1/s burst 5", [1000, 2000, 3000]);
    check("5/10s", "1/s burst 500", [1000, 2000, 3000]);
    check("1/s burst 5", "5/10s", [10_000, 10_000, 10_000]);
    check("1/s burst 5", "2/10s", [10_000, 10_000, 20_000]);
}

#[test]
fn a_limit_that_stays_keeps_its_books_when_the_one_before_it_goes() {
    let mut driver = Driver::new(&[&["10/s", "3/h"]]);
    driver.ask_all(3, &through(&[API]));
    driver.pass(ms(5000));
    driver.change_limits(API, &["3/h"]);
    assert_eq!(driver.available(0), [0]);
    driver.change_limits(API, &["20/s", "3/h"]);
    assert_eq!(driver.available(0), [20, 0]);
}

#[test]
fn fewer_in_flight_than_there_are_admits_when_there_is_room_again() {
    let mut driver = Driver::new(&[&["4 in flight"]]);
    driver.ask_all(5, &through(&[API]));
    driver.change_limits(API, &["2 in flight"]);
    for name in 0..2 {
        driver.finish(name);
        assert_eq!(driver.starts.len(), 4);
    }
    driver.finish(2);
    assert_eq!(driver.starts.len(), 5);
}

#[test]
fn a_raised_limit_serves_those_who_wait_at_once() {
    let mut driver = Driver::new(&[&["1/h"]]);
    driver.ask_all(3, &through(&[API]));
    driver.change_limits(API, &["2/h"]);
    assert_eq!(driver.times(), [(0, 0), (1, 0)]);
}
