//! Spans of time as header fields write them, bounded before they become durations.

use core::time::Duration;

use super::number::{self, Decimal};
use crate::Flags;

/// The longest wait that is told to anybody, in seconds (68 years). Whoever asks for more gets
/// this, and the flag `saturated`; a policy then refuses to wait, rather than an overflow retrying
/// at once.
pub const LONGEST_SECONDS: u64 = 1 << 31;

/// From here a span is flagged `huge`.
const HUGE_SECONDS: u64 = 86_400;

/// How many nanoseconds one unit of a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Seconds,
    Millis,
}

impl Scale {
    const fn nanos(self) -> u64 {
        match self {
            Self::Seconds => SECOND,
            Self::Millis => 1_000_000,
        }
    }
}

/// A number of `scale` units as a bounded duration.
pub(super) fn from_number(number: Decimal, scale: Scale, flags: &mut Flags) -> Duration {
    bounded(number.scaled(scale.nanos()), flags)
}

/// At most [`LONGEST_SECONDS`], flagged when that or more than a day.
pub(super) fn bounded(nanos: u128, flags: &mut Flags) -> Duration {
    let longest = u128::from(LONGEST_SECONDS) * u128::from(SECOND);
    if nanos > u128::from(HUGE_SECONDS) * u128::from(SECOND) {
        flags.add("huge");
    }
    if nanos > longest {
        flags.add("saturated");
    }
    // 2^31 s is 2.1e18 ns, well inside u64.
    Duration::from_nanos(u64::try_from(nanos.min(longest)).unwrap_or(u64::MAX))
}

/// `60s`, `1m0s`, `12ms`, `8.64s`, `1h2m3s`: numbers with units and no spaces, in nanoseconds.
pub(super) fn with_units(mut value: &[u8]) -> Option<u128> {
    let mut nanos = None::<u128>;
    while !value.is_empty() {
        let end = position_of(value, |byte| !byte.is_ascii_digit() && byte != b'.')?;
        let (number, rest) = value.split_at(end);
        let end = position_of(rest, |byte| byte.is_ascii_digit()).unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(end);
        let span = number::decimal(number)?.scaled(SECOND);
        let span = match unit {
            b"ns" => span / 1_000_000_000,
            b"us" | b"\xC2\xB5s" | b"\xCE\xBCs" => span / 1_000_000,
            b"ms" => span / 1000,
            b"s" => span,
            b"m" => span.saturating_mul(60),
            b"h" => span.saturating_mul(3600),
            b"d" => span.saturating_mul(86_400),
            _ => return None,
        };
        nanos = Some(nanos.unwrap_or(0).saturating_add(span));
        value = rest;
    }
    nanos
}

fn position_of(value: &[u8], found: impl Fn(u8) -> bool) -> Option<usize> {
    value.iter().position(|&byte| found(byte))
}

pub(super) const SECOND: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        for (text, millis) in [
            ("60s", 60_000),
            ("1m0s", 60_000),
            ("12ms", 12),
            ("8.64s", 8640),
            ("1h2m3s", 3_723_000),
            ("6000us", 6),
            ("1d", 86_400_000),
        ] {
            assert_eq!(
                with_units(text.as_bytes()),
                Some(millis * 1_000_000),
                "{text}"
            );
        }
        for bad in ["", "60", "60 s", "60sec", "s", "-1s", "1m0", "PT1M", "1.m"] {
            assert_eq!(with_units(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn saturation_comes_before_the_conversion() {
        let mut flags = Flags::default();
        let longest = Duration::from_secs(LONGEST_SECONDS);
        assert_eq!(
            from_number(Decimal::whole(u64::MAX), Scale::Seconds, &mut flags),
            longest
        );
        assert!(flags.contains("huge") && flags.contains("saturated"));
        assert_eq!(bounded(u128::MAX, &mut flags), longest);
    }
}
