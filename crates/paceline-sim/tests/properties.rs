//! Lab protocol: any server of the known kinds, any workload that an oracle gets through with time to
//! spare. What Paceline promises about each of them, whatever it believes.

use core::time::Duration;
use std::collections::BTreeSet;

use paceline_sim::policy::Kind;
use paceline_sim::{Figures, Moment, RetryAfter, Scenario, ServerSpec, Shape, Trace, Wrap, record};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

proptest! {
    #![proptest_config(config())]

    #[test]
    #[ignore = "until the belief learns a limit that answers 503"]
    fn nothing_that_can_be_served_is_lost(case in servable()) {
        let (figures, _) = played(&case.scenario, 1);
        prop_assert_eq!(figures.failed, 0, "{:?}", figures);
    }

    #[test]
    #[ignore = "until the belief wins back a raised limit"]
    fn all_is_done_in_a_few_times_what_an_oracle_needs_and_a_minute(case in servable()) {
        let (figures, _) = played(&case.scenario, 1);
        let most = 4.0 * case.ideal + 60.0;
        let elapsed = figures.elapsed.as_secs_f64();
        prop_assert!(elapsed <= most, "{} for {}", elapsed, case.ideal);
    }

    /// Also of those that cannot be served, which it fails in time.
    #[test]
    fn no_request_waits_longer_than_its_patience(scenario in scenario()) {
        let (figures, _) = played(&scenario, 1);
        // The last send may go out at the last moment, and its answer takes the way back.
        let most = scenario.give_up_after + scenario.latency + scenario.jitter;
        prop_assert!(figures.slowest <= most, "{:?}", figures.slowest);
        prop_assert_eq!(figures.ok + figures.failed, expected(&scenario, &figures));
    }

    #[test]
    #[ignore = "until nobody joins past those whose turn has come but was not yet called"]
    fn first_attempts_leave_in_the_order_in_which_they_came(scenario in scenario()) {
        let (_, trace) = played(&scenario, 1);
        let first = first_sends(&trace);
        prop_assert!(first.is_sorted(), "{:?}", first);
    }

    #[test]
    fn one_seed_gives_one_trace(scenario in scenario(), seed in any::<u64>()) {
        prop_assert_eq!(played(&scenario, seed), played(&scenario, seed));
    }
}

/// The same cases each time: another seed is for those who look for trouble.
fn config() -> Config {
    Config {
        cases: 96,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..Config::default()
    }
}

/// A scenario, and how many seconds an oracle needs for it.
#[derive(Clone, Debug)]
struct Case {
    scenario: Scenario,
    ideal: f64,
}

fn servable() -> impl Strategy<Value = Case> {
    scenario().prop_filter_map("an oracle gets through with time to spare", |scenario| {
        let mut oracle = Kind::Oracle.client(&scenario, 1);
        let (figures, _) = record(&scenario, &mut *oracle, 1).expect("a valid server");
        let spare = figures.slowest * 4 <= scenario.give_up_after;
        let ideal = figures.elapsed.as_secs_f64();
        (figures.failed == 0 && spare).then_some(Case { scenario, ideal })
    })
}

fn played(scenario: &Scenario, seed: u64) -> (Figures, Trace) {
    let mut client = Kind::Paceline.client(scenario, seed);
    record(scenario, &mut *client, seed).expect("a valid server")
}

/// A tree ends with its first failed page.
fn expected(scenario: &Scenario, figures: &Figures) -> u64 {
    match scenario.shape {
        Shape::Tree { .. } if figures.failed > 0 => figures.ok + 1,
        _ => scenario.total(),
    }
}

fn first_sends(trace: &Trace) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let sends = trace.moments.iter().filter_map(|(_, moment)| match moment {
        Moment::Sent { request } => Some(*request),
        _ => None,
    });
    sends.filter(|request| seen.insert(*request)).collect()
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let shape = prop_oneof![
        Just(Shape::Flat),
        Just(Shape::Burst),
        (1_u64..20).prop_map(|fanout| Shape::Tree { fanout }),
    ];
    let network = prop_oneof![
        Just((0, 0)),
        (1_u64..1000).prop_flat_map(|ms| (Just(ms), 0..=ms))
    ];
    (server(), shape, 1_u64..150, 1_u64..30, network).prop_map(
        |(server, shape, requests, workers, (latency, jitter))| Scenario {
            name: "any".to_owned(),
            group: None,
            shape,
            requests,
            workers,
            latency: Duration::from_millis(latency),
            jitter: Duration::from_millis(jitter),
            seeds: 1,
            give_up_after: Duration::from_secs(300),
            server,
            ideal: None,
            target: None,
            independent: None,
            shared_spacing: None,
        },
    )
}

fn server() -> impl Strategy<Value = ServerSpec> {
    (
        limiter(),
        wraps(),
        words(),
        prop_oneof![4 => Just(429), 1 => Just(503)],
    )
        .prop_map(|(limiter, wraps, words, status)| {
            let server = limiter.status(status).retry_after(words);
            wraps.into_iter().fold(server, ServerSpec::wrap)
        })
}

fn limiter() -> impl Strategy<Value = ServerSpec> {
    let single = prop_oneof![
        3 => bucket(),
        2 => (bucket_rate(), 1.0..15.0, 2.0..40.0, bucket_rate()).prop_map(|(rate, from, lasts, other)| {
            let times = [0.0, from, from + lasts].map(Duration::from_secs_f64);
            let rates = times.into_iter().zip([rate, other, rate]);
            ServerSpec::token_bucket_with_rates(rates, 2)
        }),
        2 => window().prop_flat_map(|(limit, window)| {
            (0..window.as_millis() as u64).prop_map(move |phase| {
                ServerSpec::fixed_window(limit, window, Duration::from_millis(phase))
            })
        }),
        2 => window().prop_map(|(limit, window)| ServerSpec::sliding_log(limit, window)),
        1 => window().prop_map(|(limit, window)| {
            ServerSpec::sliding_log_counting_refused(limit, window)
        }),
        2 => (1_u64..20).prop_map(ServerSpec::concurrency),
        1 => Just(ServerSpec::open()),
    ];
    let tiers = (bucket(), window()).prop_map(|(bucket, (limit, window))| {
        ServerSpec::all_of([
            bucket,
            ServerSpec::fixed_window(limit, window, Duration::ZERO),
        ])
    });
    prop_oneof![8 => single, 1 => tiers]
}

fn bucket() -> impl Strategy<Value = ServerSpec> {
    (bucket_rate(), 1_u64..30).prop_map(|(rate, burst)| ServerSpec::token_bucket(rate, burst))
}

/// Log-uniform from 0.3 to 200 a second.
fn bucket_rate() -> impl Strategy<Value = f64> {
    (0.3_f64.ln()..200_f64.ln()).prop_map(f64::exp)
}

fn window() -> impl Strategy<Value = (u64, Duration)> {
    (3_u64..100, 2000_u64..60_000).prop_map(|(limit, ms)| (limit, Duration::from_millis(ms)))
}

fn wraps() -> impl Strategy<Value = Vec<Wrap>> {
    let status = || prop_oneof![Just(429_u16), Just(503_u16)];
    prop_oneof![
        4 => Just(Vec::new()),
        1 => (0.01..0.05, status()).prop_map(|(p, status)| vec![Wrap::random(p).status(status)]),
        1 => (0.0..10.0, 1.0..40.0, status()).prop_map(|(from, lasts, status)| {
            let [from, to] = [from, from + lasts].map(Duration::from_secs_f64);
            vec![Wrap::outage([from..to]).status(status)]
        }),
        1 => (0.1..3.0, any::<bool>()).prop_map(|(rate, poisson)| {
            vec![if poisson { Wrap::poisson_rival(rate) } else { Wrap::rival(rate) }]
        }),
    ]
}

fn words() -> impl Strategy<Value = RetryAfter> {
    prop_oneof![
        3 => Just(RetryAfter::None),
        1 => Just(RetryAfter::Zero),
        1 => Just(RetryAfter::Ceil),
        1 => Just(RetryAfter::Floor),
        1 => Just(RetryAfter::Floor1),
        1 => Just(RetryAfter::Float),
    ]
}
