//! Fixed windows: so many requests until the clock reaches the next multiple of the window.

use core::time::Duration;

use super::TOLERANCE;

#[derive(Clone, Debug)]
pub(super) struct FixedWindow {
    limit: u64,
    window: u64,
    phase: u64,
    current: u128,
    used: u64,
}

impl FixedWindow {
    /// `window` is not zero.
    pub(super) fn new(limit: u64, window: u64, phase: u64) -> Self {
        Self {
            limit,
            window,
            phase,
            current: 0,
            used: 0,
        }
    }

    pub(super) fn ask(&mut self, now: u64) -> Result<(), Duration> {
        // "Windows are aligned to multiples of `window` after adding `phase`".
        let clock = u128::from(now) + u128::from(self.phase);
        let window = u128::from(self.window);
        let index = (clock + u128::from(TOLERANCE)) / window;
        if index != self.current {
            self.current = index;
            self.used = 0;
        }
        if self.used < self.limit {
            return Ok(());
        }
        let wait = (index + 1) * window - clock;
        Err(Duration::from_nanos(
            u64::try_from(wait).unwrap_or(u64::MAX),
        ))
    }

    pub(super) fn charge(&mut self) {
        self.used += 1;
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::lab::{Lab, ms, secs};
    use crate::{RetryAfter, ServerSpec};

    #[test]
    fn sixty_a_minute_aligned_to_the_minute() {
        let spec =
            ServerSpec::fixed_window(60, secs(60), Duration::ZERO).retry_after(RetryAfter::Ceil);
        let mut lab = Lab::new(spec);
        lab.at(ms(59_250))
            .admits(60)
            .refuses_for(ms(750))
            .saying("1");
        lab.at(secs(60))
            .admits(60)
            .refuses_for(secs(60))
            .saying("60");
        lab.at(ms(119_999)).refuses_for(ms(1));
    }

    #[test]
    fn a_phase_of_thirty_seconds_turns_the_window_over_at_thirty() {
        let mut lab = Lab::new(ServerSpec::fixed_window(2, secs(60), secs(30)));
        lab.at(secs(0)).admits(2).refuses_for(secs(30));
        lab.at(secs(30)).admits(2).refuses_for(secs(60));
        lab.at(secs(90)).admits(2);
    }

    #[test]
    fn a_hundred_nanoseconds_early_is_the_next_window() {
        let mut lab = Lab::new(ServerSpec::fixed_window(1, secs(1), Duration::ZERO));
        lab.at(secs(0)).admits(1);
        lab.at_nanos(999_999_899)
            .refuses_for(Duration::from_nanos(101));
        // Refused, it is told the end of the window that it is counted in.
        lab.at_nanos(999_999_900)
            .admits(1)
            .refuses_for(Duration::from_nanos(1_000_000_100));
    }

    #[test]
    fn an_idle_hour_saves_nothing_up() {
        let mut lab = Lab::new(ServerSpec::fixed_window(3, secs(10), Duration::ZERO));
        lab.at(secs(3600)).admits(3).refuses(1);
    }
}
