//! Counters that a server reports: what they are not, and what they must not be taken for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use paceline::Reason;
use paceline::testing::{LimitedService, ServerSpec};
use tokio::time::Instant;

use crate::lab::{Lab, Report, secs};
use crate::scene::{answer, keeps, lab, says};

/// openai/openai-dotnet#838
#[tokio::test(start_paused = true)]
async fn a_sentinel_of_minus_one_is_not_an_empty_quota() {
    for [limit, remaining, reset] in [
        [
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
        ],
        [
            "x-ratelimit-limit-requests",
            "x-ratelimit-remaining-requests",
            "x-ratelimit-reset-requests",
        ],
        [
            "x-ratelimit-limit-tokens",
            "x-ratelimit-remaining-tokens",
            "x-ratelimit-reset-tokens",
        ],
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
    ] {
        for end in ["0", "60"] {
            let fields = [(limit, "-1"), (remaining, "-1"), (reset, end)];
            let lab = lab(says(1, 200, &fields));
            assert!(lab.get("/").await.ok());
            let gate = lab.pace.snapshot().gates.remove(0);
            assert_eq!((gate.throttled_until, gate.reason), (None, None), "{limit}");
            assert!(gate.windows.is_empty(), "{limit}: {:?}", gate.windows);
            assert_eq!(lab.get("/").await.took, secs(0.0), "{limit}");
        }
    }
    // Less than nothing of a real limit is overdrawn.
    let fields = [
        ("x-ratelimit-limit", "100"),
        ("x-ratelimit-remaining", "-3"),
        ("x-ratelimit-reset", "60"),
    ];
    let lab = lab(says(1, 200, &fields));
    lab.get("/").await;
    let second = lab.get("/").await;
    assert!(keeps(second.took, 60.0), "{:?}", second.took);
}

/// cli/cli#12812, cli/go-gh#216
#[tokio::test(start_paused = true)]
async fn numbers_that_a_cache_replays_do_not_stop_anybody() {
    let families = [
        &[
            ("x-ratelimit-limit", "60"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "3600"),
        ][..],
        &[("ratelimit-remaining", "0"), ("ratelimit-reset", "3600")],
        &[
            ("ratelimit-policy", "\"hour\";q=60;w=3600"),
            ("ratelimit", "\"hour\";r=0;t=3600"),
        ],
    ];
    for family in families {
        for (age, waits) in [("300", false), ("1", false), ("0", true)] {
            let fields: Vec<_> = family.iter().copied().chain([("age", age)]).collect();
            let lab = lab(says(1, 200, &fields));
            assert!(lab.get("/").await.ok());
            let gate = lab.pace.snapshot().gates.remove(0);
            assert_eq!(gate.windows.len(), usize::from(waits), "{family:?} {age}");
            assert_eq!(gate.throttled_until.is_some(), waits, "{family:?} {age}");
            let second = lab.get("/").await;
            assert!(second.ok(), "{family:?} {age}");
            let kept = match waits {
                true => keeps(second.took, 3600.0),
                false => second.took.is_zero(),
            };
            assert!(kept, "{family:?} {age}: {:?}", second.took);
        }
    }
}

/// airbytehq/airbyte#8690, airbytehq/airbyte#42865, dirge-code/dirge#719
#[tokio::test(start_paused = true)]
async fn a_quota_of_the_day_is_not_slept_and_retried_through() {
    let spent = [
        ("x-ratelimit-limit", "15000"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "32400"),
    ];
    for status in [403, 429] {
        let lab = lab(says(1000, status, &spent));
        let report = lab.get_within("/", secs(120.0)).await;
        assert_eq!((report.took, lab.sent()), (secs(0.0), 1), "{status}");
        assert_eq!(report.outcome.stopped, Some(Reason::Deadline), "{status}");
        let (wait, reason) = report.outcome.next_allowed.unwrap();
        assert!(wait >= secs(32_400.0), "{status}: {wait:?}");
        assert!(matches!(reason, Reason::Window | Reason::Pause), "{reason}");
        // The rest of the job stops there too.
        let rest = lab.burst(50, secs(120.0)).await;
        assert_eq!((rest.elapsed, lab.sent()), (secs(0.0), 1), "{status}");
    }
    // Without a reset or any other word it is a question of permission: asked once.
    let lab = lab(says(1000, 403, &[]));
    let report = lab.get("/").await;
    assert_eq!((report.outcome.attempts, lab.sent()), (1, 1));
    assert_eq!(report.status.unwrap(), 403);
}

/// A window of `limit` requests in `length` that begins with its first request and is reported with every answer. Shares
/// the most requests that a window ever got.
fn from_the_first(limit: u64, length: Duration) -> (LimitedService, Arc<Mutex<u64>>) {
    let most = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&most);
    let window = Mutex::new((None::<Instant>, 0));
    let server = LimitedService::new(ServerSpec::open()).unwrap();
    let server = server.handler(move |_| {
        let mut window = window.lock().unwrap();
        let (began, count) = &mut *window;
        if began.is_none_or(|began| began.elapsed() >= length) {
            (*began, *count) = (Some(Instant::now()), 0);
        }
        *count += 1;
        let mut most = seen.lock().unwrap();
        *most = (*count).max(*most);
        let reset = length - began.unwrap().elapsed();
        let fields = [
            ("x-ratelimit-limit", &*limit.to_string()),
            (
                "x-ratelimit-remaining",
                &limit.saturating_sub(*count).to_string(),
            ),
            ("x-ratelimit-reset-after", &reset.as_secs_f64().to_string()),
        ];
        answer(if *count > limit { 429 } else { 200 }, &fields)
    });
    (server, most)
}

/// twilight-rs/twilight#1348, serenity-rs/serenity#1168
#[tokio::test(start_paused = true)]
async fn a_window_that_began_anew_after_an_idle_time_is_not_counted_from_the_old_one() {
    for idle in [6.0, 4.0, 12.5] {
        let (server, most) = from_the_first(5, secs(5.0));
        let lab = lab(server.latency(secs(0.05)));
        for requests in [5, 20, 20] {
            let run = lab.flat(requests, 1, secs(120.0)).await;
            assert_eq!(run.failed(), 0, "idle {idle}");
            tokio::time::sleep(secs(idle)).await;
        }
        assert_eq!(*most.lock().unwrap(), 5, "idle {idle}");
    }
}

/// okta/terraform-provider-okta#186, okta/terraform-provider-okta#187
#[tokio::test(start_paused = true)]
async fn a_burst_after_the_first_answer_does_not_exceed_what_it_taught() {
    let (server, most) = from_the_first(5, secs(60.0));
    let lab = lab(server.latency(secs(0.05)));
    let burst = |lab: Lab| async move { lab.burst(50, secs(50.0)).await.reports };
    assert!(lab.get("/").await.ok());
    let reports: Vec<Report> = burst(lab.clone()).await;
    assert_eq!(reports.iter().filter(|report| report.ok()).count(), 4);
    assert_eq!((*most.lock().unwrap(), lab.sent()), (5, 5));
    // Many routes may share the one bucket.
    let other =
        Request::get("/other/route").extension(paceline::RequestOptions::new().total(secs(1.0)));
    let report = lab.send(other.body(()).unwrap()).await;
    assert_eq!((report.took, lab.sent()), (secs(0.0), 5));
}
