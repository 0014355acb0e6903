//! Paces that something got round, forgot or misread.

use std::convert::Infallible;
use std::time::Duration;

use http::Request;
use paceline::testing::{LimitedService, RetryAfter, ServerSpec, Wrap};
use paceline::tower::PacelineLayer;
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

use crate::lab::{Lab, secs, unconfigured};
use crate::scene::{gaps, says, serves_then_says};

/// kubernetes/kubernetes#34938, rclone/rclone#3199
#[tokio::test(start_paused = true)]
async fn retries_do_not_go_past_the_clients_own_limit() {
    for (limit, most, within) in [
        ("10/s", 10, 1.0),
        ("10/s burst 1", 11, 1.0),
        ("3 in flight", 0, 0.0),
    ] {
        for status in [429, 502, 503, 504] {
            for hint in [RetryAfter::None, RetryAfter::Zero, RetryAfter::Seconds(1.0)] {
                let outage = Wrap::outage([secs(0.5)..secs(10.5)]).status(status);
                let spec = ServerSpec::open().wrap(outage.retry_after(hint));
                let server = LimitedService::new(spec).unwrap().latency(secs(0.1));
                let pace = unconfigured().limit(limit.parse().unwrap());
                let lab = Lab::with(pace, server);
                assert!(lab.get("/").await.ok());
                lab.flat(300, 50, secs(120.0)).await;
                let stats = lab.server.stats();
                let case = format!("{limit} {status} {hint:?}: {stats:?}");
                assert!(stats.refused > 0, "{case}");
                if most == 0 {
                    assert_eq!(stats.max_in_flight, 3, "{case}");
                } else {
                    assert!(stats.most_within(secs(within)) <= most, "{case}");
                }
            }
        }
    }
}

/// rclone/rclone#3118, rclone/rclone#181, rclone/rclone#1351
#[tokio::test(start_paused = true)]
async fn a_denial_does_not_put_the_backoff_in_place_of_the_configured_spacing() {
    for limit in ["1/15s", "4/m burst 1"] {
        for (status, fields) in [
            (403, &[("retry-after", "1")][..]),
            (429, &[]),
            (429, &[("retry-after", "0")]),
            (429, &[("retry-after", "1")]),
            (502, &[]),
            (503, &[("retry-after", "1")]),
        ] {
            for server in [says, serves_then_says] {
                let pace = unconfigured().limit(limit.parse().unwrap());
                let lab = Lab::with(pace, server(2, status, fields));
                let run = lab.flat(4, 2, secs(600.0)).await;
                assert_eq!(run.failed(), 0, "{limit} {status} {fields:?}");
                let gaps = gaps(&lab);
                assert!(
                    gaps.iter().all(|gap| *gap >= secs(15.0)),
                    "{limit} {status} {fields:?}: {gaps:?}"
                );
            }
        }
    }
    // The longest of spacing, backoff and hint counts.
    let pace = unconfigured().limit("1/15s".parse().unwrap());
    let lab = Lab::with(pace, says(1, 429, &[("retry-after", "40")]));
    assert!(lab.get("/").await.ok());
    assert!(gaps(&lab)[0] >= secs(40.0));
}

/// How many requests arrive, and how many of them are refused, in which stretch of time.
struct Stretch {
    arrived: usize,
    refused: usize,
}

/// Twenty callers for two minutes before a server that allows five a second: denials come at once, answers after `slow`.
async fn crawl(slow: Duration, spec: ServerSpec) -> [Stretch; 2] {
    let server = LimitedService::new(spec).unwrap();
    let below = server.clone();
    let service = tower::service_fn(move |request: Request<()>| {
        let mut below = below.clone();
        async move {
            let answer = below.call(request).await?;
            if answer.status().is_success() {
                tokio::time::sleep(slow).await;
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let client = PacelineLayer::new(unconfigured().build()).layer(service);
    let began = Instant::now();
    for _ in 0..20 {
        let client = client.clone();
        tokio::spawn(async move {
            loop {
                client.clone().oneshot(Request::new(())).await.unwrap();
            }
        });
    }
    let mut stretches = Vec::new();
    let mut before = server.stats();
    for end in [60.0, 120.0] {
        tokio::time::sleep_until(began + secs(end)).await;
        let now = server.stats();
        stretches.push(Stretch {
            arrived: (now.received - before.received) as usize,
            refused: (now.refused - before.refused) as usize,
        });
        before = now;
    }
    stretches.try_into().ok().unwrap()
}

/// scrapy/scrapy#4424, scrapy/scrapy#3849, scrapy/scrapy#3061
#[tokio::test(start_paused = true)]
async fn fast_denials_do_not_speed_the_client_up() {
    for slow in [0.05] {
        for hint in [RetryAfter::None, RetryAfter::Zero] {
            let spec = ServerSpec::token_bucket(5.0, 5).retry_after(hint);
            let [first, settled] = crawl(secs(slow), spec).await;
            let case = format!("{slow} {hint:?}: {} {}", settled.arrived, settled.refused);
            // Five a second for a minute is 300.
            assert!((285..=320).contains(&settled.arrived), "{case}");
            assert!(settled.refused * 20 <= settled.arrived, "{case}");
            assert!(first.refused < 60, "{case}: {} at first", first.refused);
        }
    }
}
