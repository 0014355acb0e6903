//! What is wrapped around a server.

use core::ops::Range;
use core::time::Duration;

use super::Result;
use super::field::{Field, Table};
use super::form::{Flag, Number, Seconds, Whole, Word};
use super::server::{retry_after, status};
use crate::Wrap;

const WRAPS: &str = "a list of objects, each with a kind";
const WRAP: &str = "an object with a kind, such as {\"kind\": \"random\", \"p\": 0.05}";
const ARRIVALS: &str = "a list of arrivals counted from 1, such as [1, 20]";
const STRETCHES: &str = "a list of [from, to], such as [[5, 8]]";
const STRETCH: &str = "[from, to], such as [5, 8]";

/// Requests per second of a rival: one that is looked at after an idle hour has all its tries to
/// make up for.
const RIVAL_RATE: Number = Number::above_zero(1e6);

/// The request that is always refused unless another is named.
const POISONED: u64 = 7;

#[derive(Clone, Copy)]
enum Kind {
    Random,
    Outage,
    Nth,
    Poison,
    Rival,
}

const KINDS: [(&str, Kind); 5] = [
    ("random", Kind::Random),
    ("outage", Kind::Outage),
    ("nth", Kind::Nth),
    ("poison", Kind::Poison),
    ("rival", Kind::Rival),
];

/// The wraps of a server, the one that is asked first first.
pub(super) fn wraps(server: &Table<'_>) -> Result<Vec<Wrap>> {
    match server.find("wrap") {
        Some(field) => field.list(WRAPS)?.iter().map(wrap).collect(),
        None => Ok(Vec::new()),
    }
}

fn wrap(field: &Field<'_>) -> Result<Wrap> {
    let table = field.table(WRAP)?;
    let wrap = match table.need("kind", &Word(&KINDS))? {
        Kind::Random => Wrap::random(table.need("p", &Number::from_zero(1.0))?),
        Kind::Outage => Wrap::outage(stretches(&table)?),
        Kind::Nth => {
            let arrivals = table.find_or("nth", ARRIVALS)?.list(ARRIVALS)?;
            let arrival = |field: &Field<'_>| field.read(&Whole(1..=u64::MAX));
            Wrap::nth(arrivals.iter().map(arrival).collect::<Result<Vec<u64>>>()?)
        }
        Kind::Poison => Wrap::poison(table.or("request", &Whole(0..=u64::MAX), POISONED)?),
        Kind::Rival => {
            let rate = table.need("rate", &RIVAL_RATE)?;
            match table.or("poisson", &Flag, false)? {
                true => Wrap::poisson_rival(rate),
                false => Wrap::rival(rate),
            }
        }
    };
    let wrap = wrap
        .status(status(&table)?)
        .retry_after(retry_after(&table)?);
    table.has_no_other()?;
    Ok(wrap)
}

fn stretches(table: &Table<'_>) -> Result<Vec<Range<Duration>>> {
    let stretch = |field: &Field<'_>| {
        let (from, to) = field.pair(STRETCH)?;
        let start = from.read(&Seconds::FROM_ZERO)?;
        let end = to.read(&Seconds::FROM_ZERO)?;
        match start < end {
            true => Ok(start..end),
            false => Err(to.must_be(&format!("later than its begin ({} s)", start.as_secs_f64()))),
        }
    };
    let field = table.find_or("windows", STRETCHES)?;
    field.list(STRETCHES)?.iter().map(stretch).collect()
}
