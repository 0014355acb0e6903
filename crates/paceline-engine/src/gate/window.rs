//! Quota periods as the server reports them.

use core::time::Duration;

use crate::opening::Opening;
use crate::{Reason, Timestamp, Unit, Window};

/// The reported windows of one gate, few and by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows {
    known: Vec<Reported>,
    /// Sent and not yet answered: the server may or may not have counted them.
    unanswered: u64,
}

/// What is known of one window.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    pub(crate) name: Option<Box<str>>,
    pub(crate) limit: Option<u64>,
    /// The least that the server said was left: its newest word, whatever order the answers came in.
    pub(crate) remaining: u64,
    pub(crate) reset: Timestamp,
}

/// A server that names more windows than this keeps the first ones; the bound is against a hostile one.
const MOST_WINDOWS: usize = 8;

/// Resets are given in whole seconds, so the same reset is seen up to a second apart; twice that is another window.
const SAME_RESET: Duration = Duration::from_secs(2);

impl Windows {
    pub(crate) const fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(crate) const fn sent(&mut self) {
        self.unanswered += 1;
    }

    pub(crate) const fn answered(&mut self) {
        self.unanswered = self.unanswered.saturating_sub(1);
    }

    pub(crate) fn report(&mut self, now: Timestamp, windows: &[Window]) {
        for window in windows {
            // Tokens, points and percents must never be spent as requests.
            let (Unit::Requests, Some(remaining), Some(reset)) =
                (&window.unit, window.remaining, window.reset)
            else {
                continue;
            };
            let seen = Reported {
                name: window.name.clone(),
                limit: window.limit(),
                remaining,
                reset: now + reset,
            };
            match self.known.iter().position(|own| own.name == seen.name) {
                Some(own) => self.known[own].learn(now, seen),
                None if self.known.len() < MOST_WINDOWS => self.known.push(seen),
                None => {}
            }
        }
    }

    /// When `cost` may be spent after `ahead`.
    pub(crate) fn opens(&self, now: Timestamp, ahead: u64, cost: u64) -> Opening {
        let needed = self.unanswered.saturating_add(ahead).saturating_add(cost);
        self.known
            .iter()
            .filter(|own| own.reset > now && own.remaining < needed)
            .map(|own| {
                if own.remaining >= cost && ahead == 0 {
                    // It would fit if those under way turn out to be counted already: their answers will tell.
                    Opening::completion(Reason::Window, own.reset)
                } else {
                    Opening::at(own.reset, Reason::Window)
                }
            })
            .fold(Opening::NOW, Opening::and)
    }

    /// The windows whose reset is still ahead. Past it, nothing is known again.
    pub(crate) fn known(&self, now: Timestamp) -> impl Iterator<Item = &Reported> {
        self.known.iter().filter(move |own| own.reset > now)
    }
}

impl Reported {
    fn learn(&mut self, now: Timestamp, seen: Self) {
        let same = self.reset > now
            && seen
                .reset
                .since(self.reset)
                .max(self.reset.since(seen.reset))
                < SAME_RESET;
        if same {
            self.remaining = self.remaining.min(seen.remaining);
            self.reset = self.reset.max(seen.reset);
            self.limit = seen.limit.or(self.limit);
        } else if seen.reset > self.reset || self.reset <= now {
            *self = seen;
        }
        // An earlier reset than the known one belongs to the window before: an answer that was overtaken.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(secs)
    }

    fn window(remaining: u64, reset: u64) -> Window {
        Window {
            remaining: Some(remaining),
            reset: Some(Duration::from_secs(reset)),
            ..Window::unknown()
        }
    }

    #[test]
    fn a_window_is_spent_to_its_end_and_no_further() {
        let mut windows = Windows::default();
        windows.report(at(0), &[window(2, 10)]);
        assert_eq!(windows.opens(at(0), 0, 1), Opening::NOW);
        windows.sent();
        assert_eq!(windows.opens(at(0), 0, 1), Opening::NOW);
        windows.sent();
        assert!(!windows.opens(at(0), 0, 1).is_open(at(0)));
        windows.answered();
        windows.report(at(1), &[window(0, 9)]);
        assert_eq!(
            windows.opens(at(1), 0, 1),
            Opening::at(at(10), Reason::Window)
        );
        assert!(windows.opens(at(10), 0, 1).is_open(at(10)));
    }

    #[test]
    fn an_answer_that_was_overtaken_does_not_raise_what_is_left() {
        let mut windows = Windows::default();
        windows.report(at(0), &[window(0, 10)]);
        windows.report(at(0), &[window(3, 10)]);
        assert!(!windows.opens(at(0), 0, 1).is_open(at(0)));
    }

    #[test]
    fn a_newer_window_replaces_the_old_and_an_older_one_does_not() {
        let mut windows = Windows::default();
        windows.report(at(0), &[window(0, 10)]);
        windows.report(at(10), &[window(5, 10)]);
        assert_eq!(windows.opens(at(10), 0, 1), Opening::NOW);
        windows.report(at(11), &[window(0, 3)]);
        assert_eq!(windows.opens(at(11), 0, 1), Opening::NOW);
    }

    #[test]
    fn a_stale_zero_does_not_block_past_its_reset() {
        let mut windows = Windows::default();
        windows.report(at(0), &[window(0, 10)]);
        assert!(windows.opens(at(10), 0, 1).is_open(at(10)));
        assert_eq!(windows.known(at(10)).count(), 0);
    }

    #[test]
    fn tokens_and_unknowns_are_not_spent_as_requests() {
        let mut windows = Windows::default();
        let tokens = Window {
            unit: Unit::Other("tokens".into()),
            ..window(0, 10)
        };
        windows.report(
            at(0),
            &[
                tokens,
                Window {
                    remaining: None,
                    ..window(0, 10)
                },
            ],
        );
        assert_eq!(windows.opens(at(0), 0, 1), Opening::NOW);
    }
}
