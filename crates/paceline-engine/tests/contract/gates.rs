//! Several gates: all are charged or none, and who may pass whom.

use super::*;

#[test]
fn all_gates_are_charged_or_none() {
    let mut driver = Driver::new(&[&["10/s"], &["1/s"]]);
    driver.ask_all(2, &through(&[API, ROUTE]));
    assert_eq!(driver.order(), [0]);
    assert_eq!(
        (driver.available(0), driver.available(1)),
        (vec![9], vec![0])
    );
    driver.wait();
    assert_eq!(driver.times(), [(0, 0), (1, 1000)]);
    assert_eq!(
        (driver.available(0), driver.available(1)),
        (vec![9], vec![0])
    );
}

#[test]
fn a_cost_is_charged_to_every_limit_in_its_own_unit() {
    let mut driver = Driver::new(&[&["10/s", "100 tokens/m", "3 in flight"]]);
    let want = through(&[API]).cost(Cost::requests(4).and("tokens", 70));
    driver.ask(&want);
    assert_eq!(driver.available(0), [6, 30, 2]);
    driver.ask(&want);
    assert_eq!(driver.wait(), Deadline::new(at(60_000), Reason::Limit));
    assert_eq!(driver.order(), [0, 1]);
}

#[test]
fn a_ticket_of_a_slow_route_does_not_hold_back_those_that_need_only_the_upstream() {
    let mut driver = Driver::new(&[&["2/s burst 2"], &["1/10s"]]);
    driver.ask_all(2, &through(&[API, ROUTE]));
    for _ in 0..20 {
        driver.ask(&through(&[API]));
        driver.pass(ms(500));
    }
    driver.pass(ms(1000));
    let (slow, quick): (Vec<_>, _) = driver.times().into_iter().partition(|start| start.0 < 2);
    assert_eq!(slow, [(0, 0), (1, 10_000)], "never delayed by them");
    // The one that would have taken the slow one's token at ten seconds came after it.
    assert!(
        quick
            .iter()
            .all(|(name, ms)| *ms <= 500 * (*name as u128 - 2) + 1000)
    );
    assert_eq!(quick.len(), 20);
}

/// It kept the only place in flight for its start in an hour, and everybody stood behind it.
#[test]
fn a_place_in_flight_is_not_kept_for_a_start_that_is_far_off() {
    let mut driver = Driver::new(&[&["1 in flight"], &["1/h"]]);
    let first = driver.ask(&through(&[API, ROUTE]));
    driver.answer(first, &ok());
    let slow = driver.ask(&through(&[API, ROUTE]));
    for _ in 0..3 {
        let quick = driver.ask(&through(&[API]));
        driver.answer(quick, &ok());
    }
    assert_eq!(driver.order(), [0, 2, 3, 4]);
    driver.pass(ms(3_600_000));
    assert_eq!(driver.times().last(), Some(&(slow, 3_600_000)));
}

#[test]
fn nobody_takes_the_token_that_an_earlier_ticket_will_need() {
    let mut driver = Driver::new(&[&["1/10s"], &["1/s"]]);
    driver.ask(&through(&[ROUTE]));
    let early = driver.ask(&through(&[API, ROUTE]));
    let late = driver.ask(&through(&[API]));
    driver.pass(ms(20_000));
    assert_eq!(driver.times(), [(0, 0), (early, 1000), (late, 11_000)]);
}

/// It was woken by whatever happened next, for nobody had asked for the instant.
#[test]
fn a_later_ticket_passes_as_soon_as_there_is_room_for_both() {
    let mut driver = Driver::new(&[&["1/s burst 2"], &["1 in flight"]]);
    driver.ask(&through(&[API, ROUTE]));
    let earlier = driver.ask(&through(&[API, ROUTE]));
    let later = driver.ask(&through(&[API]));
    assert_eq!(driver.wait(), Deadline::new(at(1000), Reason::Turn));
    assert_eq!(driver.times(), [(0, 0), (later, 1000)]);
    driver.finish(0);
    assert_eq!(driver.times()[2], (earlier, 1000));
}

#[test]
fn two_interleaved_routes_both_get_their_full_rate() {
    let mut driver = Driver::new(&[&["10/s burst 1"], &["2/s"], &["3/s"]]);
    for _ in 0..30 {
        driver.ask(&through(&[API, ROUTE]));
        driver.ask(&through(&[API, OTHER_ROUTE]));
        driver.ask(&through(&[API]));
    }
    driver.pass(ms(20_000));
    let last = |kind| {
        let times = driver.times();
        let own = times.iter().filter(|(name, _)| name % 3 == kind);
        assert_eq!(own.clone().count(), 30);
        own.map(|(_, ms)| *ms).max().expect("thirty")
    };
    assert!((14_000..=14_500).contains(&last(0)), "{}", last(0));
    assert!((9_000..=9_800).contains(&last(1)), "{}", last(1));
    assert!(last(2) <= 7_000, "{}", last(2));
    let own = |kind| {
        let order = driver.order().into_iter();
        order
            .filter(move |name| name % 3 == kind)
            .collect::<Vec<_>>()
    };
    assert!((0..3).all(|kind| own(kind).is_sorted()));
}

#[test]
fn a_request_that_is_free_is_in_flight_like_any_other() {
    let mut driver = Driver::new(&[&["1 in flight", "1/h"]]);
    driver.ask_all(2, &through(&[API]).cost(Cost::requests(0)));
    assert_eq!((driver.order(), driver.wake), (vec![0], None));
    driver.finish(0);
    assert_eq!(driver.order(), [0, 1]);
}
