//! The time that a record goes by: the machine's clock since its start, going on where it was over a restart.

use std::sync::atomic::{AtomicU64, Ordering};

use paceline_engine::{Timestamp, WallTime};
use paceline_machine::{BootClock, BootId, FolderError};

use crate::clock::{Clock, Sleep, TokioClock};

/// One record's.
#[derive(Debug)]
pub(crate) struct SharedClock {
    boot: Boot,
    /// What is added to the time since the machine was started, in nanoseconds; a difference may be below zero and wraps.
    shift: AtomicU64,
    timers: TokioClock,
}

/// The clock since this start of the machine, and which one that is.
#[derive(Clone, Debug)]
pub(super) struct Boot {
    clock: BootClock,
    id: [u8; 16],
}

impl Boot {
    pub(super) fn read() -> Result<Self, FolderError> {
        Ok(Self {
            clock: BootClock::new()?,
            id: *BootId::read()?.as_bytes(),
        })
    }
}

/// What a record keeps of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// Since which start of the machine.
    pub(super) boot: [u8; 16],
    pub(super) shift: u64,
    /// An instant of the record, and what wall clocks showed then.
    pub(super) at: u64,
    pub(super) wall: u64,
}

impl Kept {
    const SIZE: usize = 40;

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (boot, numbers) = bytes.split_at_checked(16)?;
        let (numbers, rest) = numbers.as_chunks::<8>();
        let [shift, at, wall] = *numbers else {
            return None;
        };
        rest.is_empty().then_some(Self {
            boot: boot.try_into().ok()?,
            shift: u64::from_le_bytes(shift),
            at: u64::from_le_bytes(at),
            wall: u64::from_le_bytes(wall),
        })
    }

    pub(super) fn write(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..16].copy_from_slice(&self.boot);
        let numbers = [self.shift, self.at, self.wall];
        for (own, number) in bytes[16..].chunks_exact_mut(8).zip(numbers) {
            own.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The record's time now; of a record that rested over a restart, that of its latest input is later.
    pub(super) fn now(&self, boot: &Boot) -> Timestamp {
        let same = self.boot == boot.id;
        let now = boot.clock.now().wrapping_add(self.shift);
        Timestamp::from_nanos(if same { now } else { self.at })
    }

    /// How a record's time goes on from `latest`, its latest input. Over a restart of the machine only wall clocks tell how
    /// long it took; time never goes back, whatever they show.
    pub(super) fn resume(
        kept: Option<Self>,
        latest: u64,
        (boot, since): ([u8; 16], u64),
        wall: u64,
    ) -> Self {
        let shift = match kept {
            Some(kept) if kept.boot == boot => kept.shift,
            Some(kept) => {
                let passed = wall.saturating_sub(kept.wall);
                let now = kept.at.saturating_add(passed).max(latest);
                now.wrapping_sub(since)
            }
            // Of a record without a clock only the latest input is known.
            None => latest.saturating_sub(since),
        };
        Self {
            boot,
            shift,
            at: since.wrapping_add(shift),
            wall,
        }
    }
}

impl SharedClock {
    pub(super) fn new(boot: Boot) -> Self {
        Self {
            boot,
            shift: AtomicU64::new(0),
            timers: TokioClock::new(),
        }
    }

    /// From now on it is this record's; what the record is to keep.
    pub(super) fn resume(&self, kept: Option<Kept>, latest: Timestamp) -> Kept {
        let wall = u64::try_from(self.wall().0.as_nanos()).unwrap_or(u64::MAX);
        let kept = Kept::resume(
            kept,
            latest.as_nanos(),
            (self.boot.id, self.boot.clock.now()),
            wall,
        );
        self.shift.store(kept.shift, Ordering::Relaxed);
        kept
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        let shift = self.shift.load(Ordering::Relaxed);
        Timestamp::from_nanos(self.boot.clock.now().wrapping_add(shift))
    }

    fn wall(&self) -> WallTime {
        self.timers.wall()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        let timers = self.timers;
        let after = at.since(self.now());
        timers.sleep_until(timers.now() + after)
    }

    fn park_until(&self, at: Option<Timestamp>) {
        let after = at.map(|at| at.since(self.now()));
        self.timers
            .park_until(after.map(|after| self.timers.now() + after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const HOUR: u64 = 3600 * SECOND;

    fn kept() -> Kept {
        Kept {
            boot: [1; 16],
            shift: 5 * SECOND,
            at: 100 * SECOND,
            wall: 1_000 * HOUR,
        }
    }

    fn now_after(latest: u64, boot: u8, since: u64, wall: u64) -> u64 {
        let own = Kept::resume(Some(kept()), latest, ([boot; 16], since), wall);
        assert_eq!(own.at, since.wrapping_add(own.shift));
        assert_eq!(Kept::read(&own.write()), Some(own));
        own.at
    }

    #[test]
    fn wall_clock_steps_play_no_part_while_the_machine_runs() {
        for wall in [0, 999 * HOUR, 1_001 * HOUR] {
            assert_eq!(now_after(100 * SECOND, 1, 200 * SECOND, wall), 205 * SECOND);
        }
    }

    #[test]
    fn over_a_restart_the_wall_clock_tells_how_long_it_took() {
        let now = now_after(160 * SECOND, 2, 3 * SECOND, 1_001 * HOUR);
        assert_eq!(now, 100 * SECOND + HOUR);
    }

    #[test]
    fn a_wall_clock_that_went_back_over_a_restart_takes_nothing_back_and_locks_nobody_out() {
        assert_eq!(now_after(160 * SECOND, 2, 3 * SECOND, 0), 160 * SECOND);
        assert_eq!(now_after(160 * SECOND, 2, HOUR, 0), 160 * SECOND);
    }

    #[test]
    fn a_record_without_a_clock_goes_on_from_its_latest_input() {
        let own = Kept::resume(None, 50 * SECOND, ([1; 16], 10 * SECOND), 0);
        assert_eq!(own.at, 50 * SECOND);
        let own = Kept::resume(None, 0, ([1; 16], 10 * SECOND), 0);
        assert_eq!(own.at, 10 * SECOND);
        assert_eq!(Kept::read(b"short"), None);
    }
}
