//! From instants to spans: what a reset or a date on a response means for somebody whose clock may
//! be wrong.
//!
//! The server's own `Date` says what time it was there when it wrote the instant, so the difference
//! of the two is free of both clocks' errors. A server without a clock sends nonsense in `Date`;
//! then the local clock decides.

use core::time::Duration;

use http::HeaderMap;
use http::header::DATE;

use super::number::{self, trim};
use super::{date, span};
use crate::{Flags, WallTime};

/// The two clocks that an instant can be compared with.
pub(super) struct Clocks<'a> {
    headers: &'a HeaderMap,
    wall: i128,
    date: Option<Option<i128>>,
}

/// A signed difference in nanoseconds, and what there is to say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    nanos: i128,
    remark: Option<&'static str>,
}

impl Difference {
    /// Within a year, either way.
    pub(super) fn is_within_a_year(self) -> bool {
        self.nanos.abs() <= 366 * DAY
    }

    /// The time from receipt until the instant; zero if it is over.
    pub(super) fn until(self, flags: &mut Flags) -> Duration {
        if let Some(remark) = self.remark {
            flags.add(remark);
        }
        if self.nanos < 0 {
            flags.add("past");
        }
        span::bounded(u128::try_from(self.nanos).unwrap_or(0), flags)
    }
}

impl<'a> Clocks<'a> {
    /// The clocks of one response. `Date` is not read before it is needed.
    pub(super) fn new(headers: &'a HeaderMap, wall: WallTime) -> Self {
        Self {
            headers,
            wall: i128::try_from(wall.0.as_nanos()).unwrap_or(i128::MAX),
            date: None,
        }
    }

    /// The local wall clock, in nanoseconds since 1970.
    pub(super) const fn wall(&self) -> i128 {
        self.wall
    }

    /// The time until the clock shows the next multiple of `length` since 1970: by the server's clock if that can be
    /// trusted. `Date` is cut to whole seconds, so this is never too short.
    pub(super) fn until_multiple_of(&mut self, length: Duration, flags: &mut Flags) -> Duration {
        let length = i128::try_from(length.as_nanos())
            .unwrap_or(i128::MAX)
            .max(1);
        let now = match self.date() {
            Some(date) if (date - self.wall).abs() <= TRUSTED => date,
            _ => self.wall,
        };
        if (now - self.wall).abs() >= SKEW {
            flags.add("skew");
        }
        let left = length - now.rem_euclid(length);
        span::bounded(u128::try_from(left).unwrap_or(0), &mut Flags::default())
    }

    /// The response's own `Date`.
    fn date(&mut self) -> Option<i128> {
        let (headers, wall) = (self.headers, self.wall);
        *self.date.get_or_insert_with(|| {
            let value = headers.get(DATE)?;
            Some(date::http(trim(value.as_bytes()), wall)?.nanos)
        })
    }

    /// How far an instant (nanoseconds since 1970) is away: by the response's `Date` if that says
    /// within 31 days, otherwise by the local clock.
    pub(super) fn difference(&mut self, instant: i128) -> Difference {
        let local = instant - self.wall;
        let Some(date) = self.date() else {
            return Difference {
                nanos: local,
                remark: None,
            };
        };
        let skewed = (date - self.wall).abs() >= SKEW;
        let by_date = instant - date;
        let (nanos, remark) = if by_date.abs() <= TRUSTED {
            (by_date, "skew")
        } else {
            (local, "date_distrusted")
        };
        Difference {
            nanos,
            remark: skewed.then_some(remark),
        }
    }
}

/// Reads one value of a reset-like field: a span below 10^9 seconds, else an instant whose unit its
/// size tells, a span with units, RFC 3339, an HTTP-date, or a JavaScript date.
pub(super) fn reset(value: &[u8], clocks: &mut Clocks<'_>, flags: &mut Flags) -> Option<Duration> {
    // Parameters are comments since draft 04, and no form holds a semicolon of its own.
    let value = value.split(|&byte| byte == b';').next().map_or(value, trim);
    if let Some(number) = number::decimal(value) {
        let (per_second, flag) = match number.whole {
            0..1_000_000_000 => {
                return Some(span::from_number(number, span::Scale::Seconds, flags));
            }
            1_000_000_000..FIRST_MILLIS => (1, "epoch_s"),
            FIRST_MILLIS..100_000_000_000_000 => (1000, "epoch_ms"),
            100_000_000_000_000..100_000_000_000_000_000 => (1_000_000, "epoch_us"),
            _ => (1_000_000_000, "epoch_ns"),
        };
        flags.add(flag);
        return Some(clocks.difference(epoch(number, per_second)).until(flags));
    }
    if let Some(nanos) = span::with_units(value) {
        return Some(span::bounded(nanos, flags));
    }
    let date = date::rfc3339(value)
        .or_else(|| date::http(value, clocks.wall()))
        .or_else(|| date::javascript(value))?;
    if date.naive {
        flags.add("naive_datetime");
    }
    Some(clocks.difference(date.nanos).until(flags))
}

/// A number of `1 / per_second` since 1970, in nanoseconds.
pub(super) fn epoch(number: number::Decimal, per_second: u64) -> i128 {
    i128::try_from(number.scaled(span::SECOND) / u128::from(per_second)).unwrap_or(i128::MAX)
}

/// From here on a number is milliseconds since 1970, not seconds: 10^11 s is the year 5138, 10^11
/// ms was 1973.
pub(super) const FIRST_MILLIS: u64 = 100_000_000_000;

const DAY: i128 = 86_400 * 1_000_000_000;

/// No window that anybody announces by an instant is longer than a month.
const TRUSTED: i128 = 31 * DAY;

/// `Date` is cut to whole seconds and the response was under way: less than this is no difference
/// between clocks.
const SKEW: i128 = 2 * 1_000_000_000;

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const NOW: u64 = 1_746_136_878;

    fn read(date: Option<&'static str>, value: &str) -> (Option<Duration>, Vec<String>) {
        let mut headers = HeaderMap::new();
        if let Some(date) = date {
            headers.insert(DATE, HeaderValue::from_static(date));
        }
        let mut clocks = Clocks::new(&headers, WallTime(Duration::from_secs(NOW)));
        let mut flags = Flags::default();
        let reset = reset(value.as_bytes(), &mut clocks, &mut flags);
        (reset, flags.iter().map(str::to_owned).collect())
    }

    #[test]
    fn the_size_of_a_number_tells_its_unit() {
        let minute = Some(Duration::from_mins(1));
        assert_eq!(read(None, "60"), (minute, vec![]));
        for (value, flag) in [
            ("1746136938", "epoch_s"),
            ("1746136938000", "epoch_ms"),
            ("1746136938000000", "epoch_us"),
            ("1746136938000000000", "epoch_ns"),
        ] {
            assert_eq!(read(None, value), (minute, vec![flag.to_owned()]));
        }
        assert_eq!(read(None, "1m0s"), (minute, vec![]));
        assert_eq!(
            read(None, "2025-05-01T22:02:18"),
            (minute, vec!["naive_datetime".to_owned()])
        );
    }

    #[test]
    fn the_server_s_own_date_corrects_the_local_clock() {
        let slow = Some("Thu, 01 May 2025 21:01:18 GMT");
        assert_eq!(
            read(slow, "1746133338"),
            (
                Some(Duration::from_mins(1)),
                vec!["epoch_s".to_owned(), "skew".to_owned()]
            )
        );
    }

    #[test]
    fn a_date_that_makes_no_sense_is_ignored() {
        let unset = Some("Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(
            read(unset, "1746136938"),
            (
                Some(Duration::from_mins(1)),
                vec!["epoch_s".to_owned(), "date_distrusted".to_owned()]
            )
        );
    }

    #[test]
    fn what_is_over_is_zero_and_said_so() {
        assert_eq!(
            read(None, "1746136870"),
            (
                Some(Duration::ZERO),
                vec!["epoch_s".to_owned(), "past".to_owned()]
            )
        );
    }
}
