//! When the next one may start, and how much may be risked for it.
//!
//! Bold while the belief is wide: a refusal then buys a bisection. Careful once it is narrow, for from there each further
//! refusal buys nothing. One risk at a time: what is sent before its answer is known is careful.

use super::learned::Learned;
use super::window::Dares;

/// How the next start is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Almost surely accepted.
    Careful,
    /// Accepted with this probability.
    Bold(f64),
    /// Too early on purpose.
    Test,
}

/// The next start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    /// Seconds; in the past or minus infinity for at once.
    pub(super) at: f64,
    /// Only when nothing is under way any more.
    pub(super) alone: bool,
}

/// The chance that a bold start is accepted: halves what is unknown, a little on the hopeful side.
const BOLD: f64 = 0.4;
const BOLDEST_IF_DEAR: f64 = 0.97;
const CAREFUL: f64 = 0.985;
/// Whoever is first in line may meet several tests in a row: up to so much of a row of refusals is nobody's fault.
const TESTS_REFUSED: f64 = 0.3;
/// How fast the limit is taken to be, surely, when a test is timed.
const LIKELY: f64 = 0.9;
/// A test leaves when so much of a token is there.
const TESTED: f64 = 0.65;
/// And so early that its acceptance would be a surprise, whatever is known of the tokens.
const SURPRISING: f64 = 0.05;
/// But a limit raised to twice as much must accept it: not before half an interval.
const SOONEST: f64 = 0.5;
/// Narrow enough is this divided by the number of acceptances: what is lost to caution by then is what was lost before.
const NARROW: f64 = 1.7;
/// A bucket that holds more than one keeps what a careful pace leaves; it may stay wider.
const KEEPS_UP_TO: f64 = 3.0;
/// The tokens are not known better than this.
const NARROWEST: f64 = 0.02;
/// A hypothesis of little weight must not stall everybody: nobody waits longer than so many of the likely intervals.
const PATIENCE: f64 = 3.0;
const ENOUGH: f64 = 1.5;
/// After the first refusals of a run, the next probe comes after two likely intervals at the latest, or so many seconds.
const SHORT_RUN: u32 = 3;
/// Seconds: instants are whole nanoseconds out there and floating point in here.
const ROUNDING: f64 = 1e-6;
const PROBE_AFTER: f64 = 2.0;
/// And no probe is much further off than what has passed, or so many seconds.
const PASSED: f64 = 4.0;
const A_WHILE: f64 = 1.0;
const LONGEST_INTERVAL: f64 = 30.0;

impl Learned {
    fn mode(&self) -> Mode {
        let lead = self.lead();
        let spread = lead.spread();
        if self.risked.is_some() {
            return Mode::Careful;
        }
        if self.run.length == 0 && self.tests.is_due(self.dear(spread.middle)) {
            return Mode::Test;
        }
        if self.is_wide() {
            let sure = 1.0 - 1.0 / self.dear(spread.low);
            return Mode::Bold(sure.clamp(BOLD, BOLDEST_IF_DEAR));
        }
        Mode::Careful
    }

    /// Too little is known for caution to pay.
    pub(super) fn is_wide(&self) -> bool {
        let lead = self.lead();
        let spread = lead.spread();
        let width = spread.high / spread.low - 1.0;
        let narrow = NARROW * lead.holds().min(KEEPS_UP_TO) / (self.accepted as f64 + 1.0);
        width > narrow.max(NARROWEST)
    }

    /// The chance of a refusal that is taken on purpose: nobody's own fault.
    pub(super) fn risk(&self) -> f64 {
        if self.window.known().is_some() {
            // Whoever walks a run that is longer than the window knows no better than at first.
            if self.run.length < 2 {
                TESTS_REFUSED
            } else {
                1.0 - BOLD
            }
        } else if self.lead().free() >= BOLD && !self.slots.is_likely() {
            0.0
        } else if self.is_wide() {
            1.0 - BOLD
        } else {
            TESTS_REFUSED
        }
    }

    /// A request leaves.
    pub(super) fn sent(&mut self, now: f64, order: u64) {
        let pending = self.journal.pending() as f64;
        let careful = self
            .window
            .opens(0, Dares::Nothing)
            .unwrap_or_else(|| self.lead().opens(CAREFUL, 1.0, pending, self.last_sent));
        // Who leaves when it was told to is not early, however instants were rounded.
        if careful > now + ROUNDING {
            // Whoever leaves later than a test would, tests nothing.
            if self.mode() == Mode::Test {
                self.tests.done();
            }
            self.risked = Some(order);
        }
        self.journal.sent(order, now);
        self.window.sent(order, now);
        self.last_sent = self.last_sent.max(now);
    }

    /// The next start where a window is followed.
    fn in_window(&self, ahead: u64) -> Option<Start> {
        self.window.known()?;
        let dares = if self.risked.is_some() || self.run.length > 1 {
            Dares::Nothing
        } else if self.window.is_unsure() {
            Dares::Bold
        } else if self.mode() == Mode::Test {
            Dares::Test
        } else {
            Dares::Nothing
        };
        let at = self.window.opens(ahead as usize, dares)?;
        if self.run.length == 0 {
            return Some(Start { at, alone: false });
        }
        let probe = self.run.probe_by();
        Some(Start {
            at: if at > self.run.last { at } else { probe },
            alone: self.journal.unanswered() + ahead > 0,
        })
    }

    /// The earliest next start behind `ahead` others.
    pub(super) fn start(&self, ahead: u64) -> Start {
        if let Some(start) = self.in_window(ahead) {
            return start;
        }
        let lead = self.lead();
        let interval = 1.0 / lead.spread().middle;
        let under_way = self.journal.pending() as f64 + ahead as f64;
        let opens = |sure, need| lead.opens(sure, need, under_way, self.last_sent);
        let at = match self.mode() {
            Mode::Test => {
                let surprising = opens(SURPRISING, 1.0).max(self.last_sent + SOONEST * interval);
                opens(LIKELY, TESTED).min(surprising)
            }
            Mode::Bold(sure) if ahead == 0 => opens(sure, 1.0),
            _ => opens(CAREFUL, 1.0),
        };
        let at = at.min(self.last_sent + PATIENCE * interval);
        let unanswered = self.journal.unanswered() + ahead;
        if self.run.length == 0 {
            // Nothing was refused since: no wait that is much longer than the longest that was needed.
            let bound = self.last_sent + ENOUGH * self.enough;
            let at = if self.enough > 0.0 { at.min(bound) } else { at };
            let alone = self
                .trial
                .as_ref()
                .is_some_and(|trial| unanswered > trial.accepted);
            return Start { at, alone };
        }
        let mut probe = self.run.probe_by();
        if self.run.length < SHORT_RUN && self.asked_last == 0.0 {
            let mut after = PROBE_AFTER * interval.min(LONGEST_INTERVAL);
            if self.enough > 0.0 {
                after = after.min(self.enough);
            }
            if self.run.length > 1 {
                after = after.min(A_WHILE.max(PASSED * (self.run.last - self.run.started)));
            }
            probe = probe.max(self.run.last + after);
        }
        if at <= probe && self.run.length < 2 {
            return Start { at, alone: false };
        }
        let sooner = at >= self.run.probe_from() && at < probe;
        Start {
            at: if sooner { at } else { probe },
            alone: unanswered > 0,
        }
    }
}
