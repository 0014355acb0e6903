//! `Retry-After` (RFC 9110 section 10.2.3) and its relatives in milliseconds or under other names.

use core::time::Duration;

use super::date;
use super::instant::{self, Clocks};
use super::number::{self, Count, Decimal, trim};
use super::span::{self, Scale};
use crate::Flags;

/// What all such fields of one response say together.
#[derive(Debug, Default)]
pub(super) struct Hints {
    seconds: Option<Duration>,
    millis: Option<Duration>,
}

impl Hints {
    /// Takes in one field line.
    pub(super) fn read(
        &mut self,
        name: &str,
        scale: Scale,
        value: &[u8],
        clocks: &mut Clocks<'_>,
        flags: &mut Flags,
    ) {
        let Some(hint) = one_or_more(name, scale, trim(value), clocks, flags) else {
            flags.add(format!("malformed:{name}"));
            return;
        };
        let known = match scale {
            Scale::Seconds => &mut self.seconds,
            Scale::Millis => &mut self.millis,
        };
        if name == "retry-after" && known.is_some_and(|known| known != hint) {
            flags.add("conflict:retry-after");
        }
        // Two copies come from two places, each of which knows its own reason; the longer wait
        // satisfies both.
        *known = (*known).max(Some(hint));
    }

    /// The wait: milliseconds are more precise than seconds, unless they disagree with them; then
    /// the longer counts.
    pub(super) fn settle(self, flags: &mut Flags) -> Option<Duration> {
        let hint = match (self.seconds, self.millis) {
            (Some(seconds), Some(millis)) if seconds.abs_diff(millis) > ROUNDING => {
                flags.add("conflict:retry-after");
                seconds.max(millis)
            }
            (_, Some(millis)) => millis,
            (seconds, None) => seconds?,
        };
        if hint.is_zero() {
            flags.add("zero_hint");
        }
        Some(hint)
    }
}

/// A single value, or several spans that something on the way joined with commas.
fn one_or_more(
    name: &str,
    scale: Scale,
    value: &[u8],
    clocks: &mut Clocks<'_>,
    flags: &mut Flags,
) -> Option<Duration> {
    if let Some(hint) = one(scale, value, clocks, flags) {
        return Some(hint);
    }
    if let Some(number) = number::thousands(value) {
        flags.add(format!("thousands:{name}"));
        return Some(span::from_number(Decimal::whole(number), scale, flags));
    }
    // Dates hold commas themselves, so that only a list of numbers can be taken apart safely.
    if !value.contains(&b',')
        || number::counts(value).any(|count| !matches!(count, Count::Known(_)))
    {
        return None;
    }
    let members = value.split(|&byte| byte == b',');
    let longest = members
        .filter_map(|member| one(scale, trim(member), clocks, flags))
        .max();
    flags.add(format!("list:{name}"));
    longest
}

fn one(scale: Scale, value: &[u8], clocks: &mut Clocks<'_>, flags: &mut Flags) -> Option<Duration> {
    let number = number::decimal(value);
    if scale == Scale::Millis {
        return number.map(|number| span::from_number(number, scale, flags));
    }
    if let Some(number) = number {
        return Some(delay(number, clocks, flags));
    }
    if let Some(nanos) = span::with_units(value) {
        flags.add("duration_in_retry_after");
        return Some(span::bounded(nanos, flags));
    }
    let date = date::rfc3339(value).or_else(|| date::http(value, clocks.wall()))?;
    if date.naive {
        flags.add("naive_datetime");
    }
    Some(clocks.difference(date.nanos).until(flags))
}

/// Seconds, unless read as an instant the number lies within a year of now. Docker Hub sent Unix
/// timestamps in 2025 (docker/hub-feedback#2459); taken literally they are 55 years.
fn delay(number: Decimal, clocks: &mut Clocks<'_>, flags: &mut Flags) -> Duration {
    if number.whole >= FIRST_EPOCH {
        let per_second = if number.whole < instant::FIRST_MILLIS {
            1
        } else {
            1000
        };
        let difference = clocks.difference(instant::epoch(number, per_second));
        if difference.is_within_a_year() {
            flags.add("epoch_in_retry_after");
            return difference.until(flags);
        }
    }
    span::from_number(number, Scale::Seconds, flags)
}

/// 10^9 s is 32 years as a wait and the year 2001 as an instant.
const FIRST_EPOCH: u64 = 1_000_000_000;

/// Whole seconds rounded either way differ from milliseconds by at most this.
const ROUNDING: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::WallTime;

    fn read(fields: &[(&str, Scale, &str)]) -> (Option<Duration>, Vec<String>) {
        let headers = HeaderMap::new();
        let mut clocks = Clocks::new(&headers, WallTime(Duration::from_secs(1_746_136_878)));
        let mut flags = Flags::default();
        let mut hints = Hints::default();
        for (name, scale, value) in fields {
            hints.read(name, *scale, value.as_bytes(), &mut clocks, &mut flags);
        }
        let hint = hints.settle(&mut flags);
        (hint, flags.iter().map(str::to_owned).collect())
    }

    fn seconds(value: &str) -> Option<f64> {
        let (hint, _) = read(&[("retry-after", Scale::Seconds, value)]);
        hint.map(|hint| hint.as_secs_f64())
    }

    #[test]
    fn spans_and_instants_in_all_their_forms() {
        for (value, expected) in [
            ("120", 120.0),
            (" 000007\t", 7.0),
            ("1.5", 1.5),
            ("1m0s", 60.0),
            ("5,000", 5000.0),
            ("120, 60", 120.0),
            ("2025-05-01T22:02:18Z", 60.0),
            ("Thu, 1 May 2025 22:02:18 UTC", 60.0),
            ("1746136938", 60.0),
            ("1746136938000", 60.0),
            ("99999999999", 2_147_483_648.0),
        ] {
            assert_eq!(seconds(value), Some(expected), "{value}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_flagged_and_no_hint() {
        for value in [
            "",
            "-5",
            "+5",
            "60 seconds",
            "\"120\"",
            "120;a=b",
            "60, Wed, 21 Oct 2015 07:28:00 GMT",
        ] {
            let (hint, flags) = read(&[("retry-after", Scale::Seconds, value)]);
            assert_eq!(
                (hint, flags),
                (None, vec!["malformed:retry-after".to_owned()]),
                "{value}"
            );
        }
    }

    #[test]
    fn milliseconds_refine_seconds_and_never_shorten_them() {
        let both = |millis, seconds| {
            read(&[
                ("retry-after-ms", Scale::Millis, millis),
                ("retry-after", Scale::Seconds, seconds),
            ])
        };
        assert_eq!(
            both("1234", "2"),
            (Some(Duration::from_millis(1234)), vec![])
        );
        assert_eq!(
            both("10", "5"),
            (
                Some(Duration::from_secs(5)),
                vec!["conflict:retry-after".to_owned()]
            )
        );
        assert_eq!(both("x", "5").0, Some(Duration::from_secs(5)));
        assert_eq!(both("2500, 3000", "3").0, Some(Duration::from_secs(3)));
    }

    #[test]
    fn the_longest_of_several_lines_counts_and_a_bad_one_hides_nothing() {
        let lines = |values: [&'static str; 2]| {
            read(&values.map(|value| ("retry-after", Scale::Seconds, value)))
        };
        assert_eq!(lines(["5", "60"]).0, Some(Duration::from_mins(1)));
        assert_eq!(lines(["abc", "60"]).0, Some(Duration::from_mins(1)));
        assert_eq!(lines(["60", "60"]).1, Vec::<String>::new());
    }
}
