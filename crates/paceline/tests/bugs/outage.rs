//! Retries that multiply what is already going wrong.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use paceline::testing::{LimitedService, ServerSpec, Wrap};
use paceline::tower::{Error, Paced, PacelineLayer};
use paceline::{Backoff, Outcome, Pace, PaceBuilder, Reason, RequestOptions, RetryPolicy};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::util::BoxCloneService;
use tower::{Layer, ServiceExt};

use crate::lab::{Lab, Report, secs, unconfigured};
use crate::loopback::{Say, Upstream};
use crate::scene::{answer, builder};

type Transport = BoxCloneService<Request<()>, Response<Empty<Bytes>>, io::Error>;

/// A client above a transport that fails each time after `after`, and how often that was asked.
fn failing(
    pace: &PaceBuilder,
    kind: io::ErrorKind,
    after: Duration,
) -> (Paced<Transport, Pace>, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let transport = tower::service_fn(move |_: Request<()>| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(after).await;
            Err(io::Error::from(kind))
        }
    });
    let transport = BoxCloneService::new(transport);
    (
        PacelineLayer::new(pace.clone().build()).layer(transport),
        asked,
    )
}

/// restic/restic#22048, dust-tt/dust#13462, restic/restic#4018
#[tokio::test(start_paused = true)]
async fn a_stalled_connection_is_not_tried_for_longer_than_the_callers_time() {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, TimedOut};
    for kind in [BrokenPipe, ConnectionRefused, ConnectionReset, TimedOut] {
        for (stall, total, most) in [(2.0, 600.0, 4), (2.0, 5.0, 2), (3600.0, 30.0, 1)] {
            let (client, asked) = failing(&unconfigured(), kind, secs(stall));
            let options = RequestOptions::new().total(secs(total));
            let request = Request::get("/").extension(options).body(()).unwrap();
            let began = Instant::now();
            let error = client.oneshot(request).await.unwrap_err();
            let attempts = error.outcome().attempts;
            assert!(attempts <= most, "{kind:?} {total}: {attempts}");
            assert!(total < 600.0 || attempts == 4, "{kind:?}: {attempts}");
            // What the caller is told is what left.
            assert_eq!(asked.load(Ordering::Relaxed), attempts, "{kind:?}");
            assert!(began.elapsed() <= secs(total + 0.001), "{kind:?}");
        }
    }
}

/// restic/restic#22048
#[tokio::test]
async fn the_retries_of_the_client_below_do_not_multiply_ours() {
    for silent in [false, true] {
        let stall = if silent { Say::Silence } else { Say::HangUp };
        let upstream = Upstream::start(std::iter::repeat_n(stall, 50)).await;
        let insistent = reqwest::retry::for_host("127.0.0.1")
            .no_budget()
            .max_retries_per_request(10)
            .classify_fn(|attempt| attempt.retryable());
        let below = builder().retry(insistent).timeout(secs(0.05));
        let mut policy = RetryPolicy::default();
        policy.backoff = Backoff::REFUSALS;
        let pace = Pace::builder("api").policy(policy).seed(1).build();
        let client = paceline::reqwest::client(below, pace).unwrap();
        let result = client.get(upstream.url("/")).send().await;
        let outcome = paceline::reqwest::outcome(&result).unwrap();
        assert_eq!(outcome.attempts, 4, "{result:?}");
        assert_eq!(outcome.stopped, Some(Reason::Attempts), "{result:?}");
        assert_eq!(upstream.asked().len(), 4, "{result:?}");
    }
}

/// A thousand calls, `apart` from each other, before something that fails every time: how often it is asked.
async fn asked_in_all(client: Paced<Transport, Pace>, apart: Duration) -> u32 {
    let mut set = JoinSet::new();
    for _ in 0..1000 {
        let (client, options) = (client.clone(), RequestOptions::new().total(secs(120.0)));
        let request = Request::get("/").extension(options).body(()).unwrap();
        set.spawn(client.oneshot(request));
        tokio::time::sleep(apart).await;
    }
    let mut attempts = 0;
    while let Some(result) = set.join_next().await {
        attempts += match result.unwrap() {
            Ok(response) => response.extensions().get::<Outcome>().unwrap().attempts,
            Err(Error::Stopped(stopped)) => stopped.outcome.attempts,
            Err(error) => error.outcome().attempts,
        };
    }
    attempts
}

/// awslabs/aws-sdk-rust#1234
#[tokio::test(start_paused = true)]
async fn an_outage_is_not_multiplied_by_the_retries_of_every_call() {
    for status in [500, 502, 503, 504, 529] {
        for served_before in [false, true] {
            for apart in [0.06, 0.0] {
                let from = if served_before { 1.0 } else { 0.0 };
                let outage = Wrap::outage([secs(from)..secs(from + 180.0)]).status(status);
                let spec = ServerSpec::open().wrap(outage);
                let lab = Lab::with(unconfigured(), LimitedService::new(spec).unwrap());
                if served_before {
                    lab.burst(50, secs(1.0)).await;
                    tokio::time::sleep(secs(1.0)).await;
                }
                let before = lab.sent();
                let mut set = JoinSet::new();
                for _ in 0..1000 {
                    let lab = lab.clone();
                    set.spawn(async move { lab.get_within("/", secs(120.0)).await });
                    tokio::time::sleep(secs(apart)).await;
                }
                set.join_all().await;
                let sent = lab.sent() - before;
                assert!(sent <= 1100, "{status} {served_before} {apart}: {sent}");
            }
        }
    }
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, TimedOut};
    for kind in [ConnectionRefused, ConnectionReset, TimedOut] {
        for apart in [0.06, 0.0] {
            let (client, asked) = failing(&unconfigured(), kind, secs(0.01));
            let told = asked_in_all(client, secs(apart)).await;
            let asked = asked.load(Ordering::Relaxed);
            assert_eq!(told, asked, "{kind:?}");
            assert!(asked <= 1100, "{kind:?} {apart}: {asked}");
        }
    }
}

/// awslabs/aws-sdk-rust#1234: where every other call is served, no circuit stands before those that fail.
#[tokio::test(start_paused = true)]
async fn what_always_fails_is_hardly_retried_and_holds_up_nobody_else() {
    let server = LimitedService::new(ServerSpec::open())
        .unwrap()
        .handler(|parts| {
            answer(
                if parts.uri.path() == "/broken" {
                    502
                } else {
                    200
                },
                &[],
            )
        });
    let lab = Lab::with(unconfigured(), server);
    let mut set = JoinSet::new();
    for call in 0..1000 {
        let lab = lab.clone();
        let path = if call % 2 == 0 { "/fine" } else { "/broken" };
        set.spawn(async move { (path, lab.get_within(path, secs(120.0)).await) });
        tokio::time::sleep(secs(0.06)).await;
    }
    let (fine, broken): (Vec<_>, Vec<_>) = set
        .join_all()
        .await
        .into_iter()
        .partition(|(path, _)| *path == "/fine");
    let soon = |(_, own): &&(&str, Report)| {
        own.status.is_some_and(|status| status == 200) && own.took < secs(1.0)
    };
    assert_eq!(fine.iter().filter(soon).count(), 500);
    let unpaid = |(_, own): &&(&str, Report)| own.outcome.stopped == Some(Reason::Budget);
    assert!(broken.iter().filter(unpaid).count() > 400, "{broken:?}");
    // Thirty at first, a fifth of what is served, and one in two seconds.
    let retries = lab.sent() - 1000;
    assert!((100..=165).contains(&retries), "{retries}");
}
