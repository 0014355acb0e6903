//! Many who want the same: each gets a fair share, and waiting costs nothing.

use std::process::Stdio;
use std::time::Duration;

use crate::crew::Crew;
use crate::diary::What;
use crate::{alone, report};

const RATE: f64 = 50.0;

#[test]
fn fifty_workers_wait_for_a_fair_share_each() {
    workers(50, Duration::from_secs(5));
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "two processors need optimised code for so many"
)]
fn three_hundred_workers_wait_for_a_fair_share_each() {
    workers(300, Duration::from_secs(15));
}

fn workers(count: usize, runs: Duration) {
    let _alone = alone();
    let mut crew = Crew::new(2);
    for _ in 0..count {
        crew.hire(Stdio::piped());
    }
    crew.begin();
    while crew.story().count(What::Wants) < count {
        std::thread::sleep(Duration::from_millis(50));
    }
    // Once each has had its turn, all are in the line in earnest.
    let fair = Duration::from_secs_f64(count as f64 / RATE);
    std::thread::sleep(fair);
    let (from, before) = (crew.pace.now(), crew.cpu());
    std::thread::sleep(runs);
    let cpu = crew.cpu() - before;
    crew.kill_all();
    let story = crew.story();
    let mut waits = story.waits(from.as_nanos());
    waits.sort_unstable();
    let (median, longest) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    let share = cpu.as_secs_f64() / runs.as_secs_f64() / count as f64;
    report(&format!(
        "{count} workers at {RATE}/s: fair {fair:.2?}, median {median:.2?}, longest {longest:.2?} ({:.2} of the fair share); {:.2} % of a processor each",
        longest.as_secs_f64() / fair.as_secs_f64(),
        100.0 * share,
    ));
    let expected = RATE * (runs - fair).as_secs_f64();
    assert!(
        waits.len() as f64 >= 0.9 * expected,
        "{} of {expected} waits",
        waits.len()
    );
    assert!(longest <= fair.mul_f64(1.2), "{longest:?} for {fair:?}");
    assert!(share < 0.01, "{share}");
}
