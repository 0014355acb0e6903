//! The layer above services that are not ready, fail, panic or never answer.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use paceline::testing::{LimitedService, Script};
use paceline::tower::PacelineLayer;
use paceline::{Outcome, Pace, Reason, RequestOptions};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

const FOR_EVER: Duration = Duration::from_secs(3600);

fn pace(limit: &str) -> Pace {
    let pace = Pace::builder("layer")
        .seed(1)
        .limit_text(limit)
        .expect("a limit");
    pace.build()
}

fn within(total: Duration) -> Request<()> {
    let options = RequestOptions::new().total(total);
    Request::get("/")
        .extension(options)
        .body(())
        .expect("a request")
}

fn assert_nothing_is_left(pace: &Pace) {
    let snapshot = pace.snapshot();
    assert_eq!(
        (snapshot.waiting, snapshot.gates[0].in_flight),
        (0, 0),
        "{snapshot:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn slots_below_and_a_pace_above_do_not_wait_for_each_other() {
    let server = LimitedService::scripted(Script::status(503).then(200).forever())
        .latency(Duration::from_secs(2));
    let pace = pace("1 in flight");
    let client = ServiceBuilder::new()
        .layer(PacelineLayer::new(pace.clone()))
        .concurrency_limit(2)
        .service(server);
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let client = client.clone();
        set.spawn(async move {
            let answer = client.oneshot(within(FOR_EVER)).await.expect("an answer");
            answer.status()
        });
    }
    // The first is admitted again while two that came later have the slots and wait for it.
    let answers = tokio::time::timeout(FOR_EVER / 2, set.join_all()).await;
    assert_eq!(answers.expect("stuck"), [StatusCode::OK; 8]);
    assert_nothing_is_left(&pace);
}

/// Answers 503 once, and then is as ready as `again` says.
#[derive(Clone)]
struct Once {
    calls: Arc<AtomicU32>,
    again: fn() -> Poll<Result<(), std::io::Error>>,
}

impl Once {
    fn new(again: fn() -> Poll<Result<(), std::io::Error>>) -> Self {
        let calls = Arc::default();
        Self { calls, again }
    }
}

impl Service<Request<()>> for Once {
    type Response = Response<Full<Bytes>>;
    type Error = std::io::Error;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self.calls.load(Ordering::Relaxed) {
            0 => Poll::Ready(Ok(())),
            _ => (self.again)(),
        }
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut response = Response::new(Full::from("busy"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        ready(Ok(response))
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_fails_before_another_attempt_leaves_the_answer_that_was_received() {
    let pace = pace("10/s");
    let gone = || Poll::Ready(Err(std::io::Error::other("gone")));
    let client = PacelineLayer::new(pace.clone()).layer(Once::new(gone));
    let answer = client.oneshot(within(FOR_EVER)).await.expect("the answer");
    assert_eq!(answer.status(), 503);
    let outcome = answer
        .extensions()
        .get::<Outcome>()
        .expect("an outcome")
        .clone();
    assert_eq!((outcome.attempts, outcome.refused), (1, 1));
    assert_eq!(
        answer
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes(),
        "busy"
    );
    assert_nothing_is_left(&pace);
    assert_eq!(
        pace.snapshot().gates[0].limits[0].available,
        9,
        "what was not sent is not charged"
    );
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_never_ready_again_holds_nothing_and_the_deadline_counts() {
    let pace = pace("10/s");
    let client = PacelineLayer::new(pace.clone()).layer(Once::new(|| Poll::Pending));
    let began = Instant::now();
    let request = client.oneshot(within(Duration::from_secs(20)));
    let request = tokio::spawn(request);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_nothing_is_left(&pace);
    let answer = tokio::time::timeout(FOR_EVER, request)
        .await
        .expect("stuck")
        .expect("no panic");
    assert_eq!(began.elapsed(), Duration::from_secs(20));
    let answer = answer.expect("the answer");
    let outcome = answer.extensions().get::<Outcome>().expect("an outcome");
    assert_eq!(
        (outcome.attempts, outcome.stopped),
        (1, Some(Reason::Deadline))
    );
}

#[derive(Clone)]
struct Panics;

impl Service<Request<()>> for Panics {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        assert!(
            request.uri().path() != "/call",
            "the service panics in call"
        );
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            panic!("the service panics later")
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_panics_holds_nothing() {
    let pace = pace("1 in flight");
    let client = PacelineLayer::new(pace.clone()).layer(Panics);
    for path in ["/call", "/later", "/call"] {
        let request = Request::get(path).body(()).expect("a request");
        let request = tokio::spawn(client.clone().oneshot(request));
        assert!(request.await.expect_err("a panic").is_panic());
        assert_nothing_is_left(&pace);
    }
}

/// A body that never ends.
struct Endless;

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_while_a_refusal_is_kept() {
    let service = tower::service_fn(|_: Request<()>| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut response = Response::new(Endless);
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        Ok::<_, Infallible>(response)
    });
    for seed in 0..20 {
        let pace = Pace::builder("layer").seed(seed).build();
        let client = PacelineLayer::new(pace.clone()).layer(service);
        let began = Instant::now();
        let total = Duration::from_millis(1900);
        match client.oneshot(within(total)).await {
            // There was no time for the delay before another attempt.
            Ok(answer) => assert_eq!(answer.status(), 503),
            Err(error) => assert_eq!(error.outcome().stopped, Some(Reason::Deadline)),
        }
        assert!(began.elapsed() <= total, "{:?}", began.elapsed());
        assert_nothing_is_left(&pace);
    }
}

#[tokio::test(start_paused = true)]
async fn a_future_that_is_dropped_in_any_state_gives_everything_back() {
    let script = Script::status(503).then(503).then(200).forever();
    let server = LimitedService::scripted(script).latency(Duration::from_millis(40));
    for after in (0..4000).step_by(17) {
        let pace = pace("1 in flight");
        let client = PacelineLayer::new(pace.clone()).layer(server.clone());
        let requests = (0..3).map(|_| client.clone().oneshot(within(FOR_EVER)));
        let mut set: tokio::task::JoinSet<_> = requests.collect();
        tokio::time::sleep(Duration::from_millis(after)).await;
        set.shutdown().await;
        assert_nothing_is_left(&pace);
        let next = pace.acquire(&pace.want());
        drop(
            tokio::time::timeout(FOR_EVER, next)
                .await
                .expect("stuck")
                .expect("admitted"),
        );
    }
}
