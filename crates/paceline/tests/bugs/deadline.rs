//! Waits that a caller cannot see the end of, or that eat what was meant for the work.

use std::convert::Infallible;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::Empty;
use paceline::testing::{LimitedService, ServerSpec};
use paceline::tower::{Error, PacelineLayer};
use paceline::upstream::Upstream;
use paceline::{Pace, Paceline, Reason, RequestOptions};
use tokio::time::Instant;
use tower::{Layer, ServiceExt};

use crate::lab::{Lab, secs, unconfigured};
use crate::loopback::{self, say};
use crate::scene::{lab, over_http, says, serves_then_says};

/// spotipy-dev/spotipy#913, spotipy-dev/spotipy#1224, netdata/netdata#5078, urllib3/urllib3#3521,
/// integrations/terraform-provider-github#1153
#[tokio::test(start_paused = true)]
async fn a_day_long_hint_is_not_slept_through_in_silence() {
    for status in [403, 429, 503] {
        for field in [
            ("retry-after", "86400"),
            ("retry-after", "24h"),
            ("retry-after-ms", "86400000"),
        ] {
            for server in [says, serves_then_says] {
                let lab = lab(server(1000, status, &[field]));
                let mut report = lab.get_within("/", secs(5.0)).await;
                if report.ok() {
                    report = lab.get_within("/", secs(5.0)).await;
                }
                let case = format!("{status} {field:?}: {report:?}");
                assert_eq!(report.status.unwrap(), status, "{case}");
                assert_eq!(report.took, secs(0.0), "{case}");
                assert_eq!(report.outcome.asked, Some(secs(86_400.0)), "{case}");
                assert_eq!(report.outcome.stopped, Some(Reason::Deadline), "{case}");
                assert_eq!(lab.refused(), 1, "{case}");
            }
        }
    }
    let lab = lab(says(1000, 429, &[("retry-after", "86400")]));
    lab.get_within("/", secs(5.0)).await;
    // Whoever comes later learns at once what stands in the way.
    let message = lab.get_within("/", secs(5.0)).await.error.unwrap();
    assert!(
        message.contains("the upstream asked for 86400 s"),
        "{message}"
    );
}

/// spotipy-dev/spotipy#913, netdata/netdata#5078
#[tokio::test]
async fn a_timeout_of_the_request_is_not_outslept_by_the_transport() {
    let refusal = say(429).header("retry-after", 86_400);
    let upstream = loopback::Upstream::start([refusal.clone(), refusal]).await;
    let client = over_http(Pace::builder("api").build());
    let began = std::time::Instant::now();
    let request = client.get(upstream.url("/")).timeout(secs(5.0));
    let response = request.send().await.unwrap();
    let outcome = paceline::reqwest::outcome(&Ok(response)).cloned().unwrap();
    assert!(began.elapsed() < secs(4.0), "{:?}", began.elapsed());
    assert_eq!(outcome.status, Some(429));
    assert_eq!(outcome.asked, Some(secs(86_400.0)));
    assert_eq!(upstream.asked().len(), 1);
}

/// palantir/dialogue#2926, topoteretes/cognee-rs#177, mjpieters/aiolimiter#176, boto/botocore#3179
#[tokio::test(start_paused = true)]
async fn callers_are_not_stuck_in_the_line_past_their_deadline() {
    let pace = unconfigured().limit("1/s".parse().unwrap());
    let lab = Lab::new(pace, ServerSpec::open());
    for _ in 0..3 {
        let run = lab.burst(100, secs(2.0)).await;
        // At 0, 1 and 2 s; the earliest slot of everybody else is known to be too late.
        assert_eq!((100 - run.failed(), run.elapsed), (3, secs(2.0)));
        for report in run.reports.iter().filter(|report| !report.ok()) {
            assert_eq!(report.took, secs(0.0), "{report:?}");
            assert_eq!(report.outcome.stopped, Some(Reason::Deadline));
        }
        // Permits are intact: those that failed took none along.
        assert_eq!(lab.pace.snapshot().waiting, 0);
        tokio::time::sleep(secs(1.0)).await;
    }
    assert_eq!(lab.sent(), 9);
    let last = lab.get("/").await;
    assert_eq!((last.ok(), last.took), (true, secs(0.0)));
}

/// palantir/dialogue#2926
#[tokio::test(start_paused = true)]
async fn callers_are_not_stuck_behind_a_slot_that_nobody_gives_back() {
    let pace = unconfigured().limit("1 in flight".parse().unwrap());
    let server = LimitedService::new(ServerSpec::open()).unwrap();
    let lab = Lab::with(pace, server.latency(secs(3600.0)));
    let first = tokio::spawn({
        let lab = lab.clone();
        async move { lab.get("/").await }
    });
    tokio::task::yield_now().await;
    let run = lab.burst(100, secs(2.0)).await;
    assert_eq!((run.failed(), run.elapsed, lab.sent()), (100, secs(2.0), 1));
    assert!(first.await.unwrap().ok());
    assert_eq!(lab.pace.snapshot().gates[0].limits[0].available, 1);
}

/// One request at a time, a second in line at most.
fn one_at_a_time() -> Paceline {
    let mut upstream = Upstream::default();
    upstream.hosts = vec!["api.test".parse().unwrap()];
    upstream.limits = vec!["1 in flight".parse().unwrap()];
    upstream.queue.wait = Some(secs(1.0));
    Paceline::builder().upstream("api", upstream).build()
}

/// diegosouzapw/OmniRoute#9164, basecamp/basecamp-cli#766, basecamp/basecamp-cli#712
#[tokio::test(start_paused = true)]
async fn the_time_in_line_is_not_the_time_for_the_work_nor_its_end_the_upstreams_fault() {
    let server = LimitedService::new(ServerSpec::open()).unwrap();
    let lab = Lab::routed(one_at_a_time(), server.latency(secs(3.0)));
    let first = tokio::spawn({
        let lab = lab.clone();
        async move { lab.get("http://api.test/").await }
    });
    tokio::task::yield_now().await;
    for round in 1..=2 {
        // Twenty times in a row, so that a circuit that counted them would open.
        let queued = (0..20).map(|_| {
            let request = Request::get("http://api.test/").body(()).unwrap();
            tokio::spawn(lab.client.clone().oneshot(request))
        });
        for report in queued.collect::<Vec<_>>() {
            match report.await.unwrap() {
                Err(Error::Stopped(stopped)) => {
                    assert_eq!(stopped.reason, Reason::Deadline);
                    assert_eq!(stopped.waiting_for, Some(Reason::InFlight));
                    assert_eq!(stopped.outcome.waited, secs(1.0));
                }
                other => panic!("a local error was due: {other:?}"),
            }
        }
        assert_eq!(
            (lab.sent(), lab.server.stats().in_flight),
            (1, 1),
            "{round}"
        );
    }
    let first = first.await.unwrap();
    assert_eq!((first.ok(), first.took), (true, secs(3.0)));
    let (_, snapshot) = lab.pace.snapshots().remove(0);
    assert_eq!((snapshot.gates[0].circuit, snapshot.waiting), ("closed", 0));
    tokio::time::sleep(secs(10.0)).await;
    assert_eq!(lab.sent(), 1, "what was given up is never sent");
    assert!(lab.get("http://api.test/").await.ok());
}

/// aio-libs/aiobotocore#912
#[tokio::test(start_paused = true)]
async fn a_limited_task_does_not_freeze_the_others() {
    let lab = lab(says(1, 429, &[("retry-after", "5")]));
    let ticks = async {
        let mut ticks = 0;
        let began = Instant::now();
        while began.elapsed() < secs(5.0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
            ticks += 1;
        }
        ticks
    };
    // Both in one task on one thread.
    let (limited, ticks) = tokio::join!(lab.get("/"), ticks);
    assert_eq!((limited.ok(), ticks), (true, 500));
    assert!(limited.took >= secs(5.0));
}

/// aio-libs/aiobotocore#912
#[tokio::test(start_paused = true)]
async fn a_wait_can_be_cancelled_at_any_time() {
    let answers = || async { Ok::<_, Infallible>(Response::new(Empty::<bytes::Bytes>::new())) };
    let pace = unconfigured().limit("1/h".parse().unwrap()).build();
    let server = tower::service_fn(move |_: Request<()>| answers());
    let client = PacelineLayer::new(pace.clone()).layer(server);
    client.clone().oneshot(Request::new(())).await.unwrap();
    let options = RequestOptions::new();
    let request = || {
        Request::get("/")
            .extension(options.clone())
            .body(())
            .unwrap()
    };
    for _ in 0..100 {
        let asking = client.clone().oneshot(request());
        let began = Instant::now();
        assert!(tokio::time::timeout(secs(0.3), asking).await.is_err());
        assert_eq!((began.elapsed(), pace.snapshot().waiting), (secs(0.3), 0));
    }
}
