//! Waits so long that arithmetic on them wraps: a reason to give up, never to hurry.

use http::Request;
use paceline::response::LONGEST_SECONDS;
use paceline::{Paceline, Reason};

use crate::lab::{Lab, secs};
use crate::scene::{gaps, lab, says};

/// Around what 32 and 64 bits hold in seconds, milliseconds and nanoseconds, with sign and without.
const NEAR_THE_END: [&str; 16] = [
    "2147484",
    "4294968",
    "2147483648",
    "4294967296",
    "9223372036",
    "9223372037",
    "18446744073",
    "18446744074",
    "9223372036854775",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "9999999999999999999999999999999999999999999999999999",
    "18446744073709551615.999999999",
];

/// The same in other words.
const ELSEWHERE: [(&str, &str); 7] = [
    ("retry-after", "9223372037s"),
    ("retry-after", "5124095576030431h15m"),
    ("retry-after", "213503982334601d"),
    ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ("retry-after-ms", "9223372036854775807"),
    ("x-ratelimit-reset-after", "18446744073709551615"),
    ("x-ratelimit-reset", "9223372036854775807"),
];

/// hashicorp/go-retryablehttp#297, hashicorp/go-retryablehttp#144
#[tokio::test(start_paused = true)]
async fn a_wait_too_long_for_the_arithmetic_is_not_a_burst() {
    let near = NEAR_THE_END.map(|value| ("retry-after", value));
    for field in near.into_iter().chain(ELSEWHERE) {
        let server = says(1000, 429, &[field]);
        let lab = Lab::routed(Paceline::new(), server);
        let get = || lab.get("http://api.test/");
        let first = get().await;
        assert_eq!(first.status.unwrap(), 429, "{field:?}");
        assert_eq!((first.took, lab.sent()), (secs(0.0), 1), "{field:?}");
        assert_eq!(first.outcome.stopped, Some(Reason::Deadline), "{field:?}");
        // As long as it asked, or as long as anybody may ask.
        let named = first.outcome.asked.unwrap_or_default();
        let until = first.outcome.next_allowed.unwrap().0;
        let seconds = field.1.parse().unwrap_or(f64::MAX);
        let least = secs(seconds.min(LONGEST_SECONDS as f64));
        assert!(named.max(until) >= least.min(secs(2e6)), "{field:?}");
        assert!(until >= least.min(secs(2e6)), "{field:?}: {until:?}");
        if field.0 == "retry-after" {
            assert!(named >= least.min(until), "{field:?}: {named:?}");
        }
        // Whoever comes later in the same hour is not sent at all.
        for _ in 0..60 {
            assert_eq!(get().await.took, secs(0.0), "{field:?}");
            tokio::time::advance(secs(60.0)).await;
        }
        assert_eq!(lab.sent(), 1, "{field:?}");
    }
}

/// hashicorp/go-retryablehttp#297
#[tokio::test(start_paused = true)]
async fn not_even_a_caller_with_all_the_time_in_the_world_is_sent_at_once() {
    for value in NEAR_THE_END {
        let lab = lab(says(1000, 429, &[("retry-after", value)]));
        let asking = tokio::spawn({
            let lab = lab.clone();
            async move { lab.get("/").await }
        });
        tokio::time::sleep(secs(20.0 * 86_400.0)).await;
        assert_eq!(lab.sent(), 1, "{value}");
        asking.abort();
    }
}

/// The crate reqwest-retry-after 0.2.1
#[tokio::test(start_paused = true)]
async fn the_longest_number_does_not_panic_whatever_its_status() {
    for value in NEAR_THE_END {
        let fields = [
            ("retry-after", value),
            ("retry-after-ms", value),
            ("x-ratelimit-limit", value),
            ("x-ratelimit-remaining", value),
            ("x-ratelimit-reset", value),
            ("x-ratelimit-reset-after", value),
            ("age", value),
        ];
        for status in [200, 202, 301, 403, 404, 418, 429, 500, 503, 529] {
            let lab = lab(says(3, status, &fields));
            for path in ["/a", "/b", "/c"] {
                lab.get_within(path, secs(1.0)).await;
            }
            lab.pace.snapshot();
        }
    }
}

/// The crate reqwest-retry-after 0.2.1
#[tokio::test(start_paused = true)]
async fn a_pause_is_not_kept_for_the_byte_identical_url_alone() {
    for (method, second) in [
        ("GET", "http://api.test/x?q=2"),
        ("GET", "http://api.test/x"),
        ("GET", "http://api.test/"),
        ("GET", "http://api.test:80/y"),
        ("GET", "http://API.test/x?q=1"),
        ("DELETE", "http://api.test/x?q=1"),
    ] {
        let server = says(1, 429, &[("retry-after", "1")]);
        let lab = Lab::routed(Paceline::new(), server);
        let first = tokio::spawn({
            let lab = lab.clone();
            async move { lab.get("http://api.test/x?q=1").await }
        });
        tokio::task::yield_now().await;
        assert_eq!(lab.sent(), 1);
        let request = Request::builder().method(method).uri(second);
        let report = lab.send(request.body(()).unwrap()).await;
        assert!(report.ok() && first.await.unwrap().ok(), "{second}");
        let held = secs(1.0)..secs(1.1);
        assert!(held.contains(&report.took), "{second}: {:?}", report.took);
        assert!(held.contains(&gaps(&lab)[0]), "{second}: {:?}", gaps(&lab));
    }
}

/// The crate reqwest-retry-after 0.2.1
#[tokio::test(start_paused = true)]
async fn what_is_kept_does_not_grow_with_the_urls_that_are_asked() {
    let lab = Lab::routed(Paceline::new(), says(1, 200, &[]));
    for number in 0..20_000 {
        let url = format!("http://api.test/{number}?page={number}");
        assert!(lab.get(&url).await.ok());
    }
    assert_eq!(lab.pace.snapshots().len(), 1);
}
