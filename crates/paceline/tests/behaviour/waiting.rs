//! The line: order, deadlines, cancellation.

use std::time::Duration;

use http::Request;
use paceline::testing::{LimitedService, Script, ServerSpec};
use paceline::{Priority, Reason, RequestOptions};
use tokio::time::Instant;

use crate::lab::{Lab, secs, unconfigured};

fn limited(limit: &str) -> Lab {
    Lab::new(
        unconfigured().limit(limit.parse().expect("a limit")),
        ServerSpec::open(),
    )
}

#[tokio::test(start_paused = true)]
async fn three_tokens_at_two_a_second_with_one_in_the_bucket_are_two_waits_and_one_second() {
    let lab = limited("2/s burst 3");
    lab.burst(2, secs(60.0)).await;
    let run = lab.flat(3, 1, secs(60.0)).await;
    let waits: Vec<_> = run
        .reports
        .iter()
        .map(|report| report.outcome.waited)
        .collect();
    assert_eq!(waits, [secs(0.0), secs(0.5), secs(0.5)]);
    assert_eq!(run.elapsed, secs(1.0));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_waiters_at_a_thousand_a_second_go_in_order_and_take_a_second() {
    let lab = limited("1000/s burst 10");
    lab.burst(10, secs(60.0)).await;
    let began = Instant::now();
    let (order, mut served) = tokio::sync::mpsc::unbounded_channel();
    for number in 0..1000 {
        let (pace, order) = (lab.pace.clone(), order.clone());
        tokio::spawn(async move {
            let mut permit = pace.acquire(&pace.want()).await.expect("admitted");
            permit.sending();
            order.send(number).expect("listened to");
        });
    }
    drop(order);
    let mut seen = Vec::new();
    while let Some(number) = served.recv().await {
        seen.push(number);
    }
    assert!(
        seen.is_sorted() && seen.len() == 1000,
        "first come, first served"
    );
    let elapsed = began.elapsed();
    assert!(
        elapsed >= secs(0.999) && elapsed <= secs(1.01),
        "{elapsed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn behind_a_longer_pause_than_its_deadline_a_request_fails_at_once_and_costs_nothing() {
    let script = Script::status(429)
        .header("retry-after", "30")
        .then(200)
        .forever();
    let pace = unconfigured().limit("1000/d".parse().unwrap());
    let lab = Lab::with(pace, LimitedService::scripted(script));
    lab.get_within("/", secs(1.0)).await;
    let report = lab.get_within("/", secs(1.0)).await;
    assert_eq!((report.took, lab.sent()), (secs(0.0), 1));
    assert_eq!(report.outcome.stopped, Some(Reason::Deadline));
    assert_eq!(lab.pace.snapshot().gates[0].limits[0].available, 999);
}

#[tokio::test(start_paused = true)]
async fn one_a_second_with_a_hundred_waiting_and_two_seconds_each_fails_the_rest_at_once() {
    let lab = limited("1/s");
    let run = lab.burst(100, secs(2.0)).await;
    assert_eq!(100 - run.failed(), 3);
    let failed: Vec<_> = run.reports.iter().filter(|report| !report.ok()).collect();
    assert!(
        failed.iter().all(|report| report.took.is_zero()),
        "{failed:?}"
    );
    assert_eq!(run.elapsed, secs(2.0));
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_wait_sends_nothing_refunds_and_wakes_the_next() {
    let lab = limited("1/s");
    assert!(lab.get("/").await.ok());
    let cancelled = tokio::spawn({
        let lab = lab.clone();
        async move { lab.get("/cancelled").await }
    });
    tokio::time::sleep(secs(0.1)).await;
    let next = tokio::spawn({
        let lab = lab.clone();
        async move { lab.get("/next").await }
    });
    tokio::time::sleep(secs(0.1)).await;
    assert_eq!(lab.pace.snapshot().waiting, 2);
    cancelled.abort();
    assert!(cancelled.await.expect_err("cancelled").is_cancelled());
    assert_eq!(lab.pace.snapshot().waiting, 1);
    let report = next.await.unwrap();
    assert_eq!((report.ok(), report.took, lab.sent()), (true, secs(0.9), 2));
}

#[tokio::test(start_paused = true)]
async fn an_admission_that_nobody_takes_goes_to_the_next() {
    let lab = limited("1 in flight");
    let held = lab.pace.acquire(&lab.pace.want()).await.unwrap();
    let want = lab.pace.want();
    let mut abandoned = Box::pin(lab.pace.acquire(&want));
    assert!(futures_poll(&mut abandoned).await.is_pending());
    let mut next = Box::pin(lab.pace.acquire(&want));
    assert!(futures_poll(&mut next).await.is_pending());
    // Granted to the first, which goes away before it looks.
    drop(held);
    drop(abandoned);
    drop(
        tokio::time::timeout(secs(1.0), next)
            .await
            .expect("woken")
            .unwrap(),
    );
    assert_eq!(lab.pace.snapshot().gates[0].in_flight, 0);
}

async fn futures_poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx)))
        .await
}

#[tokio::test(start_paused = true)]
async fn priority_goes_first_and_background_is_not_starved() {
    let lab = limited("1/s");
    assert!(lab.get("/").await.ok());
    let spawn = |priority: Priority| {
        let lab = lab.clone();
        tokio::spawn(async move {
            let options = RequestOptions::new().priority(priority);
            let request = Request::get("/").extension(options).body(()).unwrap();
            lab.send(request).await;
            Instant::now()
        })
    };
    let background = spawn(Priority::Background);
    tokio::task::yield_now().await;
    let mut normal = Vec::new();
    for _ in 0..120 {
        normal.push(spawn(Priority::Normal));
        tokio::time::sleep(secs(1.0)).await;
    }
    let interactive = spawn(Priority::Interactive).await.unwrap();
    let background = background.await.unwrap();
    let mut after = 0;
    for request in normal {
        after += usize::from(request.await.unwrap() > background);
    }
    assert!(
        background < interactive && after > 50,
        "{after} normal ones went later"
    );
}

#[tokio::test(start_paused = true)]
async fn a_retry_stands_where_its_request_stood_first() {
    let script = Script::status(429).then(200).forever();
    let pace = unconfigured().limit("1/s".parse().unwrap());
    let lab = Lab::with(pace, LimitedService::scripted(script).latency(secs(0.2)));
    let spawn = || {
        let lab = lab.clone();
        tokio::spawn(async move {
            lab.get("/").await;
            Instant::now()
        })
    };
    let began = Instant::now();
    let refused = spawn();
    // Two more get in line before the first one's refusal is known.
    tokio::time::sleep(secs(0.1)).await;
    let (second, third) = (spawn(), spawn());
    let mut ends = Vec::new();
    for request in [refused, second, third] {
        ends.push(request.await.unwrap() - began);
    }
    assert_eq!(ends, [secs(1.2), secs(2.2), secs(3.2)]);
}

#[tokio::test(start_paused = true)]
async fn in_flight_lasts_until_the_body_ends() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    let lab = limited("1 in flight");
    let response = lab.client.clone().oneshot(Request::new(())).await.unwrap();
    assert_eq!(lab.pace.snapshot().gates[0].in_flight, 1);
    let waiting = tokio::spawn({
        let lab = lab.clone();
        async move { lab.get("/").await }
    });
    tokio::time::sleep(secs(5.0)).await;
    assert_eq!((lab.sent(), lab.pace.snapshot().waiting), (1, 1));
    response.into_body().collect().await.unwrap();
    assert!(waiting.await.unwrap().ok());
    assert_eq!(lab.pace.snapshot().gates[0].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_fires_early_changes_nothing_and_does_not_spin() {
    // A third of a second is no whole number of milliseconds, which is what timers keep.
    let lab = limited("3/s burst 1");
    let run = lab.flat(10, 5, secs(60.0)).await;
    assert_eq!(run.failed(), 0);
    let arrivals = lab.server.stats().arrivals;
    let gap = Duration::from_nanos(333_333_333);
    assert!(
        arrivals.windows(2).all(|pair| pair[1] - pair[0] >= gap),
        "{arrivals:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn best_effort_goes_now_or_not_at_all_and_once() {
    let lab = limited("1/s");
    let send = || {
        let options = RequestOptions::new().best_effort();
        lab.send(Request::get("/").extension(options).body(()).unwrap())
    };
    assert!(send().await.ok());
    let second = send().await;
    assert_eq!(
        (second.took, second.outcome.stopped),
        (secs(0.0), Some(Reason::BestEffort))
    );

    let lab = Lab::with(
        unconfigured(),
        LimitedService::scripted(Script::status(503).forever()),
    );
    let options = RequestOptions::new().best_effort();
    let report = lab
        .send(Request::get("/").extension(options).body(()).unwrap())
        .await;
    assert_eq!(
        (report.outcome.attempts, report.outcome.stopped),
        (1, Some(Reason::BestEffort))
    );
}

#[tokio::test(start_paused = true)]
async fn shutting_down_wakes_everybody_with_a_typed_error() {
    let lab = limited("1/d");
    assert!(lab.get("/").await.ok());
    let waiting = tokio::spawn({
        let lab = lab.clone();
        async move { lab.burst(20, secs(1e7)).await }
    });
    tokio::time::sleep(secs(1.0)).await;
    lab.pace.shut_down();
    let run = waiting.await.unwrap();
    assert!(
        run.reports
            .iter()
            .all(|report| report.outcome.stopped == Some(Reason::Shutdown))
    );
    assert_eq!((run.reports.len(), lab.sent()), (20, 1));
}
