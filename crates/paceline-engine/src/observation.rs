//! What one response, or the failure to get one, taught us.
//!
//! `response/` makes these from HTTP; `gate/` and `retry/` use them and know no HTTP.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;

use minicbor::{Decode, Encode};

use crate::Cost;

/// What kind of outcome a request had. Whether to retry is a separate decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the five classes are the contract; a sixth would be a new contract"
)]
pub enum Verdict {
    /// Served.
    Ok,
    /// Refused because of a rate, a quota or a concurrency limit.
    RateLimited,
    /// Refused because the upstream has too much to do.
    Overloaded,
    /// The answer is elsewhere.
    Redirect,
    /// Anything else: a client error, a server error, no answer.
    Other,
}

impl Verdict {
    /// The word used in JSON (`class`), metrics and messages.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Redirect => "redirect",
            Self::Other => "other",
        }
    }

    /// Whether the upstream refused to do the work.
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Where the observation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "there was an answer or there was none"
)]
pub enum Answer {
    /// A response with this status.
    Status(u16),
    /// No response.
    Failure(Failure),
}

/// Why there was no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// No connection: refused, unreachable, name not found, TLS failed. Nothing was processed.
    Connect,
    /// Connected, and no answer in time.
    Timeout,
    /// The connection ended before the answer, or the answer was not HTTP.
    Broken,
}

impl Failure {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
        }
    }
}

/// What a quota counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Encode, Decode)]
#[non_exhaustive]
pub enum Unit {
    /// HTTP requests.
    #[default]
    #[n(0)]
    Requests,
    /// Requests being worked on at the same time.
    #[n(1)]
    Concurrent,
    /// Something else, by the upstream's own word: `tokens`, `points`, `content-bytes`, `percent`.
    #[n(2)]
    Other(#[n(0)] Box<str>),
}

impl Unit {
    /// What a word for a unit means. Drafts of the RateLimit fields write both the singular and the plural.
    pub fn from_word(word: &str) -> Self {
        match word {
            "request" | "requests" => Self::Requests,
            "concurrent-requests" | "concurrent-request" => Self::Concurrent,
            other => Self::Other(other.into()),
        }
    }

    /// The upstream's word.
    pub fn word(&self) -> &str {
        match self {
            Self::Requests => "requests",
            Self::Concurrent => "concurrent-requests",
            Self::Other(word) => word,
        }
    }
}

/// A quota period as the upstream reported it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Window {
    /// The upstream's name for it, or the header family that it came from.
    pub name: Option<Box<str>>,
    /// What it counts.
    pub unit: Unit,
    /// How much the whole window holds, in thousandths of its unit (`0.5` requests is 500).
    pub limit_milli: Option<u128>,
    /// How much is left, in whole units: half a unit does not pay for a request.
    pub remaining: Option<u64>,
    /// Thousandths of a unit left beyond `remaining`, below 1000.
    pub remaining_milli: u16,
    /// Time from receipt until it starts anew.
    pub reset: Option<Duration>,
    /// The window's whole length.
    pub length: Option<Duration>,
    /// The time in which one unit of it comes back, where what was spent comes back steadily.
    pub refill: Option<Duration>,
}

impl Window {
    /// A window of requests with nothing known.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The whole number of requests that it holds.
    pub fn limit(&self) -> Option<u64> {
        self.limit_milli
            .map(|milli| u64::try_from(milli / 1000).unwrap_or(u64::MAX))
    }

    /// Nothing is left of it that a request could be paid with. Half a request pays for none; half a percent may.
    pub fn is_exhausted(&self) -> bool {
        self.remaining == Some(0) && (self.unit == Unit::Requests || self.remaining_milli == 0)
    }

    /// Strictly tighter than `other`.
    fn binds_before(&self, other: &Self) -> bool {
        let knowledge = |window: &Self| match (window.remaining, window.limit_milli) {
            (Some(0), _) => 4,
            (Some(_), Some(_)) => 3,
            (Some(_), None) => 2,
            (None, _) if window.reset.is_some() => 1,
            (None, _) => 0,
        };
        let rank = knowledge(self);
        if rank != knowledge(other) {
            return rank > knowledge(other);
        }
        match rank {
            4 => self.reset > other.reset,
            3 => {
                let left = |window: &Self| u128::from(window.remaining.unwrap_or(0));
                let whole = |window: &Self| window.limit_milli.unwrap_or(0);
                left(self).saturating_mul(whole(other)) < left(other).saturating_mul(whole(self))
            }
            2 => self.remaining < other.remaining,
            _ => false,
        }
    }
}

/// What a wait or a refusal speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// Everything that shares the gate; what is meant where nothing else is said.
    #[default]
    Gate,
    /// This request alone.
    Request,
    /// The object that the request is about, whoever asks for it.
    Resource,
    /// Requests of the same route.
    Endpoint,
    /// Whatever the caller's credential shares.
    User,
    /// Everything that the upstream does for this credential, whatever its gate.
    Global,
}

impl Scope {
    /// All of them, for whoever reads the word.
    pub const ALL: [Self; 6] = [
        Self::Gate,
        Self::Request,
        Self::Resource,
        Self::Endpoint,
        Self::User,
        Self::Global,
    ];

    /// The word used in JSON and dialects.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Request => "request",
            Self::Resource => "resource",
            Self::Endpoint => "endpoint",
            Self::User => "user",
            Self::Global => "global",
        }
    }
}

/// What kind of limit refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(
    clippy::exhaustive_enums,
    reason = "a limit is relieved by time, by ends, or by neither"
)]
pub enum Kind {
    /// So many in so much time: relieved by time.
    #[default]
    Rate,
    /// So many at once: relieved by the ends of requests. Fewer in flight help, a slower pace does not.
    Concurrency,
    /// A daily quota or a bill: waiting a little is pointless.
    Quota,
}

impl Kind {
    /// The word used in JSON and dialects.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Concurrency => "concurrency",
            Self::Quota => "quota",
        }
    }
}

/// What a response says that its request cost, in a unit that its upstream counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a unit and two numbers")]
pub struct Spent {
    /// What was counted.
    pub unit: Unit,
    /// What was asked for, and held until the request ended.
    pub requested: Option<u64>,
    /// What it came to.
    pub actual: Option<u64>,
}

/// What one response or failure taught us.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observation {
    /// The kind of outcome.
    pub verdict: Verdict,
    /// The status, or why there was none.
    pub answer: Answer,
    /// The wait that the upstream named on this response, as sent: zero or past hints are `Some(ZERO)`.
    pub retry_after: Option<Duration>,
    /// From receipt, the earliest time at which the response justifies the next request in its scope. `None` on a
    /// refusal: no usable hint. `None` otherwise: no pause needed.
    pub wait: Option<Duration>,
    /// Whether `wait` is the dialect's own word for an upstream that named none: a floor, which grows when it was not
    /// enough.
    pub assumed: bool,
    /// What the wait, or the refusal, speaks for.
    pub scope: Scope,
    /// What kind of limit refused.
    pub kind: Kind,
    /// The upstream's name for the quota that the request was charged to.
    pub bucket: Option<Box<str>>,
    /// The upstream's own word on whether it is worth sending again.
    pub retry: Option<bool>,
    /// What the request cost.
    pub spent: Vec<Spent>,
    /// The quota periods that it reported.
    pub windows: Vec<Window>,
    /// What was noticed while reading: `past`, `huge`, `malformed:retry-after`, … (stable words).
    pub flags: Flags,
}

impl Observation {
    /// An observation that says nothing but its verdict and status.
    pub const fn status(verdict: Verdict, status: u16) -> Self {
        Self {
            verdict,
            answer: Answer::Status(status),
            retry_after: None,
            wait: None,
            assumed: false,
            scope: Scope::Gate,
            kind: Kind::Rate,
            bucket: None,
            retry: None,
            spent: Vec::new(),
            windows: Vec::new(),
            flags: Flags(Vec::new()),
        }
    }

    /// No response.
    pub fn failure(failure: Failure) -> Self {
        Self {
            answer: Answer::Failure(failure),
            ..Self::status(Verdict::Other, 0)
        }
    }

    /// The same without the waits that it named.
    #[must_use]
    pub fn without_hints(&self) -> Self {
        Self {
            wait: None,
            assumed: false,
            retry_after: None,
            ..self.clone()
        }
    }

    /// The window that says most about the next request: of the exhausted ones the last to start
    /// anew, otherwise the one with the smallest share left. Windows that do not say what is left
    /// come last.
    pub fn binding(&self) -> Option<&Window> {
        let mut windows = self.windows.iter();
        let first = windows.next()?;
        Some(windows.fold(
            first,
            |best, next| {
                if next.binds_before(best) { next } else { best }
            },
        ))
    }

    /// What the request did cost, in the units that the response names: what it came to; where that is not told, what was
    /// held for it, or nothing if it was refused.
    pub fn cost(&self) -> Cost {
        let refused = self.verdict.is_refusal();
        self.named_cost(|spent| {
            let held = if refused { Some(0) } else { spent.requested };
            spent.actual.or(held)
        })
    }

    /// What an attempt more would cost, in the units that the response names.
    pub fn price(&self) -> Cost {
        self.named_cost(|spent| spent.requested.or(spent.actual))
    }

    fn named_cost(&self, amount: impl Fn(&Spent) -> Option<u64>) -> Cost {
        let spent = self.spent.iter();
        let named = spent.filter_map(|spent| Some((spent.unit.word(), amount(spent)?)));
        named.fold(Cost::default(), |cost, (word, amount)| {
            cost.and(word, amount)
        })
    }

    /// Whether it was refused although time would not help: it asks for more than a window ever holds, by the upstream's
    /// word or, in tokens and the like, by its own `estimate`.
    pub fn is_too_dear(&self, estimate: &Cost) -> bool {
        self.verdict.is_refusal()
            && self.windows.iter().any(|window| {
                let estimated = || match &window.unit {
                    Unit::Other(_) => estimate.named(&window.unit),
                    Unit::Requests | Unit::Concurrent => None,
                };
                let needed = self.requested(&window.unit).or_else(estimated);
                let whole = window.limit_milli;
                needed
                    .zip(whole)
                    .is_some_and(|(needed, whole)| u128::from(needed) * 1000 > whole)
            })
    }

    /// What the request was to cost, in this unit.
    pub(crate) fn requested(&self, unit: &Unit) -> Option<u64> {
        let same_unit = self.spent.iter().find(|spent| spent.unit == *unit);
        same_unit.and_then(|spent| spent.requested)
    }

    /// The upstream did the work, or said why this very request is wrong: it was not refused and did not fail.
    pub fn is_served(&self) -> bool {
        match self.answer {
            Answer::Status(status) => !self.verdict.is_refusal() && status < 500,
            Answer::Failure(_) => false,
        }
    }

    /// The upstream failed: a server error other than a refusal by quota, or no answer.
    pub fn is_failure(&self) -> bool {
        !self.is_served() && self.verdict != Verdict::RateLimited
    }
}

/// Words for what was noticed while a response was read, in order, each once.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Flags(Vec<Cow<'static, str>>);

impl Flags {
    /// Some flags hold a field's name, and an upstream may invent as many of those as it likes.
    pub const MOST: usize = 32;

    /// Adds a word unless it is there, or there are [`Flags::MOST`] already.
    pub fn add(&mut self, flag: impl Into<Cow<'static, str>>) {
        let flag = flag.into();
        if self.0.len() < Self::MOST && !self.0.contains(&flag) {
            self.0.push(flag);
        }
    }

    /// Adds the words of others.
    pub(crate) fn extend(&mut self, others: Self) {
        others.0.into_iter().for_each(|flag| self.add(flag));
    }

    /// The words.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Whether the word is there.
    pub fn contains(&self, flag: &str) -> bool {
        self.0.iter().any(|own| **own == *flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_there_once_and_bounded() {
        let mut flags = Flags::default();
        flags.add("past");
        flags.add("past");
        assert_eq!(flags.iter().collect::<Vec<_>>(), ["past"]);
        for field in 0..1000 {
            flags.add(format!("malformed:{field}"));
        }
        assert_eq!(flags.iter().count(), Flags::MOST);
    }

    #[test]
    fn windows_that_say_more_bind_before_those_that_say_less() {
        let window = |limit: Option<u128>, remaining, reset| Window {
            limit_milli: limit.map(|limit| limit * 1000),
            remaining,
            reset,
            ..Window::unknown()
        };
        let second = Some(Duration::from_secs(1));
        let ordered = [
            window(Some(5), None, None),
            window(None, None, second),
            window(None, Some(9), None),
            window(None, Some(8), None),
            window(Some(10), Some(9), None),
            window(Some(0), Some(0), None),
            window(None, Some(0), second),
        ];
        let mut observation = Observation::status(Verdict::Ok, 200);
        for window in ordered {
            observation.windows.push(window);
            assert_eq!(observation.binding(), observation.windows.last());
        }
    }
}
