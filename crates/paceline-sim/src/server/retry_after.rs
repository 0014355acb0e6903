//! How a refusal words the exact wait.

use core::time::Duration;

use super::TOLERANCE;

/// What the Retry-After field of a refusal says about the exact wait.
///
/// Rounding forgives what the server itself tolerates: an exact wait of 3.000000001 s is worded
/// "3", not "4".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RetryAfter {
    /// No such field.
    None,
    /// Always "0": a hint that says nothing.
    Zero,
    /// Whole seconds rounded up, at least 1: what RFC 9110 section 10.2.3 asks for.
    Ceil,
    /// Whole seconds rounded down, so often "0" or too early.
    Floor,
    /// Whole seconds rounded down, at least 1.
    Floor1,
    /// Seconds with up to nine decimals, against the RFC but exact.
    Float,
    /// This number of seconds, whatever the wait is.
    Seconds(f64),
}

impl RetryAfter {
    /// The field's value for a wait; `None` where the field is absent, or the wait has no end that
    /// could be named.
    pub(super) fn word(self, wait: Duration) -> Option<String> {
        let tolerance = Duration::from_nanos(TOLERANCE);
        let endless = wait == Duration::MAX;
        match self {
            Self::None => None,
            Self::Zero => Some("0".to_owned()),
            Self::Seconds(seconds) => Some(seconds.to_string()),
            _ if endless => None,
            Self::Ceil => Some(ceil(wait.saturating_sub(tolerance)).max(1).to_string()),
            Self::Floor => Some((wait + tolerance).as_secs().to_string()),
            Self::Floor1 => Some((wait + tolerance).as_secs().max(1).to_string()),
            Self::Float => Some(decimal(wait)),
        }
    }
}

/// A refusal's status and the words it comes with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wording {
    pub(crate) status: u16,
    pub(crate) retry_after: RetryAfter,
}

fn ceil(wait: Duration) -> u64 {
    wait.as_secs()
        .saturating_add(u64::from(wait.subsec_nanos() > 0))
}

/// Seconds with at least one decimal and no trailing zeros after it, as languages print a float.
fn decimal(wait: Duration) -> String {
    let text = format!("{}.{:09}", wait.as_secs(), wait.subsec_nanos());
    let short = text.trim_end_matches('0');
    if short.ends_with('.') {
        format!("{short}0")
    } else {
        short.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(wait: Duration) -> [Option<String>; 7] {
        [
            RetryAfter::None,
            RetryAfter::Zero,
            RetryAfter::Ceil,
            RetryAfter::Floor,
            RetryAfter::Floor1,
            RetryAfter::Float,
            RetryAfter::Seconds(60.0),
        ]
        .map(|wording| wording.word(wait))
    }

    fn expect(texts: [&str; 6]) -> [Option<String>; 7] {
        let [zero, ceil, floor, floor1, float, number] = texts.map(|text| Some(text.to_owned()));
        [None, zero, ceil, floor, floor1, float, number]
    }

    #[test]
    fn one_wait_in_seven_wordings() {
        assert_eq!(
            words(Duration::from_millis(1900)),
            expect(["0", "2", "1", "1", "1.9", "60"])
        );
        assert_eq!(
            words(Duration::from_millis(250)),
            expect(["0", "1", "0", "1", "0.25", "60"])
        );
        assert_eq!(
            words(Duration::from_secs(2)),
            expect(["0", "2", "2", "2", "2.0", "60"])
        );
    }

    #[test]
    fn rounding_forgives_a_tenth_of_a_microsecond_and_no_more() {
        assert_eq!(
            words(Duration::from_nanos(3_000_000_100)),
            expect(["0", "3", "3", "3", "3.0000001", "60"])
        );
        assert_eq!(
            words(Duration::from_nanos(3_000_000_101)),
            expect(["0", "4", "3", "3", "3.000000101", "60"])
        );
        assert_eq!(
            words(Duration::from_nanos(2_999_999_900)),
            expect(["0", "3", "3", "3", "2.9999999", "60"])
        );
        assert_eq!(
            words(Duration::from_nanos(2_999_999_899)),
            expect(["0", "3", "2", "2", "2.999999899", "60"])
        );
    }

    #[test]
    fn a_wait_without_end_is_not_put_into_words() {
        assert_eq!(RetryAfter::Ceil.word(Duration::MAX), None);
        assert_eq!(RetryAfter::Float.word(Duration::MAX), None);
        assert_eq!(RetryAfter::Zero.word(Duration::MAX).as_deref(), Some("0"));
    }

    #[test]
    fn a_number_is_sent_as_it_is_given() {
        assert_eq!(
            RetryAfter::Seconds(0.5).word(Duration::ZERO).as_deref(),
            Some("0.5")
        );
        assert_eq!(
            RetryAfter::Seconds(-1.0).word(Duration::ZERO).as_deref(),
            Some("-1")
        );
    }
}
