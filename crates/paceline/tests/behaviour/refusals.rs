//! Servers that refuse everything, one request, or for a while.

use std::time::Duration;

use http::{Request, StatusCode};
use paceline::testing::{LimitedService, RetryAfter, Script, ServerSpec, Wrap};
use paceline::{Reason, RequestOptions, RetryPolicy};

use crate::lab::{Lab, secs, unconfigured};

#[tokio::test(start_paused = true)]
async fn fifty_requests_to_a_server_that_always_refuses_fail_within_ten_seconds() {
    for hint in [RetryAfter::None, RetryAfter::Zero] {
        let server = LimitedService::new(ServerSpec::always().retry_after(hint)).unwrap();
        let lab = Lab::with(unconfigured(), server.latency(secs(0.02)));
        let run = lab.burst(50, secs(300.0)).await;
        assert_eq!(run.failed(), 50);
        assert!(run.elapsed < secs(10.0), "{:?}", run.elapsed);
        assert!(lab.sent() <= 50 + 6, "{} sent", lab.sent());
        // The first volley could not know better; after it the line is never dumped.
        let arrivals = lab.server.stats().arrivals;
        let later = &arrivals[50..];
        assert!(
            later.windows(2).all(|pair| pair[1] - pair[0] >= secs(0.2)),
            "{later:?}"
        );
        // The refusal that was received comes back, and says why it was not tried again.
        for report in &run.reports {
            assert_eq!(
                report.status,
                Some(StatusCode::TOO_MANY_REQUESTS),
                "{report:?}"
            );
            assert_eq!(report.outcome.stopped, Some(Reason::Circuit), "{report:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_that_requests_fail_at_once_and_one_probe_goes_out_per_growing_gap() {
    let lab = Lab::new(unconfigured(), ServerSpec::always());
    lab.burst(50, secs(300.0)).await;
    let sent = lab.sent();
    let run = lab.burst(100, secs(300.0)).await;
    assert_eq!(
        (run.failed(), run.elapsed, lab.sent() - sent),
        (100, secs(0.0), 0)
    );
    assert!(
        run.reports
            .iter()
            .all(|report| report.outcome.stopped == Some(Reason::Circuit))
    );
}

#[tokio::test(start_paused = true)]
async fn with_a_minutes_retry_after_they_fail_within_four_minutes() {
    let spec = ServerSpec::always().retry_after(RetryAfter::Seconds(60.0));
    let lab = Lab::new(unconfigured(), spec);
    let run = lab.burst(50, secs(240.0)).await;
    assert_eq!(run.failed(), 50);
    assert!(run.elapsed <= secs(240.0), "{:?}", run.elapsed);
    assert!(lab.sent() <= 50 + 6, "{} sent", lab.sent());
}

#[tokio::test(start_paused = true)]
async fn with_less_time_than_the_retry_after_they_fail_at_once_and_say_how_long_it_was() {
    let spec = ServerSpec::always().retry_after(RetryAfter::Seconds(60.0));
    let lab = Lab::new(unconfigured(), spec);
    let first = lab.get_within("/", secs(30.0)).await;
    assert_eq!(
        (first.took, first.status),
        (secs(0.0), Some(StatusCode::TOO_MANY_REQUESTS))
    );
    assert_eq!(first.outcome.asked, Some(secs(60.0)));
    assert_eq!(first.outcome.stopped, Some(Reason::Deadline));
    // Who comes later is not even sent.
    let second = lab.get_within("/", secs(30.0)).await;
    assert_eq!(
        (second.took, second.status, lab.sent()),
        (secs(0.0), None, 1)
    );
    let error = second.error.expect("nothing was received");
    assert!(error.contains("asked for 60 s"), "{error}");
    assert!(
        error.contains("not sent: its time would end before its turn came"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_is_ignored_is_reported_all_the_same_and_never_becomes_a_loop() {
    let mut policy = RetryPolicy::default();
    policy.ignore_retry_after = true;
    let script = Script::status(429)
        .header("retry-after", "3600")
        .times(2)
        .then(200)
        .forever();
    let lab = Lab::with(
        unconfigured().policy(policy.clone()),
        LimitedService::scripted(script),
    );
    assert!(lab.get_within("/", secs(10.0)).await.ok());
    let arrivals = lab.server.stats().arrivals;
    let floor = Duration::from_millis(10);
    assert!(
        arrivals.windows(2).all(|pair| pair[1] - pair[0] >= floor),
        "{arrivals:?}"
    );

    policy.best_effort = true;
    let script = Script::status(429).header("retry-after", "3600").forever();
    let lab = Lab::with(
        unconfigured().policy(policy),
        LimitedService::scripted(script),
    );
    assert_eq!(lab.get("/").await.outcome.asked, Some(secs(3600.0)));
    assert_eq!(lab.pace.snapshot().gates[0].asked, None);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_always_refused_fails_alone() {
    let spec = ServerSpec::open().wrap(Wrap::poison(7));
    let lab = Lab::new(unconfigured(), spec);
    let run = lab.flat(100, 10, secs(300.0)).await;
    assert_eq!(run.failed(), 1);
    assert!(lab.refused() <= 10, "{} refused", lab.refused());
    assert!(run.elapsed < secs(12.0), "{:?}", run.elapsed);
    let stopped = run.reports.iter().find_map(|report| report.outcome.stopped);
    assert_eq!(stopped, Some(Reason::Poisoned));
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_shared_and_a_shorter_one_never_shortens_it() {
    let refuse = |after: u64| {
        http::Response::builder()
            .status(429)
            .header("retry-after", after)
            .body(http_body_util::Full::default())
            .expect("a response")
    };
    let script = Script::answer(refuse(30))
        .then_answer(refuse(2))
        .then(200)
        .forever();
    let lab = Lab::with(
        unconfigured(),
        LimitedService::scripted(script).latency(secs(0.1)),
    );
    let run = lab.burst(2, secs(120.0)).await;
    assert_eq!((run.failed(), lab.sent()), (0, 4));
    let arrivals = lab.server.stats().arrivals;
    // Both were refused at 0.1 s; nobody leaves before 30 s later, nor more than a thirtieth late.
    assert!(
        arrivals[2] >= secs(30.1) && arrivals[2] < secs(31.2),
        "{arrivals:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hint_of_zero_negative_or_past_never_becomes_a_loop() {
    for hint in ["0", "-5", "Wed, 21 Oct 2015 07:28:00 GMT", "", "nonsense"] {
        let script = Script::status(429)
            .header("retry-after", hint)
            .times(4)
            .then(200)
            .forever();
        let lab = Lab::with(unconfigured(), LimitedService::scripted(script));
        let report = lab.get("/").await;
        assert!(report.ok(), "{hint:?}: {report:?}");
        let arrivals = lab.server.stats().arrivals;
        assert!(
            arrivals
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= Duration::from_millis(10)),
            "{hint:?}: {arrivals:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_others_disprove_binds_only_the_refused_request() {
    // The second of ten is refused for an hour; those that left after it are served.
    let spec = ServerSpec::open().wrap(Wrap::nth([2]).retry_after(RetryAfter::Seconds(3600.0)));
    let lab = Lab::with(
        unconfigured(),
        LimitedService::new(spec).unwrap().latency(secs(0.1)),
    );
    let run = lab.burst(10, secs(60.0)).await;
    assert_eq!(run.failed(), 1);
    let alone = run
        .reports
        .iter()
        .find(|report| !report.ok())
        .expect("one failed");
    assert_eq!(alone.outcome.stopped, Some(Reason::Deadline));
    assert_eq!(alone.outcome.asked, Some(secs(3600.0)));
    // The gate is open again for everybody else.
    assert!(lab.get_within("/", secs(5.0)).await.ok());
}

#[tokio::test(start_paused = true)]
async fn throttled_until_is_right_during_and_after_a_pause() {
    let script = Script::status(429)
        .header("retry-after", "30")
        .then(200)
        .forever();
    let lab = Lab::with(unconfigured(), LimitedService::scripted(script));
    let options = RequestOptions::new().total(secs(10.0));
    let request = Request::get("/")
        .extension(options)
        .body(())
        .expect("a request");
    lab.send(request).await;

    let now = lab.pace.now();
    let gate = lab.pace.snapshot().gates.remove(0);
    let until = gate.throttled_until.expect("paused").since(now);
    assert!(until >= secs(30.0) && until <= secs(31.0), "{until:?}");
    assert_eq!(gate.reason, Some(Reason::Pause));
    assert_eq!((gate.since, gate.asked), (Some(now), Some(secs(30.0))));
    assert_eq!(gate.asked_by_status, Some(429));

    tokio::time::advance(until).await;
    assert_eq!(lab.pace.snapshot().gates[0].throttled_until, None);
    assert_eq!(lab.pace.snapshot().gates[0].reason, None);
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_two_seconds_loses_nothing() {
    for status in [429, 503] {
        let outage = Wrap::outage([secs(0.0)..secs(2.0)]).status(status);
        let lab = Lab::new(unconfigured(), ServerSpec::open().wrap(outage));
        let run = lab.flat(500, 10, secs(300.0)).await;
        assert_eq!(run.failed(), 0, "{status}");
        assert!(run.elapsed < secs(5.0), "{status}: {:?}", run.elapsed);
        assert!(lab.refused() <= 22, "{status}: {}", lab.refused());
    }
}
