//! How long a ring takes to wake another process: `cargo run --release -p paceline-machine --example wake`.
//!
//! A second process, this program again, notes the time whenever its bell is rung. The first rings it 10,000 times, each time
//! after the other has gone back to sleep, and both read the boot-time clock. Then it is left alone, to see what it uses.

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args_os().nth(1) {
        Some(folder) => unix::woken(folder.as_ref()),
        None => unix::ringing(),
    }
}

#[cfg(unix)]
mod unix {
    use std::error::Error;
    use std::io::{BufRead as _, BufReader, Write as _, stdin, stdout};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    use paceline_machine::{Bell, Bells, BootClock, Folder, Rung};

    const RINGS: usize = 10_000;
    const ALONE: Duration = Duration::from_secs(3);

    /// The second process: a line with the time for every ring.
    pub(super) fn woken(folder: &Path) -> Result<(), Box<dyn Error>> {
        let clock = BootClock::new()?;
        let (rang, rings) = mpsc::channel();
        let bell = Bell::hang(folder, move || {
            let _ = rang.send(clock.now());
        })?;
        writeln!(stdout(), "{}", bell.number())?;
        for at in rings.iter().take(RINGS) {
            writeln!(stdout(), "{at}")?;
        }
        // Until the first process has seen enough.
        stdin().read_line(&mut String::new())?;
        Ok(())
    }

    pub(super) fn ringing() -> Result<(), Box<dyn Error>> {
        let dir = tempfile::tempdir()?;
        let folder = Folder::open(&dir.path().join("state"))?;
        let clock = BootClock::new()?;
        let mut other = Command::new(std::env::current_exe()?)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(other.stdout.take().ok_or("it has an output")?).lines();
        let mut next =
            || -> Result<u64, Box<dyn Error>> { Ok(lines.next().ok_or("it has ended")??.parse()?) };
        let number = next()?;
        let mut bells = Bells::new(folder.path());
        let (mut rung, mut woken) = (Vec::new(), Vec::new());
        for _ in 0..RINGS {
            let before = clock.now();
            if bells.ring(number)? != Rung::Heard {
                return Err("nobody heard it".into());
            }
            let after = clock.now();
            rung.push(after - before);
            woken.push(next()?.saturating_sub(before));
            // It has told us, and is about to wait again.
            std::thread::sleep(Duration::from_micros(100));
        }
        report("a ring, with the other process asleep", &mut rung)?;
        report("from the ring until the other process runs", &mut woken)?;

        let before = used(other.id());
        std::thread::sleep(ALONE);
        if let (Some(before), Some(after)) = (before, used(other.id())) {
            writeln!(
                stdout(),
                "left alone for {ALONE:?}, it used {} ns of CPU time and was woken {} times",
                after.0 - before.0,
                after.1 - before.1,
            )?;
        }
        drop(other.stdin.take());
        other.wait()?;
        Ok(())
    }

    fn report(what: &str, nanos: &mut [u64]) -> Result<(), Box<dyn Error>> {
        nanos.sort_unstable();
        let at = |part: usize| nanos[nanos.len() * part / 1000] as f64 / 1000.0;
        writeln!(
            stdout(),
            "{what}: median {:.1} µs, 99% within {:.1} µs, 99.9% within {:.1} µs",
            at(500),
            at(990),
            at(999),
        )?;
        Ok(())
    }

    /// Nanoseconds of CPU time and how often it was given the processor, over all threads; Linux alone tells.
    fn used(process: u32) -> Option<(u64, u64)> {
        let mut sum = (0, 0);
        for thread in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
            let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            let mut words = told.split_whitespace().map(str::parse::<u64>);
            sum.0 += words.next()?.ok()?;
            sum.1 += words.nth(1)?.ok()?;
        }
        Some(sum)
    }
}
