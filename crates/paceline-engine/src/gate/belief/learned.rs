//! What an answer changes: the buckets, what they are weighed against, the run that is going on.

use std::collections::VecDeque;

use minicbor::{Decode, Encode};

use super::bucket::{Buckets, FASTEST, SLOWEST};
use super::burst::Burst;
use super::change::Doubt;
use super::early::EarlyStarts;
use super::journal::{Journal, Send};
use super::run::Run;
use super::slots::Slots;
use super::trial::Trial;
use super::window::Window;
use crate::record::sound::{Flaw, Sound, counts, ensure, numbers};

/// Everything that is believed about a limit.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(super) struct Learned {
    #[n(0)]
    pub(super) buckets: Buckets,
    #[n(1)]
    pub(super) slots: Slots,
    #[n(2)]
    pub(super) window: Window,
    /// Which answers those to accepted sends were that later sends were beside.
    #[n(3)]
    held: VecDeque<u64>,
    /// Left before anything was believed and not answered yet, and which answer the latest to one of them was.
    #[n(4)]
    strangers: u64,
    #[n(5)]
    known_from: u64,
    #[n(6)]
    pub(super) journal: Journal,
    #[n(7)]
    pub(super) run: Run,
    /// The belief from when the run began, if there was one, and how many had been accepted by then.
    #[n(8)]
    pub(super) before: Option<(Box<Buckets>, u64)>,
    #[n(9)]
    pub(super) trial: Option<Trial>,
    #[n(10)]
    doubt: Doubt,
    #[n(11)]
    pub(super) tests: EarlyStarts,
    #[n(12)]
    pub(super) last_sent: f64,
    /// Since the limit was last found to be another one.
    #[n(13)]
    pub(super) accepted: u64,
    /// Refusals of requests that left after the one before was known.
    #[n(14)]
    pub(super) refusals: u64,
    /// Accepted since the last refusal.
    #[n(15)]
    pub(super) peace: u64,
    /// The pause that refusals ask for, in seconds: a moving average.
    #[n(16)]
    asked: f64,
    /// The pause that the last answer asked for.
    #[n(17)]
    pub(super) asked_last: f64,
    /// The latest accepted send, and the longest time between two with a refusal in between: so long a wait was enough.
    #[n(18)]
    accepted_at: f64,
    #[n(19)]
    pub(super) enough: f64,
    /// A send that might be refused is under way: one at a time.
    #[n(20)]
    pub(super) risked: Option<u64>,
}

/// Pauses are averaged over so many refusals.
const REMEMBERED: f64 = 8.0;
/// When something has changed, so many times slower and faster.
const CHANGE: f64 = 60.0;
/// How likely no limit at all is: at first; after a change; at the end of a first run, which was most likely an outage or a
/// window if it is not a limit's interval.
const FREE_AT_FIRST: f64 = 0.1;
const FREE_AFTER_A_CHANGE: f64 = 0.05;
const FREE_AFTER_A_RUN: f64 = 0.9;
/// A run of so many of the believed intervals is more likely to have been an outage.
const LONG_RUN: f64 = 8.0;
/// After so long a pause, in seconds, an acceptance ends a run, however few were refused.
const LONG_PAUSE: f64 = 2.0;
/// An acceptance less likely than this says that the limit may have been raised.
const SURPRISE: f64 = 0.2;
/// How much a larger bucket holds is known less well: one that is served early proves little, several in a row do. While
/// the belief is wide, bold starts find it out.
const SURPRISE_IF_HOLDING: f64 = 0.9;

impl Learned {
    /// After the first refusal, of the send `order` at `at`, with so many `strangers` under way, itself included.
    pub(super) fn new((order, at): (u64, f64), strangers: u64, burst: &Burst) -> Self {
        let (passed, first) = burst.passed();
        Self {
            buckets: Buckets::wide(at, SLOWEST, FASTEST, FREE_AT_FIRST, burst),
            slots: Slots::default(),
            window: Window::after(passed as usize, first, order),
            held: VecDeque::new(),
            strangers,
            known_from: 0,
            journal: Journal::default(),
            run: Run::default(),
            before: None,
            trial: None,
            doubt: Doubt::default(),
            tests: EarlyStarts::default(),
            last_sent: at,
            accepted: 0,
            refusals: 0,
            peace: 0,
            asked: 0.0,
            asked_last: 0.0,
            accepted_at: at,
            enough: 0.0,
            risked: None,
        }
    }

    /// Whom to follow: the buckets, or the belief from before a run while that is more likely.
    pub(super) fn lead(&self) -> &Buckets {
        match &self.trial {
            Some(trial) if trial.leads() => &trial.buckets,
            _ => &self.buckets,
        }
    }

    /// What a refusal costs in sends: itself, and all that could have left in the pause that it asks for.
    pub(super) fn dear(&self, rate: f64) -> f64 {
        1.0 + self.asked * rate
    }

    /// A refusal asks for a pause of so many seconds.
    pub(super) fn asks(&mut self, asked: f64) {
        let memory = (self.refusals as f64 + 1.0).min(REMEMBERED);
        self.asked += (asked - self.asked) / memory;
    }

    /// The send `order` did not leave after all, or nobody will tell.
    pub(super) fn lost(&mut self, order: u64) {
        if !self.journal.forget(order) {
            self.strangers = self.strangers.saturating_sub(1);
        }
        self.window.forget(order);
        if self.risked == Some(order) {
            self.risked = None;
        }
    }

    /// An answer to one that left before anything was believed.
    pub(super) fn meet(
        &mut self,
        now: f64,
        (order, at): (u64, f64),
        accepted: bool,
        asked: f64,
        next_order: u64,
        burst: &mut Burst,
    ) {
        let send = self.journal.stranger(now, order, at, accepted, asked);
        self.strangers = self.strangers.saturating_sub(1);
        self.known_from = send.arrived;
        // Those of one volley overtake each other on their way: it may well have been served before the first was refused.
        let overtook = accepted && burst.may_be_overtaken_by(order, at);
        if overtook {
            burst.overtook(order, at);
            self.buckets.hold(burst, at);
            self.window.accepted(order, at);
            self.held.push_back(send.arrived);
            return;
        }
        if !accepted && burst.forget(order) {
            self.buckets.hold(burst, at);
        }
        // It speaks of the time before, which does not make what is believed now any surer.
        let accepted = self.accepted;
        self.judge(&send, next_order, burst);
        self.accepted = self.accepted.min(accepted);
    }

    /// Takes the next answer in send order.
    pub(super) fn judge(&mut self, send: &Send, next_order: u64, burst: &Burst) {
        let early = self.risked == Some(send.order);
        if self.risked.is_some_and(|risked| send.order >= risked) {
            self.risked = None;
        }
        let Some(accepted) = send.answer else {
            self.buckets.miss(send.at);
            self.window.missed(send.order, send.at);
            if let Some(trial) = &mut self.trial {
                trial.buckets.miss(send.at);
            }
            return;
        };
        let begins = !accepted && self.run.length == 0;
        if !accepted {
            self.peace = 0;
            let fresh = self.run.refused(send.at, send.order, next_order);
            self.refusals += u64::from(fresh);
            self.window.refused(send.order, send.at, begins);
        }
        let likely = self.weigh(send, accepted, burst);
        if begins {
            // What is undecided when the next run begins is decided by then.
            if let Some(trial) = self.trial.take()
                && trial.leads()
            {
                self.buckets = *trial.buckets;
            }
            // Nothing is known before the first run, be it of all or since a change; only an acceptance ends it.
            self.before =
                (self.accepted > 0).then(|| (Box::new(self.buckets.clone()), self.accepted));
        }
        let asked_before = core::mem::replace(&mut self.asked_last, send.asked);
        if accepted {
            let surprise = if early && self.lead().holds() >= 2.0 && !self.is_wide() {
                SURPRISE_IF_HOLDING
            } else {
                SURPRISE
            };
            if likely < surprise && self.window.known().is_none() {
                self.tests.hurry();
            }
            self.accepted += 1;
            self.peace += 1;
            self.tests.accepted();
            if self.run.length > 0 {
                self.enough = self.enough.max(send.at - self.accepted_at);
            }
            self.accepted_at = self.accepted_at.max(send.at);
            self.end_run(send, asked_before, burst);
            if self.window.accepted(send.order, send.at) {
                self.tests.hurry();
            }
        }
    }

    /// Weighs an answer; how likely it was to the buckets.
    fn weigh(&mut self, send: &Send, accepted: bool, burst: &Burst) -> f64 {
        let likely = self.buckets.learn(send.at, accepted, send.asked);
        // Only what was accepted holds a place; all that does must be known.
        self.held.retain(|arrived| *arrived > send.after);
        if self.strangers == 0 && send.after >= self.known_from {
            self.slots
                .learn(self.held.len() as u64 + 1, accepted, likely);
        }
        if accepted {
            self.held.push_back(send.arrived);
        }
        if let Some(trial) = &mut self.trial {
            match trial.weigh(send.at, accepted, send.asked, likely) {
                None => {}
                Some(true) => {
                    if let Some(won) = self.trial.take() {
                        self.buckets = *won.buckets;
                        self.accepted = self.accepted.max(won.known);
                    }
                    self.doubt = Doubt::default();
                }
                Some(false) => self.trial = None,
            }
        } else if self.doubt.changed(likely) {
            let middle = self.buckets.spread().middle;
            let (from, to) = (
                (middle / CHANGE).max(SLOWEST),
                (middle * CHANGE).min(FASTEST),
            );
            self.buckets = Buckets::wide(send.at, from, to, FREE_AFTER_A_CHANGE, burst);
            self.accepted = 0;
            self.tests.changed();
        }
        likely
    }

    /// An acceptance ends a run. If the run was long, the belief from before it is put on trial against the new one.
    fn end_run(&mut self, send: &Send, asked_before: f64, burst: &Burst) {
        let one_probe = self.run.length < 2 || self.run.is_fresh(send.order);
        if self.run.length == 0 || !one_probe {
            return;
        }
        let named = asked_before > 0.0;
        self.window
            .opened(self.run.last, send.order, send.at, named);
        let before = self.before.take();
        if self.window.known().is_some() {
            self.trial = None;
            self.run.length = 0;
            return;
        }
        let long = before.as_ref().is_none_or(|(before, _)| {
            let intervals = (send.at - self.run.started) * before.spread().middle;
            before.free() > 0.5 || intervals > LONG_RUN
        });
        // A pause ended the run, and before it no limit was in sight, or many had been let through at once: that may have been
        // a window's, and it lets as many through again.
        let window = named
            && before.as_ref().map_or_else(
                || self.buckets.holds() >= 2.0,
                |(before, _)| before.free() > 0.5,
            );
        let waited = asked_before.max(send.at - self.run.last);
        let walked = self.run.length >= 2 || waited >= LONG_PAUSE;
        if self.trial.is_none() && (window || walked && long) {
            let (mut before, known) = before.unwrap_or_else(|| {
                let wide = Buckets::wide(send.at, SLOWEST, FASTEST, FREE_AFTER_A_RUN, burst);
                (Box::new(wide), 0)
            });
            before.rested(send.at);
            // A bucket of one has just given what the rest had brought.
            if known > 0 && before.holds() < 2.0 {
                before.learn(send.at, true, 0.0);
            }
            self.trial = Some(Trial::new(before, known));
        }
        self.run.length = 0;
    }
}

impl Sound for Learned {
    fn check(&self) -> Result<(), Flaw> {
        counts([self.accepted, self.refusals, self.peace])?;
        numbers([self.last_sent, self.asked, self.asked_last])?;
        numbers([self.accepted_at, self.enough])?;
        let known = self.held.iter().all(|own| *own <= self.journal.answers());
        ensure(known, "a place that is held by an answer to come")?;
        if let Some((buckets, accepted)) = &self.before {
            counts([*accepted])?;
            buckets.check()?;
        }
        self.buckets.check()?;
        self.slots.check()?;
        self.window.check()?;
        self.journal.check()?;
        self.run.check()?;
        self.trial.check()?;
        self.doubt.check()?;
        self.tests.check()
    }
}
