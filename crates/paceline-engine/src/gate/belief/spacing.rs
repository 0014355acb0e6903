//! One number: the time between two starts. Widened by a fresh refusal, narrowed by success.
//!
//! A refusal is fresh when its request left after the spacing last changed; the others of the same volley are stale and
//! say nothing new. A refused spacing is remembered as a wall: it is approached quickly from afar and slowly from near.
//! A fresh refusal also says that the quota was empty at that instant, so what was accepted between two of them measures
//! the rate, the better the further they are apart.

use core::time::Duration;

use crate::opening::Opening;
use crate::{Reason, Timestamp};

/// The learned spacing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spacing {
    interval: Duration,
    /// The interval that was refused last.
    wall: Duration,
    last_start: Timestamp,
    start_before: Timestamp,
    fresh_from: u64,
    /// After a run of refusals: its length, which is the interval if a shorter one is refused.
    trial: Option<Duration>,
    /// The send that was refused freshly last: the quota was empty at that instant.
    emptied: Option<Timestamp>,
    accepted_since: u64,
    refusals: u64,
}

/// The spacing after the first refusal.
const FIRST: Duration = Duration::from_millis(100);
/// No wait is longer without somebody asking.
const WIDEST: Duration = Duration::from_secs(30);
/// An outage costs a seventh of its length again until nothing is left of it.
const TRIAL_STEP: u32 = 8;
const FAR_FROM_THE_WALL: u32 = 10;
const NEAR_THE_WALL: u64 = 100;
/// Below this the spacing holds nobody back that a network would not.
const NARROWEST: Duration = Duration::from_millis(1);

impl Spacing {
    pub(crate) const fn sent(&mut self, now: Timestamp) {
        self.start_before = self.last_start;
        self.last_start = now;
    }

    pub(crate) fn unsent(&mut self, taken: Timestamp) {
        if self.last_start == taken {
            self.last_start = self.start_before;
        }
    }

    /// A request was served. Says whether it was fresh.
    pub(crate) fn accepted(&mut self, order: u64) -> bool {
        if self.interval.is_zero() {
            return true;
        }
        if order < self.fresh_from {
            return false;
        }
        self.accepted_since += 1;
        if self.trial.is_some() {
            self.interval /= TRIAL_STEP;
            self.vanish_if_narrow();
            return true;
        }
        self.interval -= self.interval / self.caution();
        self.vanish_if_narrow();
        true
    }

    /// A request that left at `sent` was refused. Says whether it was fresh.
    pub(crate) fn refused(&mut self, sent: Timestamp, order: u64, next_order: u64) -> bool {
        if order < self.fresh_from {
            return false;
        }
        let wider = match self.trial.take() {
            Some(run) => run,
            None if self.interval.is_zero() => FIRST,
            None => self.measured(sent),
        };
        let measured = self.emptied.is_some() && self.accepted_since > 0;
        // Where the rate was measured, the wall is nearer than what was refused: about half-way.
        self.wall = if measured {
            (self.interval + wider) / 2
        } else {
            self.interval
        };
        self.interval = wider.min(WIDEST);
        self.fresh_from = next_order;
        self.emptied = Some(sent);
        self.accepted_since = 0;
        self.refusals += 1;
        true
    }

    /// The part of the interval that a success narrows it by is one in so many.
    fn caution(&self) -> u32 {
        if self.interval > self.wall + self.wall / 8 {
            return FAR_FROM_THE_WALL;
        }
        // Each refusal has made the measurement better, so there is less to gain from another one; long peace may mean
        // that the limit was raised.
        let grounds = NEAR_THE_WALL * (1 + self.refusals.min(16));
        u32::try_from(grounds / (1 + self.accepted_since / 32))
            .map_or(u32::MAX, |one_in| one_in.max(FAR_FROM_THE_WALL))
    }

    /// Between two instants at which the quota was empty, as many were accepted as flowed in: that is its rate. With
    /// nothing accepted in between only a bound is known, and the spacing doubles.
    fn measured(&self, sent: Timestamp) -> Duration {
        match (self.emptied, u32::try_from(self.accepted_since)) {
            (Some(emptied), Ok(accepted @ 1..)) => {
                let measured = sent.since(emptied) / accepted;
                measured.clamp(self.interval + self.interval / 16, self.interval * 3 / 2)
            }
            _ => self.interval * 2,
        }
    }

    /// Back to an earlier state.
    pub(crate) fn restore(&mut self, before: Self) {
        let (last_start, start_before) = (self.last_start, self.start_before);
        *self = Self {
            last_start,
            start_before,
            ..before
        };
    }

    /// Tries shorter and shorter intervals: after an outage they are all served, after a slow limit the first one that is
    /// refused shows that `run` was the interval.
    pub(crate) fn try_after(&mut self, run: Duration) {
        let run = run.clamp(FIRST, WIDEST);
        self.interval = run / TRIAL_STEP;
        self.trial = Some(run);
    }

    /// What is under way now says nothing about what comes.
    pub(crate) const fn all_stale(&mut self, next_order: u64) {
        self.fresh_from = next_order;
    }

    fn vanish_if_narrow(&mut self) {
        if self.interval < NARROWEST {
            self.interval = Duration::ZERO;
            self.wall = Duration::ZERO;
            self.trial = None;
            self.emptied = None;
        }
    }

    pub(crate) fn opens(&self, ahead: u64) -> Opening {
        if self.interval.is_zero() {
            return Opening::NOW;
        }
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX).saturating_add(1);
        Opening::at(
            self.last_start + self.interval.saturating_mul(ahead),
            Reason::Belief,
        )
    }

    pub(crate) const fn interval(&self) -> Duration {
        self.interval
    }

    pub(crate) const fn grounds(&self) -> (u64, u64) {
        (self.refusals, self.accepted_since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(interval: u64) -> Duration {
        Duration::from_millis(interval)
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + ms(millis)
    }

    #[test]
    fn ten_refusals_of_one_volley_widen_it_once() {
        let mut spacing = Spacing::default();
        for order in 0..10 {
            spacing.refused(at(0), order, 10);
        }
        assert_eq!(spacing.interval(), ms(100));
        assert_eq!(spacing.grounds(), (1, 0));
    }

    #[test]
    fn refusals_of_successive_sends_double_it() {
        let mut spacing = Spacing::default();
        for order in 0..4 {
            spacing.refused(at(0), order, order + 1);
        }
        assert_eq!(spacing.interval(), ms(800));
    }

    #[test]
    fn the_wall_is_approached_slowly_from_near() {
        let mut spacing = Spacing::default();
        spacing.refused(at(0), 0, 1);
        spacing.refused(at(100), 1, 2);
        let steps = (2..).take_while(|order| {
            spacing.accepted(*order);
            spacing.interval() > ms(110)
        });
        // 200 ms to 118 ms in five steps of a tenth, the sixth leads to 106 ms.
        assert_eq!(steps.count(), 5);
        let near = spacing.interval();
        spacing.accepted(9);
        assert_eq!(spacing.interval(), near - near / 300);
    }

    #[test]
    fn what_was_accepted_between_two_refusals_measures_the_rate() {
        let mut spacing = Spacing::default();
        spacing.refused(at(0), 0, 1);
        for order in 1..=10 {
            spacing.accepted(order);
        }
        // From 100 ms it had come down to 35 ms; ten in 0.5 s are one in 50 ms.
        assert!(spacing.interval() < ms(36));
        spacing.refused(at(500), 11, 12);
        assert_eq!(spacing.interval(), ms(50));
    }

    #[test]
    fn an_isolated_refusal_is_forgotten_within_a_second_and_fifty_successes() {
        let mut spacing = Spacing::default();
        spacing.refused(at(0), 0, 1);
        let mut spent = Duration::ZERO;
        let mut sends = 0;
        while !spacing.interval().is_zero() {
            spent += spacing.interval();
            sends += 1;
            spacing.accepted(sends);
        }
        assert!(spent <= ms(1000) && sends <= 50, "{spent:?}, {sends} sends");
    }

    #[test]
    fn after_an_outage_it_is_gone_within_a_seventh_of_the_outage() {
        let mut spacing = Spacing::default();
        spacing.refused(at(0), 0, 1);
        spacing.try_after(Duration::from_secs(14));
        let mut spent = Duration::ZERO;
        let mut order = 1;
        while !spacing.interval().is_zero() {
            spent += spacing.interval();
            spacing.accepted(order);
            order += 1;
        }
        assert!(
            spent <= Duration::from_secs(2) && order < 10,
            "{spent:?}, {order} sends"
        );
    }

    #[test]
    fn a_refusal_during_the_trial_shows_that_the_run_was_the_interval() {
        let mut spacing = Spacing::default();
        spacing.refused(at(0), 0, 1);
        spacing.try_after(Duration::from_secs(8));
        assert_eq!(spacing.interval(), Duration::from_secs(1));
        spacing.refused(at(0), 1, 2);
        assert_eq!(spacing.interval(), Duration::from_secs(8));
    }
}
