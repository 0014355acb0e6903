//! What a request costs where processes share its pace: acquire, settle and give back, with nobody else at work.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use paceline::{Machine, Observation, Pace, Verdict};

use crate::worker::FOLDER;
use crate::{alone, report};

const RUNS: Duration = Duration::from_secs(2);

#[test]
#[ignore = "it measures"]
fn of_one_and_of_eight_processes() {
    let _alone = alone();
    for processes in [1, 8] {
        let mut costs: Vec<f64> = (0..5).map(|_| cost(processes)).collect();
        costs.sort_by(f64::total_cmp);
        report(&format!(
            "{processes} at work: {:.2} µs a request ({:.2} to {:.2})",
            costs[2], costs[0], costs[4]
        ));
    }
}

/// Microseconds a request, of all together.
fn cost(processes: usize) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut busy: Vec<_> = (0..processes)
        .map(|_| {
            let mut command = Command::new(env::current_exe().unwrap());
            command
                .args(["speed::busy", "--exact", "--nocapture"])
                .env(FOLDER, folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for worker in &mut busy {
        drop(worker.stdin.take());
    }
    let done = busy.into_iter().map(|worker| {
        let said = String::from_utf8(worker.wait_with_output().unwrap().stdout).unwrap();
        let count = said
            .split("done ")
            .nth(1)
            .and_then(|own| own.split(' ').next());
        count.unwrap().parse::<f64>().unwrap()
    });
    RUNS.as_secs_f64() * 1e6 / done.sum::<f64>()
}

/// Not a test of its own: one of the processes.
#[test]
fn busy() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let machine = Machine::open_in(&Path::new(&folder).join("state")).unwrap();
    let pace = Pace::builder("shared").machine(&machine);
    let pace = pace.limit_text("1000000/s burst 1000000").unwrap().build();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let (want, seen) = (pace.want(), Observation::status(Verdict::Ok, 200));
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < RUNS {
        let mut permit = pace.acquire_blocking(&want).unwrap();
        permit.sending();
        permit.settle(&seen);
        drop(permit);
        count += 1;
    }
    report(&format!("done {count} "));
}
