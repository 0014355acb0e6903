//! Reserved before, settled after: an estimate is charged, and the response says what it did cost.

use super::*;

const A_SECOND: &str = "1000 tokens/s burst 1000";

/// A job of a hundred requests that name 1000 tokens each; their responses end two seconds later and say `actual`. When the
/// last one starts, in milliseconds.
fn last_of_a_job(limit: &str, actual: Option<u64>) -> u128 {
    let mut driver = Driver::new(&[&[limit]]);
    driver.ask_all(100, &through(&[API]).cost(Cost::tokens(1000)));
    while let Some((name, sent)) = driver.under_way.first_key_value() {
        let (name, end) = (*name, sent.at() + ms(2000));
        driver.pass_to(end);
        driver.settle(name, &ok());
        if let Some(actual) = actual {
            driver.settle_cost(name, &Cost::tokens(actual));
        }
        driver.finish(name);
        if driver.under_way.is_empty() && !driver.tickets.is_empty() {
            driver.wait();
        }
    }
    assert_eq!(driver.order(), (0..100).collect::<Vec<_>>());
    driver.times().last().expect("a hundred").1
}

#[test]
fn a_job_goes_as_fast_as_what_it_does_cost_allows() {
    let bucket = "10000 tokens/m burst 10000";
    assert_eq!(last_of_a_job(bucket, None), 540_000);
    assert_eq!(last_of_a_job(bucket, Some(1000)), 540_000);
    // 98 that cost 250, one under way, and its own: 26,500 tokens, 16,500 of which flow in.
    assert_eq!(last_of_a_job(bucket, Some(250)), 99_000);
    assert_eq!(last_of_a_job("10000 tokens/m", None), 540_000);
    assert_eq!(last_of_a_job("10000 tokens/m", Some(250)), 138_000);
}

#[test]
fn what_it_costs_less_serves_those_who_wait_at_once() {
    for limit in [A_SECOND, "1000 tokens/s"] {
        let mut driver = Driver::new(&[&[limit]]);
        driver.ask_all(3, &through(&[API]).cost(Cost::tokens(600)));
        driver.settle_cost(0, &Cost::tokens(400));
        assert_eq!(
            (driver.times(), driver.available(0)),
            (vec![(0, 0), (1, 0)], vec![0])
        );
    }
}

#[test]
fn what_it_costs_more_is_made_up_for_by_later_ones() {
    let mut driver = Driver::new(&[&[A_SECOND]]);
    let want = through(&[API]).cost(Cost::tokens(1000));
    driver.ask(&want);
    driver.pass(ms(1000));
    driver.settle_cost(0, &Cost::tokens(4000));
    driver.ask_all(2, &want);
    driver.pass(ms(10_000));
    assert_eq!(driver.times(), [(0, 0), (1, 4000), (2, 5000)]);

    // In a strict window it counts from the instant at which it was known.
    let mut driver = Driver::new(&[&["1000 tokens/10s"]]);
    driver.ask(&through(&[API]).cost(Cost::tokens(500)));
    driver.pass(ms(4000));
    driver.settle_cost(0, &Cost::tokens(1500));
    driver.ask_all(2, &through(&[API]).cost(Cost::tokens(500)));
    driver.pass(ms(60_000));
    assert_eq!(driver.times(), [(0, 0), (1, 14_000), (2, 14_000)]);
}

#[test]
fn a_strict_window_is_corrected_where_it_was_charged() {
    let mut driver = Driver::new(&[&["1000 tokens/10s"]]);
    driver.ask(&through(&[API]).cost(Cost::tokens(600)));
    driver.pass(ms(4000));
    driver.ask(&through(&[API]).cost(Cost::tokens(400)));
    driver.pass(ms(5000));
    driver.settle_cost(1, &Cost::tokens(100));
    assert_eq!(driver.available(0), [300]);
    driver.pass(ms(1000));
    assert_eq!(
        driver.available(0),
        [900],
        "600 of the first, at ten seconds"
    );
    driver.settle_cost(0, &Cost::tokens(0));
    assert_eq!(driver.available(0), [900], "it had come back by itself");
}

#[test]
fn every_unit_for_itself_and_those_that_are_not_named_keep_their_estimate() {
    let mut driver = Driver::new(&[&[
        "10/d",
        "1000 tokens/d burst 1000",
        "90 points/d",
        "4 in flight",
    ]]);
    let cost = Cost::requests(2).and("tokens", 500).and("points", 50);
    driver.ask(&through(&[API]).cost(cost));
    assert_eq!(driver.available(0), [8, 500, 40, 3]);
    driver.settle_cost(0, &Cost::tokens(100).and("seats", 7));
    assert_eq!(driver.available(0), [8, 900, 40, 3]);
    driver.settle_cost(0, &Cost::points(0));
    assert_eq!(driver.available(0), [8, 900, 40, 3], "once for each send");

    let both = Cost::requests(1).and("points", 10);
    driver.ask(&through(&[API]).cost(Cost::requests(3).and("points", 30)));
    driver.settle_cost(1, &both);
    assert_eq!(driver.available(0), [7, 900, 30, 2]);
}

#[test]
fn a_request_that_named_nothing_can_tell_all_the_same() {
    let mut driver = Driver::new(&[&[A_SECOND], &["10/d"]]);
    driver.ask_all(2, &through(&[API]));
    driver.ask(&through(&[ROUTE]));
    let told = [0, 1, 2].map(|name| driver.under_way[&name].is_estimate());
    assert_eq!(told, [true, true, false], "the route counts requests alone");
    driver.settle_cost(0, &Cost::tokens(1200));
    driver.ask(&through(&[API]).cost(Cost::tokens(1)));
    assert_eq!(driver.wait().at, at(201));
}

/// A second later the bucket held nine of ten, and five of them were taken. Had the first been charged what it did cost, the
/// bucket would have flowed over by three.
#[test]
fn what_would_have_flowed_over_does_not_come_back() {
    let mut driver = Driver::new(&[&["4 tokens/s burst 10"]]);
    driver.ask(&through(&[API]).cost(Cost::tokens(5)));
    driver.pass(ms(1000));
    driver.ask(&through(&[API]).cost(Cost::tokens(5)));
    assert_eq!(driver.available(0), [4]);
    driver.settle_cost(0, &Cost::tokens(1));
    assert_eq!(driver.available(0), [5]);
}

#[test]
fn it_can_be_told_when_the_response_is_over() {
    let mut driver = Driver::new(&[&["1000 tokens/d burst 1000"]]);
    driver.ask_all(2, &through(&[API]).cost(Cost::tokens(500)));
    let receipt = driver.receipt(0).expect("the first");
    assert_eq!(driver.receipt(0), None, "there is one");
    driver.settle_cost(0, &Cost::tokens(0));
    driver.finish(0);
    assert_eq!(driver.available(0), [0]);
    driver.input(|engine, now| engine.settle_receipt(now, receipt, &Cost::tokens(100)));
    assert_eq!(driver.available(0), [400]);

    let receipt = driver.receipt(1).expect("of the second");
    driver.input(|engine, now| engine.drop_receipt(now, receipt));
    driver.finish(1);
    assert_eq!(driver.available(0), [400]);
}

#[test]
fn what_was_not_sent_costs_nothing_and_what_was_told_has_been_sent() {
    let mut driver = Driver::new(&[&["10/d", "1000 tokens/d burst 1000"]]);
    let want = through(&[API]).cost(Cost::tokens(500));
    driver.ask(&want);
    driver.refund(0);
    assert_eq!(driver.available(0), [10, 1000]);
    driver.ask(&want);
    driver.settle_cost(1, &Cost::tokens(700));
    driver.refund(1);
    assert_eq!(
        (driver.available(0), driver.in_flight(API)),
        (vec![9, 300], 0)
    );
}

/// A wait fails at once if it cannot end in time: not while what is under way may give back what it reserved.
#[test]
fn those_who_wait_may_hope_for_what_comes_back() {
    let limit = "10000 tokens/m burst 10000";
    let dear = through(&[API]).cost(Cost::tokens(9000));
    let mut driver = Driver::new(&[&[limit]]);
    driver.ask_all(2, &dear);
    let waits = driver.ask(&dear.clone().deadline(at(30_000)));
    assert_eq!(driver.refusals, []);
    driver.settle_cost(0, &Cost::tokens(100));
    assert_eq!(driver.order(), [0, 1]);
    driver.finish(0);
    driver.settle_cost(1, &Cost::tokens(100));
    assert_eq!(driver.order(), [0, 1, waits]);

    let mut driver = Driver::new(&[&[limit]]);
    driver.ask(&dear);
    let waits = driver.ask(&dear.clone().deadline(at(30_000)));
    driver.finish(0);
    assert_eq!(driver.refusal(waits).reason, Reason::Deadline, "it stands");
    assert_eq!(driver.refusal(waits).possible_at, Some(at(48_000)));
    let comes = driver.ask(&dear.clone().deadline(at(30_000)));
    assert_eq!(driver.refusal(comes).reason, Reason::Deadline);

    let mut driver = Driver::new(&[&[limit]]);
    driver.ask(&dear);
    let receipt = driver.receipt(0).expect("the first");
    driver.finish(0);
    let waits = driver.ask(&dear.deadline(at(30_000)));
    assert_eq!(driver.refusals, []);
    driver.input(|engine, now| engine.drop_receipt(now, receipt));
    assert_eq!(driver.refusal(waits).reason, Reason::Deadline);
}

#[test]
fn a_limit_that_came_later_neither_gives_back_nor_is_charged() {
    for limit in [A_SECOND, "1000 tokens/d"] {
        let mut driver = Driver::new(&[&["10/d"]]);
        driver.ask_all(3, &through(&[API]).cost(Cost::tokens(500)));
        driver.change_limits(API, &["10/d", limit]);
        driver.ask(&through(&[API]).cost(Cost::tokens(500)));
        driver.refund(2);
        driver.settle_cost(0, &Cost::tokens(0));
        driver.settle_cost(1, &Cost::tokens(900));
        assert_eq!(driver.available(0), [7, 500], "{limit}");
    }
}

#[test]
fn a_change_of_limits_keeps_what_may_come_back_and_what_is_owed() {
    for (before, after) in [
        ("1000 tokens/d burst 1000", "1200 tokens/d burst 1200"),
        ("1000 tokens/d", "1200 tokens/d burst 1200"),
        ("1000 tokens/d burst 1000", "1200 tokens/d"),
        ("1000 tokens/d", "1200 tokens/d"),
    ] {
        let mut driver = Driver::new(&[&[before]]);
        driver.ask(&through(&[API]).cost(Cost::tokens(1000)));
        driver.change_limits(API, &[after]);
        let room = driver.available(0)[0];
        driver.settle_cost(0, &Cost::tokens(400));
        assert_eq!(driver.available(0), [room + 600], "{before} to {after}");
    }
    let mut driver = Driver::new(&[&[A_SECOND]]);
    driver.ask(&through(&[API]).cost(Cost::tokens(1000)));
    driver.settle_cost(0, &Cost::tokens(3000));
    driver.change_limits(API, &["1000 tokens/s burst 500"]);
    driver.ask(&through(&[API]).cost(Cost::tokens(500)));
    assert_eq!(driver.wait().at, at(2500), "2000 are owed");
}
