//! What a person asks for: a stop of so long, and its end.

use super::*;

const PLACE: usize = API as usize;

#[test]
fn nobody_starts_until_its_end_and_it_says_why() {
    let mut driver = Driver::new(&[&["10 in flight"]]);
    driver.ask(&through(&[API]));
    driver.pass(ms(500));
    driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
    driver.ask_all(2, &through(&[API]));
    let wake = driver.wake.expect("an end");
    assert_eq!((wake.at, wake.reason), (at(60_500), Reason::ByHand));
    driver.pass(ms(1_000));
    let gate = driver.engine.snapshot(driver.now).gates.remove(PLACE);
    assert_eq!(gate.reason, Some(Reason::ByHand));
    assert_eq!(
        (gate.throttled_until, gate.since, gate.asked),
        (Some(at(60_500)), Some(at(500)), None)
    );
    driver.pass_to(at(100_000));
    assert_eq!(driver.times(), [(0, 0), (1, 60_500), (2, 60_500)]);
    assert_eq!(driver.engine.snapshot(driver.now).gates[PLACE].since, None);
}

/// It lifts the upstream's pauses, for they may have been about one request alone.
#[test]
fn a_neighbour_that_is_served_does_not_lift_it() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask_all(3, &through(&[API]));
    driver.answer(0, &ok());
    driver.answer(1, &refused_for(ms(30_000)));
    driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
    driver.answer(2, &ok());
    driver.ask(&through(&[API]));
    driver.pass_to(at(100_000));
    assert_eq!(driver.times()[3], (3, 60_000));
}

#[test]
fn a_circuit_that_closes_does_not_lift_it() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    driver.answer(0, &refused());
    driver.ask_all(2, &through(&[API]));
    driver.wait();
    assert_eq!(driver.circuit(API), "probing");
    let paused = driver.now;
    driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
    driver.answer(1, &ok());
    assert_eq!(driver.circuit(API), "closed");
    driver.pass(ms(100_000));
    assert_eq!(driver.starts[2].at, paused + ms(60_000));
}

#[test]
fn the_last_word_counts_also_if_it_is_a_shorter_one_and_no_time_ends_it() {
    for (word, start) in [(ms(90_000), 91_000), (ms(5_000), 6_000), (ms(0), 1_000)] {
        let mut driver = Driver::new(&[&[]]);
        driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
        driver.ask(&through(&[API]));
        driver.pass(ms(1_000));
        driver.input(|engine, now| engine.pause(now, PLACE, word));
        driver.pass_to(at(200_000));
        assert_eq!(driver.times(), [(0, start)], "{word:?}");
    }
}

#[test]
fn a_reset_ends_it() {
    let mut driver = Driver::new(&[&[]]);
    driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
    driver.ask(&through(&[API]));
    driver.pass(ms(1_000));
    driver.input(|engine, now| engine.reset(now, PLACE));
    assert_eq!(driver.times(), [(0, 1_000)]);
}

#[test]
fn what_the_upstream_asked_for_holds_beside_it() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    driver.answer(0, &refused_for(ms(60_000)));
    driver.input(|engine, now| engine.pause(now, PLACE, ms(5_000)));
    driver.ask(&through(&[API]));
    let wake = driver.wake.expect("the upstream's");
    assert_eq!(wake.reason, Reason::Pause);
    driver.input(|engine, now| engine.pause(now, PLACE, ms(0)));
    assert_eq!(driver.wake, Some(wake));
}

#[test]
fn whoever_cannot_outlast_it_is_told_at_once() {
    let mut driver = Driver::new(&[&["1 in flight"]]);
    driver.ask(&through(&[API]));
    driver.ask(&through(&[API]).deadline(at(10_000)));
    driver.pass(ms(1_000));
    driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
    driver.ask(&through(&[API]).deadline(at(20_000)));
    for name in [1, 2] {
        let refusal = driver.refusal(name);
        assert_eq!(refusal.reason, Reason::Deadline);
        assert_eq!(refusal.waiting_for, Some(Reason::ByHand));
        assert_eq!(refusal.possible_at, Some(at(61_000)));
    }
}

#[test]
fn it_holds_one_gate_and_whoever_goes_through_it() {
    let mut driver = Driver::new(&[&[], &[], &[]]);
    driver.input(|engine, now| engine.pause(now, ROUTE.into(), ms(60_000)));
    driver.ask(&through(&[API, ROUTE]));
    driver.ask(&through(&[API, OTHER_ROUTE]));
    driver.pass_to(at(100_000));
    assert_eq!(driver.times(), [(1, 0), (0, 60_000)]);
}

#[test]
fn once_somebody_started_after_it_nothing_is_left_of_it() {
    let mut driver = Driver::new(&[&[]]);
    let is_calm = |driver: &Driver| driver.engine.is_calm(GateSet::one(API));
    driver.input(|engine, now| engine.pause(now, PLACE, ms(60_000)));
    driver.ask(&through(&[API]));
    assert!(!is_calm(&driver));
    driver.pass_to(at(60_000));
    driver.answer(0, &ok());
    assert!(is_calm(&driver));
}
