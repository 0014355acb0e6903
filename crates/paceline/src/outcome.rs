//! What a request went through, and why one was not sent.

use core::fmt;
use core::time::Duration;

use paceline_engine::{Reason, Refusal, Timestamp, TooCostly};

/// What a request went through; rides in the response's extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// HTTP requests that left for it, redirect hops not counted.
    pub attempts: u32,
    /// Redirects that were followed; each was one HTTP request more.
    pub redirects: u32,
    /// Answers that were refusals (`rate_limited` or `overloaded`).
    pub refused: u32,
    /// The status of the last answer; `None` if there was none.
    pub status: Option<u16>,
    /// Whether the last answer was one of them, whatever its status: some upstreams refuse with 200 and say so in the body.
    pub ends_refused: bool,
    /// Time spent in line and in its own delays.
    pub waited: Duration,
    /// The same by reason, in the order in which they first came up.
    pub waits: Vec<(Reason, Duration)>,
    /// Why it was not tried again; `None` when it was served.
    pub stopped: Option<Reason>,
    /// How long the upstream asked to wait, when it was refused.
    pub asked: Option<Duration>,
    /// From the answer on, the time until the next request may start, and why; `None` if at once, or never.
    pub next_allowed: Option<(Duration, Reason)>,
}

impl Outcome {
    /// This, and then a redirect that went through `hop`.
    #[cfg(feature = "reqwest")]
    pub(crate) fn redirected(mut self, hop: Self) -> Self {
        let left = u32::from(hop.attempts > 0);
        self.attempts += hop.attempts - left;
        self.redirects += left;
        self.refused += hop.refused;
        for (reason, time) in hop.waits {
            self.waited_for(reason, time);
        }
        Self {
            status: hop.status,
            ends_refused: hop.ends_refused,
            stopped: hop.stopped,
            asked: hop.asked,
            next_allowed: hop.next_allowed,
            ..self
        }
    }

    pub(crate) fn waited_for(&mut self, reason: Reason, time: Duration) {
        if time.is_zero() {
            return;
        }
        self.waited += time;
        match self.waits.iter_mut().find(|(own, _)| *own == reason) {
            Some((_, sum)) => *sum += time,
            None => self.waits.push((reason, time)),
        }
    }
}

/// Nothing was sent, or nothing more: why, for how long it waited, and when it would have been possible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// The upstream's name.
    pub upstream: Box<str>,
    /// What ended it.
    pub reason: Reason,
    /// What it would have had to wait for.
    pub waiting_for: Option<Reason>,
    /// From then on, when it would have been possible, as far as is known.
    pub possible_in: Option<Duration>,
    /// How long the upstream asked us to stop, if such a pause is in force.
    pub asked: Option<Duration>,
    /// Which limit it exceeds, if it costs more than that ever allows.
    pub too_costly: Option<Box<TooCostly>>,
    /// What it had been through by then.
    pub outcome: Box<Outcome>,
}

impl Stopped {
    pub(crate) fn new(upstream: &str, now: Timestamp, refusal: Refusal) -> Self {
        Self {
            upstream: upstream.into(),
            reason: refusal.reason,
            waiting_for: refusal.waiting_for,
            possible_in: refusal.possible_at.map(|at| at.since(now)),
            asked: refusal.asked,
            too_costly: refusal.too_costly,
            outcome: Box::default(),
        }
    }

    #[cfg(feature = "tower")]
    pub(crate) fn out_of_time(upstream: &str) -> Self {
        Self {
            upstream: upstream.into(),
            reason: Reason::Deadline,
            waiting_for: None,
            possible_in: None,
            asked: None,
            too_costly: None,
            outcome: Box::default(),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent = if self.outcome.attempts == 0 {
            "not sent"
        } else {
            "not sent again"
        };
        write!(f, "{}: {sent}: {}", self.upstream, self.reason)?;
        if let Some(too_costly) = &self.too_costly {
            write!(f, ": {too_costly}")?;
        }
        if let Some(waiting_for) = self.waiting_for {
            write!(f, "; {waiting_for}")?;
        }
        if let Some(asked) = self.asked {
            write!(f, "; the upstream asked for {}", Seconds(asked))?;
        }
        if let Some(possible_in) = self.possible_in {
            write!(f, "; possible in {}", Seconds(possible_in))?;
        }
        if !self.outcome.waited.is_zero() {
            write!(f, "; waited {}", Seconds(self.outcome.waited))?;
        }
        Ok(())
    }
}

impl core::error::Error for Stopped {}

/// A duration for people: `0.25 s`, `12.3 s`, `3600 s`.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0.as_secs_f64();
        match secs {
            0.0..1.0 => write!(f, "{secs:.2} s"),
            1.0..100.0 if self.0.subsec_nanos() != 0 => write!(f, "{secs:.1} s"),
            _ => write!(f, "{secs:.0} s"),
        }
    }
}
