//! Processes that are killed at any instant: what is over is over for all, within a second, and nothing is lost but what they
//! had under way.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::crew::Crew;
use crate::diary::{Story, What};
use crate::{alone, report};

const PROCESSES: usize = 12;
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn places_of_the_dead_are_free_within_a_second_and_never_too_many_are_held() {
    places(PROCESSES * 200, 100);
}

#[test]
fn of_what_flows_in_nothing_is_lost_but_what_the_dead_had_under_way() {
    tokens(40);
}

#[test]
#[ignore = "takes minutes"]
fn places_after_ten_thousand_kills() {
    places(PROCESSES * 200, 10_000);
}

#[test]
#[ignore = "takes minutes"]
fn tokens_after_a_thousand_kills() {
    tokens(1_000);
}

/// Until so many wanted something and so many were killed, each up to so long after the one before.
fn soak(work: usize, wanted: usize, kills: usize, apart: Duration) -> (Crew, Story, Duration) {
    let mut crew = Crew::new(work);
    for _ in 0..PROCESSES {
        crew.hire(Stdio::null());
    }
    let mut random = fastrand::Rng::with_seed(7);
    let began = Instant::now();
    let mut killed = 0;
    while killed < kills || crew.story().count(What::Wants) < wanted {
        std::thread::sleep(apart.mul_f64(random.f64()));
        // Newcomers bury the dead. Now and then there are none, and the survivors have to.
        let (dead, pause) = match killed % 50 {
            25 => (PROCESSES / 3, SECOND * 3 / 2),
            _ => (1, Duration::ZERO),
        };
        for _ in 0..dead {
            crew.kill(random.usize(0..crew.size()));
        }
        std::thread::sleep(pause);
        for _ in 0..dead {
            crew.hire(Stdio::null());
        }
        killed += 1;
    }
    let took = began.elapsed();
    crew.kill_all();
    let story = crew.story();
    (crew, story, took)
}

fn places(wanted: usize, kills: usize) {
    let _alone = alone();
    let (crew, story, took) = soak(0, wanted, kills, Duration::from_millis(20));
    assert_eq!(story.most_held(), 4);
    let idle = story.longest_idle(4);
    // All four at once: nothing is held any more.
    let began = Instant::now();
    let want = crew.pace.want();
    let all: Vec<_> = (0..4)
        .map(|_| crew.pace.acquire_blocking(&want).unwrap())
        .collect();
    let free = began.elapsed();
    drop(all);
    assert!(
        idle <= SECOND && free <= SECOND,
        "idle {idle:?}, free after {free:?}"
    );
    let snapshot = crew.pace.snapshot();
    assert_eq!(
        (snapshot.waiting, snapshot.gates[0].in_flight),
        (0, 0),
        "{snapshot:?}"
    );
    report(&format!(
        "{} kills, {} wants, {} held in {took:.1?}: at most 4 at once; a place lay idle for {idle:.0?} at most; after the last kill all were free in {free:.0?}",
        story.count(What::Dies) - PROCESSES,
        story.count(What::Wants),
        story.count(What::Holds),
    ));
}

fn tokens(kills: usize) {
    let _alone = alone();
    let (_crew, story, took) = soak(1, 0, kills, Duration::from_millis(200));
    let starts = story.starts();
    let (rate, burst) = (200.0, 20.0);
    // Each process may have noted one start late.
    let slack = burst + PROCESSES as f64;
    let mut worst = f64::MIN;
    let mut least = f64::MAX;
    for (nth, at) in starts.iter().enumerate() {
        let ahead = nth as f64 - rate * Duration::from_nanos(at - starts[0]).as_secs_f64();
        least = least.min(ahead);
        worst = worst.max(ahead - least + 1.0);
    }
    assert!(worst <= slack, "{worst:.1} at once");
    let dead = story.count(What::Dies);
    let span = Duration::from_nanos(starts[starts.len() - 1] - starts[0]).as_secs_f64();
    let used = (starts.len() + dead) as f64 / (burst + rate * span);
    assert!(
        used >= 0.97,
        "{} starts in {span:.1} s, {dead} killed",
        starts.len()
    );
    report(&format!(
        "{dead} kills, {} starts in {took:.1?}: at most {worst:.1} of {burst} at once; {:.1} % of what flowed in was used or under way when somebody died",
        starts.len(),
        100.0 * used,
    ));
}
