//! `cargo run --release` in this folder: what one step costs, alone and with eight processes that do nothing else.
//!
//! *alone*: one process. The median and the mean of a step; each is timed for itself, which adds some 25 ns.
//! *contended*: eight processes make steps one after the other as fast as they can, for a second and a half.
//! `per step` is that time divided by the steps of all of them: how often the machine makes one. `median`, `99.9%` and `worst`
//! are what one process waits for one step; where the scheduler takes the processor away, that counts.

mod ways;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROCESSES: usize = 8;
const WARM: Duration = Duration::from_millis(200);
const TIME: Duration = Duration::from_millis(1_500);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, way, folder] = &args[..] {
        let worker = times(way, Path::new(folder), true);
        let bytes: Vec<u8> = worker
            .iter()
            .flat_map(|nanos| nanos.to_le_bytes())
            .collect();
        std::io::stdout().write_all(&bytes).unwrap();
        return;
    }
    println!(
        "| way | alone, median | mean | {PROCESSES} processes, per step | median | mean | 99.9% | worst |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for way in ways::ALL {
        let folder = tempfile::tempdir().unwrap();
        let alone = Figures::of(times(way, folder.path(), false));
        let together = Figures::of(contend(way, folder.path()));
        let per_step = TIME.as_nanos() as f64 / together.count as f64;
        println!(
            "| {way} | {} | {} | {} | {} | {} | {} | {} |",
            text(alone.median),
            text(alone.mean),
            text(per_step),
            text(together.median),
            text(together.mean),
            text(together.late),
            text(together.worst)
        );
    }
}

fn text(nanos: f64) -> String {
    match nanos {
        n if n < 10_000.0 => format!("{n:.0} ns"),
        n if n < 10_000_000.0 => format!("{:.1} µs", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

/// Makes steps for a while. Told to wait, it says that it is ready and begins when its input ends.
fn times(way: &str, folder: &Path, wait: bool) -> Vec<u32> {
    let mut step = ways::open(way, folder);
    let mut times = Vec::with_capacity(8_000_000);
    if wait {
        std::io::stdout().write_all(b"r").unwrap();
        std::io::stdout().flush().unwrap();
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }
    let begun = Instant::now();
    while begun.elapsed() < WARM {
        step();
    }
    let mut before = Instant::now();
    let end = before + TIME;
    while before < end {
        step();
        let now = Instant::now();
        times.push(u32::try_from((now - before).as_nanos()).unwrap_or(u32::MAX));
        before = now;
    }
    times
}

fn contend(way: &str, folder: &Path) -> Vec<u32> {
    let mut workers: Vec<_> = (0..PROCESSES)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let mut child = command
                .arg(way)
                .arg(folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut ready = [0];
            child
                .stdout
                .as_mut()
                .unwrap()
                .read_exact(&mut ready)
                .unwrap();
            child
        })
        .collect();
    workers
        .iter_mut()
        .for_each(|worker| drop(worker.stdin.take()));
    let mut all = Vec::new();
    let readers: Vec<_> = workers
        .iter_mut()
        .map(|worker| {
            let mut out = worker.stdout.take().unwrap();
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                out.read_to_end(&mut bytes).unwrap();
                bytes
            })
        })
        .collect();
    for reader in readers {
        let bytes = reader.join().unwrap();
        all.extend(
            bytes
                .chunks_exact(4)
                .map(|four| u32::from_le_bytes(four.try_into().unwrap())),
        );
    }
    workers
        .iter_mut()
        .for_each(|worker| assert!(worker.wait().unwrap().success()));
    all
}

struct Figures {
    count: usize,
    median: f64,
    mean: f64,
    late: f64,
    worst: f64,
}

impl Figures {
    fn of(mut times: Vec<u32>) -> Self {
        times.sort_unstable();
        let count = times.len();
        let at = |part: f64| f64::from(times[((count - 1) as f64 * part) as usize]);
        let mean = times.iter().map(|&nanos| f64::from(nanos)).sum::<f64>() / count as f64;
        Self {
            count,
            median: at(0.5),
            mean,
            late: at(0.999),
            worst: at(1.0),
        }
    }
}
