//! One request and all its attempts.

use core::time::Duration;
use std::sync::Arc;

use paceline_engine::{
    Answer, Attempts, Decision, Observation, Place, Reason, Repeatable, RetryPolicy, Timestamp,
    Want,
};

use crate::driver::{Acquire, Asking, Attempt, Granted, Permit};
use crate::outcome::{Outcome, Stopped};
use crate::pace::Pace;
use crate::prepaid::Prepaid;

/// One request: its place in line, its attempts, its time.
///
/// The adapters are loops around it, and so can yours be:
///
/// ```no_run
/// # use paceline::*;
/// # async fn send() -> Observation { Observation::status(Verdict::Ok, 200) }
/// # async fn example(pace: Pace) -> Result<Outcome, Stopped> {
/// let mut call = Call::new(&pace, pace.want());
/// loop {
///     let mut permit = call.acquire().await?;
///     permit.sending();
///     let seen = send().await; // read from the response's head
///     match call.settle(&mut permit, &seen) {
///         Next::Return(outcome) => return Ok(outcome),
///         Next::Again => continue,
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Call {
    pace: Pace,
    want: Want,
    policy: Arc<RetryPolicy>,
    repeatable: Repeatable,
    attempts: Attempts,
    place: Option<Place>,
    not_before: Timestamp,
    /// When the wait before the next attempt began.
    since: Timestamp,
    prepaid: Option<Prepaid>,
    queue_wait: Option<Duration>,
    outcome: Outcome,
}

/// What to do with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[allow(
    clippy::exhaustive_enums,
    reason = "an answer is returned or the request goes again"
)]
pub enum Next {
    /// Give it to the caller, with this beside it.
    Return(Outcome),
    /// Drop it, and acquire again.
    Again,
}

impl Call {
    /// A request that may be repeated, under its pace's policy.
    pub fn new(pace: &Pace, want: Want) -> Self {
        Self {
            pace: pace.clone(),
            want,
            policy: pace.policy(),
            repeatable: Repeatable::YES,
            attempts: Attempts::new(),
            place: None,
            not_before: Timestamp::ZERO,
            since: Timestamp::ZERO,
            prepaid: None,
            queue_wait: None,
            outcome: Outcome::default(),
        }
    }

    /// With this policy.
    #[must_use]
    pub fn policy(mut self, policy: Arc<RetryPolicy>) -> Self {
        self.want.best_effort |= policy.best_effort;
        self.policy = policy;
        self
    }

    /// Whether it can be sent more than once.
    #[must_use]
    pub const fn repeatable(mut self, repeatable: Repeatable) -> Self {
        self.repeatable = repeatable;
        self
    }

    /// Waits and sends together take no longer than this from now on.
    #[must_use]
    pub fn total(mut self, total: Duration) -> Self {
        let deadline = self.pace.after(total);
        self.want.deadline = Some(self.want.deadline.map_or(deadline, |own| own.min(deadline)));
        self
    }

    /// Each of its waits in line takes no longer than this.
    #[must_use]
    pub const fn queue_wait(mut self, wait: Duration) -> Self {
        self.queue_wait = Some(wait);
        self
    }

    /// Its first attempt uses this permit, if nobody else has.
    #[must_use]
    pub fn prepaid(mut self, prepaid: Prepaid) -> Self {
        self.prepaid = Some(prepaid);
        self
    }

    /// The end of its time.
    pub const fn deadline(&self) -> Option<Timestamp> {
        self.want.deadline
    }

    /// Time left until its deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.want
            .deadline
            .map(|deadline| deadline.since(self.pace.now()))
    }

    /// Waits for the next attempt's permit.
    ///
    /// # Errors
    ///
    /// [`Stopped`], with everything the request has been through, if there will be none in time.
    pub async fn acquire(&mut self) -> Result<Permit, Stopped> {
        let permit = match self.take_prepaid() {
            Some(permit) => permit,
            None => {
                let mut acquire = self.start();
                let granted = core::future::poll_fn(|cx| acquire.poll_granted(cx)).await;
                self.granted(granted)?
            }
        };
        self.leaves();
        Ok(permit)
    }

    /// The same for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn acquire_blocking(&mut self) -> Result<Permit, Stopped> {
        let permit = match self.take_prepaid() {
            Some(permit) => permit,
            None => {
                let granted = self.start().block();
                self.granted(granted)?
            }
        };
        self.leaves();
        Ok(permit)
    }

    /// Tells the gates what came back, also what it did cost if that is said, and decides what becomes of it.
    pub fn settle(&mut self, permit: &mut Permit, seen: &Observation) -> Next {
        let asked = seen.retry_after.filter(|_| !seen.is_served());
        let stripped;
        let seen = if self.policy.ignore_retry_after && !seen.is_served() {
            stripped = seen.without_hints();
            &stripped
        } else {
            seen
        };
        if seen.verdict.is_refusal() {
            self.outcome.refused += 1;
            if !seen.spent.is_empty() {
                // The next attempt reserves what the upstream says that it costs.
                self.want.cost = seen.price().or(&self.want.cost);
            }
        }
        self.outcome.ends_refused = seen.verdict.is_refusal();
        self.outcome.status = match seen.answer {
            Answer::Status(status) => Some(status),
            Answer::Failure(_) => None,
        };
        let asking = Asking {
            want: &self.want,
            policy: &self.policy,
            attempts: &mut self.attempts,
            repeatable: self.repeatable,
        };
        let (decision, next_start, now) = permit.settle_call(seen, asking);
        self.outcome.asked = asked;
        self.outcome.next_allowed = next_start
            .filter(|next| next.at < Timestamp::MAX)
            .map(|next| (next.at.since(now), next.reason));
        match decision {
            Decision::Again { not_before } => {
                self.since = now;
                self.not_before = not_before;
                let delay = not_before.since(now);
                self.pace
                    .shared()
                    .telemetry()
                    .retried(permit.gates(), delay);
                Next::Again
            }
            Decision::Return(reason) => {
                self.outcome.stopped =
                    (reason != Reason::Final || !seen.is_served()).then_some(reason);
                Next::Return(core::mem::take(&mut self.outcome))
            }
            _ => Next::Return(core::mem::take(&mut self.outcome)),
        }
    }

    /// What it has been through so far.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    pub(crate) fn take_prepaid(&mut self) -> Option<Permit> {
        let permit = self.prepaid.take()?.take()?;
        permit.is_from(self.pace.shared()).then_some(permit)
    }

    pub(crate) fn start(&mut self) -> Acquire {
        let shared = self.pace.shared();
        if self.attempts.sends() == 0 {
            self.since = shared.now();
        }
        let bounded = self.queue_wait.map(|wait| {
            let deadline = shared.now().max(self.not_before) + wait;
            let deadline = self.want.deadline.map_or(deadline, |own| own.min(deadline));
            self.want.clone().deadline(deadline)
        });
        let attempt = Attempt {
            want: bounded.as_ref().unwrap_or(&self.want),
            place: self.place,
            attempts: &self.attempts,
            not_before: self.not_before,
        };
        let acquire = Acquire::new(Arc::clone(shared), &attempt);
        self.place = Some(acquire.place());
        acquire
    }

    pub(crate) fn granted(&mut self, granted: Granted) -> Result<Permit, Stopped> {
        match granted {
            Ok((permit, waited, reason)) => {
                let own = self.not_before.since(self.since).min(waited);
                self.outcome.waited_for(Reason::Backoff, own);
                self.outcome.waited_for(reason, waited - own);
                Ok(permit)
            }
            Err(stopped) => Err(self.stopped(stopped)),
        }
    }

    /// It ends without having been admitted once more.
    fn stopped(&mut self, mut stopped: Stopped) -> Stopped {
        let waited = self.pace.now().since(self.since);
        self.outcome
            .waited_for(stopped.waiting_for.unwrap_or(stopped.reason), waited);
        self.outcome.stopped = Some(stopped.reason);
        *stopped.outcome = core::mem::take(&mut self.outcome);
        stopped
    }

    /// Its time ended while it waited for something else than its turn.
    #[cfg(feature = "tower")]
    pub(crate) fn out_of_time(&mut self) -> Stopped {
        let stopped = Stopped::out_of_time(self.pace.name());
        self.stopped(stopped)
    }

    /// Something else than an answer ends it: what it has been through.
    #[cfg(feature = "tower")]
    pub(crate) fn failed(&mut self) -> Outcome {
        self.outcome.stopped = Some(Reason::Failure);
        core::mem::take(&mut self.outcome)
    }

    /// It is sent now.
    pub(crate) fn leaves(&mut self) {
        self.attempts.sent();
        self.outcome.attempts += 1;
    }
}
