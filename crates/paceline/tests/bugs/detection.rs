//! Refusals that no status tells: their dialect reads the body and says so, and everybody keeps the pause.

use std::time::Duration;

use http_body_util::Full;
use paceline::config::Config;
use paceline::response::dialect::Dialect;
use paceline::testing::{LimitedService, Script};
use paceline::{Reason, dialect};

use crate::lab::{Lab, secs, unconfigured};
use crate::scene::{answer, gaps, says};

/// One that is built in.
fn named(name: &str) -> Dialect {
    dialect::named(name).unwrap().dialect.clone()
}

/// Whoever meets a new wording adds it to GitHub's, a line in the configuration.
fn own() -> Dialect {
    let text = r#"
        [dialect.mine]
        also = ["github"]
        [[dialect.mine.when]]
        status = [403]
        at = "body: message"
        contains = ["come back later"]
        class = "rate_limited"
        pause = "90s"
    "#;
    let config = Config::parse(text, "paceline.toml").unwrap();
    config.dialect("mine").unwrap().dialect.clone()
}

/// A client that speaks it, before a server that answers once with these fields and this body, and then serves.
fn lab(dialect: Dialect, status: u16, fields: &[(&'static str, &str)], body: &'static str) -> Lab {
    let refusal = answer(status, fields).map(|_| Full::from(body));
    let script = Script::answer(refusal).then(200).forever();
    let pace = unconfigured().dialect(dialect);
    Lab::with(pace, LimitedService::scripted(script))
}

/// Not before what was asked for, and not much later.
fn keeps(gap: Duration, asked: f64) -> bool {
    (secs(asked)..secs(asked * 1.05 + 0.1)).contains(&gap)
}

/// A status, fields and a body that refuse.
type Refusal = (u16, &'static [(&'static str, &'static str)], &'static str);

const SPENT: &[(&str, &str)] = &[
    ("x-ratelimit-limit", "5000"),
    ("x-ratelimit-remaining", "0"),
    ("x-ratelimit-reset", "1800"),
];

const HEALTHY: &[(&str, &str)] = &[
    ("x-ratelimit-limit", "30"),
    ("x-ratelimit-remaining", "29"),
    ("x-ratelimit-reset", "5"),
];

const TYPED: &str = r#"{"errors":[{"type":"RATE_LIMITED"}]}"#;
const SECONDARY: &str = r#"{"message":"You have exceeded a secondary rate limit."}"#;
const ABUSE: &str = r#"{"message":"You have triggered an abuse detection mechanism."}"#;
const REWORDED: &str = r#"{"message":"Too busy. COME BACK LATER, please."}"#;
const THROTTLED: &str = r#"{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],
    "extensions":{"cost":{"requestedQueryCost":502,"throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":2,
    "restoreRate":50}}}}"#;

/// octokit/plugin-throttling.js#632, gnikyt/Basic-Shopify-API#90, Shopify/cli#5222; octokit/plugin-throttling.js#438,
/// fwouts/prmonitor#1045
#[tokio::test(start_paused = true)]
async fn a_refusal_that_only_the_body_tells_is_not_taken_for_an_answer() {
    let github = || named("github");
    let cases: [(Dialect, Refusal, f64); 8] = [
        (github(), (200, SPENT, TYPED), 1800.0),
        (github(), (200, &[], TYPED), 60.0),
        (named("shopify-graphql"), (200, &[], THROTTLED), 10.0),
        (
            named("slack"),
            (
                200,
                &[("retry-after", "20")],
                r#"{"ok":false,"error":"ratelimited"}"#,
            ),
            20.0,
        ),
        (github(), (403, HEALTHY, SECONDARY), 60.0),
        (github(), (403, &[], ABUSE), 60.0),
        (own(), (403, HEALTHY, SECONDARY), 60.0),
        (own(), (403, HEALTHY, REWORDED), 90.0),
    ];
    for (dialect, (status, fields, body), asked) in cases {
        let lab_of = || lab(dialect.clone(), status, fields, body);
        let lab = lab_of();
        let first = tokio::spawn({
            let lab = lab.clone();
            async move { lab.get_within("/", secs(3600.0)).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(lab.sent(), 1, "{body}");
        // The limiter that everybody else asks knows it, too.
        let behind = lab.get_within("/", secs(3600.0)).await;
        assert!(
            behind.ok() && keeps(behind.took, asked),
            "{body}: {behind:?}"
        );
        let first = first.await.unwrap();
        assert_eq!(
            (first.outcome.attempts, first.outcome.refused),
            (2, 1),
            "{body}"
        );
        assert!(
            first.ok() && keeps(gaps(&lab)[0], asked),
            "{body}: {first:?}"
        );
        // Where the time is shorter, the caller is told so, and how long it would have been.
        let lab = lab_of();
        let short = lab.get_within("/", secs(5.0)).await;
        assert_eq!((short.took, lab.sent()), (secs(0.0), 1), "{body}");
        assert_eq!(short.outcome.stopped, Some(Reason::Deadline), "{body}");
        let (wait, _) = short.outcome.next_allowed.unwrap();
        assert!(keeps(wait, asked), "{body}: {wait:?}");
    }
}

/// octokit/plugin-throttling.js#438
#[tokio::test(start_paused = true)]
async fn a_question_of_permission_is_not_taken_for_a_refusal() {
    let denied = r#"{"message":"Resource not accessible by integration"}"#;
    let dialects = || [Dialect::PLAIN, named("github"), named("slack"), own()];
    for status in [400, 401, 403, 404, 418, 422] {
        for dialect in dialects() {
            let lab = lab(dialect, status, HEALTHY, denied);
            let report = lab.get("/").await;
            assert_eq!((report.outcome.attempts, report.outcome.refused), (1, 0));
            assert_eq!(lab.get("/").await.took, secs(0.0), "{status}");
        }
        let lab = Lab::with(unconfigured(), says(1, status, &[]));
        let report = lab.get("/").await;
        assert_eq!((report.outcome.attempts, report.outcome.refused), (1, 0));
        assert_eq!(lab.get("/").await.took, secs(0.0), "{status}");
    }
    // Words that a dialect does not know are none of a refusal, nor are those of another provider.
    for (dialect, status, body) in [
        (named("github"), 403, REWORDED),
        (named("slack"), 200, TYPED),
        (Dialect::PLAIN, 200, TYPED),
    ] {
        let lab = lab(dialect, status, &[], body);
        assert_eq!(lab.get("/").await.outcome.attempts, 1, "{body}");
    }
}

/// twilight-rs/twilight#644
#[tokio::test(start_paused = true)]
async fn a_number_that_is_whole_in_the_field_may_have_a_fraction_in_the_body() {
    let body = r#"{"message":"You are being rate limited.","retry_after":64.57,"global":false}"#;
    for (field, asked) in [
        // The header rounds up; where both speak, the longer counts.
        (&[("retry-after", "65")][..], 65.0),
        (&[("retry-after", "64")], 64.57),
        (&[], 64.57),
    ] {
        let lab = lab(named("discord"), 429, field, body);
        assert!(lab.get("/").await.ok(), "{field:?}");
        assert!(keeps(gaps(&lab)[0], asked), "{field:?}: {:?}", gaps(&lab));
    }
}
