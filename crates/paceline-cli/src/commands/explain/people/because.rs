//! Why a response is taken for what it is.

use http::HeaderMap;
use paceline::response::dialect::{Decided, Test};
use paceline::{Observation, response};

use super::super::case::Case;

/// As much of a text as belongs into a sentence.
const LONGEST: usize = 80;

/// The rule, the status or the field that decided; `None` where there is nothing to say.
pub(super) fn because(case: &Case, seen: &Observation) -> Option<String> {
    let dialect = case.dialect.as_deref().map(|own| &own.dialect);
    let decided =
        dialect.and_then(|own| own.decided_by(case.status, &case.headers, case.body.as_deref()));
    if let Some(decided) = decided {
        return Some(rule(case, &decided));
    }
    if !seen.verdict.is_refusal() {
        return None;
    }
    let status = case.status.as_u16();
    let alone = response::read(case.status, &HeaderMap::new(), case.wall());
    if alone.verdict.is_refusal() {
        return Some(format!("status {status} says so"));
    }
    if seen.retry_after.is_some() {
        return Some(format!("a wait stands beside status {status}"));
    }
    let exhausted = seen.windows.iter().find(|own| own.is_exhausted())?;
    let name = exhausted.name.as_deref().unwrap_or("a window");
    Some(format!("nothing is left of {name} beside status {status}"))
}

fn rule(case: &Case, decided: &Decided<'_>) -> String {
    let Some(place) = &decided.rule.at else {
        let status = case.status.as_u16();
        return format!("that is what status {status} means in this dialect");
    };
    match &decided.found {
        Some(found) => format!("{place} says {}", quoted(found)),
        None if decided.rule.test == Test::Missing => format!("nothing stands at {place}"),
        None => format!("something stands at {place}"),
    }
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}
