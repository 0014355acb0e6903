//! A server in words.

use core::fmt;
use core::time::Duration;

use super::retry_after::RetryAfter;
use super::spec::{Kind, ServerSpec};
use super::wrap::{Wrap, WrapKind};

/// Such as `token bucket 3/s burst 3, refusals say 0 s`.
impl fmt::Display for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.wording.status != 429 {
            write!(f, ", refuses with {}", self.wording.status)?;
        }
        write!(f, "{}", Hint(self.wording.retry_after))?;
        for wrap in &self.wraps {
            write!(f, ", {wrap}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokenBucket { rates, burst } => {
                f.write_str("token bucket ")?;
                for (index, (_, rate)) in rates.iter().enumerate().take(MOST_RATES) {
                    write!(f, "{}{rate}/s", if index > 0 { " → " } else { "" })?;
                }
                let more = if rates.len() > MOST_RATES {
                    " → …"
                } else {
                    ""
                };
                write!(f, "{more} burst {burst}")
            }
            Self::FixedWindow { limit, window, .. } => {
                write!(f, "{limit} in each window of {} s", seconds(*window))
            }
            Self::SlidingLog {
                limit,
                window,
                count_refused,
            } => {
                let all = if *count_refused {
                    ", refused ones count"
                } else {
                    ""
                };
                write!(f, "{limit} in any {} s{all}", seconds(*window))
            }
            Self::Concurrency { max } => write!(f, "{max} in flight"),
            Self::AllOf { parts } => {
                for (index, part) in parts.iter().enumerate() {
                    write!(f, "{}{}", if index > 0 { " and " } else { "" }, part.kind)?;
                }
                Ok(())
            }
            Self::Open => f.write_str("no limit"),
            Self::Always => f.write_str("refuses everything"),
        }
    }
}

impl fmt::Display for Wrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.wording.status;
        match &self.kind {
            WrapKind::Random { p } => {
                write!(f, "{}% refused at random with {status}", round(p * 100.0))
            }
            WrapKind::Outage { windows } if windows.len() == 1 => {
                let (from, to) = (seconds(windows[0].start), seconds(windows[0].end));
                write!(f, "down from {from} to {to} s ({status})")
            }
            WrapKind::Outage { windows } => write!(f, "{} outages ({status})", windows.len()),
            WrapKind::Nth { arrivals } if arrivals.len() == 1 => {
                let first = arrivals.first().copied().unwrap_or_default();
                write!(f, "arrival {first} refused with {status}")?;
                write!(f, "{}", Hint(self.wording.retry_after))
            }
            WrapKind::Nth { arrivals } => {
                write!(f, "{} arrivals refused with {status}", arrivals.len())
            }
            WrapKind::Poison { request } => write!(f, "request {request} always refused"),
            WrapKind::Rival { rate, poisson } => {
                let how = if *poisson { "at random" } else { "evenly" };
                write!(f, "a rival tries {rate}/s {how}")
            }
        }
    }
}

/// What a refusal says about the wait.
struct Hint(RetryAfter);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RetryAfter::None => Ok(()),
            RetryAfter::Zero => f.write_str(", Retry-After 0"),
            RetryAfter::Ceil => f.write_str(", Retry-After rounded up"),
            RetryAfter::Floor | RetryAfter::Floor1 => f.write_str(", Retry-After rounded down"),
            RetryAfter::Float => f.write_str(", exact Retry-After"),
            RetryAfter::Seconds(seconds) => write!(f, ", Retry-After {seconds}"),
        }
    }
}

/// More make no sentence.
const MOST_RATES: usize = 4;

const fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// A share such as 0.07 times 100 is not quite 7.
fn round(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_make_sentences() {
        const fn s(seconds: u64) -> Duration {
            Duration::from_secs(seconds)
        }
        let bucket = ServerSpec::token_bucket(3.0, 3).retry_after(RetryAfter::Zero);
        let parts = [ServerSpec::gcra(0.5), ServerSpec::sliding_log(100, s(60))];
        for (spec, words) in [
            (bucket, "token bucket 3/s burst 3, Retry-After 0"),
            (
                ServerSpec::token_bucket_with_rates([(s(0), 10.0), (s(9), 2.0)], 1).status(503),
                "token bucket 10/s → 2/s burst 1, refuses with 503",
            ),
            (
                ServerSpec::all_of(parts).retry_after(RetryAfter::Ceil),
                "token bucket 0.5/s burst 1 and 100 in any 60 s, Retry-After rounded up",
            ),
            (
                ServerSpec::open()
                    .wrap(Wrap::random(0.07))
                    .wrap(Wrap::outage([s(5)..s(8)]).status(503)),
                "no limit, 7% refused at random with 429, down from 5 to 8 s (503)",
            ),
        ] {
            assert_eq!(spec.to_string(), words);
        }
    }
}
