//! Whether a request is sent again, and not before when.
//!
//! Classification comes first (`response/`), then this: is the answer one that another attempt could change, may this
//! request be repeated, is there anything left of its attempts, its time and the upstream's retry budget. When it may
//! actually leave is up to its gates.

mod backoff;
mod budget;
mod poison;

use core::time::Duration;

use crate::{Answer, Kind, Observation, Reason, Timestamp, Verdict};

pub use backoff::Backoff;
pub(crate) use budget::Budget;
pub(crate) use poison::Neighbours;

/// How far to go for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// Sends that may fail (5xx, no answer) before the failure is returned. From an upstream that has served us, 503 and 529
    /// do not count: they are waited out like refusals. More hides longer outages and multiplies load.
    pub attempts: u32,
    /// Resend a refused request whose method is not idempotent: a refusal means that it was not processed.
    pub resend_refused: bool,
    /// Pay no heed to Retry-After, for upstreams whose hints are nonsense. There is always a delay.
    pub ignore_retry_after: bool,
    /// No retries at all.
    pub best_effort: bool,
    /// The delays after failures.
    pub backoff: Backoff,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            resend_refused: false,
            ignore_retry_after: false,
            best_effort: false,
            backoff: Backoff::FAILURES,
        }
    }
}

/// Whether a request can be sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "method and body are all there is to a request"
)]
pub struct Repeatable {
    /// Doing it twice is doing it once: by its method (RFC 9110 section 9.2.2), by an Idempotency-Key, or by the caller's
    /// word.
    pub idempotent: bool,
    /// Its body can be sent again.
    pub body: bool,
}

impl Repeatable {
    /// A request that may be repeated freely.
    pub const YES: Self = Self {
        idempotent: true,
        body: true,
    };

    /// Of a request with this method; `marked` if it carries an Idempotency-Key or the caller says so.
    pub fn new(method: &http::Method, marked: bool, body: bool) -> Self {
        // `is_idempotent` knows PUT and DELETE and the safe methods (GET, HEAD, OPTIONS, TRACE).
        Self {
            idempotent: marked || method.is_idempotent(),
            body,
        }
    }
}

/// What one request has been through.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    sends: u32,
    failures: u32,
    /// Refusals in a row.
    refusals: u32,
    /// How the neighbours had been answered at the first refusal in this row, and at the last.
    first_refused: Option<Neighbours>,
    last_refused: Option<Neighbours>,
}

/// As many refusals as one request takes at the very most, whatever its time allows.
const REFUSALS_BACKSTOP: u32 = 50;

impl Attempts {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            sends: 0,
            failures: 0,
            refusals: 0,
            first_refused: None,
            last_refused: None,
        }
    }

    /// HTTP requests that left.
    pub const fn sends(&self) -> u32 {
        self.sends
    }

    /// Notes that one more HTTP request left.
    pub const fn sent(&mut self) {
        self.sends += 1;
    }

    /// How many others should ask before it does, so that their answers tell what is wrong with this request from what is
    /// wrong with everybody: after a failure two, four, up to sixteen, and after a second refusal as many.
    pub(crate) fn yields(&self) -> u32 {
        match self.failures.max(self.refusals.saturating_sub(1)) {
            0 => 0,
            row => 1 << row.min(4),
        }
    }

    /// How the neighbours had been answered when it was refused last.
    pub(crate) const fn last_refused(&self) -> Option<Neighbours> {
        self.last_refused
    }
}

/// What to do with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Give it to the caller; the reason says why it is not tried again.
    Return(Reason),
    /// Send the request again, not before this and when its gates allow.
    Again {
        /// The end of the request's own delay.
        not_before: Timestamp,
    },
}

/// What the decision depends on besides the request: its upstream's state.
pub(crate) struct Surroundings<'a> {
    pub(crate) now: Timestamp,
    pub(crate) budget: &'a mut Budget,
    pub(crate) neighbours: Neighbours,
    /// An open circuit bounds retries by itself, one probe at a time.
    pub(crate) circuit_closed: bool,
    /// All gates have served something.
    pub(crate) has_served: bool,
    /// The chance that a gate takes of a refusal, to learn its pace.
    pub(crate) risk: f64,
    pub(crate) rng: &'a mut fastrand::Rng,
}

/// Decides about an answer, before deadlines: those depend on the gates.
pub(crate) fn decide(
    policy: &RetryPolicy,
    attempts: &mut Attempts,
    repeatable: Repeatable,
    seen: &Observation,
    around: Surroundings<'_>,
) -> Decision {
    let limited = seen.verdict == Verdict::RateLimited;
    // Where others were served, "come back later" is paced like a refusal, though it does not say that nothing was done.
    let overloaded = seen.verdict == Verdict::Overloaded && around.has_served;
    let refused = limited || overloaded;
    let advised = seen.retry == Some(true) && !seen.is_served();
    if seen.retry == Some(false) || !(refused || advised || is_transient(seen)) {
        return Decision::Return(Reason::Final);
    }
    if seen.kind == Kind::Quota && seen.wait.is_none() {
        return Decision::Return(Reason::Quota);
    }
    if policy.best_effort {
        // Once is all it gets; where nothing answered, that tells more.
        let silent = matches!(seen.answer, Answer::Failure(_));
        let reason = if silent {
            Reason::Failure
        } else {
            Reason::BestEffort
        };
        return Decision::Return(reason);
    }
    let resend = repeatable.idempotent || (limited && policy.resend_refused);
    if !resend {
        return Decision::Return(Reason::NotIdempotent);
    }
    if !repeatable.body {
        return Decision::Return(Reason::BodyGone);
    }
    let hint = seen
        .wait
        .filter(|_| !policy.ignore_retry_after)
        .unwrap_or_default();
    let own = if refused {
        match after_refusal(attempts, around.neighbours, around.risk) {
            Ok(earlier) => Backoff::REFUSALS.delay(earlier, around.rng),
            Err(reason) => return Decision::Return(reason),
        }
    } else {
        attempts.failures += 1;
        attempts.refusals = 0;
        attempts.last_refused = None;
        if attempts.failures >= policy.attempts {
            return Decision::Return(Reason::Attempts);
        }
        if around.circuit_closed && !around.budget.withdraw(around.now) {
            return Decision::Return(Reason::Budget);
        }
        policy.backoff.delay(attempts.failures - 1, around.rng)
    };
    // Jitter comes after what the server asked for, never before it.
    Decision::Again {
        not_before: around.now + hint + own.min(longest_after(hint, own)),
    }
}

/// After a named wait the own delay only spreads the returns.
fn longest_after(hint: Duration, own: Duration) -> Duration {
    if hint.is_zero() {
        own
    } else {
        (hint / 32).min(Duration::from_secs(1))
    }
}

/// One refusal more: how many came before in this row, or why it was the last.
fn after_refusal(attempts: &mut Attempts, now: Neighbours, risk: f64) -> Result<u32, Reason> {
    let earlier = attempts.refusals;
    attempts.refusals += 1;
    attempts.last_refused = Some(now);
    let first = match attempts.first_refused {
        Some(first) if earlier > 0 => first,
        _ => *attempts.first_refused.insert(now),
    };
    if now.since(first).leaves_alone(attempts.refusals, risk) {
        return Err(Reason::Poisoned);
    }
    if attempts.refusals >= REFUSALS_BACKSTOP {
        return Err(Reason::Attempts);
    }
    Ok(earlier)
}

/// Failures that another attempt could change.
fn is_transient(seen: &Observation) -> bool {
    match seen.answer {
        Answer::Status(status) => matches!(status, 502 | 503 | 504 | 529),
        Answer::Failure(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(secs)
    }

    fn decide_on(
        seen: &Observation,
        repeatable: Repeatable,
        policy: &RetryPolicy,
        attempts: &mut Attempts,
    ) -> Decision {
        let around = Surroundings {
            now: at(100),
            budget: &mut Budget::default(),
            neighbours: Neighbours::default(),
            circuit_closed: true,
            has_served: false,
            risk: 0.0,
            rng: &mut fastrand::Rng::with_seed(7),
        };
        decide(policy, attempts, repeatable, seen, around)
    }

    fn once(seen: &Observation) -> Decision {
        decide_on(
            seen,
            Repeatable::YES,
            &RetryPolicy::default(),
            &mut Attempts::default(),
        )
    }

    #[test]
    fn client_errors_and_successes_are_final() {
        for status in [
            200, 204, 301, 400, 401, 403, 404, 409, 413, 422, 500, 501, 505,
        ] {
            let seen = Observation::status(Verdict::Other, status);
            assert_eq!(once(&seen), Decision::Return(Reason::Final), "{status}");
        }
    }

    #[test]
    fn refusals_bad_gateways_and_silence_are_tried_again() {
        for seen in [
            Observation::status(Verdict::RateLimited, 429),
            Observation::status(Verdict::RateLimited, 403),
            Observation::status(Verdict::Overloaded, 503),
            Observation::status(Verdict::Overloaded, 529),
            Observation::status(Verdict::Other, 502),
            Observation::status(Verdict::Other, 504),
            Observation::failure(Failure::Connect),
            Observation::failure(Failure::Timeout),
        ] {
            assert!(matches!(once(&seen), Decision::Again { .. }), "{seen:?}");
        }
    }

    #[test]
    fn a_post_is_sent_once_unless_it_is_marked_or_refused_with_the_callers_word() {
        let refused = Observation::status(Verdict::RateLimited, 429);
        let broken = Observation::failure(Failure::Broken);
        let post = Repeatable::new(&http::Method::POST, false, true);
        let keyed = Repeatable::new(&http::Method::POST, true, true);
        let opted_in = RetryPolicy {
            resend_refused: true,
            ..RetryPolicy::default()
        };
        let no = Decision::Return(Reason::NotIdempotent);
        let of = |seen, repeatable, policy: &RetryPolicy| {
            decide_on(seen, repeatable, policy, &mut Attempts::default())
        };

        assert_eq!(of(&refused, post, &RetryPolicy::default()), no);
        assert_eq!(of(&broken, post, &opted_in), no);
        // "Overloaded" may come after half of the work, however the upstream fares otherwise.
        let overloaded = Observation::status(Verdict::Overloaded, 503);
        let around = Surroundings {
            now: at(100),
            budget: &mut Budget::default(),
            neighbours: Neighbours::default(),
            circuit_closed: true,
            has_served: true,
            risk: 0.0,
            rng: &mut fastrand::Rng::with_seed(7),
        };
        let attempts = &mut Attempts::default();
        assert_eq!(decide(&opted_in, attempts, post, &overloaded, around), no);
        assert!(matches!(
            of(&refused, post, &opted_in),
            Decision::Again { .. }
        ));
        assert!(matches!(
            of(&broken, keyed, &RetryPolicy::default()),
            Decision::Again { .. }
        ));
    }

    #[test]
    fn a_body_that_is_gone_is_not_sent_again() {
        let seen = Observation::status(Verdict::RateLimited, 429);
        let gone = Repeatable {
            idempotent: true,
            body: false,
        };
        let decision = decide_on(
            &seen,
            gone,
            &RetryPolicy::default(),
            &mut Attempts::default(),
        );
        assert_eq!(decision, Decision::Return(Reason::BodyGone));
    }

    #[test]
    fn failures_end_after_four_sends() {
        let seen = Observation::status(Verdict::Overloaded, 503);
        let mut attempts = Attempts::default();
        let mut decide = || {
            decide_on(
                &seen,
                Repeatable::YES,
                &RetryPolicy::default(),
                &mut attempts,
            )
        };
        for _ in 0..3 {
            assert!(matches!(decide(), Decision::Again { .. }));
        }
        assert_eq!(decide(), Decision::Return(Reason::Attempts));
    }

    #[test]
    fn the_named_wait_is_waited_and_the_jitter_comes_after_it() {
        let seen = Observation {
            wait: Some(Duration::from_secs(30)),
            ..Observation::status(Verdict::Overloaded, 503)
        };
        let Decision::Again { not_before } = once(&seen) else {
            panic!("retried")
        };
        assert!(
            not_before > at(130) && not_before <= at(131),
            "{not_before:?}"
        );
    }

    #[test]
    fn ignoring_hints_never_means_no_delay() {
        let policy = RetryPolicy {
            ignore_retry_after: true,
            ..RetryPolicy::default()
        };
        let seen = Observation {
            wait: Some(Duration::from_secs(3600)),
            ..Observation::status(Verdict::RateLimited, 429)
        };
        let decision = decide_on(&seen, Repeatable::YES, &policy, &mut Attempts::default());
        let Decision::Again { not_before } = decision else {
            panic!("retried")
        };
        let delay = not_before.since(at(100));
        assert!(
            delay >= Duration::from_millis(10) && delay < Duration::from_secs(1),
            "{delay:?}"
        );
    }
}
