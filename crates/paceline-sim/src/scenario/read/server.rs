//! The server of a scenario: its kind, what it limits, and how it words a refusal.

use core::time::Duration;

use super::field::{Field, Table};
use super::form::{Flag, Form, Number, Seconds, Whole, Word};
use super::{Result, wrap};
use crate::scenario::document::Value;
use crate::{RetryAfter, ServerSpec};

pub(super) const FORM: &str = "an object with a kind, such as {\"kind\": \"gcra\", \"rate\": 2}";

const PARTS: &str = "a list of servers, at least one";
const RATES: &str = "a list of [from, rate], at least one, such as [[0, 10], [20, 2]]";
const RATE_PAIR: &str = "[from, rate], such as [20, 2]";

/// The fastest rate that a clock of nanoseconds can tell apart, requests per second.
const RATE: Number = Number::above_zero(1e9);

/// The same for a part of a schedule, in which a server may take a rest.
const RATE_OR_NONE: Number = Number::from_zero(1e9);

const BURST: Whole = Whole(1..=1_000_000_000);
const COUNT: Whole = Whole(1..=u64::MAX);

#[derive(Clone, Copy)]
enum Kind {
    TokenBucket,
    Gcra,
    FixedWindow,
    SlidingLog,
    Concurrency,
    AllOf,
    Open,
    Always,
}

const KINDS: [(&str, Kind); 8] = [
    ("token-bucket", Kind::TokenBucket),
    ("gcra", Kind::Gcra),
    ("fixed-window", Kind::FixedWindow),
    ("sliding-log", Kind::SlidingLog),
    ("concurrency", Kind::Concurrency),
    ("all-of", Kind::AllOf),
    ("open", Kind::Open),
    ("always", Kind::Always),
];

pub(super) fn server(field: &Field<'_>) -> Result<ServerSpec> {
    let table = field.table(FORM)?;
    let spec = match table.need("kind", &Word(&KINDS))? {
        Kind::TokenBucket => token_bucket(&table)?,
        Kind::Gcra => {
            let rate = table.need("rate", &RATE)?;
            ServerSpec::token_bucket(rate, table.or("burst", &BURST, 1)?)
        }
        Kind::FixedWindow => ServerSpec::fixed_window(
            table.need("limit", &COUNT)?,
            table.need("window", &Seconds::ABOVE_ZERO)?,
            table.or("phase", &Seconds::FROM_ZERO, Duration::ZERO)?,
        ),
        Kind::SlidingLog => {
            let limit = table.need("limit", &COUNT)?;
            let window = table.need("window", &Seconds::ABOVE_ZERO)?;
            match table.or("count_refused", &Flag, false)? {
                true => ServerSpec::sliding_log_counting_refused(limit, window),
                false => ServerSpec::sliding_log(limit, window),
            }
        }
        Kind::Concurrency => ServerSpec::concurrency(table.need("max", &COUNT)?),
        Kind::AllOf => ServerSpec::all_of(parts(&table)?),
        Kind::Open => ServerSpec::open(),
        Kind::Always => ServerSpec::always(),
    };
    let spec = wrap::wraps(&table)?
        .into_iter()
        .fold(spec, ServerSpec::wrap)
        .status(status(&table)?)
        .retry_after(retry_after(&table)?);
    table.has_no_other()?;
    // All of this has been checked; a check that only the model makes must not get lost.
    match spec.model(1) {
        Ok(_) => Ok(spec),
        Err(error) => Err(field.error(error.to_string())),
    }
}

fn token_bucket(table: &Table<'_>) -> Result<ServerSpec> {
    let rates = table.find("rates");
    let spec = match (&rates, table.find("rate")) {
        (Some(field), Some(_)) => {
            return Err(field.error("must not be there together with rate"));
        }
        (Some(field), None) => {
            let rates = schedule(field)?;
            ServerSpec::token_bucket_with_rates(rates, table.need("burst", &BURST)?)
        }
        (None, _) => {
            let rate = table.need("rate", &RATE)?;
            ServerSpec::token_bucket(rate, table.need("burst", &BURST)?)
        }
    };
    Ok(spec)
}

fn schedule(field: &Field<'_>) -> Result<Vec<(Duration, f64)>> {
    let mut rates: Vec<(Duration, f64)> = Vec::new();
    for element in field.list(RATES)? {
        let (from, rate) = element.pair(RATE_PAIR)?;
        let (since, rate) = (from.read(&Seconds::FROM_ZERO)?, rate.read(&RATE_OR_NONE)?);
        if let Some((last, _)) = rates.last()
            && since <= *last
        {
            return Err(from.must_be(&format!(
                "later than the one before ({} s)",
                last.as_secs_f64()
            )));
        }
        rates.push((since, rate));
    }
    if rates.is_empty() {
        return Err(field.must_be(RATES));
    }
    if rates.iter().all(|(_, rate)| *rate == 0.0) {
        return Err(field.error(
            "must have a rate above 0; for a server that refuses everything there is always",
        ));
    }
    Ok(rates)
}

fn parts(table: &Table<'_>) -> Result<Vec<ServerSpec>> {
    let field = table.find_or("parts", PARTS)?;
    let parts = field.list(PARTS)?;
    match parts.is_empty() {
        true => Err(field.must_be(PARTS)),
        false => parts.iter().map(server).collect(),
    }
}

/// The status of a refusal.
pub(super) fn status(table: &Table<'_>) -> Result<u16> {
    let status = table.or("status", &Whole(200..=599), 429)?;
    Ok(u16::try_from(status).expect("it is at most 599"))
}

/// How a refusal words the wait.
pub(super) fn retry_after(table: &Table<'_>) -> Result<RetryAfter> {
    table.or("retry_after", &Wording, RetryAfter::None)
}

/// A word, or a number of seconds.
struct Wording;

const WORDS: Word<'_, RetryAfter> = Word(&[
    ("none", RetryAfter::None),
    ("zero", RetryAfter::Zero),
    ("ceil", RetryAfter::Ceil),
    ("floor", RetryAfter::Floor),
    ("floor1", RetryAfter::Floor1),
    ("float", RetryAfter::Float),
]);

impl Form for Wording {
    type Meaning = RetryAfter;

    fn words(&self) -> String {
        format!("{}, or a number of seconds from 0 on", WORDS.words())
    }

    fn read(&self, value: &Value) -> Option<RetryAfter> {
        let number = || Number::from_zero(f64::MAX).read(value);
        WORDS
            .read(value)
            .or_else(|| number().map(RetryAfter::Seconds))
    }
}
