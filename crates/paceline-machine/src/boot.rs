//! The clock that all processes of one boot agree on, and which boot it is.

use rustix::time::{ClockId, clock_gettime};

use crate::folder::FolderError;

const SECOND: i64 = 1_000_000_000;

/// Time since the machine was started, suspended time included.
///
/// Steps of the wall clock do not move it, and containers in time namespaces of their own read what the machine reads. It
/// starts anew at each boot: [`BootId`] says which.
///
/// A reading costs 24 ns where the kernel offers the clock without a system call (`cargo bench -p paceline-machine --bench
/// machine -- clock`, in a virtual machine).
#[derive(Clone, Copy, Debug)]
pub struct BootClock {
    /// What this process's time namespace adds to the machine's.
    namespace: i64,
}

impl BootClock {
    /// The clock of this machine.
    ///
    /// A process that made a time namespace for its children, and is itself outside of it, reads a clock that is off by the
    /// namespace's offset: the kernel tells only that one.
    pub fn new() -> Result<Self, FolderError> {
        let namespace = match std::fs::read_to_string("/proc/self/timens_offsets") {
            Ok(offsets) => boottime_offset(&offsets).unwrap_or(0),
            // A kernel without time namespaces, or no kernel of that kind.
            Err(_) => 0,
        };
        Ok(Self { namespace })
    }

    /// Nanoseconds since the machine was started.
    pub fn now(&self) -> u64 {
        let now = clock_gettime(CLOCK);
        let nanos = now
            .tv_sec
            .saturating_mul(SECOND)
            .saturating_add(now.tv_nsec);
        u64::try_from(nanos.saturating_sub(self.namespace)).unwrap_or(0)
    }
}

#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;

/// macOS counts sleep here too; the BSDs may not.
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// The offset of the boot-time clock, time_namespaces(7): lines of a clock, seconds and nanoseconds.
fn boottime_offset(offsets: &str) -> Option<i64> {
    offsets.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        if !matches!(words.next()?, "boottime" | "7") {
            return None;
        }
        let seconds: i64 = words.next()?.parse().ok()?;
        let nanos: i64 = words.next()?.parse().ok()?;
        seconds.checked_mul(SECOND)?.checked_add(nanos)
    })
}

/// Which boot it is: another one after each start of the machine, the same in all its containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BootId([u8; 16]);

impl BootId {
    /// The boot that we live in.
    #[cfg(target_os = "linux")]
    pub fn read() -> Result<Self, FolderError> {
        const PATH: &str = "/proc/sys/kernel/random/boot_id";

        std::fs::read_to_string(PATH)
            .and_then(|text| {
                parse(&text).ok_or_else(|| std::io::Error::other("it is not 32 hexadecimal digits"))
            })
            .map_err(|source| FolderError::Io {
                path: PATH.into(),
                doing: "reading which boot it is",
                source,
            })
    }

    /// The boot that we live in: the minute in which it began, as the wall clock has it.
    ///
    /// A step of the wall clock looks like another boot then, and so may the border of two minutes.
    #[cfg(not(target_os = "linux"))]
    pub fn read() -> Result<Self, FolderError> {
        let wall = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let up = core::time::Duration::from_nanos(BootClock::new()?.now());
        let minute = (wall.saturating_sub(up).as_secs() + 30) / 60;
        Ok(Self(u128::from(minute).to_le_bytes()))
    }

    /// As bytes, to be kept in a record.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 32 hexadecimal digits, with hyphens wherever.
#[cfg(target_os = "linux")]
fn parse(text: &str) -> Option<BootId> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let number = u128::from_str_radix(&digits, 16).ok()?;
    Some(BootId(number.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_of_the_boot_time_clock_is_read_and_no_other() {
        let of = boottime_offset;
        assert_eq!(
            of("monotonic 5 0\nboottime  100  250\n"),
            Some(100 * SECOND + 250)
        );
        assert_eq!(
            of("monotonic -5 0\nboottime -3 999999999\n"),
            Some(-2 * SECOND - 1)
        );
        assert_eq!(of("monotonic 5 0\n"), None);
        assert_eq!(
            of("boottime 9223372036854775807 0\n"),
            None,
            "it does not fit"
        );
        assert_eq!(of("boottime soon\n"), None);
    }

    #[test]
    fn what_a_namespace_adds_is_taken_off_again() {
        let machine = BootClock { namespace: 0 };
        let inside = BootClock {
            namespace: -7 * SECOND,
        };
        let before = machine.now();
        let there = inside.now() - 7 * SECOND as u64;
        let after = machine.now();
        assert!(before <= there && there <= after);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_boot_id_is_32_digits_with_hyphens() {
        let id = parse("01020304-0506-0708-090a-0b0c0d0e0f10\n").expect("it is one");
        assert_eq!(
            id.as_bytes(),
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
        );
        for bad in ["", "0102", "+1020304-0506-0708-090a-0b0c0d0e0f10"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(
            BootId::read().expect("Linux"),
            BootId::read().expect("Linux")
        );
    }
}
