//! Requests that leave together overtake each other on their way, and a bucket is known all the same.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on is red")]

use paceline_sim::policy::Paceline;
use paceline_sim::{Scenario, run};

/// What was refused in each of a hundred runs from nothing known, sorted.
fn refused(rate: u32, burst: u32, latency: f64, jitter: f64) -> Vec<u64> {
    let text = format!(
        r#"
        name = "cold"
        shape = "flat"
        requests = 60
        workers = 10
        latency = {latency}
        jitter = {jitter}
        server = {{ kind = "token-bucket", rate = {rate}, burst = {burst} }}
        "#
    );
    let scenario = Scenario::from_toml(&text).unwrap();
    let runs = (1..=100).map(|seed| {
        let mut client = Paceline::new(&scenario, seed);
        let figures = run(&scenario, &mut client, seed).unwrap();
        assert_eq!(figures.failed, 0, "{text} seed {seed}");
        figures.refused
    });
    let mut runs: Vec<_> = runs.collect();
    runs.sort_unstable();
    runs
}

#[test]
fn a_volley_whose_order_the_network_changed_is_taken_for_what_the_bucket_held() {
    let orderly = refused(5, 5, 0.02, 0.0);
    for (latency, jitter) in [(0.003, 0.001), (0.02, 0.001), (0.02, 0.01), (0.02, 0.02)] {
        let shaken = refused(5, 5, latency, jitter);
        let (usual, worst) = (shaken[50], shaken[99]);
        assert!(usual <= orderly[50] + 3, "{jitter} s: {usual} {orderly:?}");
        assert!(worst <= 2 * orderly[99], "{jitter} s: {worst} {orderly:?}");
    }
}
