//! A stop that the server asked for.

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::opening::Opening;
use crate::{Reason, Timestamp};

/// The longest stop that is in force. A longer one wins, a shorter one never shortens.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(crate) struct Pause {
    #[n(0)]
    current: Option<Stop>,
    /// Stops in a row whose length nobody named.
    #[n(1)]
    assumed: u32,
    /// What left before this knew nothing of the last of them.
    #[n(2)]
    assumed_at: u64,
}

/// Longer than any hidden window that somebody would wait for without a word.
const LONGEST_ASSUMED: Duration = Duration::from_secs(3600);

/// One stop and who asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Stop {
    #[n(0)]
    pub(crate) until: Timestamp,
    #[n(1)]
    pub(crate) since: Timestamp,
    #[n(2)]
    #[cbor(with = "crate::record::duration")]
    pub(crate) asked: Duration,
    /// The send order of the request whose refusal carried it.
    #[n(3)]
    pub(crate) by: u64,
    #[n(4)]
    pub(crate) status: u16,
}

impl Pause {
    pub(crate) fn opens(&self, now: Timestamp) -> Opening {
        match self.current {
            Some(stop) if stop.until > now => Opening::at(stop.until, Reason::Pause),
            _ => Opening::NOW,
        }
    }

    /// Nobody asked for a stop, as far as is remembered.
    pub(crate) const fn is_none(&self) -> bool {
        self.current.is_none()
    }

    /// The stop in force.
    pub(crate) fn current(&self, now: Timestamp) -> Option<Stop> {
        self.current.filter(|stop| stop.until > now)
    }

    /// Takes the stop unless a longer one is in force. Says whether it did.
    pub(crate) fn extend(&mut self, now: Timestamp, stop: Stop) -> bool {
        if stop.until <= now || self.current.is_some_and(|own| own.until >= stop.until) {
            return false;
        }
        let since = self.current(now).map_or(stop.since, |own| own.since);
        self.current = Some(Stop { since, ..stop });
        true
    }

    /// How long to stop where the upstream names nothing and `least` is known to be needed: twice as long each time that it
    /// was not enough. A volley of refusals counts once; `next` is the order of the next send.
    pub(crate) fn assumed(&mut self, least: Duration, order: u64, next: u64) -> Duration {
        if order >= self.assumed_at {
            self.assumed = self.assumed.saturating_add(1);
            self.assumed_at = next;
        }
        let doubled = 1_u32 << self.assumed.saturating_sub(1).min(20);
        least
            .saturating_mul(doubled)
            .min(LONGEST_ASSUMED.max(least))
    }

    /// Served after the last stop of that kind: the next one is short again.
    pub(crate) const fn served_after_assumed(&mut self, order: u64) {
        if order >= self.assumed_at {
            self.assumed = 0;
        }
    }

    /// A request that left after the refused one was served: the stop was about that request alone.
    pub(crate) fn served(&mut self, now: Timestamp, order: u64) -> bool {
        let local = self.current(now).is_some_and(|stop| order > stop.by);
        if local {
            self.current = None;
        }
        local
    }

    pub(crate) fn clear(&mut self) {
        self.current = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(secs)
    }

    fn stop(now: u64, asked: u64, by: u64) -> Stop {
        Stop {
            until: at(now + asked),
            since: at(now),
            asked: Duration::from_secs(asked),
            by,
            status: 429,
        }
    }

    #[test]
    fn a_longer_stop_wins_and_a_shorter_one_never_shortens() {
        let mut pause = Pause::default();
        assert!(pause.extend(at(0), stop(0, 30, 1)));
        assert!(!pause.extend(at(1), stop(1, 5, 2)));
        assert_eq!(pause.opens(at(1)), Opening::at(at(30), Reason::Pause));
        assert!(pause.extend(at(2), stop(2, 60, 3)));
        assert_eq!(pause.opens(at(2)), Opening::at(at(62), Reason::Pause));
        assert_eq!(pause.current(at(2)).map(|stop| stop.since), Some(at(0)));
    }

    #[test]
    fn only_a_later_request_that_was_served_lifts_it() {
        let mut pause = Pause::default();
        pause.extend(at(0), stop(0, 30, 5));
        assert!(!pause.served(at(1), 4));
        assert!(!pause.served(at(1), 5));
        assert!(pause.served(at(1), 6));
        assert_eq!(pause.opens(at(1)), Opening::NOW);
    }

    #[test]
    fn a_stop_that_nobody_named_doubles_when_it_was_not_enough() {
        let mut pause = Pause::default();
        let minute = Duration::from_mins(1);
        let volley = [1, 2, 3].map(|order| pause.assumed(minute, order, 4));
        assert_eq!(volley, [minute; 3]);
        assert_eq!(pause.assumed(minute, 4, 5), minute * 2);
        assert_eq!(pause.assumed(minute, 5, 6), minute * 4);
        pause.served_after_assumed(3);
        assert_eq!(pause.assumed(minute, 6, 7), minute * 8);
        pause.served_after_assumed(7);
        assert_eq!(pause.assumed(minute, 8, 9), minute);
        for order in 9..40 {
            let _ = pause.assumed(minute, order, order + 1);
        }
        assert_eq!(pause.assumed(minute, 40, 41), minute * 60);
    }

    #[test]
    fn it_is_over_at_its_end_and_not_before() {
        let mut pause = Pause::default();
        pause.extend(at(0), stop(0, 30, 1));
        assert!(!pause.opens(at(29)).is_open(at(29)));
        assert!(pause.opens(at(30)).is_open(at(30)));
        assert_eq!(pause.current(at(30)), None);
    }
}
