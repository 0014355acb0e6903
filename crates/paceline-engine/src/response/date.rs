//! Dates as header fields write them: the three HTTP forms (RFC 9110 section 5.6.7), RFC 3339, and
//! JavaScript's.
//!
//! `httpdate` reads what is well formed; servers also send the wrong weekday, one-digit days,
//! `UTC`, lower case and years before 1970, and a client that does not read those loses the hint.
//! All results are nanoseconds since 1970, UTC.

use std::time::UNIX_EPOCH;

use super::calendar::{
    clock_time, field, four_digits, instant, is_utc, month_named, offset_nanos, within_fifty_years,
};
use super::number::{self, trim};

/// An instant, and whether its text named no zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    /// Nanoseconds since 1970, UTC.
    pub(super) nanos: i128,
    /// There was no zone: UTC is assumed.
    pub(super) naive: bool,
}

/// IMF-fixdate, RFC 850 or asctime. `now` (nanoseconds since 1970) decides the century of a
/// two-digit year.
pub(super) fn http(value: &[u8], now: i128) -> Option<Date> {
    // The two-digit pivot of RFC 850 dates moves with the present, which `httpdate` does not know.
    if !value.contains(&b'-')
        && let Ok(text) = str::from_utf8(value)
        && let Ok(date) = httpdate::parse_http_date(text)
    {
        let since = date.duration_since(UNIX_EPOCH).ok()?;
        return zoned(i128::try_from(since.as_nanos()).ok()?);
    }
    lenient(value, now)
}

/// What `httpdate` rejects although its meaning is plain.
fn lenient(value: &[u8], now: i128) -> Option<Date> {
    let (words, count) = words::<6>(value);
    let (day, month, year, clock) = match (count, words) {
        (6, [weekday, day, month, year, clock, zone]) => {
            (weekday.ends_with(b",") && is_utc(zone)).then_some(())?;
            (day, month, four_digits(year)?, clock)
        }
        (4, [weekday, date, clock, zone, ..]) => {
            (weekday.ends_with(b",") && is_utc(zone)).then_some(())?;
            let mut parts = date.split(|&byte| byte == b'-');
            let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
            parts.next().is_none().then_some(())?;
            if year.len() == 2 {
                let (day, month, clock) = (
                    one_or_two_digits(day)?,
                    month_named(month)?,
                    clock_time(clock)?,
                );
                let in_year = |year| instant(year, month, day, clock);
                return zoned(within_fifty_years(field(year, 2)?, now, in_year)?);
            }
            (day, month, four_digits(year)?, clock)
        }
        (5, [_weekday, month, day, clock, year, ..]) => (day, month, four_digits(year)?, clock),
        _ => return None,
    };
    let day = one_or_two_digits(day)?;
    zoned(instant(year, month_named(month)?, day, clock_time(clock)?)?)
}

fn one_or_two_digits(day: &[u8]) -> Option<u64> {
    number::digits(day).filter(|_| day.len() <= 2)
}

/// `Thu May 01 2025 22:02:18 GMT+0200 (Central European Summer Time)`: what JavaScript's `Date`
/// prints.
pub(super) fn javascript(value: &[u8]) -> Option<Date> {
    let (words, count) = words::<6>(value);
    let [_weekday, month, day, year, clock, zone] = words;
    (count == 6).then_some(())?;
    let day = field(day, 2)?;
    let local = instant(
        four_digits(year)?,
        month_named(month)?,
        day,
        clock_time(clock)?,
    )?;
    let (name, offset) = zone.split_at_checked(3)?;
    name.eq_ignore_ascii_case(b"GMT").then_some(())?;
    zoned(local - offset_nanos(offset)?)
}

/// RFC 3339, with seconds and zone optional: `2025-05-01T22:02:18.5Z`, `2025-05-01T22:02`,
/// `2025-05-02T00:02:18+02:00`.
pub(super) fn rfc3339(value: &[u8]) -> Option<Date> {
    let (date, rest) = value.split_at_checked(10)?;
    let [y, m, d] = [&date[..4], &date[5..7], &date[8..]];
    (date[4] == b'-' && date[7] == b'-').then_some(())?;
    let [b'T' | b't' | b' ', rest @ ..] = rest else {
        return None;
    };
    let end = rest
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b':' | b'.'))
        .unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(end);
    let local = instant(
        four_digits(y)?,
        field(m, 2)?,
        field(d, 2)?,
        clock_time(clock)?,
    )?;
    match zone {
        b"" => Some(Date {
            nanos: local,
            naive: true,
        }),
        b"Z" | b"z" => zoned(local),
        offset => zoned(local - offset_nanos(offset)?),
    }
}

fn zoned(nanos: i128) -> Option<Date> {
    Some(Date {
        nanos,
        naive: false,
    })
}

/// The first `N` words between spaces, and how many there are up to `N`; JavaScript's zone in
/// brackets is cut off.
fn words<const N: usize>(value: &[u8]) -> ([&[u8]; N], usize) {
    let value = value.split(|&byte| byte == b'(').next().unwrap_or(value);
    let mut words = [&value[..0]; N];
    let mut count = 0;
    for word in value.split(|&byte| byte == b' ').map(trim) {
        if word.is_empty() {
            continue;
        }
        match words.get_mut(count) {
            Some(slot) => *slot = word,
            // One word too many is not this form.
            None => return (words, N + 1),
        }
        count += 1;
    }
    (words, count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2025-05-01T22:02:18Z.
    const THEN: i128 = 1_746_136_938 * 1_000_000_000;

    #[test]
    fn every_http_form_names_the_same_instant() {
        for text in [
            "Thu, 01 May 2025 22:02:18 GMT",
            "Thursday, 01-May-25 22:02:18 GMT",
            "Thu May  1 22:02:18 2025",
            "Mon, 01 May 2025 22:02:18 GMT",
            "thu, 1 may 2025 22:02:18 gmt",
            "Thu, 01 May 2025 22:02:18 UTC",
            "Thu, 01 May 2025 22:02:18 +0000",
        ] {
            assert_eq!(http(text.as_bytes(), THEN), zoned(THEN), "{text}");
        }
        for text in [
            "Thu, 31 Feb 2025 22:02:18 GMT",
            "Thu, 01 May 2025 22:02:18 PST",
            "Thu, 01 May 2025 24:02:18 GMT",
            "Thu, 01 May 2025 22:02:18",
            "Thu, 01 May 2025 22:02:18 GMT, Thu, 01 May 2025 22:03:18 GMT",
            "22:02:18 01 May",
            "",
        ] {
            assert_eq!(http(text.as_bytes(), THEN), None, "{text}");
        }
    }

    #[test]
    fn rfc_3339_may_lack_seconds_and_zone() {
        let seconds =
            |text: &str| rfc3339(text.as_bytes()).map(|date| (date.nanos - THEN, date.naive));
        let second = 1_000_000_000;
        assert_eq!(seconds("2025-05-01T22:02:18Z"), Some((0, false)));
        assert_eq!(
            seconds("2025-05-01T22:02:18.500Z"),
            Some((second / 2, false))
        );
        assert_eq!(seconds("2025-05-02T00:02:18+02:00"), Some((0, false)));
        assert_eq!(seconds("2025-05-01T22:03Z"), Some((42 * second, false)));
        assert_eq!(seconds("2025-05-01T22:02:18"), Some((0, true)));
        for bad in [
            "2025-05-01 22:02:18 UTC",
            "2025-13-01T00:00:00Z",
            "2025-05-01",
            "2025-05-01T1:00Z",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn javascript_dates_heed_their_offset() {
        let text = b"Fri May 02 2025 00:02:18 GMT+0200 (Central European Summer Time)";
        assert_eq!(javascript(text), zoned(THEN));
        assert_eq!(javascript(b"Fri May 02 2025 00:02:18 CEST"), None);
    }

    proptest! {
        /// The own reading and `httpdate` agree wherever `httpdate` can read.
        #[test]
        fn the_lenient_pass_agrees_with_httpdate(seconds in 0_u64..253_402_300_799) {
            let date = UNIX_EPOCH + core::time::Duration::from_secs(seconds);
            let text = httpdate::fmt_http_date(date);
            let expected = zoned(i128::from(seconds) * 1_000_000_000);
            prop_assert_eq!(lenient(text.as_bytes(), THEN), expected);
            prop_assert_eq!(http(text.as_bytes(), THEN), expected);
        }

        #[test]
        fn no_bytes_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..48),
            now in any::<i128>(),
        ) {
            http(&bytes, now);
            javascript(&bytes);
            rfc3339(&bytes);
        }
    }
}
