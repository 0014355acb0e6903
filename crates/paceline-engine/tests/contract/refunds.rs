//! What was admitted and not sent.

use super::*;

#[test]
fn a_strict_window_and_a_bucket_serve_the_next_at_once() {
    for limit in ["1/h", "1/h burst 1", "1 in flight"] {
        let mut driver = Driver::new(&[&[limit]]);
        driver.ask_all(2, &through(&[API]));
        driver.refund(0);
        assert_eq!(driver.times(), [(0, 0), (1, 0)], "{limit}");
    }
}

#[test]
fn the_believed_spacing_counts_from_the_last_that_was_sent() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    driver.answer(0, &ok());
    driver.ask(&through(&[API]));
    driver.answer(1, &refused());
    driver.ask_all(2, &through(&[API]));
    let first = driver.wait();
    assert_eq!(first.reason, Reason::Belief);
    driver.refund(2);
    assert_eq!(driver.order(), [0, 1, 2, 3]);
    assert_eq!(driver.starts[3].at, first.at);
}

#[test]
fn a_probe_that_was_not_sent_lets_the_next_one_ask() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    driver.answer(0, &refused());
    driver.ask_all(3, &through(&[API]));
    driver.wait();
    assert_eq!(
        (driver.order(), driver.circuit(API)),
        (vec![0, 1], "probing")
    );
    driver.refund(1);
    assert_eq!(
        (driver.order(), driver.circuit(API)),
        (vec![0, 1, 2], "probing")
    );
    driver.finish(2);
    driver.pass(ms(100));
    assert_eq!(
        driver.order(),
        [0, 1, 2, 3],
        "nobody will tell how it ended"
    );
}

#[test]
fn a_ticket_that_leaves_lets_the_next_one_pass() {
    let mut driver = Driver::new(&[&["5/s burst 5"]]);
    driver.ask(&through(&[API]).cost(Cost::requests(4)));
    let dear = driver.ask(&through(&[API]).cost(Cost::requests(5)));
    let cheap = driver.ask(&through(&[API]));
    assert_eq!(driver.order(), [0]);
    driver.leave(dear);
    assert_eq!(driver.order(), [0, cheap]);
}

#[test]
fn one_that_was_answered_and_then_refunded_is_taken_from_those_under_way_once() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask_all(3, &through(&[API]));
    let mut seen = ok();
    seen.windows.push(window(4, ms(60_000)));
    driver.settle(0, &seen);
    driver.refund(0);
    // Two under way of four: two more.
    driver.ask_all(5, &through(&[API]));
    assert_eq!(driver.order(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_full_bucket_is_spent_once() {
    let mut driver = Driver::new(&[&[]]);
    let dear = through(&[API]).cost(Cost::points(100));
    driver.ask(&dear);
    let mut own = window(900, ms(0));
    own.unit = Unit::Other("points".into());
    own.limit_milli = Some(1_000_000);
    own.reset = None;
    own.refill = Some(ms(20));
    let mut seen = ok();
    seen.windows.push(own);
    driver.answer(0, &seen);
    driver.pass(ms(60_000));
    driver.ask_all(100, &dear);
    assert_eq!(driver.order().len(), 11);
}
