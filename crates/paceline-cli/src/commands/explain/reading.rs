//! What was read in a response, as JSON.

use core::time::Duration;

use paceline::dialect::Provider;
use paceline::{Observation, Scope, Spent, Window, response};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::case::Case;

/// One response, read.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    id: &'a Value,
    class: &'static str,
    #[serde(serialize_with = "number")]
    retry_after_seconds: Option<f64>,
    /// Of the window that binds.
    #[serde(flatten)]
    binding: Numbers,
    #[serde(serialize_with = "number")]
    wait_seconds: Option<f64>,
    scope: Option<&'static str>,
    /// What kind of limit refused.
    kind: Option<&'static str>,
    /// What the request did cost, as far as the response says.
    costs: Vec<CostRow>,
    bucket: Option<String>,
    windows: Vec<WindowRow>,
    flags: Vec<String>,
    dialect: Option<&'a str>,
    #[serde(skip)]
    pub(super) seen: Observation,
}

#[derive(Default, Serialize)]
struct Numbers {
    #[serde(serialize_with = "number")]
    limit: Option<f64>,
    #[serde(serialize_with = "number")]
    remaining: Option<f64>,
    #[serde(serialize_with = "number")]
    reset_in_seconds: Option<f64>,
}

#[derive(Serialize)]
struct CostRow {
    unit: String,
    requested: Option<u64>,
    actual: Option<u64>,
}

#[derive(Serialize)]
struct WindowRow {
    name: Option<String>,
    unit: String,
    #[serde(flatten)]
    numbers: Numbers,
    #[serde(serialize_with = "number")]
    window_seconds: Option<f64>,
}

impl<'a> Row<'a> {
    pub(super) fn of(case: &'a Case) -> Self {
        let (status, headers, wall) = (case.status, &case.headers, case.wall());
        let seen = match &case.dialect {
            Some(own) => own
                .dialect
                .read(status, headers, case.body.as_deref(), wall),
            None => response::read(status, headers, wall),
        };
        Self {
            id: &case.id,
            class: seen.verdict.code(),
            retry_after_seconds: seen.retry_after.map(seconds),
            binding: seen.binding().map(Numbers::of).unwrap_or_default(),
            wait_seconds: seen.wait.map(seconds),
            scope: (seen.scope != Scope::Gate).then(|| seen.scope.code()),
            kind: seen.verdict.is_refusal().then(|| seen.kind.code()),
            costs: seen.spent.iter().map(CostRow::of).collect(),
            bucket: seen.bucket.as_deref().map(str::to_owned),
            windows: seen.windows.iter().map(WindowRow::of).collect(),
            flags: seen.flags.iter().map(str::to_owned).collect(),
            dialect: case.dialect.as_deref().map(|own| &*own.slug),
            seen,
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts")
    }
}

impl Numbers {
    fn of(window: &Window) -> Self {
        let left = |left: u64| left as f64 + f64::from(window.remaining_milli) / 1000.0;
        Self {
            limit: window.limit_milli.map(|milli| milli as f64 / 1000.0),
            remaining: window.remaining.map(left),
            reset_in_seconds: window.reset.map(seconds),
        }
    }
}

impl CostRow {
    fn of(spent: &Spent) -> Self {
        Self {
            unit: spent.unit.word().to_owned(),
            requested: spent.requested,
            actual: spent.actual,
        }
    }
}

impl WindowRow {
    fn of(window: &Window) -> Self {
        Self {
            name: window.name.as_deref().map(str::to_owned),
            unit: window.unit.word().to_owned(),
            numbers: Numbers::of(window),
            window_seconds: window.length.map(seconds),
        }
    }
}

/// A dialect in a list.
pub(super) fn listed(own: &Provider) -> String {
    let row = serde_json::json!({
        "dialect": own.slug,
        "name": own.name,
        "confidence": own.confidence.code(),
        "source": own.source,
        "date": own.date,
        "hosts": own.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "limits": own.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    row.to_string()
}

/// In seconds, to the microsecond.
pub(super) fn seconds(span: Duration) -> f64 {
    (span.as_nanos().div_ceil(1000)) as f64 / 1e6
}

/// Whole numbers are written as such.
#[expect(clippy::ref_option, reason = "serde hands over what it has")]
fn number<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(whole) if whole.fract() == 0.0 && whole.abs() < 9e15 => {
            serializer.serialize_i64(*whole as i64)
        }
        Some(number) => serializer.serialize_f64(*number),
        None => serializer.serialize_none(),
    }
}
