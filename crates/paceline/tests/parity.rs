//! Does virtual time tell the truth? The same server models answer over loopback HTTP, and the real client
//! needs what the simulated one needs.
//!
//! Latencies are 50 ms and more, beside which a timer's millisecond is small. What the machine itself adds to a trip is
//! measured beside each run, and the simulated network has it too. A machine that is busy with other things is late now and
//! then, a simulator that lies is so each time: the best of three tries counts. One during which trips were spread further
//! than timers are off says less than that, and is made again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paceline::Pace;
use paceline::reqwest::client;
use paceline::testing::{LimitedServer, LimitedService, RetryAfter, ServerSpec, Wrap};
use paceline_sim::policy::Paceline;
use paceline_sim::{Scenario, Shape, run};
use tokio::task::JoinSet;

/// What both worlds are compared by.
#[derive(Clone, Copy, Debug)]
struct Seen {
    elapsed: Duration,
    refused: u64,
    failed: u64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn virtual_and_real_time_agree() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bucket = ServerSpec::token_bucket;
    let second = Duration::from_secs(1);
    let fixed = ServerSpec::fixed_window(20, 2 * second, Duration::ZERO);
    let log = ServerSpec::sliding_log(25, 2 * second);
    let once = ServerSpec::open().wrap(Wrap::nth([5]).retry_after(RetryAfter::Ceil));
    let down = Wrap::outage([second..2 * second]);
    let all = [
        flat("bucket", 80, 10, 100, bucket(20.0, 5)),
        flat(
            "exact hints",
            60,
            10,
            60,
            bucket(15.0, 15).retry_after(RetryAfter::Float),
        ),
        flat(
            "no hint",
            60,
            8,
            50,
            bucket(10.0, 10).retry_after(RetryAfter::Zero),
        ),
        flat(
            "fixed window",
            60,
            10,
            80,
            fixed.retry_after(RetryAfter::Ceil),
        ),
        flat(
            "sliding log",
            75,
            10,
            80,
            log.retry_after(RetryAfter::Float),
        ),
        flat("slots", 80, 8, 200, ServerSpec::concurrency(4)),
        flat("refused once", 100, 5, 150, once),
        flat("outage", 60, 5, 120, ServerSpec::open().wrap(down)),
    ];
    let mut tries = JoinSet::new();
    for scenario in all {
        tries.spawn(differs(scenario));
    }
    let apart: Vec<String> = tries.join_all().await.into_iter().flatten().collect();
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}

/// What differs, if anything does.
async fn differs(scenario: Scenario) -> Option<String> {
    let (mut tries, mut calm) = (Vec::new(), 0);
    while calm < TRIES && tries.len() < MOST_TRIES {
        let over = Arc::new(AtomicBool::new(false));
        let beside = tokio::spawn(trips(scenario.latency, over.clone()));
        let real = play(&scenario).await;
        over.store(true, Ordering::Relaxed);
        let trip = beside.await.unwrap();
        let simulated = simulate(&scenario, &trip);
        if is_near(&simulated, real) {
            return None;
        }
        calm += usize::from(trip.spread <= TIMERS);
        tries.push(format!(
            "{real:?} ({trip:?}, simulated {})",
            range(&simulated)
        ));
    }
    Some(format!("{}: {}", scenario.name, tries.join("; ")))
}

fn range(simulated: &[Seen]) -> String {
    let elapsed = || simulated.iter().map(|seen| seen.elapsed);
    let refused = || simulated.iter().map(|seen| seen.refused);
    let (quickest, slowest) = (elapsed().min().unwrap(), elapsed().max().unwrap());
    let (fewest, most) = (refused().min().unwrap(), refused().max().unwrap());
    format!("{quickest:?} to {slowest:?}, {fewest} to {most} refused")
}

/// Time within 5%, refusals within a few, of one of the simulated runs or of what lies between them.
///
/// No scenario has a fast limit that speaks in whole seconds: there one refusal more or less, which a
/// millisecond decides, is a second.
fn is_near(simulated: &[Seen], real: Seen) -> bool {
    let lies = |value: f64, of: fn(&Seen) -> f64, slack: fn(f64) -> f64| {
        let values = || simulated.iter().map(of);
        let (least, most) = (
            values().fold(f64::MAX, f64::min),
            values().fold(0.0, f64::max),
        );
        (least - slack(least)..=most + slack(most)).contains(&value)
    };
    let elapsed = real.elapsed.as_secs_f64();
    lies(
        elapsed,
        |seen| seen.elapsed.as_secs_f64(),
        |seconds| 0.05 * seconds,
    ) && lies(real.refused as f64, |seen| seen.refused as f64, |_| 4.0)
        && lies(real.failed as f64, |seen| seen.failed as f64, |_| 0.0)
}

/// What a request takes to a server without a limit and back.
#[derive(Clone, Copy, Debug)]
struct Trip {
    median: Duration,
    /// Nine of ten are so much from it or less.
    spread: Duration,
}

/// Many runs with what the machine adds to each trip and by which real timers are off: exact ties, which virtual time is
/// full of, do not happen out there, and whose answer is first decides which delay the client draws.
fn simulate(scenario: &Scenario, trip: &Trip) -> Vec<Seen> {
    let scenario = Scenario {
        latency: trip.median,
        jitter: trip.spread.max(TIMERS),
        ..scenario.clone()
    };
    let seen = |dice| {
        let figures = run(&scenario, &mut Paceline::new(&scenario, dice), dice).unwrap();
        Seen {
            elapsed: figures.elapsed,
            refused: figures.refused,
            failed: figures.failed,
        }
    };
    (1..=RUNS).map(seen).collect()
}

/// One request after the other until all is over.
async fn trips(latency: Duration, over: Arc<AtomicBool>) -> Trip {
    let service = LimitedService::new(ServerSpec::open()).unwrap();
    let server = LimitedServer::serve(service.latency(latency))
        .await
        .unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut trips = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let left = Instant::now();
        client.get(server.url("/")).send().await.unwrap();
        trips.push(left.elapsed());
    }
    trips.sort();
    let median = trips[trips.len() / 2];
    let mut off: Vec<Duration> = trips.iter().map(|trip| trip.abs_diff(median)).collect();
    off.sort();
    Trip {
        median,
        spread: off[off.len() * 9 / 10],
    }
}

async fn play(scenario: &Scenario) -> Seen {
    let pace = Pace::builder("api").seed(SEED).build();
    let client = client(reqwest::Client::builder().no_proxy(), pace).unwrap();
    let service = LimitedService::new(scenario.server.clone()).unwrap();
    let server = LimitedServer::serve(service.latency(scenario.latency))
        .await
        .unwrap();
    let next = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..scenario.workers {
        let (client, next, url) = (client.clone(), next.clone(), server.url("/"));
        let requests = scenario.requests;
        workers.spawn(async move {
            let mut failed = 0;
            loop {
                let request = next.fetch_add(1, Ordering::Relaxed);
                if request >= requests {
                    return failed;
                }
                let number = ("x-request-number", request.to_string());
                let answer = client.get(&url).header(number.0, number.1).send().await;
                failed += u64::from(!answer.is_ok_and(|answer| answer.status().is_success()));
            }
        });
    }
    let failed = workers.join_all().await.into_iter().sum();
    Seen {
        elapsed: began.elapsed(),
        refused: server.stats().refused,
        failed,
    }
}

fn flat(name: &str, requests: u64, workers: u64, latency: u64, server: ServerSpec) -> Scenario {
    let latency = Duration::from_millis(latency);
    Scenario::new(name, Shape::Flat, requests, workers, latency, server)
}

const SEED: u64 = 1;
const TRIES: usize = 3;
const MOST_TRIES: usize = 8;
const RUNS: u64 = 200;
/// Tokio's are rounded up to a millisecond, on both ways.
const TIMERS: Duration = Duration::from_millis(2);
