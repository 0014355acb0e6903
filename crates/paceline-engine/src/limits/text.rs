//! Limits as text: what people write, and the one form that is printed.
//!
//! ```text
//! limit  = amount [word] "/" period ["burst" whole]
//!        | whole [word] "in" "flight"
//!        | amount unit "server" "time" "/" period
//! amount = digits ["." digits]                       at most 9 fraction digits
//! period = [digits ["." digits]] unit
//! unit   = "s" | "m" | "h" | "d"
//! word   = letter {letter | digit | "-" | "_"}
//! ```
//!
//! Space between the parts does not matter. An amount with a fraction is made whole by the shortest
//! multiple of its period in which it is: `0.5/s` is `1/2s`, and `2.0/10s` stays `2/10s`. A period
//! keeps its length, because `10/s` and `20/2s` are different promises. Words for what is counted
//! are read without regard to case.

use core::fmt;
use core::num::NonZeroU64;
use core::str::FromStr;
use core::time::Duration;

use super::error::{Fault, LimitError};
use super::scan::{LONGEST_PERIOD, Number, PERIODS, Scan};
use super::{Limit, LimitKind};
use crate::observation::Unit;

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let mut scan = Scan { text, at: 0 };
        scan.skip_space();
        if scan.rest().is_empty() {
            return Err(scan.error(Fault::Empty));
        }
        let limit = read_limit(&mut scan)?;
        scan.skip_space();
        if scan.rest().is_empty() {
            Ok(limit)
        } else {
            Err(scan.error(Fault::Trailing))
        }
    }
}

fn read_limit(scan: &mut Scan<'_>) -> Result<Limit, LimitError> {
    let start = scan.at;
    let amount = scan.amount()?;
    if let Some(seconds) = scan.server_time()? {
        let amount = scan.time(start, amount, seconds)?;
        return read_budget(scan, amount);
    }
    let unit = scan.unit()?;
    if scan.eat("/") {
        return read_rate(scan, start, amount, unit);
    }
    let word_at = scan.at;
    if scan.word() != "in" {
        scan.at = word_at;
        return Err(scan.error(Fault::NoPeriod));
    }
    scan.skip_space();
    let flight_at = scan.at;
    if scan.word() != "flight" {
        return Err(scan.error_at(flight_at, Fault::Flight));
    }
    let kind = match amount.whole() {
        Some(whole) => LimitKind::InFlight {
            max: NonZeroU64::new(whole).ok_or_else(|| scan.error_at(start, Fault::ZeroAmount))?,
        },
        None => return Err(scan.error_at(start, Fault::Amount)),
    };
    Ok(Limit { kind, unit })
}

fn read_rate(
    scan: &mut Scan<'_>,
    start: usize,
    amount: Number,
    unit: Unit,
) -> Result<Limit, LimitError> {
    let whole =
        NonZeroU64::new(amount.numerator).ok_or_else(|| scan.error_at(start, Fault::ZeroAmount))?;
    scan.skip_space();
    let period_at = scan.at;
    let once = scan.period()?;
    let period = u32::try_from(amount.denominator)
        .ok()
        .and_then(|times| once.checked_mul(times))
        .filter(|period| *period <= LONGEST_PERIOD)
        .ok_or_else(|| match amount.denominator {
            1 => scan.error_at(period_at, Fault::LongPeriod),
            _ => scan.error_at(start, Fault::RareAmount),
        })?;
    scan.skip_space();
    let burst_at = scan.at;
    if scan.word() != "burst" {
        scan.at = burst_at;
        let kind = LimitKind::Strict {
            amount: whole,
            period,
        };
        return Ok(Limit { kind, unit });
    }
    let kind = LimitKind::Bucket {
        amount: whole,
        period,
        burst: scan.burst()?,
    };
    Ok(Limit { kind, unit })
}

fn read_budget(scan: &mut Scan<'_>, amount: Duration) -> Result<Limit, LimitError> {
    scan.skip_space();
    if !scan.eat("/") {
        return Err(scan.error(Fault::NoPeriod));
    }
    scan.skip_space();
    let period = scan.period()?;
    let kind = LimitKind::ServerTime { amount, period };
    let unit = Unit::Requests;
    Ok(Limit { kind, unit })
}

impl Unit {
    /// What a limit counts by this word: `tokens` as in `90000 tokens/m`; `None` if no limit can have it.
    pub fn parse(word: &str) -> Option<Self> {
        let mut scan = Scan { text: word, at: 0 };
        let unit = scan.unit().ok()?;
        (!word.is_empty() && scan.rest().is_empty()).then_some(unit)
    }
}

impl fmt::Display for Limit {
    /// The canonical form: reading it gives an equal limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match &self.unit {
            Unit::Requests | Unit::Concurrent => String::new(),
            Unit::Other(word) => format!(" {word}"),
        };
        match self.kind {
            LimitKind::Strict { amount, period } => write!(f, "{amount}{word}/{}", Period(period)),
            LimitKind::Bucket {
                amount,
                period,
                burst,
            } => write!(f, "{amount}{word}/{} burst {burst}", Period(period)),
            LimitKind::InFlight { max } => write!(f, "{max}{word} in flight"),
            LimitKind::ServerTime { amount, period } => {
                write!(f, "{} server time / {}", Time(amount), Period(period))
            }
        }
    }
}

/// A period as a time; one of something is only its unit.
struct Period(Duration);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = PERIODS.iter();
        match units.find(|(_, unit)| self.0 == Duration::from_secs(*unit)) {
            Some((name, _)) => f.write_str(name),
            None => Time(self.0).fmt(f),
        }
    }
}

/// A time in the longest unit in which it is whole, else in seconds with a fraction.
pub(crate) struct Time(pub(crate) Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.as_secs(), self.0.subsec_nanos());
        if nanos > 0 {
            let fraction = format!("{nanos:09}");
            return write!(f, "{seconds}.{}s", fraction.trim_end_matches('0'));
        }
        let (name, count) = PERIODS
            .iter()
            .find(|(_, unit)| seconds.is_multiple_of(*unit))
            .map_or(("s", seconds), |(name, unit)| (*name, seconds / unit));
        write!(f, "{count}{name}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_form_is_read_and_printed_canonically() {
        for (text, canonical) in [
            ("10/s", "10/s"),
            ("30/m", "30/m"),
            ("5000/h", "5000/h"),
            ("1/d", "1/d"),
            ("50/10s", "50/10s"),
            ("1/2m", "1/2m"),
            ("3/366d", "3/366d"),
            ("1/1s", "1/s"),
            ("7/60s", "7/m"),
            ("7/90s", "7/90s"),
            ("7/24h", "7/d"),
            ("007/s", "7/s"),
            ("0.5/s", "1/2s"),
            ("1.5/s", "3/2s"),
            ("2.0/10s", "2/10s"),
            ("0.25/m", "1/4m"),
            ("0.4/10s", "2/50s"),
            ("0.000000125/s", "1/8000000s"),
            ("0.50000000000000/s", "1/2s"),
            ("10/0.5s", "10/0.5s"),
            ("10/1.5m", "10/90s"),
            ("1/0.000000001s", "1/0.000000001s"),
            ("18446744073709551615/s", "18446744073709551615/s"),
            ("10/s burst 50", "10/s burst 50"),
            ("0.5/s burst 3", "1/2s burst 3"),
            ("100 in flight", "100 in flight"),
            ("100 requests in flight", "100 in flight"),
            ("9 tokens in flight", "9 tokens in flight"),
            ("90000 tokens/m", "90000 tokens/m"),
            (
                "90000 Content-Bytes/m burst 9",
                "90000 content-bytes/m burst 9",
            ),
            ("1 request/s", "1/s"),
            ("2 requests/s", "2/s"),
            (" 10 \t/ 2 s  burst\n50 ", "10/2s burst 50"),
            ("10\u{a0}/s", "10/s"),
            ("20s server time / 10s", "20s server time / 10s"),
            ("20s server time/10s", "20s server time / 10s"),
            ("1.5 m Server  TIME/h", "90s server time / h"),
            ("60s server time/60s", "1m server time / m"),
            ("0.25s server time / 1s", "0.25s server time / s"),
            ("1200s server time / 5m", "20m server time / 5m"),
        ] {
            let read = limit(text);
            assert_eq!(read.to_string(), canonical, "{text:?}");
            assert_eq!(limit(canonical), read, "{text:?}");
        }
    }

    #[test]
    fn the_forms_mean_what_they_say() {
        let amount = NonZeroU64::new(10).expect("above zero");
        let period = Duration::from_secs(1);
        assert_eq!(limit("10/s").kind, LimitKind::Strict { amount, period });
        let burst = NonZeroU64::new(50).expect("above zero");
        assert_eq!(
            limit("10/s burst 50").kind,
            LimitKind::Bucket {
                amount,
                period,
                burst
            }
        );
        assert_eq!(
            limit("10 in flight").kind,
            LimitKind::InFlight { max: amount }
        );
        assert_eq!(limit("10 in flight").unit, Unit::Requests);
        assert_eq!(limit("10 tokens/s").unit, Unit::Other("tokens".into()));
    }

    #[test]
    fn a_unit_alone_is_read_as_in_a_limit() {
        let tokens = Unit::Other("tokens".into());
        assert_eq!(Unit::parse("Tokens"), Some(tokens));
        assert_eq!(Unit::parse("requests"), Some(Unit::Requests));
        for word in ["", "in", "m", "burst", "9", "tokens/m", "a b", "é"] {
            assert_eq!(Unit::parse(word), None, "{word:?}");
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        for (text, character, wrong) in [
            ("", 1, "it is empty"),
            ("  ", 3, "it is empty"),
            ("10/0s", 4, "the period is zero"),
            ("10/0.0m", 4, "the period is zero"),
            ("-1/s", 1, "the amount is negative"),
            ("10", 3, "it does not say per what"),
            ("10 tokens", 10, "it does not say per what"),
            ("10 per second", 4, "it does not say per what"),
            ("10 concurrent", 4, "it does not say per what"),
            ("10 burst 5", 4, "it does not say per what"),
            (
                "10/x",
                4,
                "the period is not s, m, h or d, with or without a number before it",
            ),
            (
                "10/",
                4,
                "the period is not s, m, h or d, with or without a number before it",
            ),
            (
                "10/10",
                4,
                "the period is not s, m, h or d, with or without a number before it",
            ),
            (
                "10/ms",
                4,
                "the period is not s, m, h or d, with or without a number before it",
            ),
            (
                "10/S",
                4,
                "the period is not s, m, h or d, with or without a number before it",
            ),
            (
                "10/-1s",
                4,
                "the period is not s, m, h or d, with or without a number before it",
            ),
            ("ten/s", 1, "the amount is not a number"),
            ("1e3/s", 1, "the amount is not a number"),
            ("5,000/h", 1, "the amount is not a number"),
            ("90_000/h", 1, "the amount is not a number"),
            ("5./s", 3, "no digit follows the decimal point"),
            ("5/2.s", 5, "no digit follows the decimal point"),
            (".5/s", 1, "the amount is not a number"),
            ("+5/s", 1, "the amount is not a number"),
            ("NaN/s", 1, "the amount is not a number"),
            ("∞/s", 1, "the amount is not a number"),
            ("１０/s", 1, "the amount is not a number"),
            ("0.5 in flight", 1, "the amount is not a number"),
            ("10 é/s", 4, "that is not a word for what is counted"),
            ("10 3/s", 4, "that is not a word for what is counted"),
            ("10s/m", 3, "that is not a word for what is counted"),
            ("0/s", 1, "the amount is zero, so nothing could ever go"),
            ("0.0/s", 1, "the amount is zero, so nothing could ever go"),
            (
                "0 in flight",
                1,
                "the amount is zero, so nothing could ever go",
            ),
            (
                "10/s burst 0",
                12,
                "the burst is zero, so nothing could ever go",
            ),
            (
                "10/s burst",
                11,
                "\"burst\" is not followed by a whole number",
            ),
            (
                "10/s burst ten",
                12,
                "\"burst\" is not followed by a whole number",
            ),
            (
                "10/s burst 1.5",
                12,
                "\"burst\" is not followed by a whole number",
            ),
            ("10 in", 6, "\"in\" is not followed by \"flight\""),
            ("10 in air", 7, "\"in\" is not followed by \"flight\""),
            ("18446744073709551616/s", 1, "the number is too large"),
            ("18446744073709551615.5/s", 1, "the number is too large"),
            ("10/99999999999999999999s", 4, "the number is too large"),
            (
                "1/s burst 99999999999999999999",
                11,
                "the number is too large",
            ),
            ("10/367d", 4, "the period is longer than 366 days"),
            (
                "10/18446744073709551615d",
                4,
                "the period is longer than 366 days",
            ),
            (
                "0.000000001/s",
                1,
                "the period in which the amount is a whole number is longer than 366 days",
            ),
            (
                "0.0000000001/s",
                1,
                "the number has more than 9 fraction digits",
            ),
            (
                "10/s please",
                6,
                "something follows where the limit has ended",
            ),
            (
                "10/s burst 5 now",
                14,
                "something follows where the limit has ended",
            ),
            (
                "10 in flight/s",
                13,
                "something follows where the limit has ended",
            ),
            (
                "10/s, 5/m",
                5,
                "something follows where the limit has ended",
            ),
            (
                "20 server time / 10s",
                4,
                "it does not say in what the server time is",
            ),
            (
                "20s server / 10s",
                12,
                "\"server\" is not followed by \"time\"",
            ),
            ("20s server time", 16, "it does not say per what"),
            ("20s server time in flight", 17, "it does not say per what"),
            (
                "0.0s server time / 10s",
                1,
                "the amount is zero, so nothing could ever go",
            ),
            ("20s server time / 0s", 19, "the period is zero"),
            (
                "20s server time / 367d",
                19,
                "the period is longer than 366 days",
            ),
            ("213504d server time / d", 1, "the number is too large"),
            (
                "20s server time / 10s burst 5",
                23,
                "something follows where the limit has ended",
            ),
            (
                "20s tokens / 10s",
                3,
                "that is not a word for what is counted",
            ),
        ] {
            let error = text.parse::<Limit>().expect_err(text);
            assert_eq!(
                error.problem(),
                format!("{text:?} is not a limit: {wrong} (character {character})")
            );
            assert_eq!(error.character(), character, "{text:?}");
        }
    }

    #[test]
    fn an_error_shows_what_would_be_right_and_the_grammar() {
        assert_eq!(
            "10/0s".parse::<Limit>().expect_err("zero").to_string(),
            "\"10/0s\" is not a limit: the period is zero (character 4); \
             expected a period above zero, such as 10/s \
             [limits are: N/s, N/m, N/h, N/d or N/Ks (never more than N in any such period), \
             N/s burst B (a token bucket), N in flight, \
             Ts server time / Ws (what requests take, together); \
             a word after N counts something else: N tokens/m]"
        );
    }

    #[test]
    fn an_error_stays_one_short_line_whatever_the_text() {
        let error = "1\n"
            .repeat(100_000)
            .parse::<Limit>()
            .expect_err("two lines");
        let shown = error.to_string();
        assert!(shown.len() < 600 && !shown.contains('\n'), "{shown}");
    }

    fn kinds() -> impl Strategy<Value = LimitKind> {
        let amount = (1..=u64::MAX).prop_map(|n| NonZeroU64::new(n).expect("above zero"));
        let longest = LONGEST_PERIOD.as_secs();
        let period = prop_oneof![
            (1..=longest).prop_map(Duration::from_secs),
            (1..=366_u64).prop_map(|days| Duration::from_secs(days * 86_400)),
            (1..=longest * 1_000_000_000).prop_map(Duration::from_nanos),
        ];
        (amount.clone(), period, amount, 0..4).prop_map(
            |(amount, period, burst, form)| match form {
                0 => LimitKind::Strict { amount, period },
                1 => LimitKind::Bucket {
                    amount,
                    period,
                    burst,
                },
                2 => LimitKind::ServerTime {
                    amount: Duration::from_nanos(amount.get()),
                    period,
                },
                _ => LimitKind::InFlight { max: amount },
            },
        )
    }

    fn units() -> impl Strategy<Value = Unit> {
        let word = "[a-z][a-z0-9_-]{1,12}".prop_map(|word| Unit::Other(word.into()));
        let word = word.prop_filter("words of the grammar count nothing", |unit| {
            let Unit::Other(word) = unit else { return true };
            let grammar = "in ms request requests burst concurrent flight parallel per server time";
            !grammar.split(' ').any(|own| *own == **word)
        });
        prop_oneof![Just(Unit::Requests), word]
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_the_same(kind in kinds(), unit in units()) {
            let unit = match kind {
                LimitKind::ServerTime { .. } => Unit::Requests,
                _ => unit,
            };
            let limit = Limit { kind, unit };
            prop_assert_eq!(limit.to_string().parse::<Limit>(), Ok(limit));
        }

        #[test]
        fn any_text_is_a_limit_or_an_error(text in "\\PC{0,40}") {
            let _ = text.parse::<Limit>();
        }

        #[test]
        fn texts_that_look_like_limits_are_read_or_refused(
            amount in "[0-9]{0,12}(\\.[0-9]{0,11})?",
            unit in " ?(tokens|in|s|é|s server time|m server)? ?",
            period in "/? ?[0-9]{0,9}(\\.[0-9]{0,11})?[smhdx]?",
            burst in "( burst ?[0-9]{0,21})?",
        ) {
            let text = format!("{amount}{unit}{period}{burst}");
            if let Ok(limit) = text.parse::<Limit>() {
                prop_assert_eq!(limit.to_string().parse::<Limit>(), Ok(limit));
            }
        }
    }
}
