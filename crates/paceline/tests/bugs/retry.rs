//! Retries that forget what was said about them, or that do the work twice.

use http::Request;
use paceline::{Backoff, Cost, Pace, Paceline, Reason, RequestOptions, RetryPolicy};

use crate::lab::{Lab, secs, unconfigured};
use crate::loopback::{Say, Upstream, say};
use crate::scene::{answer, gaps, over_http, says, serves_then_says};

/// urllib3/urllib3#1607
#[tokio::test(start_paused = true)]
async fn ignoring_the_hint_is_not_forgotten_after_the_first_attempt() {
    let mut policy = RetryPolicy::default();
    policy.ignore_retry_after = true;
    for field in [
        ("retry-after", "86400"),
        ("retry-after", "1h"),
        ("retry-after-ms", "86400000"),
    ] {
        for server in [says, serves_then_says] {
            let pace = unconfigured().policy(policy.clone());
            let lab = Lab::with(pace, server(3, 429, &[field]));
            let run = lab.flat(3, 1, secs(30.0)).await;
            assert_eq!((run.failed(), lab.refused()), (0, 3), "{field:?}");
            let waits: Vec<_> = gaps(&lab)
                .into_iter()
                .filter(|gap| !gap.is_zero())
                .collect();
            assert_eq!(waits.len(), 3, "{field:?}: {waits:?}");
            // It never leads to a retry without a delay.
            let own = secs(0.01)..secs(1.1);
            assert!(
                waits.iter().all(|gap| own.contains(gap)),
                "{field:?}: {waits:?}"
            );
        }
    }
}

/// urllib3/urllib3#1607
#[tokio::test(start_paused = true)]
async fn nothing_that_a_caller_said_is_forgotten_after_the_first_attempt() {
    let mut policy = RetryPolicy::default();
    policy.resend_refused = true;
    let pace = || unconfigured().limit("1000/d".parse().unwrap());
    let refused = || says(3, 429, &[("retry-after", "1")]);
    // A POST that may be sent again after a refusal, each time.
    let lab = Lab::with(pace().policy(policy), refused());
    let report = lab.send(Request::post("/").body(()).unwrap()).await;
    assert_eq!((report.ok(), report.outcome.attempts), (true, 4));
    // What it costs, each time.
    let lab = Lab::with(pace(), refused());
    let options = RequestOptions::new().cost(Cost::requests(7));
    let request = Request::get("/").extension(options).body(()).unwrap();
    assert!(lab.send(request).await.ok());
    assert_eq!(lab.pace.snapshot().gates[0].limits[0].available, 1000 - 28);
    // The time it has, of all attempts together.
    let lab = Lab::with(pace(), refused());
    let report = lab.get_within("/", secs(2.5)).await;
    assert_eq!(report.outcome.attempts, 3);
    assert_eq!(report.outcome.stopped, Some(Reason::Deadline));
    assert!(report.took <= secs(2.5));
    // Its head and its route: the fourth attempt is the same request.
    let server = refused().handler(|head| {
        let same = head.uri == "http://api.test/x?q=1" && head.headers["x-own"] == "kept";
        answer(if same { 200 } else { 404 }, &[])
    });
    let lab = Lab::routed(Paceline::new(), server);
    let request = Request::get("http://api.test/x?q=1").header("x-own", "kept");
    assert!(lab.send(request.body(()).unwrap()).await.ok());
}

/// apify/apify-client-python#990, basecamp/basecamp-sdk#411, anthropics/anthropic-sdk-java#370
#[tokio::test]
async fn a_creation_that_may_have_happened_is_not_sent_again() {
    for (method, key, sends) in [
        ("POST", None, 1),
        ("PATCH", None, 1),
        ("POST", Some("k1"), 2),
        ("PUT", None, 2),
        ("DELETE", None, 2),
        ("GET", None, 2),
    ] {
        for ambiguous in [Say::HangUp, say(502), say(503), say(504)] {
            let upstream = Upstream::start([ambiguous.clone()]).await;
            let mut policy = RetryPolicy::default();
            policy.backoff = Backoff::REFUSALS;
            // A refusal may be resent, which this is not.
            policy.resend_refused = true;
            let pace = Pace::builder("api").policy(policy).build();
            let client = over_http(pace);
            let mut request = client.request(method.parse().unwrap(), upstream.url("/"));
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            let result = request.body("thing").send().await;
            let outcome = paceline::reqwest::outcome(&result).unwrap();
            let case = format!("{method} {key:?} {ambiguous:?}");
            assert_eq!(upstream.asked().len(), sends, "{case}");
            let stopped = (sends == 1).then_some(Reason::NotIdempotent);
            assert_eq!(outcome.stopped, stopped, "{case}");
        }
    }
}

/// apify/apify-client-python#990
#[tokio::test(start_paused = true)]
async fn a_refused_creation_is_not_sent_again_against_the_callers_will() {
    let resend = |yes| {
        let mut policy = RetryPolicy::default();
        policy.resend_refused = yes;
        unconfigured().policy(policy)
    };
    for server in [says, serves_then_says] {
        for (status, opted_in, sends) in [(429, false, 1), (429, true, 2), (503, true, 1)] {
            let lab = Lab::with(resend(opted_in), server(1, status, &[("retry-after", "1")]));
            let post = || lab.send(Request::post("/").body(()).unwrap());
            let mut report = post().await;
            if lab.refused() == 0 {
                report = post().await;
            }
            assert_eq!(report.outcome.attempts, sends, "{status} {opted_in}");
            assert_eq!(report.outcome.asked, Some(secs(1.0)).filter(|_| sends == 1));
        }
    }
}
