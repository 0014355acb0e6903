//! What answers change.

use std::time::Duration;

use super::*;

#[test]
fn a_window_that_is_used_up_holds_the_next_until_it_starts_anew() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    let mut seen = ok();
    seen.windows.push(window(0, ms(7000)));
    driver.answer(0, &seen);
    driver.ask(&through(&[API]));
    // Never before the reset, and after it a little apart from others who wait for it.
    let wake = driver.wake.expect("a deadline");
    assert_eq!(wake.reason, Reason::Window);
    let (reset, spread) = (at(7000), at(7055));
    assert!((reset..=spread).contains(&wake.at), "{wake:?}");
    driver.pass(wake.at.since(at(0)) - Duration::from_nanos(1));
    assert_eq!(driver.times(), [(0, 0)]);
    driver.pass(Duration::from_nanos(1));
    assert_eq!(driver.times().len(), 2);
}

#[test]
fn the_jitter_of_a_pause_comes_after_it_and_never_before() {
    for asked in [1, 40, 1_000, 30_000, 60_000, 3_600_000] {
        let ends: Vec<_> = (0..50)
            .map(|seed| {
                let mut driver = Driver::with(seed, 10, &[&[]]);
                driver.ask_all(2, &through(&[API]));
                // So long a stop is only taken at once from whoever never served.
                if asked <= 60_000 {
                    driver.answer(0, &ok());
                }
                driver.answer(1, &refused_for(ms(asked)));
                let pause = driver.engine.snapshot(driver.now).gates[0].throttled_until;
                pause.expect("a pause").since(at(0))
            })
            .collect();
        // The belief of a first refusal asks for up to 100 ms by itself.
        let plain = ms(asked);
        let longest = (plain + plain / 32).min(plain + ms(1000)).max(ms(100));
        assert!(
            ends.iter().all(|end| (plain..=longest).contains(end)),
            "{asked} ms: {ends:?}"
        );
        assert!(asked < 100 || ends.iter().max() > ends.iter().min());
    }
}

#[test]
fn a_stop_of_more_than_a_minute_needs_a_second_word_where_others_are_served() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask_all(2, &through(&[API]));
    driver.answer(0, &ok());
    driver.answer(1, &refused_for(ms(3_600_000)));
    let until = |driver: &Driver| driver.engine.snapshot(driver.now).gates[0].throttled_until;
    assert!(until(&driver).is_none_or(|until| until < at(60_000)));

    driver.ask(&through(&[API]));
    while driver.starts.len() < 3 {
        driver.wait();
    }
    driver.answer(2, &refused_for(ms(3_600_000)));
    assert!(until(&driver).expect("a pause") >= driver.now + ms(3_600_000));
}

/// Opens the circuit of a gate that never served, with `waiting` in line; the probe is under way.
fn probing(waiting: usize) -> Driver {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    driver.answer(0, &refused());
    driver.ask_all(waiting, &through(&[API]));
    driver.wait();
    assert_eq!(
        (driver.order(), driver.circuit(API)),
        (vec![0, 1], "probing")
    );
    driver
}

#[test]
fn a_circuit_that_closes_does_not_dump_the_line() {
    let mut driver = probing(200);
    driver.answer(1, &ok());
    let mut most = Vec::new();
    while driver.wake.is_some() || driver.in_flight(API) > 0 {
        // Past the spacing that the run of refusals left, so that only the circuit holds anybody back.
        driver.pass(ms(1000));
        most.push(driver.in_flight(API));
        let oldest = *driver.under_way.keys().next().expect("in flight");
        driver.answer(oldest, &ok());
    }
    assert_eq!(most[..6], [2, 3, 4, 5, 6, 7]);
    assert_eq!(driver.starts.len(), 201);
}

#[test]
fn a_probe_that_is_never_answered_is_not_waited_for_for_ever() {
    let mut driver = probing(2);
    let patience = driver.starts[1].at + ms(30_000);
    driver.pass_to(patience);
    assert_eq!(driver.order(), [0, 1, 2]);
    assert_eq!(driver.starts[2].at, patience);
}

/// It was taken for a refusal of this request alone, and the next probe had to wait for the end of all patience.
#[test]
fn a_probe_that_is_refused_again_gives_its_place_to_the_next() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask_all(5, &through(&[API]));
    let want = through(&[API]);
    let mut attempts = Attempts::default();
    let place = driver.engine.place(driver.now, &want);
    let seen = refused();
    driver.settle(0, &seen);
    let _ = driver.engine.decide(
        driver.now,
        &want,
        &RetryPolicy::default(),
        &mut attempts,
        Repeatable::YES,
        &seen,
    );
    driver.finish(0);
    assert_eq!(driver.circuit(API), "open");
    for name in 1..5 {
        driver.answer(name, &ok());
    }
    assert_eq!(driver.circuit(API), "open", "they left before it opened");
    let probe = driver.ask_again(&want, Some(place), &attempts, driver.now);
    driver.ask(&want);
    driver.wait();
    assert_eq!(driver.circuit(API), "probing");
    driver.answer(probe, &seen);
    assert_eq!(driver.circuit(API), "open");
    driver.pass(ms(2000));
    assert_eq!(driver.starts.len(), 7);
}

/// Asks one at a time; every `nth` is told that the upstream is overloaded, the others are served.
fn one_in(nth: usize, requests: usize) -> Driver {
    let mut lab = Driver::new(&[&[]]);
    let want = through(&[0]);
    for request in 1..=requests {
        let name = lab.ask(&want);
        while !lab.under_way.contains_key(&name) {
            lab.wait();
        }
        let overloaded = Observation::status(Verdict::Overloaded, 503);
        let seen = if request % nth == 0 { overloaded } else { ok() };
        lab.answer(name, &seen);
        lab.pass(ms(10));
    }
    lab
}

fn refusals(lab: &Driver) -> u64 {
    lab.engine.snapshot(lab.now).gates[0].belief.refusals
}

#[test]
fn every_other_answer_a_503_speaks_of_a_limit_and_one_in_ten_does_not() {
    assert!(refusals(&one_in(2, 40)) > 0);
    assert_eq!(refusals(&one_in(10, 400)), 0);
}
