//! Reads a limit's text from left to right; every error knows its place.

use core::num::NonZeroU64;
use core::time::Duration;

use super::error::{Fault, LimitError};
use crate::observation::Unit;

/// Longer periods are typing errors, and would need counts that no store keeps for so long.
pub(super) const LONGEST_PERIOD: Duration = Duration::from_secs(366 * 86_400);

/// The units of periods in seconds, longest first.
pub(super) const PERIODS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// Words of the grammar, and what people write for them: after an amount they say that the period
/// is missing.
const NO_UNITS: [&str; 6] = ["burst", "concurrent", "flight", "parallel", "per", "time"];

/// Longer words are a mistake, and would be repeated in every error and metric.
const LONGEST_UNIT: usize = 64;

const NANOS: u64 = 1_000_000_000;

/// A number in lowest terms.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

impl Number {
    pub(super) const fn whole(self) -> Option<u64> {
        match self.denominator {
            1 => Some(self.numerator),
            _ => None,
        }
    }
}

/// A place in the text.
pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn error(&self, fault: Fault) -> LimitError {
        self.error_at(self.at, fault)
    }

    pub(super) fn error_at(&self, offset: usize, fault: Fault) -> LimitError {
        LimitError::new(self.text, offset, fault)
    }

    pub(super) fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(super) fn word(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    }

    /// The amount. Letters glued to it are an error, unless they make it a time (`20s server
    /// time`).
    pub(super) fn amount(&mut self) -> Result<Number, LimitError> {
        let start = self.at;
        if self.rest().starts_with('-') {
            return Err(self.error(Fault::Negative));
        }
        let number = self.number()?.ok_or_else(|| self.error(Fault::Amount))?;
        let after = self.rest();
        if after.starts_with(|c: char| c != '/' && !c.is_whitespace()) {
            let mut ahead = Scan { ..*self };
            if !is_period(ahead.word()) {
                return Err(self.error_at(start, Fault::Amount));
            }
        }
        self.skip_space();
        Ok(number)
    }

    /// What is counted; nothing is consumed if no word is there.
    pub(super) fn unit(&mut self) -> Result<Unit, LimitError> {
        let start = self.at;
        let word = self.word().to_ascii_lowercase();
        self.skip_space();
        let fault = match word.as_str() {
            "" if self.rest().is_empty() || self.rest().starts_with('/') => {
                return Ok(Unit::Requests);
            }
            "in" => {
                self.at = start;
                return Ok(Unit::Requests);
            }
            "request" | "requests" => return Ok(Unit::Requests),
            "server" => Fault::NoUnitOfTime,
            word if NO_UNITS.contains(&word) => Fault::NoPeriod,
            word if is_period(word) || !is_unit(word) => Fault::Unit,
            word => return Ok(Unit::Other(word.into())),
        };
        Err(self.error_at(start, fault))
    }

    /// The seconds of the unit that stands before `server time`; nothing is consumed if no server time is meant.
    pub(super) fn server_time(&mut self) -> Result<Option<u64>, LimitError> {
        let start = self.at;
        let word = self.word();
        let unit = PERIODS.iter().find(|(name, _)| *name == word);
        self.skip_space();
        let is_server = self.word().eq_ignore_ascii_case("server");
        let Some((_, seconds)) = unit.filter(|_| is_server) else {
            self.at = start;
            return Ok(None);
        };
        self.skip_space();
        let at = self.at;
        if self.word().eq_ignore_ascii_case("time") {
            Ok(Some(*seconds))
        } else {
            Err(self.error_at(at, Fault::ServerTime))
        }
    }

    /// So many of a unit of so many seconds, as they stand at `start`.
    pub(super) fn time(
        &self,
        start: usize,
        count: Number,
        seconds: u64,
    ) -> Result<Duration, LimitError> {
        match u64::try_from(nanos(count, seconds)).map(Duration::from_nanos) {
            Ok(Duration::ZERO) => Err(self.error_at(start, Fault::ZeroAmount)),
            Ok(time) => Ok(time),
            Err(_) => Err(self.error_at(start, Fault::TooLarge)),
        }
    }

    pub(super) fn period(&mut self) -> Result<Duration, LimitError> {
        let start = self.at;
        let length = self.number()?.unwrap_or(Number {
            numerator: 1,
            denominator: 1,
        });
        self.skip_space();
        let word = self.word();
        let (_, seconds) = PERIODS
            .iter()
            .find(|(name, _)| *name == word)
            .ok_or_else(|| self.error_at(start, Fault::Period))?;
        match u64::try_from(nanos(length, *seconds)).map(Duration::from_nanos) {
            Ok(Duration::ZERO) => Err(self.error_at(start, Fault::ZeroPeriod)),
            Ok(period) if period <= LONGEST_PERIOD => Ok(period),
            _ => Err(self.error_at(start, Fault::LongPeriod)),
        }
    }

    pub(super) fn burst(&mut self) -> Result<NonZeroU64, LimitError> {
        self.skip_space();
        let start = self.at;
        let whole = self.number()?.and_then(Number::whole);
        let burst = whole.ok_or_else(|| self.error_at(start, Fault::Burst))?;
        NonZeroU64::new(burst).ok_or_else(|| self.error_at(start, Fault::ZeroBurst))
    }

    /// Digits with an optional fraction; `None` if there is no digit.
    fn number(&mut self) -> Result<Option<Number>, LimitError> {
        let start = self.at;
        let digits = self.take(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Ok(None);
        }
        let mut fraction = "";
        if self.eat(".") {
            fraction = self.take(|c| c.is_ascii_digit());
            if fraction.is_empty() {
                return Err(self.error(Fault::Point));
            }
            fraction = fraction.trim_end_matches('0');
        }
        let places = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        if places > 9 {
            return Err(self.error_at(start, Fault::Digits));
        }
        let too_large = || LimitError::new(self.text, start, Fault::TooLarge);
        let whole: u64 = digits.parse().map_err(|_| too_large())?;
        let part: u64 = match fraction {
            "" => 0,
            _ => fraction.parse().map_err(|_| too_large())?,
        };
        let scale = 10_u64.pow(places);
        let scaled = u128::from(whole) * u128::from(scale) + u128::from(part);
        let common = gcd(scaled, u128::from(scale));
        let numerator = u64::try_from(scaled / common).map_err(|_| too_large())?;
        let denominator = u64::try_from(u128::from(scale) / common).map_err(|_| too_large())?;
        Ok(Some(Number {
            numerator,
            denominator,
        }))
    }
}

/// At most 9 fraction digits, so the denominator divides a second's nanoseconds.
fn nanos(count: Number, seconds: u64) -> u128 {
    u128::from(count.numerator) * u128::from(NANOS / count.denominator) * u128::from(seconds)
}

fn is_period(word: &str) -> bool {
    PERIODS.iter().any(|(name, _)| *name == word)
}

fn is_unit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.len() <= LONGEST_UNIT
}

/// The greatest common divisor; `b` is not zero.
const fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
