//! The parts that dates are made of, and the calendar that makes an instant of them.

use super::number;
use super::span::SECOND;

/// Exactly `length` digits.
pub(super) fn field(value: &[u8], length: usize) -> Option<u64> {
    number::digits(value).filter(|_| value.len() == length)
}

/// A year as all forms but one write it.
pub(super) fn four_digits(value: &[u8]) -> Option<i64> {
    i64::try_from(field(value, 4)?).ok()
}

/// `Jan` is 1, in any letter case.
pub(super) fn month_named(name: &[u8]) -> Option<u64> {
    let at = MONTHS
        .iter()
        .position(|month| name.eq_ignore_ascii_case(month))?;
    u64::try_from(at + 1).ok()
}

/// `GMT`, `UTC` or `+0000`. Other zone names are ambiguous (IST, CST), and a wrong hour is worse
/// than no hint.
pub(super) fn is_utc(zone: &[u8]) -> bool {
    zone.eq_ignore_ascii_case(b"GMT") || zone.eq_ignore_ascii_case(b"UTC") || zone == b"+0000"
}

/// `+0200` or `+02:00` in nanoseconds.
pub(super) fn offset_nanos(offset: &[u8]) -> Option<i128> {
    let (sign, digits) = offset.split_first()?;
    let (hours, minutes) = match digits {
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => ([*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (field(&hours, 2)?, field(&minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(())?;
    let nanos = i128::from((hours * 60 + minutes) * 60 * SECOND);
    match sign {
        b'+' => Some(nanos),
        b'-' => Some(-nanos),
        _ => None,
    }
}

/// `22:02`, `22:02:18` or `22:02:18.5` as nanoseconds of the day. A leap second counts as the one
/// before it.
pub(super) fn clock_time(value: &[u8]) -> Option<u64> {
    let mut parts = value.split(|&byte| byte == b':');
    let (hour, minute) = (field(parts.next()?, 2)?, field(parts.next()?, 2)?);
    let (second, nanos) = match parts.next() {
        None => (0, 0),
        Some(second) => {
            let decimal = number::decimal(second)?;
            let whole = second.split(|&byte| byte == b'.').next()?;
            (field(whole, 2)?, u64::from(decimal.billionths))
        }
    };
    (parts.next().is_none() && hour < 24 && minute < 60 && second <= 60).then_some(())?;
    Some(((hour * 60 + minute) * 60 + second.min(59)) * SECOND + nanos)
}

/// Nanoseconds since 1970 of a day that exists.
pub(super) fn instant(year: i64, month: u64, day: u64, nanos_of_day: u64) -> Option<i128> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=length).contains(&day).then_some(())?;
    let days = i128::from(days_before(year, i64::try_from(month).ok()?)) + i128::from(day) - 1;
    Some(days * DAY + i128::from(nanos_of_day))
}

/// Days from 1970-01-01 to the first of a month, counting years from March so that the leap day
/// comes last.
fn days_before(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let in_year = (153 * months_since_march + 2) / 5;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + in_year
        - 719_468
}

/// RFC 9110 section 5.6.7: "interpret a timestamp that appears to be more than 50 years in the
/// future as representing the most recent year in the past that had the same last two digits."
///
/// `in_year` is the instant in a given year, and the year is at most [`MAX_YEAR`].
pub(super) fn within_fifty_years(
    two_digits: u64,
    now: i128,
    in_year: impl Fn(i64) -> Option<i128>,
) -> Option<i128> {
    let latest =
        i64::try_from(now / (DAY * 146_097 / 400)).map_or(MAX_YEAR, |years| 1970 + years + 51);
    let latest = latest.clamp(1970, MAX_YEAR);
    let two_digits = i64::try_from(two_digits).ok()?;
    let year = latest - (latest - two_digits).rem_euclid(100);
    // A leap day has no twin fifty years before, but two that are as far from there.
    let between = || Some(i128::midpoint(in_year(year - 52)?, in_year(year - 48)?));
    let fifty_before = in_year(year - 50).or_else(between);
    in_year(if fifty_before.is_some_and(|then| then > now) {
        year - 100
    } else {
        year
    })
}

const MONTHS: [&[u8]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

const DAY: i128 = 86_400 * 1_000_000_000;

const MAX_YEAR: i64 = 9999;

#[cfg(test)]
mod tests {
    use super::*;

    /// 2025-05-01T22:02:18Z.
    const THEN: i128 = 1_746_136_938 * 1_000_000_000;

    #[test]
    fn two_digit_years_are_never_more_than_fifty_years_ahead() {
        let read = |two_digits, month, day, nanos_of_day| {
            let in_year = |year| instant(year, month, day, nanos_of_day);
            let found = within_fifty_years(two_digits, THEN, in_year);
            (1900..2100).find(|&year| in_year(year) == found)
        };
        let clock = u64::try_from(THEN % DAY).expect("a time of day");
        assert_eq!(read(75, 5, 1, clock), Some(2075), "fifty years exactly");
        assert_eq!(read(75, 5, 1, clock + 1), Some(1975));
        assert_eq!(read(75, 4, 30, clock + 1), Some(2075));
        assert_eq!(read(76, 1, 1, 0), Some(1976));
        assert_eq!(read(94, 11, 6, 0), Some(1994));
        assert_eq!(read(24, 2, 29, 0), Some(2024));
        assert_eq!(read(76, 2, 29, 0), Some(1976));
        let far = within_fifty_years(0, i128::MAX, |year| instant(year, 1, 1, 0));
        assert_eq!(far, instant(9900, 1, 1, 0));
    }

    #[test]
    fn only_days_that_exist_are_instants() {
        assert_eq!(instant(1970, 1, 1, 7), Some(7));
        assert_eq!(instant(1969, 12, 31, 0), Some(-DAY));
        assert_eq!(instant(2025, 5, 1, 0), Some(20_209 * DAY));
        assert!(instant(2024, 2, 29, 0).is_some());
        assert!(instant(2000, 2, 29, 0).is_some());
        for (year, month, day) in [
            (2025, 2, 29),
            (2100, 2, 29),
            (2025, 4, 31),
            (2025, 13, 1),
            (2025, 1, 0),
        ] {
            assert_eq!(instant(year, month, day, 0), None, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn a_leap_second_counts_as_the_one_before_it() {
        assert_eq!(clock_time(b"22:01:60"), clock_time(b"22:01:59"));
        for bad in [
            "22",
            "22:1",
            "24:00",
            "22:60",
            "22:01:61",
            "22:01:5",
            "22:01:05:00",
        ] {
            assert_eq!(clock_time(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn offsets_have_two_digits_each() {
        let minute = 60_i128 * 1_000_000_000;
        assert_eq!(offset_nanos(b"+0230"), Some(150 * minute));
        assert_eq!(offset_nanos(b"-02:30"), Some(-150 * minute));
        for bad in ["", "0200", "+200", "+2400", "+0260", "Z"] {
            assert_eq!(offset_nanos(bad.as_bytes()), None, "{bad}");
        }
    }
}
