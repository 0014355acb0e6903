//! Dear requests in units of their own: they are not passed, not starved, and told at once when they can never run.

use super::*;

const A_SECOND: &str = "1000 tokens/s burst 1000";

fn tokens(gates: &[u16], tokens: u64) -> Want {
    through(gates).cost(Cost::tokens(tokens))
}

#[test]
fn cheap_ones_do_not_pass_a_dear_one_of_the_same_gates() {
    let mut driver = Driver::new(&[&[A_SECOND]]);
    driver.ask(&tokens(&[API], 900));
    let dear = driver.ask(&tokens(&[API], 1000));
    let cheap = driver.ask(&tokens(&[API], 1));
    driver.pass(ms(899));
    assert_eq!(driver.order(), [0], "100 are there, and nobody takes them");
    driver.pass(ms(2));
    assert_eq!(driver.times(), [(0, 0), (dear, 900), (cheap, 901)]);
}

/// What a request names beside requests was not held against it, so that cheap ones of other gates took the tokens of a dear
/// one again and again.
#[test]
fn cheap_ones_of_other_gates_do_not_starve_a_dear_one() {
    let mut driver = Driver::new(&[&[A_SECOND], &[]]);
    driver.ask(&tokens(&[API], 1000));
    let dear = driver.ask(&tokens(&[API, ROUTE], 1000));
    for _ in 0..30 {
        driver.ask(&tokens(&[API], 100));
        driver.pass(ms(100));
    }
    driver.pass(ms(10_000));
    let times = driver.times();
    assert_eq!(times[1], (dear, 1000));
    assert_eq!(times.last(), Some(&(31, 4000)), "the rate is used in full");
}

#[test]
fn one_that_takes_no_tokens_passes_one_that_waits_for_them() {
    let mut driver = Driver::new(&[&[A_SECOND], &[]]);
    driver.ask(&tokens(&[API], 1000));
    driver.ask(&tokens(&[API, ROUTE], 1000));
    let free = driver.ask(&through(&[API]));
    assert_eq!(driver.order(), [0, free]);
}

#[test]
fn what_comes_back_goes_to_the_first_in_line() {
    let mut driver = Driver::new(&[&["1000 tokens/h burst 1000"], &[]]);
    driver.ask(&tokens(&[API], 500));
    driver.ask(&tokens(&[API], 500));
    let dear = driver.ask(&tokens(&[API, ROUTE], 800));
    driver.ask(&tokens(&[API], 300));
    driver.settle_cost(0, &Cost::tokens(100));
    assert_eq!(driver.order(), [0, 1], "400 are not for the later one");
    driver.settle_cost(1, &Cost::tokens(100));
    assert_eq!(driver.order(), [0, 1, dear]);
}

#[test]
fn what_exceeds_any_of_its_limits_fails_at_once_and_says_which() {
    for (tokens, points, said) in [
        (
            1001,
            5,
            "1001 tokens where 1000 tokens/s burst 1000 allows 1000 at once",
        ),
        (1000, 6, "6 points where 5 points/m allows 5 at once"),
    ] {
        let mut driver = Driver::new(&[&["9/s", A_SECOND], &["5 points/m"]]);
        let cost = Cost::requests(9)
            .and("tokens", tokens)
            .and("points", points);
        let dear = driver.ask(&through(&[API, ROUTE]).cost(cost));
        let refusal = driver.refusal(dear);
        assert_eq!(
            (refusal.reason, refusal.possible_at),
            (Reason::TooCostly, None)
        );
        let too_costly = refusal.too_costly.expect("which limit");
        assert_eq!(too_costly.to_string(), said);
        assert_eq!(driver.available(0), [9, 1000], "nothing was charged");
    }
    let mut driver = Driver::new(&[&["9/s"]]);
    let dear = driver.ask(&through(&[API]).cost(Cost::requests(10)));
    let said = driver.refusal(dear).too_costly.map(|why| why.to_string());
    assert_eq!(
        said.as_deref(),
        Some("10 requests where 9/s allows 9 at once")
    );
}

/// Whoever stood behind others was told only when its turn came.
#[test]
fn a_lowered_limit_tells_all_whom_it_stops_for_ever() {
    let mut driver = Driver::new(&[&["2/h", "1000 tokens/h"], &[]]);
    driver.ask_all(2, &tokens(&[API], 1));
    let cheap = driver.ask(&tokens(&[API], 400));
    let behind = driver.ask(&tokens(&[API], 800));
    let elsewhere = driver.ask(&tokens(&[API, ROUTE], 501));
    let delayed = tokens(&[API], 900);
    let delayed = driver.ask_again(&delayed, None, &Attempts::default(), at(5000));
    driver.change_limits(API, &["2/h", "500 tokens/h"]);
    for name in [behind, elsewhere, delayed] {
        let refusal = driver.refusal(name);
        assert_eq!(refusal.reason, Reason::TooCostly);
        let limit = refusal.too_costly.expect("which").limit;
        assert_eq!(limit.to_string(), "500 tokens/h");
    }
    assert_eq!(driver.refusals.len(), 3);
    driver.pass(ms(3_600_000));
    assert_eq!(driver.times().last(), Some(&(cheap, 3_600_000)));
}

#[test]
fn a_change_hands_the_books_to_the_limit_that_counts_the_same() {
    let mut driver = Driver::new(&[&["10/h", "1000 tokens/h burst 1000", "4 in flight"]]);
    driver.ask(&tokens(&[API], 300));
    driver.change_limits(API, &["3 in flight", "2000 tokens/h burst 2000", "20/h"]);
    assert_eq!(driver.available(0), [2, 700, 19]);
    driver.change_limits(API, &["90 points/h", "20/h"]);
    assert_eq!(driver.available(0), [90, 19]);
}
