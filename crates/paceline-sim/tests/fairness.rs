//! Lab protocol: another client spends the same quota evenly, at half of it. Paceline takes about the other half.
//!
//! Buckets of one are left out: there whoever asks first after the token came gets it, and an even rival is locked in step
//! or out of it (`arena/MISSED.md`).

use core::time::Duration;

use paceline_sim::policy::Kind;
use paceline_sim::{RetryAfter, Scenario, ServerSpec, Shape, Wrap, run};

#[test]
fn against_an_even_rival_at_half_the_quota_its_share_is_between_two_and_three_fifths() {
    for (rate, burst) in [(2.0, 4), (3.0, 3), (10.0, 10), (40.0, 20), (100.0, 5)] {
        for words in [RetryAfter::None, RetryAfter::Ceil] {
            let bucket = ServerSpec::token_bucket(rate, burst).retry_after(words);
            let server = bucket.wrap(Wrap::rival(rate / 2.0));
            let requests = 600;
            let latency = Duration::from_millis(50);
            let scenario = Scenario::new("rival", Shape::Flat, requests, 10, latency, server);
            let figures = run(&scenario, &mut *Kind::Paceline.client(&scenario, 1), 1).unwrap();
            let share = requests as f64 / figures.elapsed.as_secs_f64() / rate;
            assert!(
                (0.4..=0.6).contains(&share),
                "{rate}/s, burst {burst}, {words:?}: {share:.2} of it"
            );
        }
    }
}
