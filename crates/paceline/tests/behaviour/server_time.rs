//! A budget of server time.

use paceline::testing::{LimitedService, ServerSpec};

use crate::lab::{Lab, secs, unconfigured};

fn taking(seconds: f64, limit: &str) -> Lab {
    let server = LimitedService::new(ServerSpec::open()).expect("a server");
    Lab::with(
        unconfigured().limit(limit.parse().expect("a limit")),
        server.latency(secs(seconds)),
    )
}

#[tokio::test(start_paused = true)]
async fn requests_go_as_what_they_take_becomes_known_and_then_as_it_allows() {
    let lab = taking(0.5, "20s server time / 10s");
    // 2, 4, 8 and 16, each for half a second.
    assert_eq!(lab.flat(30, 50, secs(60.0)).await.elapsed, secs(2.0));
    assert_eq!(lab.flat(9, 50, secs(60.0)).await.elapsed, secs(0.5));
    // The last half second is not quite sure to be enough; what ended first comes back at 10.5 s.
    assert_eq!(lab.flat(1, 50, secs(60.0)).await.elapsed, secs(8.5));
}

#[tokio::test(start_paused = true)]
async fn what_takes_more_than_there_is_fails_and_says_how_much_it_takes() {
    let lab = taking(5.0, "2s server time / 10s");
    let run = lab.burst(2, secs(60.0)).await;
    let mut errors = run.reports.iter().filter_map(|own| own.error.as_deref());
    assert_eq!(
        errors.next(),
        Some(
            "lab: not sent: it costs more than a limit ever allows: requests take 5s where \
             2s server time / 10s allows 2s; possible in 10 s; waited 5 s"
        )
    );
    assert_eq!((run.failed(), run.elapsed), (1, secs(5.0)));
}
