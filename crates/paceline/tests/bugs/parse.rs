//! Hints and counters that are not as the standard writes them: nothing dies of them, and nothing hurries.

use http::StatusCode;
use http_body_util::Full;
use paceline::testing::{LimitedService, Script};
use paceline::{Pace, Reason, RequestOptions};

use crate::lab::secs;
use crate::loopback::{Upstream, say};
use crate::scene::{answer, gaps, keeps, lab, over_http, says};

/// What no reader makes sense of.
const NONSENSE: [&str; 16] = [
    "",
    "soon",
    "1m0",
    "m",
    "1mm",
    "--",
    "0x10",
    "1e",
    "NaN",
    "nan",
    "Infinity",
    "undefined",
    "null",
    "[object Object]",
    "\u{661}\u{660}",
    "Thu, 32 Foo 2025 25:61:61 GMT",
];

/// urllib3/urllib3#1822
#[tokio::test(start_paused = true)]
async fn a_duration_in_retry_after_does_not_kill_the_request() {
    for (hint, asked) in [
        ("1m0s", 60.0),
        ("60s", 60.0),
        ("1m0.5s", 60.5),
        ("1h", 3600.0),
        ("1h0m1s", 3601.0),
        ("90000ms", 90.0),
        ("2.5s", 2.5),
    ] {
        let lab = lab(says(1, 429, &[("retry-after", hint)]));
        let report = lab.get("/").await;
        assert!(report.ok(), "{hint}: {report:?}");
        assert!(keeps(gaps(&lab)[0], asked), "{hint}: {:?}", gaps(&lab));
    }
}

/// urllib3/urllib3#1822
#[tokio::test(start_paused = true)]
async fn a_hint_that_cannot_be_read_is_a_missing_one_and_neither_kills_nor_hurries() {
    let plain = lab(says(3, 429, &[]));
    assert!(plain.get("/").await.ok());
    for hint in NONSENSE {
        for name in ["retry-after", "retry-after-ms", "x-ratelimit-reset"] {
            let lab = lab(says(3, 429, &[(name, hint)]));
            let report = lab.get("/").await;
            assert!(report.ok(), "{name}: {hint:?}: {report:?}");
            assert_eq!(gaps(&lab), gaps(&plain), "{name}: {hint:?}");
        }
    }
    assert!(gaps(&plain).iter().all(|gap| *gap >= secs(0.01)));
}

/// apify/crawlee-python#1995, NousResearch/hermes-agent#84762
#[tokio::test(start_paused = true)]
async fn a_negative_hint_does_not_put_the_end_of_the_pause_into_the_past() {
    for hint in [
        "-5",
        "-1",
        "-0",
        "-0.5",
        "-1m0s",
        "-9223372036854775808",
        "-99999999999999999999",
    ] {
        let lab = lab(says(1, 429, &[("retry-after", hint)]));
        let first = tokio::spawn({
            let lab = lab.clone();
            async move { lab.get("/a").await }
        });
        tokio::task::yield_now().await;
        assert_eq!(lab.sent(), 1, "{hint}");
        // Somebody else asks the same host in the same instant.
        let second = lab.get("/b").await;
        assert!(first.await.unwrap().ok() && second.ok(), "{hint}");
        assert!(gaps(&lab)[0] >= secs(0.01), "{hint}: {:?}", gaps(&lab));
    }
}

/// slackapi/node-slack-sdk#217
#[tokio::test]
async fn the_letter_case_of_a_header_does_not_hide_the_wait() {
    for name in ["retry-after", "Retry-After", "RETRY-AFTER", "rEtRy-aFtEr"] {
        let upstream = Upstream::start([say(429).header(name, 5)]).await;
        let client = over_http(Pace::builder("api").build());
        let request = client
            .get(upstream.url("/"))
            .with_extension(RequestOptions::new().total(secs(4.0)));
        let response = request.send().await.unwrap();
        let outcome = paceline::reqwest::outcome(&Ok(response)).cloned().unwrap();
        assert_eq!(outcome.status, Some(429), "{name}");
        assert_eq!(outcome.asked, Some(secs(5.0)), "{name}");
        assert_eq!(outcome.stopped, Some(Reason::Deadline), "{name}");
        assert_eq!(upstream.asked().len(), 1, "{name}");
    }
}

/// slackapi/node-slack-sdk#217
#[tokio::test(start_paused = true)]
async fn a_lower_case_hint_does_not_become_a_tight_loop() {
    let server = says(1, 429, &[("retry-after", "5")]);
    let lab = lab(server.latency(secs(0.1)));
    let asking = tokio::spawn({
        let lab = lab.clone();
        async move { lab.burst(5, secs(60.0)).await }
    });
    tokio::time::sleep(secs(4.999)).await;
    // All five left before the refusal was known, one of them got it.
    assert_eq!((lab.sent(), lab.refused()), (5, 1));
    assert_eq!(asking.await.unwrap().failed(), 0);
    assert_eq!(lab.sent(), 6);
}

/// praw-dev/prawcore#173, AD-SDL/MADSci#313
#[tokio::test(start_paused = true)]
async fn a_quota_header_does_not_fail_the_call_that_it_came_with() {
    let reset = ("x-ratelimit-reset", "522, 42");
    let joined = lab(says(1, 200, &[("x-ratelimit-remaining", "991, 98"), reset]));
    let two_lines = [
        ("x-ratelimit-remaining", "98"),
        ("x-ratelimit-remaining", "991"),
        reset,
    ];
    for lab in [joined, lab(says(1, 200, &two_lines))] {
        assert_eq!(lab.get("/").await.status, Some(StatusCode::OK));
        let gate = lab.pace.snapshot().gates.remove(0);
        assert_eq!(gate.windows[0].remaining, 98);
        assert_eq!(gate.windows[0].reset.since(lab.pace.now()), secs(522.0));
    }
    for value in NONSENSE {
        let fields = [
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
            "ratelimit",
            "ratelimit-policy",
            "retry-after",
        ];
        let lab = lab(says(1, 200, &fields.map(|name| (name, value))));
        let (first, second) = (lab.get("/").await, lab.get("/").await);
        assert!(first.ok() && second.ok(), "{value:?}");
        assert_eq!(second.outcome.waited, secs(0.0), "{value:?}");
    }
}

/// twilight-rs/twilight#644
#[tokio::test(start_paused = true)]
async fn a_fraction_of_a_second_is_not_cut_off() {
    // The body says it as a float where the header has a whole number.
    let body = r#"{"message":"slow down","retry_after":64.57,"global":false}"#;
    let whole = answer(429, &[("retry-after", "65")]).map(|_| Full::from(body));
    let script = Script::answer(whole).then(200).forever();
    let both = lab(LimitedService::scripted(script));
    assert!(both.get("/").await.ok());
    assert!(keeps(gaps(&both)[0], 65.0), "{:?}", gaps(&both));
    for field in [
        ("retry-after", "64.57"),
        ("retry-after-ms", "64570"),
        ("x-ratelimit-reset-after", "64.57"),
        ("x-ratelimit-reset", "64.57"),
    ] {
        let lab = lab(says(1, 429, &[field]));
        assert!(lab.get("/").await.ok(), "{field:?}");
        assert!(keeps(gaps(&lab)[0], 64.57), "{field:?}: {:?}", gaps(&lab));
    }
}
