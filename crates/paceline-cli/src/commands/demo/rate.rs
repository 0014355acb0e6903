//! What the site allows.

use core::fmt;
use core::num::NonZeroU64;
use core::str::FromStr;

use paceline::testing::{RetryAfter, ServerSpec};
use paceline::{LIMIT_GRAMMAR, Limit, LimitKind, Unit};

/// A rate of requests, as text such as `3/s`; a bucket keeps it whose burst is the rate a second,
/// rounded up, unless the text names one.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    limit: Limit,
    per_second: f64,
    burst: u64,
}

impl Rate {
    /// A token bucket that refuses with `Retry-After: 0`: a hint that is no help, as many servers
    /// send it.
    pub(super) fn server(&self) -> ServerSpec {
        ServerSpec::token_bucket(self.per_second, self.burst).retry_after(RetryAfter::Zero)
    }

    /// How many requests it lets through at once.
    pub(super) const fn burst(&self) -> u64 {
        self.burst
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limit: Limit = text
            .parse()
            .map_err(|error: paceline::LimitError| error.to_string())?;
        let wrong = |what: &str| {
            format!(
                "{text:?} is not a rate: {what}; expected requests per time, such as 3/s \
                 [limits are: {LIMIT_GRAMMAR}]"
            )
        };
        if let Unit::Other(word) = &limit.unit {
            return Err(wrong(&format!(
                "it counts {word}, and the site counts requests"
            )));
        }
        let (amount, period, burst) = match limit.kind {
            LimitKind::Strict { amount, period } => (amount, period, None),
            LimitKind::Bucket {
                amount,
                period,
                burst,
            } => (amount, period, Some(burst)),
            LimitKind::ServerTime { .. } => {
                return Err(wrong("it bounds what requests take, together"));
            }
            _ => return Err(wrong("it bounds requests in flight")),
        };
        let a_second = (u128::from(amount.get()) * 1_000_000_000).div_ceil(period.as_nanos());
        let rounded_up = u64::try_from(a_second).unwrap_or(u64::MAX);
        Ok(Self {
            limit,
            per_second: amount.get() as f64 / period.as_secs_f64(),
            burst: burst.map_or(rounded_up, NonZeroU64::get),
        })
    }
}

impl fmt::Display for Rate {
    /// The limit in its canonical form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limit.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_burst_is_the_rate_a_second_rounded_up_unless_it_is_named() {
        for (text, shown, per_second, burst) in [
            ("3/s", "3/s", 3.0, 3),
            ("2.5/s", "5/2s", 2.5, 3),
            ("30/m", "30/m", 0.5, 1),
            ("50/10s", "50/10s", 5.0, 5),
            ("3/s burst 7", "3/s burst 7", 3.0, 7),
        ] {
            let rate: Rate = text.parse().expect(text);
            assert_eq!((rate.per_second, rate.burst), (per_second, burst), "{text}");
            assert_eq!(rate.to_string(), shown);
        }
    }

    #[test]
    fn other_limits_are_no_rate_and_the_error_shows_the_grammar() {
        for (text, wrong) in [
            ("10/0s", "\"10/0s\" is not a limit: the period is zero"),
            ("-1/s", "\"-1/s\" is not a limit: the amount is negative"),
            (
                "3 in flight",
                "\"3 in flight\" is not a rate: it bounds requests in flight",
            ),
            (
                "3 tokens/s",
                "\"3 tokens/s\" is not a rate: it counts tokens, and the site counts requests",
            ),
        ] {
            let error = text.parse::<Rate>().expect_err(text);
            assert!(
                error.starts_with(wrong) && error.contains(LIMIT_GRAMMAR),
                "{error}"
            );
        }
    }
}
