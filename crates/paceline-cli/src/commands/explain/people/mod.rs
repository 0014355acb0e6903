//! What was read in a response, in words.

use core::fmt::Write as _;

use jiff::Unit;
use paceline::dialect::{self, Provider};
use paceline::{Kind, Observation, Scope, Verdict, Window};

mod because;
mod fields;
mod why;
mod words;

use because::because;
use fields::meaning;
use words::{note, span, thousandths};

use super::case::Case;
use super::reading::Row;

/// Everything that there is to say, in lines.
pub(super) fn explanation(case: &Case, row: &Row<'_>) -> String {
    let mut text = String::new();
    let seen = &row.seen;
    let reason = case.status.canonical_reason().unwrap_or("");
    let head = format!("{} {reason}", case.status.as_u16());
    let _ = writeln!(text, "{}: {}", head.trim_end(), class(seen));
    if let Some(own) = &case.dialect {
        let _ = writeln!(text, "as {} speaks ({})", own.name, basis(own));
    }
    if let Some(because) = because(case, seen) {
        let _ = writeln!(text, "because {because}");
    }
    let heading = text.len();
    let mut silent = Vec::new();
    for (name, value) in &case.headers {
        let shown = String::from_utf8_lossy(value.as_bytes());
        match meaning(case, seen, name, value) {
            Some(meaning) => {
                let _ = writeln!(text, "  {name}: {shown}\n      {meaning}");
            }
            None => silent.push(name.as_str()),
        }
    }
    if !silent.is_empty() {
        let _ = writeln!(text, "  say nothing about limits: {}", silent.join(", "));
    }
    if case.body.is_some() && case.dialect.is_none() {
        let _ = writeln!(
            text,
            "  the body is not read: only a dialect says what it means"
        );
    }
    if case.cut {
        let _ = writeln!(
            text,
            "  the body is longer than 1 MiB: the rest is not read"
        );
    }
    if text.len() > heading {
        text.insert(heading, '\n');
    }
    let facts = text.len();
    for window in &seen.windows {
        let _ = writeln!(text, "window {}", self::window(window));
    }
    if let Some(bucket) = &seen.bucket {
        let _ = writeln!(text, "charged to the bucket {bucket}");
    }
    for spent in &seen.spent {
        let shown = |number: Option<u64>| {
            number.map_or_else(|| "?".to_owned(), |number| number.to_string())
        };
        let _ = writeln!(
            text,
            "cost: {} {} (asked for: {})",
            shown(spent.actual),
            spent.unit.word(),
            shown(spent.requested)
        );
    }
    for flag in seen.flags.iter() {
        let _ = writeln!(text, "note: {}", note(flag));
    }
    if text.len() > facts {
        text.insert(facts, '\n');
    }
    let _ = writeln!(text, "\n{}", next(case, seen));
    for reason in why::reasons(case, seen) {
        let _ = writeln!(text, "  {reason}");
    }
    if case.dialect.is_none()
        && let Some(own) = likely(case)
    {
        let _ = writeln!(
            text,
            "\nThis looks like {}: --dialect {} reads more of it.",
            own.name, own.slug
        );
    }
    text
}

/// How far it can be relied on, and what that is based on, as far as its file says.
fn basis(own: &Provider) -> String {
    let known = [&*own.source, &*own.date];
    let known: Vec<_> = known.into_iter().filter(|text| !text.is_empty()).collect();
    match known.is_empty() {
        true => format!("{}, it names no source", own.confidence),
        false => format!("{}: {}", own.confidence, known.join(", ")),
    }
}

fn class(seen: &Observation) -> &'static str {
    match (seen.verdict, seen.kind) {
        (Verdict::RateLimited, Kind::Rate) => "refused because of a limit",
        (Verdict::RateLimited, Kind::Concurrency) => {
            "refused because too much is under way at once"
        }
        (Verdict::RateLimited, Kind::Quota) => "refused because a quota is used up",
        (Verdict::Overloaded, _) => "refused because the upstream has too much to do",
        (Verdict::Redirect, _) => "the answer is elsewhere",
        (Verdict::Ok, _) => "served",
        (Verdict::Other, _) => "no refusal by a limit",
    }
}

fn window(own: &Window) -> String {
    let mut text = own.name.as_deref().unwrap_or("without a name").to_owned();
    let left = own
        .remaining
        .map_or_else(|| "?".into(), |left| left.to_string());
    let limit = own.limit_milli.map_or_else(|| "?".into(), thousandths);
    let _ = write!(text, ": {left} of {limit} {} left", own.unit.word());
    if let Some(length) = own.length {
        let _ = write!(text, ", {} long", span(length));
    }
    if let Some(reset) = own.reset {
        let _ = write!(text, ", starts anew in {}", span(reset));
    }
    text
}

/// When the next request may go.
fn next(case: &Case, seen: &Observation) -> String {
    let scope = match seen.scope {
        Scope::Request => "This request",
        Scope::Resource => "The next request about the same object",
        Scope::Endpoint => "The next request of the same route",
        Scope::Global => "The next request of this credential, whatever it is,",
        _ => "The next request",
    };
    match seen.wait {
        Some(wait) => {
            let at = jiff::SignedDuration::try_from(wait)
                .ok()
                .and_then(|wait| case.now.checked_add(wait).ok());
            let at = at.and_then(|at| at.round(Unit::Millisecond).ok());
            let at = at.map_or_else(String::new, |at| format!(", at {at}"));
            format!("{scope} may go in {}{at}.", span(wait))
        }
        None if seen.flags.contains("too_dear") => {
            "This request will never be served: it asks for more than there ever is.".into()
        }
        None if seen.kind == Kind::Quota => {
            format!("{scope} will not be served soon: waiting a little is pointless.")
        }
        None if seen.kind == Kind::Concurrency => {
            format!("{scope} may go when one that is under way has ended.")
        }
        None if seen.verdict.is_refusal() => {
            format!(
                "{scope}: nothing usable is said. A growing delay of one's own is right, never none."
            )
        }
        None => match seen.retry_after.filter(|_| seen.scope == Scope::Request) {
            Some(hint) => format!(
                "The next request may go at once; this one again in {}.",
                span(hint)
            ),
            None => format!("{scope} may go at once."),
        },
    }
}

/// A dialect of which a field is there that no other upstream sends.
fn likely(case: &Case) -> Option<&'static Provider> {
    let common = |name: &str| {
        [
            "x-ratelimit",
            "x-rate-limit",
            "ratelimit",
            "retry-after",
            "x-retry-after",
            "rate-limit",
        ]
        .iter()
        .any(|own| name.starts_with(own))
    };
    let has = |own: &Provider| {
        let mut names = own.fields.iter().map(|(name, _)| name.to_ascii_lowercase());
        names.any(|name| !common(&name) && case.headers.contains_key(&name))
    };
    dialect::all().iter().find(|own| has(own)).map(|own| &**own)
}
