//! Many who wait for the same thing: all of them go on when it is there, and not all in the same instant.

use http::Request;
use paceline::Paceline;
use paceline::testing::{LimitedService, RetryAfter, ServerSpec, Wrap};
use paceline::upstream::{Route, Upstream};
use tokio::task::JoinHandle;

use crate::lab::{Lab, Report, secs, unconfigured};
use crate::scene::{says, serves_then_says};

const ROUTES: [&str; 5] = ["/a", "/b", "/c", "/d", "/e"];

/// One upstream with a gate for each of five routes, one request at a time each.
fn five_routes() -> Paceline {
    let mut upstream = Upstream::default();
    upstream.hosts = vec!["api.test".parse().unwrap()];
    for path in ROUTES {
        let mut route = Route::new(format!("* {path}").parse().unwrap());
        route.limits = vec!["1 in flight".parse().unwrap()];
        upstream.routes.push(route);
    }
    Paceline::builder().upstream("api", upstream).build()
}

fn ask(lab: &Lab<Paceline>, path: &str) -> JoinHandle<Report> {
    let (lab, url) = (lab.clone(), format!("http://api.test{path}"));
    tokio::spawn(async move { lab.get(&url).await })
}

/// discordjs/discord.js#2801
#[tokio::test(start_paused = true)]
async fn after_a_global_limit_no_queue_hangs() {
    let fields = [("x-ratelimit-global", "true"), ("retry-after", "1")];
    for server in [says, serves_then_says] {
        // Whoever keeps the time for all may be any of them, and may go away.
        for gone in [None, Some(0), Some(1), Some(4)] {
            let lab = Lab::routed(five_routes(), server(1, 429, &fields));
            while lab.refused() == 0 {
                let first = ask(&lab, "/x");
                tokio::task::yield_now().await;
                assert!(lab.refused() == 1 || first.await.unwrap().ok());
            }
            let queued: Vec<_> = ROUTES.iter().map(|path| ask(&lab, path)).collect();
            tokio::time::sleep(secs(0.5)).await;
            if let Some(gone) = gone {
                queued[gone].abort();
            }
            for (number, report) in (0..).zip(queued) {
                let report = report.await;
                assert_eq!(report.is_err(), gone == Some(number));
                if let Ok(report) = report {
                    assert!(report.ok(), "{report:?}");
                    let soon = secs(1.0)..secs(1.1);
                    assert!(soon.contains(&report.took), "{gone:?} {report:?}");
                }
            }
        }
    }
}

/// NousResearch/hermes-agent#109234, superagent-ai/polyresearch#111
#[tokio::test(start_paused = true)]
async fn thirty_who_waited_for_a_pause_do_not_return_in_the_same_instant() {
    let pace = unconfigured().limit("2/s".parse().unwrap());
    let server = says(2, 429, &[("retry-after", "10")]);
    let lab = Lab::with(pace, server.latency(secs(0.1)));
    let run = lab.burst(30, secs(60.0)).await;
    assert_eq!(run.failed(), 0);
    let arrivals = lab.server.stats().arrivals;
    // Two left together before the refusal was known.
    assert_eq!((arrivals.len(), arrivals[1]), (32, secs(0.0)));
    let later = &arrivals[2..];
    let back = secs(10.1)..secs(10.5);
    assert!(back.contains(&later[0]), "{later:?}");
    for (pair, two_later) in later.iter().zip(&later[2..]) {
        assert!(*two_later - *pair >= secs(1.0), "{later:?}");
    }
    assert!(later[29] - later[0] < secs(14.6), "{later:?}");
}

/// NousResearch/hermes-agent#109234, superagent-ai/polyresearch#111
#[tokio::test(start_paused = true)]
async fn thirty_who_were_denied_together_are_not_denied_together_again() {
    for hint in [RetryAfter::None, RetryAfter::Zero, RetryAfter::Ceil] {
        // Nobody told the client of the two a second.
        let stop = Wrap::outage([secs(0.0)..secs(10.0)]).retry_after(RetryAfter::Seconds(10.0));
        let limit = ServerSpec::token_bucket(2.0, 2).retry_after(hint);
        let server = LimitedService::new(limit.wrap(stop)).unwrap();
        let lab = Lab::with(unconfigured(), server.latency(secs(0.1)));
        let run = lab.burst(30, secs(300.0)).await;
        assert_eq!(run.failed(), 0, "{hint:?}");
        let arrivals = lab.server.stats().arrivals;
        // The first volley could not know better.
        let (first, later) = arrivals.split_at(30);
        assert_eq!(first[29], secs(0.0), "{hint:?}");
        assert!(later[0] >= secs(10.0), "{hint:?}: {later:?}");
        let volleys = later
            .windows(4)
            .filter(|four| four[3] - four[0] < secs(0.1));
        assert_eq!(volleys.count(), 0, "{hint:?}: {later:?}");
        // Ten seconds and fourteen for the other 28, and no more of them denied than learning takes.
        assert!(run.elapsed < secs(30.0), "{hint:?}: {:?}", run.elapsed);
        assert!(lab.refused() <= 30 + 30, "{hint:?}: {}", lab.refused());
    }
}

/// Jitter is added after what was asked for, never taken from it, and differs between processes.
#[tokio::test(start_paused = true)]
async fn processes_that_were_told_the_same_wait_do_not_return_in_the_same_instant() {
    let mut returns = Vec::new();
    for seed in 0..30 {
        let pace = paceline::Pace::builder("lab").seed(seed);
        let lab = Lab::with(pace, says(1, 429, &[("retry-after", "10")]));
        let report = lab.send(Request::get("/").body(()).unwrap()).await;
        assert!(report.ok() && report.took >= secs(10.0), "{report:?}");
        returns.push(report.took);
    }
    returns.sort();
    let (first, last) = (returns[0], returns[29]);
    assert!(last - first > secs(0.2) && last < secs(10.4), "{returns:?}");
    returns.dedup();
    assert!(returns.len() > 25, "{returns:?}");
}
