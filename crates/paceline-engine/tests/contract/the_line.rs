//! Order, priority, yielding.

use super::*;

#[test]
fn a_retry_keeps_its_place() {
    let mut driver = Driver::new(&[&["1/s"]]);
    let want = through(&[API]);
    let place = driver.engine.place(driver.now, &want);
    driver.ask_all(3, &want);
    let retried = driver.ask_again(&want, Some(place), &Attempts::default(), at(1500));
    driver.pass(ms(5000));
    assert_eq!(driver.order(), [0, 1, retried, 2]);
}

#[test]
fn one_that_was_refused_again_and_again_lets_a_bounded_number_pass() {
    let mut driver = Driver::new(&[&["10/s burst 1"]]);
    let want = through(&[API]);
    driver.ask(&want);
    driver.answer(0, &ok());
    driver.pass(ms(100));
    let policy = RetryPolicy::default();
    let mut attempts = Attempts::default();
    let place = driver.engine.place(driver.now, &want);
    let mut last = driver.ask_again(&want, Some(place), &attempts, driver.now);
    let mut passed = Vec::new();
    driver.ask_all(100, &want);
    for _ in 0..6 {
        let seen = refused();
        driver.settle(last, &seen);
        let decision = driver.engine.decide(
            driver.now,
            &want,
            &policy,
            &mut attempts,
            Repeatable::YES,
            &seen,
        );
        assert!(matches!(decision, Decision::Again { .. }), "{decision:?}");
        driver.finish(last);
        let before = driver.starts.len();
        last = driver.ask_again(&want, Some(place), &attempts, driver.now);
        while !driver.under_way.contains_key(&last) {
            let others: Vec<_> = driver.under_way.keys().copied().collect();
            for other in others {
                driver.answer(other, &refused());
            }
            driver.wait();
        }
        passed.push(driver.starts.len() - before - 1);
    }
    assert_eq!(passed, [0, 2, 4, 8, 16, 16]);
}

#[test]
fn one_that_yields_does_not_wait_for_others_to_come() {
    let mut driver = Driver::new(&[&["1/s"]]);
    let want = through(&[API]);
    let mut attempts = Attempts::default();
    for _ in 0..5 {
        let seen = refused();
        let _ = driver.engine.decide(
            driver.now,
            &want,
            &RetryPolicy::default(),
            &mut attempts,
            Repeatable::YES,
            &seen,
        );
    }
    driver.ask(&want);
    driver.ask_again(&want, None, &attempts, driver.now);
    driver.pass(ms(1000));
    assert_eq!(driver.times(), [(0, 0), (1, 1000)]);
}

#[test]
fn who_waits_is_counted_at_each_of_its_gates() {
    let mut driver = Driver::new(&[&[], &["1/s"], &["1/s"]]);
    driver.ask_all(3, &through(&[API, ROUTE]));
    driver.ask_all(2, &through(&[API, OTHER_ROUTE]));
    let waiting = [API, ROUTE, OTHER_ROUTE].map(|gate| driver.waiting(gate));
    assert_eq!(waiting, [3, 2, 1]);
}

#[test]
fn more_important_ones_go_first_and_background_work_never_starves() {
    let mut driver = Driver::new(&[&["1/s"]]);
    driver.ask(&through(&[API]));
    let batch = driver.ask(&through(&[API]).priority(Priority::Background));
    for _ in 0..90 {
        driver.ask(&through(&[API]).priority(Priority::Interactive));
        driver.pass(ms(1000));
    }
    let rank = driver.order().iter().position(|name| *name == batch);
    assert_eq!(rank, Some(61), "a minute later than one that came with it");
}

#[test]
fn the_same_seed_and_the_same_inputs_have_the_same_effects() {
    let run = |seed| {
        let mut driver = Driver::with(seed, 1000, &[&["50/s burst 5"]]);
        driver.ask_all(40, &through(&[API]));
        for step in 0..400 {
            if let Some(name) = driver.under_way.keys().next().copied() {
                let seen = match step % 7 {
                    0 => refused_for(ms(50 * step)),
                    1 => Observation::failure(Failure::Broken),
                    2 => refused(),
                    _ => ok(),
                };
                driver.answer(name, &seen);
            }
            driver.pass(ms(200));
        }
        (driver.starts, driver.events, driver.refusals)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2), "the seed decides the jitter");
}
