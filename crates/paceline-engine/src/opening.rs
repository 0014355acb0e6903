//! When a request may start, as one part of a gate sees it.

use crate::{Deadline, Reason, Timestamp};

/// One part's answer to "when may the next one start": the combination of all parts' answers is the gate's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Not before this, for a reason; `ZERO` means that time is no obstacle.
    not_before: Deadline,
    /// Not before something in flight ends or is answered.
    completion: Option<Reason>,
    /// When the completion is no longer waited for.
    recheck: Timestamp,
    /// Not at all: fails now.
    never: Option<Reason>,
}

impl Opening {
    /// At once.
    pub(crate) const NOW: Self = Self {
        not_before: Deadline::new(Timestamp::ZERO, Reason::Turn),
        completion: None,
        recheck: Timestamp::MAX,
        never: None,
    };

    /// At `at`, because of `reason`.
    pub(crate) const fn at(at: Timestamp, reason: Reason) -> Self {
        Self {
            not_before: Deadline::new(at, reason),
            ..Self::NOW
        }
    }

    /// When something in flight ends, or at `recheck` if that comes first.
    pub(crate) const fn completion(reason: Reason, recheck: Timestamp) -> Self {
        Self {
            completion: Some(reason),
            recheck,
            ..Self::NOW
        }
    }

    /// Not at all. `again` is when asking anew makes sense.
    pub(crate) const fn never(reason: Reason, again: Timestamp) -> Self {
        Self {
            never: Some(reason),
            not_before: Deadline::new(again, reason),
            ..Self::NOW
        }
    }

    /// Both must open.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            not_before: self.not_before.latest(other.not_before),
            completion: self.completion.or(other.completion),
            recheck: self.recheck.min(other.recheck),
            never: self.never.or(other.never),
        }
    }

    /// Open at `now`.
    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.never.is_none() && self.completion.is_none() && self.not_before.at <= now
    }

    /// Why it will never open.
    pub(crate) const fn refusal(&self) -> Option<Reason> {
        self.never
    }

    /// What it waits for; the time if it is still ahead, else the completion.
    pub(crate) fn reason(&self, now: Timestamp) -> Reason {
        match (self.never, self.completion) {
            (Some(reason), _) => reason,
            (None, Some(reason)) if self.not_before.at <= now => reason,
            _ => self.not_before.reason,
        }
    }

    /// The earliest time it can open, whatever else happens, as far as is known.
    pub(crate) const fn earliest(&self) -> Timestamp {
        self.not_before.at
    }

    /// When to look again without any other input; `None` if only an input can change the answer.
    pub(crate) fn look_again(&self, now: Timestamp) -> Option<Deadline> {
        match self.completion {
            _ if self.not_before.at > now => Some(self.not_before),
            Some(reason) if self.recheck < Timestamp::MAX => {
                Some(Deadline::new(self.recheck, reason))
            }
            _ => None,
        }
    }

    /// Whether it opens by `at` without anything in flight having to end.
    pub(crate) fn opens_by(&self, at: Timestamp) -> bool {
        self.never.is_none() && self.completion.is_none() && self.not_before.at <= at
    }

    /// Whether it opens by `at` once something in flight has ended.
    pub(crate) fn opens_by_with_completions(&self, at: Timestamp) -> bool {
        self.never.is_none() && self.not_before.at <= at
    }
}
