//! Processes that share a store are killed at random instants: nothing is half done, no lock stays, nothing is damaged.
//!
//! The processes are this test again, told by the environment what to do. 10,000 kills:
//! `cargo test --release -p paceline-machine --test kills -- --ignored --nocapture`

#![expect(clippy::unwrap_used, reason = "in a test this is what is expected")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use paceline_machine::store::{Room, Sections, Store};

const FOLDER: &str = "PACELINE_TEST_FOLDER";
const PURSES: u32 = 40;
const UNITS: u64 = 1_000_000;
const COUNTER: u32 = 1_000;
const ROOMS: u8 = 3;

#[test]
fn five_hundred_kills_lose_nothing() {
    kill(500, 8);
}

/// With nobody beside it, it is killed within a step as often as not; what the next step takes is the lock's doing alone.
#[test]
fn the_lock_of_a_killed_process_is_the_next_ones_at_once() {
    let median = kill(100, 1);
    assert!(median < Duration::from_millis(1), "{median:?}");
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_kills_lose_nothing() {
    kill(10_000, 8);
}

fn kill(kills: usize, processes: usize) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let opened = Store::open(folder.path()).unwrap();
    let rooms = rooms(&opened.store);
    for room in &rooms {
        room.step(|s| put(s, 0, UNITS)).unwrap();
    }
    let mut random = fastrand::Rng::with_seed(41);
    let mut children: Vec<_> = (0..processes)
        .map(|_| Worker::spawn(folder.path()))
        .collect();
    let mut waits = Vec::new();
    for n in 0..kills {
        // The oldest one, when it is at work; now and then a young one, while it opens the store.
        let victim = (n + random.usize(0..2) * random.usize(0..processes)) % processes;
        if victim == n % processes {
            children[victim].works();
        }
        thread::sleep(Duration::from_micros(random.u64(0..2_000)));
        let next = Worker::spawn(folder.path());
        std::mem::replace(&mut children[victim], next).kill();
        let begun = Instant::now();
        for room in &rooms {
            let (sum, first, second) = room
                .step(|s| (sum(s), get(s, COUNTER), get(s, COUNTER + 1)))
                .unwrap();
            assert_eq!(sum, UNITS, "after {n} kills");
            assert_eq!(first, second, "after {n} kills");
        }
        waits.push(begun.elapsed());
    }
    children.into_iter().for_each(Worker::kill);
    let steps: u64 = rooms
        .iter()
        .map(|room| room.step(|s| get(s, COUNTER)).unwrap())
        .sum();
    drop(rooms);
    let path = folder.path().join("paces.mdb");
    drop(opened);
    let sound = Store::check(&path).unwrap().unwrap();
    assert_eq!(sound.lost, 0);
    assert!(Store::open(folder.path()).unwrap().set_aside.is_none());
    assert!(steps > kills as u64, "the processes worked: {steps} steps");
    waits.sort_unstable();
    let (median, worst) = (waits[kills / 2], waits[kills - 1]);
    // A lock that nobody gives back is held for ever. Less is the scheduler's doing, where all processors are busy.
    assert!(
        worst < Duration::from_secs(10),
        "a lock stayed for {worst:?}"
    );
    report(&format!(
        "{kills} kills, {steps} steps of {processes} processes; after a kill three steps took {median:?} (median), {worst:?} (worst); {sound:?}"
    ));
    median
}

#[expect(
    clippy::print_stdout,
    reason = "whoever runs the long test wants to see what it did"
)]
fn report(line: &str) {
    println!("{line}");
}

/// Not a test of its own: what the processes do, until they are killed.
#[test]
fn worker() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let opened = Store::open(&PathBuf::from(folder)).unwrap();
    assert_eq!(opened.set_aside, None);
    let rooms = rooms(&opened.store);
    let mut random = fastrand::Rng::new();
    report("working");
    loop {
        let room = random.choice(&rooms).unwrap();
        let (from, to) = (random.u32(0..PURSES), random.u32(0..PURSES));
        // Sections of all lengths, so that pages are split, joined and taken beyond a page's end.
        let longest = if random.u8(0..16) == 0 { 9_000 } else { 300 };
        let padding = random.usize(0..longest);
        room.step(|s| {
            let count = get(s, COUNTER) + 1;
            put(s, COUNTER, count);
            let moved = random.u64(0..=get(s, from));
            let left = get(s, from) - moved;
            put_long(s, from, left, padding);
            let more = get(s, to) + moved;
            put(s, to, more);
            put(s, COUNTER + 1, count);
            if more == 0 {
                s.remove(to);
            }
        })
        .unwrap();
    }
}

struct Worker {
    child: Child,
    said: ChildStdout,
}

impl Worker {
    /// Waits until it is at work.
    fn works(&mut self) {
        let (mut said, mut byte) = (Vec::new(), [0]);
        while !said.ends_with(b"working\n") {
            assert_eq!(
                self.said.read(&mut byte).unwrap(),
                1,
                "{}",
                String::from_utf8_lossy(&said)
            );
            said.push(byte[0]);
        }
    }

    fn spawn(folder: &Path) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["worker", "--exact", "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = child.stdout.take().unwrap();
        Self { child, said }
    }

    /// SIGKILL. That it still ran shows that no step of its own had failed.
    fn kill(mut self) {
        let ended = self.child.try_wait().unwrap();
        assert_eq!(ended, None, "a process ended by itself");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn rooms(store: &Store) -> Vec<Room> {
    (0..ROOMS).map(|n| store.room([n; 16])).collect()
}

fn sum(sections: &Sections<'_>) -> u64 {
    (0..PURSES).map(|n| get(sections, n)).sum()
}

fn get(sections: &Sections<'_>, n: u32) -> u64 {
    sections.get(n).map_or(0, |bytes| {
        u64::from_be_bytes(bytes[..8].try_into().unwrap())
    })
}

fn put(sections: &mut Sections<'_>, n: u32, value: u64) {
    sections.put(n, &value.to_be_bytes());
}

fn put_long(sections: &mut Sections<'_>, n: u32, value: u64, padding: usize) {
    let mut bytes = vec![0; 8 + padding];
    bytes[..8].copy_from_slice(&value.to_be_bytes());
    sections.put(n, &bytes);
}
