//! The adaptive rate limiter of a large cloud SDK: a rate that grows as a cubic of the time since
//! the last throttle, and a token bucket that keeps to it.

use std::collections::HashMap;

use paceline_engine::Timestamp;

use super::independent::own_delay;
use super::line::{ALARM, Line};
use crate::client::{Answer, Client, Orders};

/// Off until the first throttle. Each success sets rate = 0.4·(t−K)³ + W with K = ∛(0.75·W), where t
/// is the time since the last throttle; each throttle sets W = min(measured, rate) and rate = 0.7·W.
///
/// The rate is at most twice the measured one and at least 0.5/s. Measured are the sends: a moving
/// average over half-second buckets in which the latest weighs 0.8. A throttle is a 429; retries are
/// those of [`Independent`](super::Independent), each of which takes a token again, in line.
#[derive(Debug, Default)]
pub struct AdaptiveCubic {
    line: Line,
    bucket: Option<Bucket>,
    measured: Measured,
    /// W.
    rate_before: f64,
    throttled_at: Timestamp,
    refusals: HashMap<u64, u32>,
}

impl AdaptiveCubic {
    /// Before its first request.
    pub fn new() -> Self {
        Self::default()
    }

    fn serve(&mut self, now: Timestamp, orders: &mut Orders) {
        while !self.line.is_empty() {
            if let Some(bucket) = &mut self.bucket
                && let Err(at) = bucket.take(now)
            {
                self.line.call_at(at, orders);
                return;
            }
            if let Some(request) = self.line.leave() {
                orders.send(request);
            }
        }
    }

    fn learn(&mut self, now: Timestamp, throttled: bool) {
        let measured = self.measured.answered(now);
        let rate = if throttled {
            let rate = self.bucket.as_ref().map(|bucket| bucket.rate);
            self.rate_before = rate.map_or(measured, |rate| rate.min(measured));
            self.throttled_at = now;
            self.bucket.get_or_insert_with(|| Bucket::empty(now));
            CUT * self.rate_before
        } else {
            let flat = (self.rate_before * (1.0 - CUT) / STEEPNESS).cbrt();
            let since = now.since(self.throttled_at).as_secs_f64();
            STEEPNESS * (since - flat).powi(3) + self.rate_before
        };
        if let Some(bucket) = &mut self.bucket {
            bucket.set_rate(now, rate.min(2.0 * measured).max(SLOWEST));
        }
    }
}

impl Client for AdaptiveCubic {
    fn start(&mut self, now: Timestamp, request: u64, orders: &mut Orders) {
        self.line.join(request);
        self.serve(now, orders);
    }

    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, orders: &mut Orders) {
        self.learn(now, answer.status == 429);
        let refusals = self.refusals.entry(request).or_default();
        match own_delay(*refusals, answer) {
            Some(delay) if !answer.served => {
                *refusals += 1;
                orders.wake(now + delay, request);
            }
            _ => {
                self.refusals.remove(&request);
                orders.settle(request, answer.served);
            }
        }
        self.serve(now, orders);
    }

    fn woken(&mut self, now: Timestamp, token: u64, orders: &mut Orders) {
        if token != ALARM {
            self.line.join(token);
        } else if !self.line.comes(now) {
            return;
        }
        self.serve(now, orders);
    }

    fn believed(&self, _: Timestamp) -> Option<f64> {
        self.bucket.as_ref().map(|bucket| bucket.rate)
    }
}

/// Holds at most one second of its rate, and at least one token.
#[derive(Debug)]
struct Bucket {
    rate: f64,
    tokens: f64,
    at: Timestamp,
}

impl Bucket {
    const fn empty(now: Timestamp) -> Self {
        Self {
            rate: 0.0,
            tokens: 0.0,
            at: now,
        }
    }

    fn refill(&mut self, now: Timestamp) {
        let gained = now.since(self.at).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + gained).min(self.rate.max(1.0));
        self.at = now;
    }

    fn set_rate(&mut self, now: Timestamp, rate: f64) {
        self.refill(now);
        self.rate = rate;
        self.tokens = self.tokens.min(rate.max(1.0));
    }

    /// A token, or when there will be one.
    fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        self.refill(now);
        if self.tokens >= 1.0 - ROUNDING {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - self.tokens) / self.rate;
        Err(now + core::time::Duration::from_secs_f64(wait))
    }
}

/// Answers per second.
#[derive(Debug, Default)]
struct Measured {
    rate: f64,
    count: u32,
    /// The half second that is being counted.
    bucket: u64,
}

impl Measured {
    fn answered(&mut self, now: Timestamp) -> f64 {
        self.count += 1;
        let bucket = now.as_nanos() / HALF_SECOND;
        if bucket > self.bucket {
            let seconds = (bucket - self.bucket) as f64 / 2.0;
            let latest = f64::from(self.count) / seconds;
            self.rate = latest * LATEST + self.rate * (1.0 - LATEST);
            self.count = 0;
            self.bucket = bucket;
        }
        self.rate
    }
}

/// What is left of the rate after a throttle.
const CUT: f64 = 0.7;
/// How fast the rate grows again.
const STEEPNESS: f64 = 0.4;
/// Requests per second.
const SLOWEST: f64 = 0.5;
/// The latest half second's weight in the moving average.
const LATEST: f64 = 0.8;
/// Nanoseconds.
const HALF_SECOND: u64 = 500_000_000;
/// A token that lacks this much is whole; a wait rounded to nanoseconds must not be waited twice.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::super::lab::{flat, seconds};
    use super::*;
    use crate::{ServerSpec, run};

    #[test]
    fn before_the_first_throttle_it_holds_nobody_back() {
        let scenario = flat(500, 10, 100, ServerSpec::open());
        let figures = run(&scenario, &mut AdaptiveCubic::new(), 1).expect("a valid server");
        assert_eq!(seconds(figures.elapsed), 5.0);
    }

    #[test]
    fn half_seconds_are_averaged_with_four_fifths_for_the_latest() {
        let mut measured = Measured::default();
        let mut at = |ms: u64| measured.answered(Timestamp::from_nanos(ms * 1_000_000));
        for ms in [0, 100, 200, 300] {
            assert_eq!(at(ms), 0.0);
        }
        // Five in half a second, then two in a whole one.
        assert_eq!(at(500), 0.8 * 10.0);
        assert_eq!(at(700), 8.0);
        assert!((at(1500) - (0.8 * 2.0 + 0.2 * 8.0)).abs() < 1e-9);
    }

    #[test]
    fn a_throttle_cuts_to_seven_tenths_and_k_seconds_later_the_rate_is_what_it_was() {
        let mut client = AdaptiveCubic {
            measured: Measured {
                rate: 10.0,
                count: 0,
                bucket: 0,
            },
            ..AdaptiveCubic::new()
        };
        let at = |ms: u64| Timestamp::from_nanos(ms * 1_000_000);
        client.learn(at(1), true);
        assert_eq!(client.believed(at(1)), Some(7.0));
        let k = 7.5_f64.cbrt();
        client.measured.bucket = 100;
        client.learn(at((k * 1e3) as u64 + 1), false);
        let rate = client.believed(at(1)).expect("it is on");
        assert!((rate - 10.0).abs() < 0.01, "{rate}");
        // Never more than twice what is measured.
        client.learn(at(20_000), false);
        assert_eq!(client.believed(at(1)), Some(20.0));
    }
}
