//! Refusals that no status tells: whoever can read the body says so, and everybody keeps the pause.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use paceline::testing::{LimitedService, Script};
use paceline::{Call, Next, Observation, Outcome, Pace, Reason, Verdict, response};
use tower::ServiceExt;

use crate::lab::{Lab, secs, unconfigured};
use crate::scene::{answer, keeps, says};

/// Whether this body is a refusal, and for how long.
type Classifier = fn(u16, &str) -> Option<Duration>;

/// A client of one's own, that looks at bodies before it settles.
async fn send(pace: &Pace, server: &LimitedService, reads: Classifier, total: f64) -> Outcome {
    let mut call = Call::new(pace, pace.want()).total(secs(total));
    loop {
        let mut permit = call.acquire().await.unwrap();
        permit.sending();
        let response = server.clone().oneshot(Request::new(())).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let status = parts.status.as_u16();
        let seen = match reads(status, str::from_utf8(&body).unwrap()) {
            Some(wait) => {
                let mut seen = Observation::status(Verdict::RateLimited, status);
                seen.retry_after = Some(wait);
                seen.wait = Some(wait);
                seen
            }
            None => response::read(parts.status, &parts.headers, pace.wall()),
        };
        if let Next::Return(outcome) = call.settle(&mut permit, &seen) {
            return outcome;
        }
    }
}

fn once(status: u16, body: &'static str) -> LimitedService {
    let refusal: Response<Full<Bytes>> = answer(status, &[]).map(|_| Full::from(body));
    LimitedService::scripted(Script::answer(refusal).then(200).forever())
}

fn graphql(_: u16, body: &str) -> Option<Duration> {
    body.contains(r#""type":"RATE_LIMITED""#)
        .then(|| secs(30.0))
}

/// Words as data, several at once: a new wording is a line here.
fn wording(status: u16, body: &str) -> Option<Duration> {
    let words = ["abuse detection", "secondary rate", "temporarily blocked"];
    let spoken = words.iter().any(|word| body.to_lowercase().contains(word));
    (status == 403 && spoken).then(|| secs(60.0))
}

/// octokit/plugin-throttling.js#632, gnikyt/Basic-Shopify-API#90, Shopify/cli#5222; octokit/plugin-throttling.js#438,
/// fwouts/prmonitor#1045
#[tokio::test(start_paused = true)]
async fn a_refusal_that_only_the_body_tells_is_not_taken_for_an_answer() {
    let cases: [(u16, &str, Classifier, f64); 3] = [
        (
            200,
            r#"{"errors":[{"type":"RATE_LIMITED"}]}"#,
            graphql,
            30.0,
        ),
        (
            403,
            "You have exceeded a secondary rate limit.",
            wording,
            60.0,
        ),
        (
            403,
            "Access TEMPORARILY BLOCKED, please wait",
            wording,
            60.0,
        ),
    ];
    for (status, body, reads, asked) in cases {
        let server = once(status, body);
        let pace = unconfigured().build();
        let first = tokio::spawn({
            let (pace, server) = (pace.clone(), server.clone());
            async move { send(&pace, &server, reads, 120.0).await }
        });
        tokio::task::yield_now().await;
        // The limiter that everybody else asks knows it, too.
        let gate = pace.snapshot().gates.remove(0);
        assert_eq!(gate.asked, Some(secs(asked)), "{body}");
        let behind = send(&pace, &server, reads, 120.0).await;
        assert!(behind.waited >= secs(asked), "{body}: {behind:?}");
        let outcome = first.await.unwrap();
        assert_eq!((outcome.attempts, outcome.status), (2, Some(200)), "{body}");
        assert!(keeps(outcome.waited, asked), "{body}: {outcome:?}");
        // Where the time is shorter, the caller is told so.
        let short = send(&unconfigured().build(), &once(status, body), reads, 5.0).await;
        assert_eq!(short.stopped, Some(Reason::Deadline), "{body}");
        assert_eq!(short.asked, Some(secs(asked)), "{body}");
    }
}

/// octokit/plugin-throttling.js#438
#[tokio::test(start_paused = true)]
async fn a_question_of_permission_is_not_taken_for_a_refusal() {
    for status in [400, 401, 403, 404, 418, 422] {
        let lab = Lab::with(unconfigured(), says(1, status, &[]));
        let report = lab.get("/").await;
        assert_eq!((report.outcome.attempts, report.outcome.refused), (1, 0));
        assert_eq!(lab.get("/").await.took, secs(0.0), "{status}");
    }
}
