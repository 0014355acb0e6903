//! Why the next request may go when it may: which hint won, and what became of the others.

use core::time::Duration;

use http::header::DATE;
use http::{HeaderMap, StatusCode};
use paceline::response::dialect::{Applies, Dialect, WaitRule};
use paceline::{Kind, Observation, Unit, Window};

use super::super::case::Case;
use super::words::span;

/// A sentence each.
pub(super) fn reasons(case: &Case, seen: &Observation) -> Vec<String> {
    let refused = seen.verdict.is_refusal();
    let bodies = named(case, refused);
    let mut reasons: Vec<_> = match seen.wait {
        Some(wait) => vec![because(wait, seen, &bodies)],
        None => Vec::new(),
    };
    reasons.extend(passed_over(seen, &bodies));
    reasons
}

/// What the wait is taken from.
fn because(wait: Duration, seen: &Observation, bodies: &[(String, Duration)]) -> String {
    if seen.assumed {
        return "Nothing is named: it is the dialect's least pause, and longer if that was not enough.".into();
    }
    if let Some((place, _)) = bodies.iter().find(|(_, own)| *own == wait)
        && seen.retry_after != Some(wait)
    {
        return format!("{place} says so.");
    }
    let is_refusal = seen.verdict.is_refusal();
    if is_refusal && seen.retry_after == Some(wait) {
        return "Retry-After says so.".into();
    }
    let resets = |own: &&Window| own.reset == Some(wait) && own.unit != Unit::Concurrent;
    let mut windows = seen.windows.iter().filter(resets);
    if let Some(own) = windows.clone().find(|own| own.is_exhausted()) {
        return format!("Nothing is left of {} until then.", name(own));
    }
    if seen.retry_after == Some(wait) {
        return "Nothing is left of a window that has no reset, and Retry-After says until when."
            .into();
    }
    match windows.next() {
        Some(own) => format!(
            "{} starts anew then, and nothing says what is left of it.",
            name(own)
        ),
        None => "By then enough has come back for what was asked.".into(),
    }
}

/// What else could have been a wait, and why it is none.
fn passed_over(seen: &Observation, bodies: &[(String, Duration)]) -> Vec<String> {
    let mut reasons = Vec::new();
    let refused = seen.verdict.is_refusal();
    let is_other = |wait: &Duration| Some(*wait) != seen.wait;
    if let Some(hint) = seen.retry_after.filter(|hint| is_other(hint)) {
        let why = match refused {
            _ if hint.is_zero() && refused => "which is no hint after a refusal",
            _ if hint.is_zero() => "which is no pause",
            true => "and the longer of two hints counts",
            false if seen.wait.is_some() => {
                "but only the end of an exhausted window is a pause here"
            }
            false => "which is no pause for others: the answer is no refusal",
        };
        reasons.push(format!("Retry-After says {}, {why}.", span(hint)));
    }
    for (place, own) in bodies.iter().filter(|(_, own)| is_other(own)) {
        reasons.push(format!(
            "{place} says {}, and the longer of two hints counts.",
            span(*own)
        ));
    }
    let named = seen.retry_after.is_some_and(|hint| !hint.is_zero()) || !bodies.is_empty();
    for own in &seen.windows {
        let Some(reset) = own.reset.filter(is_other) else {
            continue;
        };
        let (name, reset) = (name(own), span(reset));
        let why = match own.remaining {
            _ if own.unit == Unit::Concurrent => "but what is under way is relieved by its end",
            _ if own.reset == Some(Duration::ZERO) && own.is_exhausted() => "which is no hint",
            _ if own.is_exhausted() && named => "but a wait that is named goes first",
            _ if own.is_exhausted() => "but another takes longer",
            Some(_) if refused => "but something is left of it: it did not refuse",
            None if refused => {
                "but that is no reason where another is exhausted or a wait is named"
            }
            _ => continue,
        };
        reasons.push(format!("{name} starts anew in {reset}, {why}."));
    }
    if seen.retry == Some(false) {
        reasons.push("This one is not worth sending again.".into());
    }
    if refused && seen.kind == Kind::Quota && seen.wait.is_some() {
        reasons.push("It is a quota that is used up: the wait is hardly enough.".into());
    }
    if refused && seen.kind == Kind::Concurrency && seen.wait.is_some() {
        reasons.push(
            "It is about how much is under way at once: fewer help more than the wait.".into(),
        );
    }
    reasons
}

fn name(own: &Window) -> &str {
    own.name.as_deref().unwrap_or("a window")
}

/// The waits that stand at the dialect's places, each with its place.
fn named(case: &Case, refused: bool) -> Vec<(String, Duration)> {
    let Some(own) = &case.dialect else {
        return Vec::new();
    };
    let rules = own.dialect.waits.iter();
    let rules = rules.filter(|rule| refused || rule.applies == Applies::Always);
    rules
        .filter_map(|rule| {
            let place = rule.at.to_string();
            let field = place.split(':').next().unwrap_or(&place);
            let mut headers = HeaderMap::new();
            for (name, value) in &case.headers {
                if name == field || name == DATE {
                    headers.append(name, value.clone());
                }
            }
            let alone = Dialect {
                waits: vec![WaitRule {
                    applies: Applies::Always,
                    ..rule.clone()
                }],
                ..Dialect::default()
            };
            let seen = alone.read(StatusCode::OK, &headers, case.body.as_deref(), case.wall());
            Some((place, seen.wait?))
        })
        .collect()
}
