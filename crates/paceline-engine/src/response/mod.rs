//! What the head of a response says about limits: statuses, dates, and the many fields that name a
//! quota.
//!
//! This knows HTTP and knows no gates. It reads what any upstream may send; what only one provider
//! says, or says in its own way, is a dialect's business. Nothing that an upstream sends makes it
//! fail, overflow, or turn a good response into a bad one; what it cannot read is a flag.
//!
//! The order of things: `field` tells by a name whether a field matters, `retry_after`,
//! `rate_limit` and `x_rate_limit` read the three kinds of fields, `windows` brings their windows
//! together, `verdict` classes the response, and [`read`] decides how long that justifies to wait.
//! `dialect` holds what only one upstream says.
//! `number`, `several`, `span`, `structured`, `calendar`, `date` and `instant` are what fields are
//! made of.

mod calendar;
mod date;
pub mod dialect;
mod field;
mod instant;
mod number;
mod rate_limit;
mod retry_after;
mod several;
mod span;
mod structured;
mod verdict;
mod windows;
mod x_rate_limit;

use core::time::Duration;

use dialect::{Dialect, Effect, Sources, When};
use field::Field;
use http::header::AGE;
use http::{HeaderMap, StatusCode};
use instant::Clocks;
use number::Count;
use rate_limit::Lines;
use retry_after::Hints;
pub use span::LONGEST_SECONDS;
use verdict::Evidence;
use x_rate_limit::Triples;

use crate::{Cost, Flags, Kind, Observation, Scope, Spent, Unit, Verdict, WallTime, Window};

/// Reads a response's head.
///
/// `wall` is the local wall clock at receipt; it serves to understand the dates that upstreams
/// send. A head without any field that speaks about limits costs tens of nanoseconds and allocates
/// nothing.
///
/// All durations count from receipt, and none is longer than [`LONGEST_SECONDS`].
pub fn read(status: StatusCode, headers: &HeaderMap, wall: WallTime) -> Observation {
    if headers
        .keys()
        .any(|name| field::is_candidate(name.as_str()))
    {
        return read_head(status, headers, wall, None);
    }
    read_status(status)
}

/// Of a response that says nothing else.
fn read_status(status: StatusCode) -> Observation {
    let verdict = verdict::classify(status, Evidence::default());
    Observation::status(verdict, status.as_u16())
}

/// Kept apart so that a head that says nothing does not pay for this one's stack.
#[inline(never)]
fn read_head(
    status: StatusCode,
    headers: &HeaderMap,
    wall: WallTime,
    own: Option<(&Dialect, &Sources<'_>)>,
) -> Observation {
    let mut flags = Flags::default();
    let mut clocks = Clocks::new(headers, wall);
    let (retry_after, mut windows) = fields(headers, &mut clocks, own, &mut flags);
    let mut said = Said::default();
    if let Some((dialect, sources)) = own {
        said = Said::read(dialect, status, sources, &mut windows);
    }
    let evidence = Evidence {
        hint: retry_after.is_some(),
        positive_hint: retry_after.is_some_and(|hint| !hint.is_zero()),
        exhausted: windows.iter().any(Window::is_exhausted),
    };
    let verdict = verdict::classify(status, evidence);
    let mut observation = Observation {
        retry_after,
        windows,
        flags,
        bucket: said.bucket,
        retry: said.meant.retry,
        spent: said.spent,
        ..Observation::status(said.meant.class.unwrap_or(verdict), status.as_u16())
    };
    let refused = observation.verdict.is_refusal();
    let named = own.and_then(|(dialect, sources)| {
        dialect.wait(refused, sources, &mut clocks, &mut observation.flags)
    });
    if refused {
        wait_after_refusal(&mut observation, named, &said.meant);
    } else {
        wait_otherwise(status, &mut observation, named);
    }
    observation
}

/// What a dialect finds besides fields that all understand.
#[derive(Default)]
struct Said {
    meant: Effect,
    bucket: Option<Box<str>>,
    spent: Vec<Spent>,
}

impl Said {
    fn read(
        dialect: &Dialect,
        status: StatusCode,
        sources: &Sources<'_>,
        windows: &mut [Window],
    ) -> Self {
        let bucket = dialect.bucket(sources);
        let unit = bucket.as_deref().and_then(|bucket| dialect.unit_of(bucket));
        if let Some(unit) = unit {
            let requests = windows.iter_mut();
            requests
                .filter(|window| window.unit == Unit::Requests)
                .for_each(|window| window.unit = unit.clone());
        }
        let mut meant = When::all(&dialect.when, status, sources);
        meant.scope = meant.scope.or(Some(dialect.scope));
        meant.pause = meant.pause.or(dialect.pause);
        Self {
            meant,
            bucket,
            spent: dialect.spent(sources),
        }
    }
}

/// The named wait, and the windows.
fn fields(
    headers: &HeaderMap,
    clocks: &mut Clocks<'_>,
    own: Option<(&Dialect, &Sources<'_>)>,
    flags: &mut Flags,
) -> (Option<Duration>, Vec<Window>) {
    let mut hints = Hints::default();
    let mut triples = Triples::default();
    let (mut rate_limit, mut policy) = (Lines::default(), Lines::default());
    // A cache replays the quota of the response that it stored.
    let cached = is_cached(headers);
    if cached {
        flags.add("cached");
    }
    for (name, value) in headers {
        let name = name.as_str();
        let claimed = || own.is_some_and(|(dialect, _)| dialect.claims(name));
        if !field::is_candidate(name) || claimed() {
            continue;
        }
        let value = value.as_bytes();
        match field::classify(name) {
            Some(Field::RetryAfter(scale)) => hints.read(name, scale, value, clocks, flags),
            _ if cached => {}
            Some(Field::RateLimit) => rate_limit.push(value),
            Some(Field::RateLimitPolicy) => policy.push(value),
            Some(Field::Quota {
                family,
                window,
                measure,
            }) => triples.read((family, window, measure), name, value, clocks, flags),
            None => {}
        }
    }
    let mut windows = Vec::new();
    if let Some(value) = rate_limit.value() {
        windows = rate_limit::windows(value, flags);
    }
    let mut nameless = Vec::new();
    if let Some(value) = policy.value() {
        nameless = rate_limit::policies(value, &mut windows, flags);
    }
    let plain = triples.windows(flags);
    windows::merge(&mut windows, plain, nameless, flags);
    if let Some((dialect, sources)) = own.filter(|_| !cached) {
        dialect.add_windows(&mut windows, sources, clocks, flags);
    }
    (hints.settle(flags), windows)
}

/// After a refusal: what the server named, else the last reset of the exhausted windows, else the
/// reset of windows that do not say what is left, else the refill of a bucket. A window that still has quota says nothing
/// about this refusal. Where nothing is named, a dialect may know the least pause.
fn wait_after_refusal(observation: &mut Observation, named: Option<Duration>, meant: &Effect) {
    observation.scope = meant.scope.unwrap_or_default();
    observation.kind = meant.kind.unwrap_or_default();
    match observation.kind {
        Kind::Rate => {}
        Kind::Concurrency => observation.flags.add("concurrency"),
        Kind::Quota => observation.flags.add("quota_not_rate"),
    }
    let exhausted = last_reset(&observation.windows, Window::is_exhausted);
    let hint = observation.retry_after.filter(|hint| !hint.is_zero());
    if let (Some(hint), Some(exhausted)) = (hint, exhausted)
        && hint.abs_diff(exhausted) > AGREEMENT
    {
        observation.flags.add("conflict:retry-after-vs-reset");
    }
    let hint = match (hint, named) {
        // The body's is the finer one, unless it disagrees with the field; then the longer counts.
        (Some(hint), Some(named)) => Some(hint.max(named)),
        (hint, named) => hint.or(named),
    };
    let too_dear = observation.is_too_dear(&Cost::default());
    let windows = &observation.windows;
    observation.wait = hint
        .or(exhausted)
        .or_else(|| last_reset(windows, |window| window.remaining.is_none()))
        .or_else(|| dialect::refilled(observation).filter(|_| !too_dear));
    if too_dear {
        observation.flags.add("too_dear");
        // No word about anybody else's.
        observation.scope = Scope::Request;
        observation.retry = observation.retry.or(Some(false));
    }
    if observation.wait.is_none() && observation.kind != Kind::Quota {
        observation.wait = meant.pause;
        observation.assumed = meant.pause.is_some();
    }
}

/// On any other answer only an exhausted window is a reason to wait. A Retry-After speaks for the
/// request alone, unless the request spent the last unit of a window that does not say when it
/// starts anew.
fn wait_otherwise(status: StatusCode, observation: &mut Observation, named: Option<Duration>) {
    let hint = observation.retry_after;
    if hint.is_some() {
        let is_advice = status.as_u16() == 202 || observation.verdict != Verdict::Ok;
        let flag = if is_advice {
            "request_scoped_hint"
        } else {
            "ra_on_success"
        };
        observation.flags.add(flag);
        if is_advice {
            observation.scope = Scope::Request;
        }
    }
    // The identity was not accepted, so that the numbers may be those of an anonymous neighbour.
    if status == StatusCode::UNAUTHORIZED {
        return;
    }
    let unbounded = |window: &Window| {
        window.is_exhausted() && window.reset.is_none() && is_relieved_by_time(window)
    };
    observation.wait = last_reset(&observation.windows, Window::is_exhausted).max(named);
    if observation.wait.is_none() && observation.windows.iter().any(unbounded) {
        observation.wait = hint.filter(|hint| !hint.is_zero());
    }
    if observation.wait.is_some() {
        observation.scope = Scope::Gate;
    }
}

/// The last reset to come of some windows. One that is due now makes nobody wait.
fn last_reset(windows: &[Window], of: impl Fn(&Window) -> bool) -> Option<Duration> {
    let windows = windows
        .iter()
        .filter(|window| of(window) && is_relieved_by_time(window));
    let resets = windows.filter_map(|window| window.reset);
    resets.filter(|reset| !reset.is_zero()).max()
}

/// Requests in flight are relieved by their ends, not by time.
fn is_relieved_by_time(window: &Window) -> bool {
    window.unit != Unit::Concurrent
}

/// RFC 9111 section 5.1: a response with an Age came out of a cache.
fn is_cached(headers: &HeaderMap) -> bool {
    let mut ages = headers.get_all(AGE).iter();
    ages.any(|age| {
        let mut ages = number::counts(age.as_bytes());
        ages.any(|age| matches!(age, Count::Known(age) if age.rounded_up() > 0))
    })
}

/// A Retry-After and a reset that mean the same may be rounded differently.
const AGREEMENT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::HeaderName;

    use super::*;

    fn head(status: u16, fields: &[(&'static str, &'static str)]) -> Observation {
        let mut headers = HeaderMap::new();
        for &(name, value) in fields {
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let status = StatusCode::from_u16(status).expect("a status");
        read(
            status,
            &headers,
            WallTime(Duration::from_secs(1_746_136_878)),
        )
    }

    const SPENT: [(&str, &str); 2] = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "30")];

    #[test]
    fn a_head_that_says_nothing_is_its_status() {
        let read = head(
            200,
            &[
                ("content-type", "text/plain"),
                ("x-request-id", "7"),
                ("age", "9"),
            ],
        );
        assert_eq!(read, Observation::status(Verdict::Ok, 200));
    }

    #[test]
    fn whoever_spends_the_last_unit_makes_the_next_one_wait() {
        for status in [200, 301, 404, 500] {
            let read = head(status, &SPENT);
            assert_eq!(read.wait, Some(Duration::from_secs(30)), "{status}");
            assert_eq!(read.scope, Scope::Gate, "{status}");
        }
        assert_eq!(
            head(401, &SPENT).wait,
            None,
            "may be somebody else's numbers"
        );
    }

    #[test]
    fn advice_concerns_the_request_alone() {
        for status in [202, 301, 404, 413] {
            let read = head(status, &[("retry-after", "5")]);
            assert_eq!((read.wait, read.scope), (None, Scope::Request), "{status}");
            assert_eq!(read.retry_after, Some(Duration::from_secs(5)), "{status}");
            assert!(read.flags.contains("request_scoped_hint"), "{status}");
        }
    }

    #[test]
    fn a_cache_replays_numbers_that_are_over() {
        let [remaining, reset] = SPENT;
        let read = head(403, &[("age", "1"), remaining, reset]);
        assert_eq!((read.verdict, read.windows.len()), (Verdict::Other, 0));
        assert_eq!(
            head(403, &[("age", "0"), remaining, reset]).verdict,
            Verdict::RateLimited
        );
    }

    #[test]
    fn a_window_with_quota_does_not_explain_a_refusal() {
        let reset = ("x-ratelimit-reset", "30");
        assert_eq!(
            head(429, &[("x-ratelimit-remaining", "5"), reset]).wait,
            None
        );
        assert_eq!(head(429, &[reset]).wait, Some(Duration::from_secs(30)));
    }

    #[test]
    fn requests_in_flight_are_not_relieved_by_time() {
        let policy = ("ratelimit-policy", "\"c\";q=5;qu=\"concurrent-requests\"");
        let read = head(
            200,
            &[
                policy,
                ("ratelimit", "\"c\";r=0;t=60"),
                ("retry-after", "9"),
            ],
        );
        assert_eq!(read.windows[0].unit, Unit::Concurrent);
        assert_eq!(read.wait, None);
    }

    #[test]
    fn the_tightest_window_binds() {
        let policy = (
            "ratelimit-policy",
            "\"a\";q=100;w=1, \"b\";q=10;w=60, \"c\";q=7",
        );
        let rate_limit = |value| head(200, &[policy, ("ratelimit", value)]);
        let name = |read: &Observation| read.binding().and_then(|window| window.name.clone());
        assert_eq!(
            name(&rate_limit("\"a\";r=50, \"b\";r=6")).as_deref(),
            Some("a")
        );
        assert_eq!(
            name(&rate_limit("\"a\";r=50, \"b\";r=4")).as_deref(),
            Some("b")
        );
        let both = rate_limit("\"a\";r=0;t=1, \"b\";r=0;t=9");
        assert_eq!(name(&both).as_deref(), Some("b"));
        assert_eq!(both.wait, Some(Duration::from_secs(9)));
    }
}
