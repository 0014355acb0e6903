//! Which of the waits that an answer names is the one to wait for, and what to do where there is none.

use std::time::Duration;

use paceline::testing::LimitedService;
use paceline::{Pace, Reason};

use crate::lab::{Lab, secs};
use crate::scene::{gaps, keeps, lab, says, serves_then_says};

/// The longest gap of each place in line among many runs with other dice, before a server that refuses three times.
async fn longest_gaps(server: impl Fn() -> LimitedService) -> [Duration; 3] {
    let mut longest = [Duration::ZERO; 3];
    for seed in 0..64 {
        let lab = Lab::with(Pace::builder("lab").seed(seed), server());
        let report = lab.get_within("/", secs(30.0)).await;
        assert!(report.ok(), "seed {seed}: {report:?}");
        let gaps = gaps(&lab);
        assert_eq!(gaps.len(), 3, "seed {seed}");
        for (longest, gap) in longest.iter_mut().zip(gaps) {
            assert!(gap >= secs(0.01), "seed {seed}: {gap:?}");
            *longest = gap.max(*longest);
        }
    }
    longest
}

/// dlt-hub/dlt#4036, dlt-hub/dlt#4043, praw-dev/prawcore#197
#[tokio::test(start_paused = true)]
async fn a_hint_of_zero_does_not_burn_all_attempts_within_milliseconds() {
    for (status, first) in [(429, 0.25), (503, 1.0)] {
        for field in [
            ("retry-after", "0"),
            ("retry-after", "0.0"),
            ("retry-after", "0s"),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("retry-after-ms", "0"),
            ("x-ratelimit-reset", "0"),
        ] {
            let longest = longest_gaps(|| says(3, status, &[field])).await;
            for (doublings, longest) in (0..).zip(longest) {
                // The whole range is drawn: 64 draws come near its upper end.
                let bound = first * f64::from(1 << doublings);
                let near = secs(bound * 0.85)..secs(bound * 1.1);
                assert!(near.contains(&longest), "{status} {field:?}: {longest:?}");
            }
        }
    }
}

/// huggingface/huggingface_hub#4659
#[tokio::test(start_paused = true)]
async fn the_reset_of_a_healthy_window_is_not_preferred_to_retry_after() {
    for status in [403, 429] {
        for (asked, reset) in [("60", "1800"), ("60", "5"), ("1800", "60")] {
            let fields = [
                ("retry-after", asked),
                ("x-ratelimit-limit", "5000"),
                ("x-ratelimit-remaining", "4950"),
                ("x-ratelimit-reset", reset),
            ];
            let lab = lab(says(1, status, &fields));
            let report = lab.get("/").await;
            assert!(report.ok(), "{status} {asked} {reset}: {report:?}");
            let asked = asked.parse().unwrap();
            assert!(keeps(gaps(&lab)[0], asked), "{reset}: {:?}", gaps(&lab));
        }
    }
}

/// octokit/plugin-throttling.js#566, octokit/plugin-throttling.js#594, google/go-github#2775
#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_wait_for_a_window_that_is_not_used_up() {
    let fields = [
        ("x-ratelimit-limit", "30"),
        ("x-ratelimit-remaining", "29"),
        ("x-ratelimit-reset", "60"),
    ];
    let [with, without] = [says(3, 429, &fields), says(3, 429, &[])].map(lab);
    assert!(with.get("/").await.ok() && without.get("/").await.ok());
    // As soon as without it, and each with its own jitter.
    for (with, without) in gaps(&with).iter().zip(gaps(&without)) {
        let more = without.mul_f64(1.1);
        assert!(*with <= more, "{with:?}, {without:?} without the window");
    }
    assert_eq!(with.sent(), without.sent());
}

fn openai(
    requests: (&'static str, &'static str),
    tokens: (&'static str, &'static str),
) -> [(&'static str, &'static str); 4] {
    [
        ("x-ratelimit-remaining-requests", requests.0),
        ("x-ratelimit-reset-requests", requests.1),
        ("x-ratelimit-remaining-tokens", tokens.0),
        ("x-ratelimit-reset-tokens", tokens.1),
    ]
}

/// vectorize-io/hindsight#3508, anthropics/anthropic-sdk-typescript#357
#[tokio::test(start_paused = true)]
async fn the_budget_that_is_empty_is_not_mistaken_for_the_one_that_resets_sooner() {
    for (requests, tokens, asked) in [
        (("59", "1s"), ("0", "6m0s"), 360.0),
        (("0", "6m0s"), ("59", "1s"), 360.0),
        (("59", "6m0s"), ("0", "1s"), 1.0),
        (("0", "20s"), ("0", "6m0s"), 360.0),
    ] {
        for server in [says, serves_then_says] {
            let lab = lab(server(1, 429, &openai(requests, tokens)));
            while lab.refused() == 0 {
                assert!(lab.get("/").await.ok());
            }
            let last = gaps(&lab).pop().unwrap();
            assert!(keeps(last, asked), "{requests:?} {tokens:?}: {last:?}");
        }
    }
    // Over the caller's bound it fails fast, and says when.
    let lab = lab(says(1, 429, &openai(("59", "1s"), ("0", "6m0s"))));
    let report = lab.get_within("/", secs(5.0)).await;
    assert_eq!((report.took, lab.sent()), (secs(0.0), 1));
    assert_eq!(report.outcome.stopped, Some(Reason::Deadline));
    let (wait, _) = report.outcome.next_allowed.unwrap();
    assert!(keeps(wait, 360.0), "{wait:?}");
}

/// TrueLayer/reqwest-middleware#146
#[tokio::test(start_paused = true)]
async fn whoever_decides_how_long_to_wait_does_not_decide_without_the_answer() {
    for status in [403, 418, 420, 429, 502, 503, 504, 529] {
        for field in [("retry-after", "3"), ("retry-after-ms", "3000")] {
            for server in [says, serves_then_says] {
                let lab = lab(server(2, status, &[field]));
                while lab.refused() < 2 {
                    assert!(lab.get("/").await.ok(), "{status} {field:?}");
                }
                let gaps = gaps(&lab);
                let (_, waits) = gaps.split_at(gaps.len() - 2);
                assert!(
                    waits.iter().all(|gap| keeps(*gap, 3.0)),
                    "{status} {field:?}: {waits:?}"
                );
            }
        }
    }
}
