//! From plain data to a server at work, or a sentence about why no server is like that.

use core::fmt;
use core::time::Duration;

use fastrand::Rng;

use super::all_of::AllOf;
use super::concurrency::Concurrency;
use super::fixed_window::FixedWindow;
use super::limiter::Limiter;
use super::retry_after::{RetryAfter, Wording};
use super::sliding_log::SlidingLog;
use super::spec::{Kind, ServerSpec};
use super::token_bucket::{self, TokenBucket};
use super::wrap::Layer;
use super::{Model, nanos};

impl ServerSpec {
    pub(super) fn build(&self, dice: &mut Rng) -> Result<Model, SpecError> {
        self.wording.check()?;
        let layers = self.wraps.iter().enumerate().map(|(index, wrap)| {
            let layer = wrap.layer(dice.fork());
            layer.map_err(|error| error.within(format_args!("wrap[{index}]")))
        });
        let layers = layers.collect::<Result<Vec<Layer>, _>>()?;
        let limiter = self.kind.limiter(dice)?;
        Ok(Model {
            layers,
            limiter,
            wording: self.wording,
            latest: 0,
        })
    }
}

impl Kind {
    fn limiter(&self, dice: &mut Rng) -> Result<Limiter, SpecError> {
        Ok(match self {
            Self::TokenBucket { rates, burst } => {
                check_rates(rates)?;
                within("burst", *burst, token_bucket::MAX_BURST)?;
                let rates = rates.iter().map(|&(from, rate)| (nanos(from), rate));
                Limiter::TokenBucket(TokenBucket::new(rates, *burst))
            }
            Self::FixedWindow {
                limit,
                window,
                phase,
            } => {
                within("limit", *limit, u64::MAX)?;
                Limiter::FixedWindow(FixedWindow::new(
                    *limit,
                    check_window(*window)?,
                    nanos(*phase),
                ))
            }
            Self::SlidingLog {
                limit,
                window,
                count_refused,
            } => {
                within("limit", *limit, u64::MAX)?;
                Limiter::SlidingLog(SlidingLog::new(
                    *limit,
                    check_window(*window)?,
                    *count_refused,
                ))
            }
            Self::Concurrency { max } => {
                within("max", *max, u64::MAX)?;
                Limiter::Concurrency(Concurrency::new(*max))
            }
            Self::AllOf { parts } => {
                let parts = parts.iter().enumerate().map(|(index, part)| {
                    let model = part.build(&mut dice.fork());
                    model.map_err(|error| error.within(format_args!("parts[{index}]")))
                });
                Limiter::AllOf(AllOf::new(parts.collect::<Result<_, _>>()?))
            }
            Self::Open => Limiter::Open,
            Self::Always => Limiter::Always,
        })
    }
}

impl Wording {
    pub(super) fn check(self) -> Result<(), SpecError> {
        if !(200..=599).contains(&self.status) {
            return Err(SpecError::new(
                "status",
                format!("must be from 200 to 599, not {}", self.status),
            ));
        }
        match self.retry_after {
            RetryAfter::Seconds(seconds) if !seconds.is_finite() => Err(SpecError::new(
                "retry_after",
                format!("must be a finite number, not {seconds}"),
            )),
            _ => Ok(()),
        }
    }
}

/// A specification that no server can have; nothing was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    field: String,
    problem: String,
}

impl SpecError {
    pub(super) fn new(field: &str, problem: String) -> Self {
        Self {
            field: field.to_owned(),
            problem,
        }
    }

    /// The field at fault, such as `burst` or `parts[1].wrap[0].p`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it, and what would be right.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    fn within(self, outer: fmt::Arguments<'_>) -> Self {
        Self {
            field: format!("{outer}.{}", self.field),
            ..self
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.field, self.problem)
    }
}

impl core::error::Error for SpecError {}

fn within(field: &str, value: u64, most: u64) -> Result<(), SpecError> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    let upper = if most == u64::MAX {
        String::new()
    } else {
        format!(" and at most {most}")
    };
    Err(SpecError::new(
        field,
        format!("must be at least 1{upper}, not {value}"),
    ))
}

fn check_window(window: Duration) -> Result<u64, SpecError> {
    match nanos(window) {
        0 => Err(SpecError::new(
            "window",
            "must be longer than zero".to_owned(),
        )),
        nanos => Ok(nanos),
    }
}

fn check_rates(rates: &[(Duration, f64)]) -> Result<(), SpecError> {
    let most = token_bucket::MAX_RATE;
    if let Some((_, rate)) = rates.iter().find(|(_, rate)| !(0.0..=most).contains(rate)) {
        return Err(SpecError::new(
            "rate",
            format!("must be from 0 to {most} per second, not {rate}"),
        ));
    }
    if !rates.iter().any(|&(_, rate)| rate > 0.0) {
        return Err(SpecError::new(
            "rate",
            "must be above 0 at some time".to_owned(),
        ));
    }
    if let Some(pair) = rates.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        let (first, second) = (pair[0].0, pair[1].0);
        return Err(SpecError::new(
            "rates",
            format!("must be in order of time, but {second:?} follows {first:?}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wrap;

    fn complaint(spec: &ServerSpec) -> String {
        spec.model(1).expect_err("no such server").to_string()
    }

    #[test]
    fn what_no_server_can_have_is_named_with_what_would_be_right() {
        let second = Duration::from_secs(1);
        let bucket = ServerSpec::token_bucket;
        assert_eq!(
            complaint(&bucket(3.0, 0)),
            "`burst` must be at least 1 and at most 1000000000, not 0"
        );
        assert_eq!(
            complaint(&bucket(-1.0, 1)),
            "`rate` must be from 0 to 1000000000 per second, not -1"
        );
        assert_eq!(
            complaint(&bucket(f64::NAN, 1)),
            "`rate` must be from 0 to 1000000000 per second, not NaN"
        );
        assert_eq!(
            complaint(&bucket(0.0, 1)),
            "`rate` must be above 0 at some time"
        );
        let unordered =
            ServerSpec::token_bucket_with_rates([(second, 1.0), (Duration::ZERO, 2.0)], 1);
        assert_eq!(
            complaint(&unordered),
            "`rates` must be in order of time, but 0ns follows 1s"
        );
        let fixed = ServerSpec::fixed_window(0, second, Duration::ZERO);
        assert_eq!(complaint(&fixed), "`limit` must be at least 1, not 0");
        assert_eq!(
            complaint(&ServerSpec::sliding_log(1, Duration::ZERO)),
            "`window` must be longer than zero"
        );
        assert_eq!(
            complaint(&ServerSpec::concurrency(0)),
            "`max` must be at least 1, not 0"
        );
        assert_eq!(
            complaint(&ServerSpec::open().status(42)),
            "`status` must be from 200 to 599, not 42"
        );
    }

    #[test]
    fn the_place_of_a_wrap_or_a_part_is_named() {
        let wrapped = ServerSpec::open()
            .wrap(Wrap::nth([1]))
            .wrap(Wrap::random(1.5));
        assert_eq!(
            complaint(&wrapped),
            "`wrap[1].p` must be a probability from 0 to 1, not 1.5"
        );
        let whole = ServerSpec::all_of([ServerSpec::open(), wrapped]);
        assert_eq!(
            complaint(&whole),
            "`parts[1].wrap[1].p` must be a probability from 0 to 1, not 1.5"
        );
        let rival = ServerSpec::open().wrap(Wrap::rival(0.0));
        assert_eq!(
            complaint(&rival),
            "`wrap[0].rate` must be above 0 and at most 1000000, not 0"
        );
        let second = Duration::from_secs(1);
        let outage = ServerSpec::open().wrap(Wrap::outage([second..second]));
        assert_eq!(
            complaint(&outage),
            "`wrap[0].windows` 1s..1s must end after it begins"
        );
    }
}
