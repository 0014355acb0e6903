//! Waits that answers name: whom they stop, and for how long.

use core::time::Duration;

use super::pause::Stop;
use super::{Answered, Change, Gate, is_narrow};
use crate::{Answer, Kind, Scope, Timestamp};

/// A pause ends up to this part of itself later, so that processes that share the quota do not return together.
const PAUSE_SPREAD: u32 = 32;
const LONGEST_SPREAD: Duration = Duration::from_secs(1);

/// A quota that is used up, with no word about its end: asked for again after this, then twice that, and so on.
const QUOTA: Duration = Duration::from_secs(60);
/// A longer stop fails most callers.
const TAKEN_AT_ITS_WORD: Duration = Duration::from_secs(60);

impl Gate {
    /// Stops for a hint that speaks for the whole gate.
    pub(super) fn heed(
        &mut self,
        now: Timestamp,
        answer: Answered<'_>,
        explained: bool,
        rng: &mut fastrand::Rng,
        changed: &mut impl FnMut(Change),
    ) {
        let Answered { order, seen, .. } = answer;
        let exhausted = (seen.kind == Kind::Quota).then_some(QUOTA);
        let (Some(asked), Answer::Status(status)) = (seen.wait.or(exhausted), seen.answer) else {
            return;
        };
        if is_narrow(seen.scope) {
            return;
        }
        let assumed = seen.assumed || seen.wait.is_none();
        let asked = match assumed {
            true => self.pause.assumed(asked, order, answer.next_order),
            false => asked,
        };
        // In the upstream's own words for everybody: whoever was served beside it left before it came to that.
        let global = seen.scope == Scope::Global || answer.named && seen.scope == Scope::User;
        // Served later than the refused one left: it was about that request alone.
        let overtaken = self.served_order > order;
        // So long a stop would fail whoever waits: not on the word of a single answer among good ones.
        let named = !assumed && !explained && !answer.named && seen.kind == Kind::Rate;
        let alone =
            named && asked > TAKEN_AT_ITS_WORD && self.served_order > 0 && self.belief.run() < 2;
        let local = overtaken || alone || self.belief.is_noise();
        if asked.is_zero() || (local && !global) {
            return;
        }
        let by = if global { answer.next_order } else { order };
        self.stop(now, asked, (by, status), rng, changed);
    }

    /// Stops for a wait that whoever was served is told, unless a window holds the next ones until then: that one knows
    /// what is under way.
    pub(super) fn obey(
        &mut self,
        now: Timestamp,
        answer: Answered<'_>,
        rng: &mut fastrand::Rng,
        changed: &mut impl FnMut(Change),
    ) {
        let seen = answer.seen;
        let (Some(asked), Answer::Status(status)) = (seen.wait, seen.answer) else {
            return;
        };
        let is_reset = seen.windows.iter().any(|own| own.reset == Some(asked));
        if !is_reset && !is_narrow(seen.scope) {
            // Those that have left already do not prove it wrong.
            self.stop(now, asked, (answer.next_order, status), rng, changed);
        }
    }

    /// Nobody starts for `asked`, and a little longer. Served requests that leave after `by` show that it was local.
    fn stop(
        &mut self,
        now: Timestamp,
        asked: Duration,
        (by, status): (u64, u16),
        rng: &mut fastrand::Rng,
        changed: &mut impl FnMut(Change),
    ) {
        let spread = (asked / PAUSE_SPREAD).min(LONGEST_SPREAD);
        let jitter = rng.u64(0..=crate::time::nanos(spread));
        let until = now + asked + Duration::from_nanos(jitter);
        let since = now;
        let stop = Stop {
            until,
            since,
            asked,
            by,
            status,
        };
        if self.pause.extend(now, stop) {
            changed(Change::Paused { until, asked });
        }
    }

    /// The pause in force: how long the server asked for.
    pub(crate) fn asked(&self, now: Timestamp) -> Option<Duration> {
        self.pause.current(now).map(|stop| stop.asked)
    }
}
