//! What each field of a head says by itself.

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use paceline::dialect::Provider;
use paceline::{Kind, Observation, Scope, response};

use super::super::case::Case;
use super::words::{EXPLAINED, note, span, thousandths};

/// What one field says by itself; `None` if nothing.
pub(super) fn meaning(
    case: &Case,
    whole: &Observation,
    name: &HeaderName,
    value: &HeaderValue,
) -> Option<String> {
    if name == http::header::AGE {
        return Some("how long it lay in a cache".into());
    }
    if name == DATE {
        return Some(date(case, whole, value).into());
    }
    let mut alone = HeaderMap::new();
    if let Some(date) = case.headers.get(DATE) {
        alone.insert(DATE, date.clone());
    }
    let silent = read(case, &alone);
    alone.append(name, value.clone());
    let mut says = parts(&read(case, &alone));
    let before = parts(&silent);
    says.retain(|part| !before.contains(part));
    says.splice(0..0, decides(case, &alone));
    if says.is_empty() {
        return case
            .dialect
            .as_deref()
            .and_then(|own| documented(own, name.as_str()));
    }
    Some(says.join("; "))
}

/// What becomes of the server's clock.
fn date(case: &Case, whole: &Observation, value: &HeaderValue) -> &'static str {
    // Whatever is a date is one as a wait, too.
    let alone = HeaderMap::from_iter([(RETRY_AFTER, value.clone())]);
    let is_date = read(case, &alone).retry_after.is_some();
    match is_date {
        false => "it cannot be read; our clock is gone by",
        true if whole.flags.contains("date_distrusted") => {
            "it is too far from the dates beside it; our clock is gone by"
        }
        true => "when it was sent: dates beside it are understood by this clock",
    }
}

/// What the response is by this field.
fn decides(case: &Case, alone: &HeaderMap) -> Option<String> {
    let own = case.dialect.as_deref()?;
    let decided = own.dialect.decided_by(case.status, alone, None)?;
    let place = decided.rule.at.as_ref()?;
    // Where nothing stands, no field says so.
    decided.found.as_ref()?;
    let class = decided.class.code();
    Some(format!("by {place} the response is {class}"))
}

fn read(case: &Case, headers: &HeaderMap) -> Observation {
    // The status of a refusal, so that every kind of hint shows.
    let status = StatusCode::TOO_MANY_REQUESTS;
    match &case.dialect {
        Some(own) => own.dialect.read(status, headers, None, case.wall()),
        None => response::read(status, headers, case.wall()),
    }
}

fn parts(seen: &Observation) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(hint) = seen.retry_after {
        parts.push(format!("wait {}", span(hint)));
    }
    for own in &seen.windows {
        let name = own.name.as_deref().unwrap_or("a window");
        let unit = own.unit.word();
        if let Some(milli) = own.limit_milli {
            parts.push(format!("{name} holds {} {unit}", thousandths(milli)));
        }
        if let Some(left) = own.remaining {
            parts.push(format!("{left} {unit} are left of {name}"));
        }
        if let Some(reset) = own.reset {
            parts.push(format!("{name} starts anew in {}", span(reset)));
        }
        if let Some(length) = own.length {
            parts.push(format!("{name} is {} long", span(length)));
        }
        if let Some(refill) = own.refill {
            parts.push(format!("one of {unit} comes back every {}", span(refill)));
        }
    }
    for own in &seen.spent {
        let unit = own.unit.word();
        if let Some(actual) = own.actual {
            parts.push(format!("it did cost {actual} {unit}"));
        }
        if let Some(requested) = own.requested {
            parts.push(format!("it asked for {requested} {unit}"));
        }
    }
    if let Some(bucket) = &seen.bucket {
        parts.push(format!("the bucket is {bucket}"));
    }
    if seen.scope != Scope::Gate {
        parts.push(format!("it speaks for: {}", seen.scope.code()));
    }
    if seen.kind != Kind::Rate {
        parts.push(format!("the limit is of the kind: {}", seen.kind.code()));
    }
    match seen.retry {
        Some(true) => parts.push("it may be sent again".into()),
        Some(false) => parts.push("it is not to be sent again".into()),
        None => {}
    }
    let flags = seen.flags.iter().filter(|flag| {
        flag.starts_with("malformed") || EXPLAINED.iter().any(|(own, _)| own == flag)
    });
    parts.extend(flags.map(note));
    parts
}

/// What the dialect's file says of a field that means nothing by itself.
fn documented(own: &Provider, field: &str) -> Option<String> {
    let mut fields = own.fields.iter();
    let found = fields.find(|(name, _)| name.eq_ignore_ascii_case(field));
    found.map(|(_, meaning)| meaning.to_string())
}
