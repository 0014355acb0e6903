//! Windows that the server tells of are spent to their end, by a client that was told nothing itself.

use std::time::Duration;

use http::Request;
use paceline::testing::{LimitedService, Script};
use paceline::{Cost, RequestOptions};
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use crate::lab::{Lab, secs, unconfigured};
use crate::quota::{Begins, Quota, Reset, flat};

/// Two ways and the timers' milliseconds.
const ROUND: f64 = 0.04;

/// 55 requests, ten at once, ten in five seconds: five whole windows.
async fn five_windows(begins: Begins, reset: Reset) -> (usize, Duration) {
    let quota = Quota::new(10, 5.0, begins, reset);
    let (client, _) = quota.client(1);
    let elapsed = flat(&client, 55, 10).await;
    (quota.refused(), elapsed)
}

fn within(elapsed: Duration, ideal: f64, more: f64) {
    let elapsed = elapsed.as_secs_f64();
    let most = (ideal + ROUND) * 1.03 + more;
    assert!(
        elapsed >= ideal && elapsed <= most,
        "{elapsed} of {ideal}, at most {most}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_window_is_spent_to_its_end_without_a_refusal_and_the_next_one_as_it_begins() {
    for reset in [Reset::WithLength, Reset::Up] {
        let (refused, elapsed) = five_windows(Begins::WithARequest, reset).await;
        assert_eq!(refused, 0);
        within(elapsed, 25.0, 0.0);
    }
}

#[tokio::test(start_paused = true)]
async fn windows_by_the_clock_cost_their_rounding_once() {
    for phase in [0.1, 2.2, 4.9] {
        let (refused, elapsed) = five_windows(Begins::Aligned(phase), Reset::Up).await;
        assert_eq!(refused, 0, "{phase}");
        within(elapsed, 25.0 - phase, 1.0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_that_moves_gives_back_bit_by_bit() {
    let (refused, elapsed) = five_windows(Begins::EachItsOwn, Reset::Up).await;
    assert_eq!(refused, 0);
    within(elapsed, 25.0, 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_rounds_down_refuses_one_request_and_no_more() {
    let (refused, elapsed) = five_windows(Begins::WithARequest, Reset::Down).await;
    assert!(refused <= 1, "{refused}");
    within(elapsed, 25.0, 5.0);
}

#[tokio::test(start_paused = true)]
async fn after_an_idle_period_not_one_request_too_many_leaves() {
    let quota = Quota::new(10, 5.0, Begins::WithARequest, Reset::Up);
    let (client, _) = quota.client(1);
    flat(&client, 10, 10).await;
    for idle in [4.0, 5.5, 60.0, 3600.0] {
        sleep(secs(idle)).await;
        flat(&client, 15, 15).await;
        assert_eq!(quota.refused(), 0, "after {idle} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_below_the_number_of_workers_is_exceeded_once_and_teaches_no_other() {
    let quota = Quota::new(4, 5.0, Begins::WithARequest, Reset::Up);
    let (client, pace) = quota.client(1);
    flat(&client, 22, 10).await;
    assert_eq!(
        quota.refused(),
        6,
        "before the first answer nothing is known"
    );
    assert_eq!(pace.snapshot().gates[0].belief.refusals, 0);
    let began = Instant::now();
    flat(&client, 20, 10).await;
    assert_eq!(quota.refused(), 6);
    assert!(began.elapsed() < secs(25.5), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_others_leave_is_spent_with_hardly_a_refusal() {
    for every in [0.5, 0.2, 0.1] {
        let quota = Quota::new(100, 10.0, Begins::Aligned(0.0), Reset::Up).rival(every);
        let (client, _) = quota.client(1);
        let elapsed = flat(&client, 400, 10).await;
        let (refused, rivals) = (quota.refused(), quota.rivals());
        assert!(refused <= 4, "one in a hundred: {refused}");
        assert!(rivals > 0, "somebody else was there");
        // Four windows are over before the last of 400 and of theirs can leave.
        within(elapsed, 40.0, 0.0);
    }
}

#[tokio::test(start_paused = true)]
async fn processes_that_do_not_know_of_each_other_are_seldom_refused() {
    let quota = Quota::new(40, 5.0, Begins::WithARequest, Reset::Up);
    let (one, _) = quota.client(1);
    let (other, _) = quota.client(2);
    let (a, b) = tokio::join!(flat(&one, 100, 10), flat(&other, 100, 10));
    assert!(quota.refused() <= 8, "{} of 200", quota.refused());
    // They come back a hundredth of a window apart, four times.
    within(a.max(b), 20.0, 0.2);
}

#[tokio::test(start_paused = true)]
async fn stale_answers_change_nothing() {
    let spent = [
        ("ratelimit-limit", "100"),
        ("ratelimit-remaining", "0"),
        ("ratelimit-reset", "60"),
    ];
    for sign in [("age", "30"), ("x-status", "401")] {
        let quota = Quota::new(100, 60.0, Begins::WithARequest, Reset::Up)
            .stale(&spent)
            .stale(&[sign]);
        let (client, _) = quota.client(1);
        flat(&client, 1, 1).await;
        let request = Request::get("/stale").body(()).unwrap();
        client.clone().oneshot(request).await.unwrap();
        let elapsed = flat(&client, 20, 10).await;
        assert!(elapsed < secs(0.1), "{sign:?}: {elapsed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_healthy_window_on_a_refusal_does_not_shorten_the_pause() {
    let script = Script::status(429)
        .header("retry-after", "30")
        .header("ratelimit-limit", "100")
        .header("ratelimit-remaining", "99")
        .header("ratelimit-reset", "2")
        .then(200)
        .forever();
    let lab = Lab::with(unconfigured(), LimitedService::scripted(script));
    let report = lab.get("/").await;
    assert!(report.ok());
    assert!(
        report.took >= secs(30.0) && report.took < secs(32.0),
        "{:?}",
        report.took
    );
}

#[tokio::test(start_paused = true)]
async fn tokens_that_are_reported_are_spent_by_those_who_name_them() {
    let script = Script::status(200)
        .header("x-ratelimit-limit-tokens", "1000")
        .header("x-ratelimit-remaining-tokens", "400")
        .header("x-ratelimit-reset-tokens", "20")
        .then(200)
        .forever();
    let lab = Lab::with(unconfigured(), LimitedService::scripted(script));
    assert!(lab.get("/").await.ok());
    let costing = |tokens| {
        let cost = Cost::requests(1).and("tokens", tokens);
        let options = RequestOptions::new().cost(cost);
        Request::get("/").extension(options).body(()).unwrap()
    };
    let small = lab.send(costing(400)).await;
    let none = lab.get("/").await;
    let large = lab.send(costing(401)).await;
    assert_eq!((small.took, none.took), (Duration::ZERO, Duration::ZERO));
    assert!(
        large.took >= secs(20.0) && large.took < secs(20.3),
        "{:?}",
        large.took
    );
}
