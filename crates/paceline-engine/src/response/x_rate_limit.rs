//! Windows that are spread over plain fields: `X-RateLimit-Limit`, `-Remaining`, `-Reset`, with or
//! without `X-`, a hyphen or a window's name.

use core::time::Duration;

use super::field::Measure;
use super::instant::{self, Clocks};
use super::number::{self, Decimal, trim};
use super::rate_limit::{self, Quota};
use super::several::{self, Counts, Number};
use super::span::{self, Scale};
use super::windows;
use crate::{Flags, Window};

/// The windows that plain fields have named so far.
#[derive(Debug, Default)]
pub(super) struct Triples<'a>(Vec<Triple<'a>>);

#[derive(Debug, Default)]
struct Triple<'a> {
    family: &'a str,
    window: &'a str,
    limit: Number,
    remaining: Number,
    used: Number,
    reset: Option<Duration>,
    reset_after: Option<Duration>,
    quotas: Vec<Quota>,
}

impl<'a> Triples<'a> {
    /// Takes in one field line.
    pub(super) fn read(
        &mut self,
        field: (&'a str, &'a str, Measure),
        name: &str,
        value: &[u8],
        clocks: &mut Clocks<'_>,
        flags: &mut Flags,
    ) {
        let (family, window, measure) = field;
        let known = self
            .0
            .iter()
            .position(|own| own.family == family && own.window == window);
        let at = known.unwrap_or_else(|| {
            self.0.push(Triple {
                family,
                window,
                ..Triple::default()
            });
            self.0.len() - 1
        });
        let triple = &mut self.0[at];
        let value = trim(value);
        let read = match measure {
            Measure::Limit => triple.read_limit(name, value, flags),
            Measure::Remaining => several::least(&mut triple.remaining, name, value, flags),
            Measure::Used => several::most(&mut triple.used, name, value, flags),
            Measure::Reset => {
                several::longest(&mut triple.reset, name, value, flags, |value, flags| {
                    instant::reset(value, clocks, flags)
                })
            }
            Measure::ResetAfter => several::longest(
                &mut triple.reset_after,
                name,
                value,
                flags,
                |value, flags| {
                    let number = number::decimal(value)?;
                    Some(span::from_number(number, Scale::Seconds, flags))
                },
            ),
        };
        if read.is_none() {
            flags.add(format!("malformed:{name}"));
        }
        // A hostile head may invent any number of windows.
        self.0.truncate(windows::MOST);
    }

    /// The windows, and the quotas that were listed beside their limits.
    pub(super) fn windows(self, flags: &mut Flags) -> Vec<(&'a str, Window, Vec<Quota>)> {
        let windows = self.0.into_iter();
        windows
            .filter_map(|triple| Some((triple.family, triple.window(flags)?, triple.quotas)))
            .collect()
    }
}

impl Triple<'_> {
    /// A number, or the list that `RateLimit-Limit` was before draft 04: the first member is the
    /// limit that is closest to being reached", the others are policies.
    fn read_limit(&mut self, name: &str, value: &[u8], flags: &mut Flags) -> Option<()> {
        if !value.contains(&b';') {
            return several::least(&mut self.limit, name, value, flags);
        }
        let quotas = rate_limit::quotas(value)?;
        let first = Decimal::whole(quotas.first()?.limit);
        self.limit = match self.limit {
            Number::Known(limit) => Number::Known(limit.min(first)),
            _ => Number::Known(first),
        };
        self.quotas
            .extend(quotas.iter().filter(|quota| quota.length.is_some()));
        self.quotas.truncate(windows::MOST);
        Some(())
    }

    /// What the numbers mean together; `None` if they mean nothing.
    fn window(&self, flags: &mut Flags) -> Option<Window> {
        let Counts {
            limit,
            remaining,
            untracked,
        } = Counts::of(self.limit, self.remaining, self.used, flags);
        let reset = self.reset_after.or(self.reset);
        // Azure OpenAI sends -1, -1 and 0 for "not tracked": the reset means as little as the rest, whatever it is. Where the
        // limit is negative, nothing can start anew; where only what is left is, the reset may be a real one.
        if untracked && (self.limit == Number::Negative || reset.is_some_and(|own| own.is_zero())) {
            return None;
        }
        if limit.is_none() && remaining.is_none() && reset.is_none() {
            return None;
        }
        let name = if self.window.is_empty() {
            self.family
        } else {
            self.window
        };
        Some(Window {
            name: Some(name.into()),
            unit: windows::unit_of_name(self.window),
            limit_milli: limit.map(Decimal::milli),
            remaining: remaining.map(|remaining| remaining.whole),
            remaining_milli: remaining
                .map_or(0, |left| u16::try_from(left.milli() % 1000).unwrap_or(0)),
            reset,
            length: windows::length_of_name(self.window),
            refill: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::WallTime;

    fn read(fields: &[(Measure, &str)]) -> (Option<Window>, Vec<String>) {
        let headers = HeaderMap::new();
        let mut clocks = Clocks::new(&headers, WallTime(Duration::from_secs(1_746_136_878)));
        let mut flags = Flags::default();
        let mut triples = Triples::default();
        for &(measure, value) in fields {
            let field = ("x-ratelimit", "", measure);
            triples.read(
                field,
                "x-ratelimit-f",
                value.as_bytes(),
                &mut clocks,
                &mut flags,
            );
        }
        let window = triples
            .windows(&mut flags)
            .into_iter()
            .next()
            .map(|(_, window, _)| window);
        (window, flags.iter().map(str::to_owned).collect())
    }

    #[test]
    fn several_values_are_read_to_the_safe_side() {
        let (window, flags) = read(&[
            (Measure::Remaining, "991, 98"),
            (Measure::Remaining, "200"),
            (Measure::Reset, "522, 42"),
            (Measure::Limit, "5,000"),
        ]);
        let window = window.expect("a window");
        assert_eq!(window.remaining, Some(98));
        assert_eq!(window.reset, Some(Duration::from_secs(522)));
        assert_eq!(window.limit(), Some(5000));
        assert_eq!(flags, ["list:x-ratelimit-f", "thousands:x-ratelimit-f"]);
    }

    #[test]
    fn negative_numbers_mean_unknown_or_overdrawn() {
        let left = |limit, remaining| {
            let (window, flags) = read(&[(Measure::Limit, limit), (Measure::Remaining, remaining)]);
            (window.and_then(|window| window.remaining), flags)
        };
        assert_eq!(left("10", "-3"), (Some(0), vec!["overdrawn".to_owned()]));
        assert_eq!(left("-1", "-1"), (None, vec!["sentinel".to_owned()]));
        assert_eq!(left("-1", "7"), (Some(7), vec!["sentinel".to_owned()]));
    }

    #[test]
    fn a_fraction_of_a_unit_pays_for_nothing() {
        let window = read(&[(Measure::Remaining, "0.5")]).0.expect("a window");
        assert!(window.is_exhausted());
        assert_eq!(window.remaining_milli, 500);
    }

    #[test]
    fn what_was_used_tells_what_is_left() {
        let left = |used| {
            read(&[(Measure::Limit, "100"), (Measure::Used, used)])
                .0
                .and_then(|window| window.remaining)
        };
        assert_eq!(left("30"), Some(70));
        assert_eq!(left("130"), Some(0));
    }

    #[test]
    fn words_are_no_numbers() {
        let (window, flags) = read(&[(Measure::Remaining, "unlimited"), (Measure::Reset, "-3")]);
        assert_eq!(
            (window, flags),
            (None, vec!["malformed:x-ratelimit-f".to_owned()])
        );
    }

    #[test]
    fn reset_after_is_a_span_and_wins() {
        let (window, _) = read(&[(Measure::ResetAfter, "2.5"), (Measure::Reset, "10")]);
        assert_eq!(
            window.and_then(|window| window.reset),
            Some(Duration::from_millis(2500))
        );
    }
}
