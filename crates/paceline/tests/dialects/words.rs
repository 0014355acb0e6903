//! What a client does about the words of a provider.

use std::time::Duration;

use futures_util::future::join_all;
use paceline::Reason;

use crate::lab::{Lab, answer};

const SECONDARY: &str = r#"{"message":"You have exceeded a secondary rate limit."}"#;
const HEALTHY: [(&str, &str); 3] = [
    ("x-ratelimit-limit", "30"),
    ("x-ratelimit-remaining", "29"),
    ("x-ratelimit-reset", "5"),
];

/// octokit/plugin-throttling.js#566: the healthy window that a secondary refusal shows is not the one that refused.
#[tokio::test(start_paused = true)]
async fn a_secondary_limit_is_waited_out_for_a_minute_and_then_for_two() {
    let lab = Lab::new("github", |nth, _| match nth {
        0 | 1 => answer(403, &HEALTHY, SECONDARY),
        _ => answer(200, &HEALTHY, "{}"),
    });
    let got = lab.get("/search/code").await;
    assert_eq!((got.status, got.outcome.attempts), (200, 3));
    let arrived = lab.arrived();
    let gaps: Vec<_> = arrived
        .windows(2)
        .map(|two| (two[1] - two[0]) / 1000)
        .collect();
    assert!(
        (60..63).contains(&gaps[0]) && (120..124).contains(&gaps[1]),
        "{gaps:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_of_permission_is_not_asked_again() {
    let lab = Lab::new("github", |_, _| {
        answer(
            403,
            &HEALTHY,
            r#"{"message":"Resource not accessible by integration"}"#,
        )
    });
    let got = lab.get("/repos/a/b").await;
    assert_eq!((got.status, got.outcome.attempts), (403, 1));
    assert_eq!(got.outcome.stopped, None);
}

/// airbytehq/airbyte#8690: a daily quota is no throttle.
#[tokio::test(start_paused = true)]
async fn a_quota_that_is_used_up_ends_at_once_and_says_so() {
    let lab = Lab::new("salesforce", |_, _| {
        let info = [("sforce-limit-info", "api-usage=15000/15000")];
        answer(
            403,
            &info,
            r#"[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"TotalRequests Limit exceeded."}]"#,
        )
    });
    let got = lab.get("/services/data").await;
    assert_eq!((got.status, got.outcome.attempts), (403, 1));
    assert_eq!(got.outcome.stopped, Some(Reason::Quota));
    // Whoever comes next is told so, rather than sent to find out for itself.
    let next = lab
        .get_within("/services/data", Duration::from_secs(20))
        .await;
    assert_eq!((next.status, next.outcome.attempts), (0, 0));
    assert!(next.body.contains("pause"), "{}", next.body);
    assert_eq!(lab.arrived().len(), 1);
}

/// Stripe: contention on one object holds nobody else up.
#[tokio::test(start_paused = true)]
async fn contention_on_one_object_pauses_nobody_else() {
    let lab = Lab::new("stripe", |nth, path| match (nth, path) {
        (0, "/locked") => answer(
            429,
            &[("retry-after", "20")],
            r#"{"error":{"code":"lock_timeout"}}"#,
        ),
        _ => answer(200, &[], "{}"),
    });
    let (locked, free) = tokio::join!(lab.get("/locked"), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        lab.get("/free").await
    });
    assert_eq!((locked.status, free.status), (200, 200));
    let arrived = lab.arrived();
    assert_eq!(arrived[1], 1000, "{arrived:?}");
    assert!(arrived[2] >= 20_050, "{arrived:?}");
}

/// Twilio: fewer at once help, slower does not.
#[tokio::test(start_paused = true)]
async fn too_many_at_once_are_fewer_at_once_and_no_slower() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    let at_once = Arc::new(AtomicU64::new(0));
    let refused = Arc::new(AtomicU64::new(0));
    let counts = (Arc::clone(&at_once), Arc::clone(&refused));
    // The script runs at the end of the latency: who is under way is what has arrived and was not answered.
    let lab = Lab::new("twilio", move |nth, _| {
        let (answered, refused) = (&counts.0, &counts.1);
        let under_way = nth as u64 + 1 - answered.fetch_add(1, Ordering::Relaxed);
        if under_way > 4 {
            refused.fetch_add(1, Ordering::Relaxed);
            return answer(429, &[("twilio-concurrent-requests", "5")], "{}");
        }
        answer(200, &[], "{}")
    });
    let all = join_all((0..100).map(|_| lab.get("/Calls"))).await;
    let statuses: Vec<_> = all.iter().map(|got| got.status).collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert!(refused.load(Ordering::Relaxed) < 140, "{refused:?}");
    let last = *lab.arrived().last().expect("arrivals");
    // A hundred at four at once and 50 ms each take 1.25 s.
    assert!(last < 4_000, "{last} ms");
}

/// Stack Exchange: whoever is served is told to come back later, and is banned otherwise.
#[tokio::test(start_paused = true)]
async fn a_backoff_on_a_success_is_kept_to() {
    let lab = Lab::new("stackexchange", |nth, _| match nth {
        1 => answer(200, &[], r#"{"items":[],"backoff":10}"#),
        _ => answer(200, &[], r#"{"items":[]}"#),
    });
    lab.get("/2.3/answers").await;
    // Where nothing holds anybody back, the clock is looked at as seldom as possible.
    tokio::time::sleep(Duration::from_mins(1)).await;
    lab.get("/2.3/answers").await;
    lab.get("/2.3/answers").await;
    let arrived = lab.arrived();
    let gap = arrived[2] - arrived[1];
    // The latency, what was asked for, and a little after it.
    assert!((10_050..10_400).contains(&gap), "{arrived:?}");
}

/// okta/terraform-provider-okta#186: parallel first requests find a limit by exhausting it.
#[tokio::test(start_paused = true)]
async fn a_cold_start_is_as_narrow_as_the_dialect_says() {
    let lab = Lab::new("okta", |nth, _| {
        let left = 4_usize.saturating_sub(nth).to_string();
        let fields = [
            ("x-rate-limit-limit", "5"),
            ("x-rate-limit-remaining", left.as_str()),
            ("x-rate-limit-reset", "60"),
        ];
        answer(if nth < 5 { 200 } else { 429 }, &fields, "{}")
    });
    let in_time = Duration::from_secs(50);
    let all = join_all((0..50).map(|_| lab.get_within("/api/v1/users", in_time))).await;
    let served = all.iter().filter(|got| got.status == 200).count();
    assert_eq!((served, lab.arrived().len()), (5, 5));
}
