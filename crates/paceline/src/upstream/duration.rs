//! Durations as text: `2m`, `500ms`, `1h30m`, `1.5s`.

use core::time::Duration;

use super::text::{TextError, quote};

/// What errors and help texts say that a duration looks like.
const FORM: &str = "a number and a unit (d, h, m, s, ms, us), such as 2m, 500ms or 1h30m";

/// Nobody waits longer for a request; larger numbers are typing errors.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// The units in nanoseconds, longest first.
const UNITS: [(&str, u128); 6] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// Reads a duration: numbers with units, longest unit first, each unit once.
///
/// Exact to the nanosecond; fractions are fine (`1.5s`), and so is space between and around the
/// parts. At most 366 days.
///
/// # Errors
///
/// The text has no unit, an unknown one, no number before it, is finer than a nanosecond, or longer
/// than 366 days.
///
/// ```
/// use core::time::Duration;
/// use paceline::upstream::parse_duration;
///
/// assert_eq!(parse_duration("1h30m")?, Duration::from_secs(5400));
/// assert_eq!(parse_duration("0.5s")?, parse_duration("500ms")?);
/// # Ok::<(), paceline::upstream::TextError>(())
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, TextError> {
    total_nanos(text).map_err(|wrong| {
        TextError::new(format!("{} is not a duration: {wrong}", quote(text)), FORM)
    })
}

fn total_nanos(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("it is empty".into());
    }
    let mut units = UNITS.iter();
    let mut total = 0_u128;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        if number.is_empty() {
            return Err(format!("there is no number before {}", quote(rest)));
        }
        let (unit, after) = split(after.trim_start(), |c| !c.is_ascii_digit() && c != ' ');
        if unit.is_empty() {
            return Err(format!("{} has no unit", quote(number)));
        }
        if !UNITS.iter().any(|(name, _)| *name == unit) {
            return Err(format!("{} is not a unit", quote(unit)));
        }
        let (_, nanos) = units
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| format!("{} does not come in its order, once", quote(unit)))?;
        total = total
            .checked_add(scale(number, *nanos)?)
            .filter(|total| *total <= LONGEST.as_nanos())
            .ok_or("it is longer than 366 days")?;
        rest = after.trim_start();
    }
    let nanos = u64::try_from(total).map_err(|_| "it is longer than 366 days")?;
    Ok(Duration::from_nanos(nanos))
}

/// `number` units of `nanos` each.
fn scale(number: &str, nanos: u128) -> Result<u128, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(format!("{} is not a number", quote(number)));
    }
    let too_long = || "it is longer than 366 days".to_owned();
    let whole: u64 = whole.parse().map_err(|_| too_long())?;
    let fraction = fraction.trim_end_matches('0');
    let too_fine = || "it is finer than a nanosecond".to_owned();
    // A day has fewer than 10^15 nanoseconds: more digits than that are never exact.
    let places = u32::try_from(fraction.len())
        .ok()
        .filter(|places| *places <= 15)
        .ok_or_else(too_fine)?;
    let part: u128 = match fraction {
        "" => 0,
        _ => fraction.parse().map_err(|_| too_fine())?,
    };
    let scaled = part * nanos;
    let divisor = 10_u128.pow(places);
    if !scaled.is_multiple_of(divisor) {
        return Err(too_fine());
    }
    Ok(u128::from(whole) * nanos + scaled / divisor)
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, nanos) in [
            ("2m", 120_000_000_000),
            ("500ms", 500_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1h 30m ", 5_400_000_000_000),
            ("1 h", 3_600_000_000_000),
            ("1d2h3m4s5ms6us", 93_784_005_006_000),
            ("0s", 0),
            ("1.5s", 1_500_000_000),
            ("0.000000001s", 1),
            ("0.100000000000000000s", 100_000_000),
            ("1.5us", 1_500),
            ("366d", 366 * 86_400_000_000_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_nanos(nanos)),
                "{text}"
            );
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_would_be_right() {
        for (text, wrong) in [
            ("", "it is empty"),
            ("30", "\"30\" has no unit"),
            ("1h30", "\"30\" has no unit"),
            ("m", "there is no number before \"m\""),
            ("-1s", "there is no number before \"-1s\""),
            ("2x", "\"x\" is not a unit"),
            ("2M", "\"M\" is not a unit"),
            ("2 minutes", "\"minutes\" is not a unit"),
            ("2µs", "\"µs\" is not a unit"),
            ("1e3s", "\"e\" is not a unit"),
            ("30m1h", "\"h\" does not come in its order, once"),
            ("1s1s", "\"s\" does not come in its order, once"),
            (".5s", "\".5\" is not a number"),
            ("5.s", "\"5.\" is not a number"),
            ("1.2.3s", "\"1.2.3\" is not a number"),
            ("0.0000000001s", "it is finer than a nanosecond"),
            ("0.1234567890123456d", "it is finer than a nanosecond"),
            ("367d", "it is longer than 366 days"),
            ("366d1us", "it is longer than 366 days"),
            ("99999999999999999999s", "it is longer than 366 days"),
        ] {
            let error = parse_duration(text).expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("{text:?} is not a duration: {wrong}; expected {FORM}")
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_duration_or_an_error(
            text in "\\PC{0,20}|[0-9. ]{0,9}[a-z]{0,2}[0-9.]{0,30}[smh]?"
        ) {
            let _ = parse_duration(&text);
        }
    }
}
