//! The clock that all processes of a machine share: it runs while the machine sleeps, and no wall-clock step moves it.

use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since the machine was started.
pub fn now() -> Duration {
    let read = clock_gettime(CLOCK);
    let since = Duration::new(
        u64::try_from(read.tv_sec).unwrap_or_default(),
        u32::try_from(read.tv_nsec).unwrap_or_default(),
    );
    let (before, offset) = *shift();
    if before {
        since + offset
    } else {
        since.saturating_sub(offset)
    }
}

/// Counts while the machine sleeps.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
/// Counts while the machine sleeps on some of those systems.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// A container may have a clock that is shifted; `true` if it is behind the machine's.
fn shift() -> &'static (bool, Duration) {
    static SHIFT: OnceLock<(bool, Duration)> = OnceLock::new();
    SHIFT.get_or_init(|| {
        let offsets = fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
        let own = offsets.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let is_own = words.next() == Some("boottime");
            let mut number = || words.next()?.parse::<i64>().ok();
            is_own.then(|| Some((number()?, number()?))).flatten()
        });
        let (secs, nanos) = own.unwrap_or_default();
        let offset = i128::from(secs) * 1_000_000_000 + i128::from(nanos);
        let length = u64::try_from(offset.unsigned_abs()).unwrap_or_default();
        (offset < 0, Duration::from_nanos(length))
    })
}

/// Which start of the machine this is: times of different ones cannot be compared.
pub fn id() -> [u8; 16] {
    static ID: OnceLock<[u8; 16]> = OnceLock::new();
    *ID.get_or_init(|| {
        let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        match u128::from_str_radix(&digits, 16) {
            Ok(id) => id.to_be_bytes(),
            Err(_) => started().to_be_bytes(),
        }
    })
}

/// The wall-clock minute in which it was started: a weak id, for systems that name none.
fn started() -> u128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let started = since.unwrap_or_default().saturating_sub(now());
    u128::from(started.as_secs() / 60)
}
