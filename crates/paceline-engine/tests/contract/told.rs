//! What a response itself says about its cost is settled with it, and every unit is told once.

use super::*;

const LIMITS: &[&[&str]] = &[&["10/d", "1000 tokens/d burst 1000", "90 points/d"]];

fn want() -> Want {
    through(&[API]).cost(Cost::tokens(500).and("points", 50))
}

/// The same answer, which says what was asked for and what it came to.
fn says(
    mut seen: Observation,
    unit: &str,
    requested: Option<u64>,
    actual: Option<u64>,
) -> Observation {
    seen.spent.push(Spent {
        unit: Unit::from_word(unit),
        requested,
        actual,
    });
    seen
}

fn available_after(seen: &Observation) -> Vec<u64> {
    let mut driver = Driver::new(LIMITS);
    driver.ask(&want());
    driver.answer(0, seen);
    driver.available(0)
}

#[test]
fn less_comes_back_more_is_charged_and_other_units_keep_their_estimate() {
    assert_eq!(available_after(&ok()), [9, 500, 40]);
    for (actual, left) in [(100, 900), (500, 500), (700, 300), (1200, 0), (0, 1000)] {
        let seen = says(ok(), "tokens", Some(600), Some(actual));
        assert_eq!(available_after(&seen), [9, left, 40], "{actual}");
    }
    let held = says(ok(), "tokens", Some(600), None);
    assert_eq!(available_after(&held), [9, 400, 40], "what it held is told");
    let both = says(says(ok(), "tokens", None, Some(1)), "points", None, Some(2));
    assert_eq!(available_after(&both), [9, 999, 88]);
    let requests = says(ok(), "requests", None, Some(4));
    assert_eq!(available_after(&requests), [6, 500, 40]);
}

#[test]
fn what_was_refused_before_it_cost_anything_comes_back() {
    let seen = says(refused(), "tokens", Some(600), None);
    assert_eq!(available_after(&seen), [9, 1000, 40]);
    assert_eq!(available_after(&refused()), [9, 500, 40], "nobody says so");
    let counted = says(refused(), "tokens", Some(600), Some(600));
    assert_eq!(available_after(&counted), [9, 400, 40]);
}

#[test]
fn a_redirect_costs_a_request_and_nothing_else() {
    let mut redirect = ok();
    redirect.verdict = Verdict::Redirect;
    redirect.answer = Answer::Status(307);
    assert_eq!(available_after(&redirect), [9, 1000, 90]);
    let seen = says(redirect, "tokens", None, Some(3));
    assert_eq!(available_after(&seen), [9, 997, 90]);
}

#[test]
fn each_unit_is_told_once_whoever_tells_it() {
    let mut driver = Driver::new(LIMITS);
    driver.ask(&want());
    let seen = says(ok(), "tokens", None, Some(100));
    driver.settle(0, &seen);
    driver.settle(0, &says(ok(), "tokens", None, Some(900)));
    assert_eq!(driver.available(0), [9, 900, 40]);
    // The caller may say the rest.
    driver.settle_cost(0, &Cost::tokens(0).and("points", 20));
    driver.settle_cost(0, &Cost::tokens(0).and("points", 0));
    driver.finish(0);
    assert_eq!(driver.available(0), [9, 900, 70]);

    let mut driver = Driver::new(LIMITS);
    driver.ask(&want());
    let receipt = driver.receipt(0).expect("the first");
    driver.settle(0, &seen);
    assert_eq!(driver.available(0), [9, 500, 40], "whoever holds it tells");
    driver.input(|engine, now| engine.settle_receipt(now, receipt, &Cost::tokens(300)));
    assert_eq!(driver.available(0), [9, 700, 40]);
}

#[test]
fn what_was_told_has_been_sent_and_is_not_given_back() {
    let mut driver = Driver::new(LIMITS);
    driver.ask(&want());
    driver.settle(0, &says(ok(), "tokens", None, Some(100)));
    driver.refund(0);
    assert_eq!(
        (driver.available(0), driver.in_flight(API)),
        (vec![9, 900, 40], 0)
    );
    let points = through(&[API]).cost(Cost::points(50));
    let late = driver.ask(&points.deadline(at(30_000)));
    let why = driver.refusal(late).reason;
    assert_eq!(why, Reason::Deadline, "its points will not come back");
}

#[test]
fn what_comes_back_serves_those_who_wait_and_nobody_hopes_for_it_twice() {
    let mut driver = Driver::new(&[&["1000 tokens/m"]]);
    let dear = through(&[API]).cost(Cost::tokens(900));
    driver.ask(&dear);
    let waits = driver.ask(&dear.clone().deadline(at(30_000)));
    assert_eq!(driver.refusals, [], "all of the first may come back");
    driver.settle(0, &says(ok(), "tokens", None, Some(50)));
    assert_eq!(driver.order(), [0, waits]);
    driver.settle(waits, &says(ok(), "tokens", None, Some(800)));
    let late = driver.ask(&dear.deadline(at(30_000)));
    assert_eq!(
        driver.refusal(late).reason,
        Reason::Deadline,
        "it is certain"
    );
}

#[test]
fn what_never_fits_ends_at_once_with_that_reason() {
    let whole = |unit: &str, limit: u128| {
        let mut window = window(0, ms(60_000));
        window.unit = Unit::from_word(unit);
        window.limit_milli = Some(limit * 1000);
        window
    };
    let decide = |want: &Want, seen: &Observation| {
        let mut driver = Driver::new(&[&[]]);
        let (policy, mut attempts) = (RetryPolicy::default(), Attempts::new());
        attempts.sent();
        driver.ask(want);
        driver.settle(0, seen);
        let now = driver.now;
        driver
            .engine
            .decide(now, want, &policy, &mut attempts, Repeatable::YES, seen)
    };
    let mut seen = says(refused(), "points", Some(1200), None);
    seen.windows.push(whole("points", 1000));
    let too_costly = Decision::Return(Reason::TooCostly);
    assert_eq!(decide(&through(&[API]), &seen), too_costly);
    seen.spent[0].requested = Some(1000);
    assert_ne!(decide(&through(&[API]), &seen), too_costly);

    // By its own word, where the upstream tells only how much there is.
    let mut seen = refused();
    seen.windows.push(whole("tokens", 30_000));
    let tokens = |tokens| through(&[API]).cost(Cost::tokens(tokens));
    assert_eq!(decide(&tokens(30_001), &seen), too_costly);
    assert_ne!(decide(&tokens(30_000), &seen), too_costly);
    seen.verdict = Verdict::Ok;
    seen.answer = Answer::Status(200);
    assert_ne!(decide(&tokens(30_001), &seen), too_costly, "it was served");
    let mut requests = refused();
    requests.windows.push(whole("requests", 2));
    let five = through(&[API]).cost(Cost::requests(5));
    assert_ne!(
        decide(&five, &requests),
        too_costly,
        "it may count otherwise"
    );
}
