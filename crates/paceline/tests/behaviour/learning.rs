//! A server that hides its limit.

use paceline::testing::{LimitedService, RetryAfter, ServerSpec, Wrap};

use crate::lab::{Lab, secs, unconfigured};

/// Completes, within this much of the ideal time, with at most so many refusals.
async fn tree(spec: ServerSpec, pages: usize, fanout: usize, ideal: f64, most: f64, refused: u64) {
    let lab = Lab::new(unconfigured(), spec);
    let run = lab.tree(pages, fanout, 10).await;
    assert_eq!((run.reports.len(), run.failed()), (pages, 0));
    let ratio = run.elapsed.as_secs_f64() / ideal;
    assert!((0.999..most).contains(&ratio), "{ratio} of the ideal");
    assert!(lab.refused() <= refused, "{} refused", lab.refused());
}

#[tokio::test(start_paused = true)]
async fn a_tree_of_forty_pages_against_three_a_second_completes() {
    let spec = ServerSpec::token_bucket(3.0, 3).retry_after(RetryAfter::Zero);
    tree(spec, 40, 4, 12.333, 1.1, 15).await;
}

#[tokio::test(start_paused = true)]
async fn wider_trees_at_one_and_two_a_second_complete() {
    let one = ServerSpec::token_bucket(1.0, 1).retry_after(RetryAfter::Zero);
    tree(one, 102, 5, 101.0, 1.25, 15).await;
    let two = ServerSpec::token_bucket(2.0, 2).retry_after(RetryAfter::Zero);
    tree(two, 102, 5, 50.0, 1.05, 20).await;
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_ten_over_a_steady_two_a_second_completes() {
    let spec = ServerSpec::token_bucket(2.0, 10).retry_after(RetryAfter::Zero);
    tree(spec, 102, 5, 46.0, 1.05, 20).await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_of_a_second_and_none_at_all_both_complete() {
    let one = ServerSpec::token_bucket(3.0, 3).retry_after(RetryAfter::Seconds(1.0));
    tree(one, 102, 5, 33.0, 1.2, 20).await;
    let none = ServerSpec::token_bucket(3.0, 3).retry_after(RetryAfter::None);
    tree(none, 102, 5, 33.0, 1.05, 20).await;
}

#[tokio::test(start_paused = true)]
async fn where_there_is_no_limit_nothing_is_delayed_at_all() {
    let lab = Lab::new(unconfigured(), ServerSpec::open());
    let run = lab.flat(1000, 50, secs(60.0)).await;
    assert_eq!(
        (run.failed(), lab.sent(), run.elapsed),
        (0, 1000, secs(0.0))
    );
}

#[tokio::test(start_paused = true)]
async fn one_in_thirty_failing_at_random_is_retried_alone_and_paces_nobody() {
    let spec = ServerSpec::open().wrap(Wrap::random(0.03).status(503));
    let lab = Lab::new(unconfigured(), spec);
    let run = lab.flat(2000, 10, secs(60.0)).await;
    assert_eq!(run.failed(), 0);
    // Whoever was not refused did not wait.
    for report in &run.reports {
        assert!(
            report.outcome.refused > 0 || report.outcome.waited.is_zero(),
            "{report:?}"
        );
    }
    assert!(lab.pace.snapshot().gates[0].belief.interval.is_none());
}

#[tokio::test(start_paused = true)]
async fn isolated_refusals_do_not_leave_it_throttled() {
    let spec = ServerSpec::open().wrap(Wrap::nth([100, 400]));
    let lab = Lab::new(unconfigured(), spec);
    let run = lab.flat(700, 10, secs(60.0)).await;
    assert_eq!((run.failed(), lab.refused()), (0, 2));
    assert!(run.elapsed < secs(3.0), "{:?}", run.elapsed);
    assert!(lab.pace.snapshot().gates[0].belief.interval.is_none());
}

#[tokio::test(start_paused = true)]
async fn ten_refusals_at_once_widen_the_pace_once() {
    let spec = ServerSpec::open().wrap(Wrap::nth(2..=11));
    let lab = Lab::with(
        unconfigured(),
        LimitedService::new(spec).unwrap().latency(secs(0.05)),
    );
    assert!(lab.get("/").await.ok());
    let run = lab.burst(10, secs(60.0)).await;
    assert_eq!((run.failed(), lab.refused()), (0, 10));
    assert_eq!(lab.pace.snapshot().gates[0].belief.refusals, 1);
}
