//! One spacing shared by all requests: doubled by a refusal, shortened by a success.

use core::time::Duration;
use std::collections::HashMap;

use paceline_engine::Timestamp;

use super::independent::own_delay;
use super::line::{ALARM, Line};
use super::obeyed;
use crate::client::{Answer, Client, Orders};

/// Starts leave in the order of their arrival in line, one interval apart, and after a shared pause.
///
/// ```text
///            fresh refusal: level + 1, interval doubled      level 7, or 4 with a Retry-After
///  closed ─────────────────────────────────────────────────────────────────────────────► open
///    ▲    success: level 0, interval × 0.9                     no waiting, no retries     │
///    └───────────────────────────────────────────────────────────────────────── success ──┘
/// ```
///
/// A refusal is fresh if its request started after the last fresh one; otherwise it was in flight
/// already and says nothing new. A 503 is outside all this: its request retries alone.
#[derive(Debug, Default)]
pub struct SharedSpacing {
    line: Line,
    interval: Duration,
    /// By a refusal: the recorded runs show that a success does not make others stale.
    lengthened: Option<Timestamp>,
    level: u32,
    last_start: Option<Timestamp>,
    paused_until: Timestamp,
    open: bool,
    last_success: Option<Timestamp>,
    calls: HashMap<u64, Call>,
}

#[derive(Debug, Default)]
struct Call {
    first_start: Option<Timestamp>,
    started: Timestamp,
    /// Refusals for which it alone is to blame, and others.
    charged: u32,
    free: u32,
    unavailable: u32,
}

impl SharedSpacing {
    /// Before its first request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody start whose turn it is.
    ///
    /// A turn is fixed when the one before it starts, and is not moved forward: an interval that
    /// shrinks, or an open circuit, helps only those behind.
    fn serve(&mut self, now: Timestamp, orders: &mut Orders) {
        while !self.line.is_empty() && !self.line.is_called() {
            let turn = self.next_start();
            if turn > now && !self.open {
                self.line.call_at(turn, orders);
            } else if let Some(request) = self.line.leave() {
                self.last_start = Some(now);
                self.send(now, request, orders);
            }
        }
    }

    fn next_start(&self) -> Timestamp {
        let spaced = self
            .last_start
            .map_or(Timestamp::ZERO, |last| last + self.interval);
        spaced.max(self.paused_until)
    }

    fn send(&mut self, now: Timestamp, request: u64, orders: &mut Orders) {
        let call = self.calls.entry(request).or_default();
        call.first_start.get_or_insert(now);
        call.started = now;
        orders.send(request);
    }

    fn succeeded(&mut self, now: Timestamp) {
        self.level = 0;
        self.open = false;
        self.last_success = Some(now);
        let shorter = self.interval.mul_f64(SHORTER);
        self.interval = if shorter < NEGLIGIBLE {
            Duration::ZERO
        } else {
            shorter
        };
    }

    /// How long the request waits before it joins the line again; `None` if it is given up.
    fn refused(&mut self, now: Timestamp, request: u64, answer: &Answer) -> Option<Duration> {
        let hint = obeyed(answer);
        let call = self.calls.entry(request).or_default();
        let fresh = self
            .lengthened
            .is_none_or(|lengthened| call.started > lengthened);
        let level_before = self.level;
        if fresh {
            self.level += 1;
            self.interval = (self.interval * 2).clamp(FIRST_INTERVAL, LONGEST_INTERVAL);
            self.lengthened = Some(now);
            self.open |= self.level >= if hint.is_some() { 4 } else { 7 };
        }
        if let Some(pause) = hint {
            self.paused_until = self.paused_until.max(now + pause);
        }
        if self.open {
            return None;
        }
        let progress = self.last_success >= call.first_start;
        let budget = if fresh && !progress {
            &mut call.charged
        } else {
            &mut call.free
        };
        *budget += 1;
        if *budget > RETRIES {
            return None;
        }
        let own = Duration::from_secs(1 << level_before.min(2));
        Some(hint.unwrap_or(own))
    }
}

impl Client for SharedSpacing {
    fn start(&mut self, now: Timestamp, request: u64, orders: &mut Orders) {
        self.line.join(request);
        self.serve(now, orders);
    }

    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, orders: &mut Orders) {
        let again = if answer.served {
            self.succeeded(now);
            None
        } else if answer.status == 503 {
            let call = self.calls.entry(request).or_default();
            call.unavailable += 1;
            own_delay(call.unavailable - 1, answer)
        } else {
            self.refused(now, request, answer)
        };
        match again {
            Some(delay) => orders.wake(now + delay, request),
            None => {
                self.calls.remove(&request);
                orders.settle(request, answer.served);
            }
        }
        self.serve(now, orders);
    }

    fn woken(&mut self, now: Timestamp, token: u64, orders: &mut Orders) {
        if token != ALARM {
            self.line.join(token);
            self.serve(now, orders);
        } else if self.line.comes(now) {
            self.serve(now, orders);
        }
    }

    fn believed(&self, _: Timestamp) -> Option<f64> {
        (!self.interval.is_zero()).then(|| 1.0 / self.interval.as_secs_f64())
    }
}

const FIRST_INTERVAL: Duration = Duration::from_millis(100);
const LONGEST_INTERVAL: Duration = Duration::from_secs(2);
const SHORTER: f64 = 0.9;
const NEGLIGIBLE: Duration = Duration::from_millis(25);
const RETRIES: u32 = 3;

#[cfg(test)]
mod tests {
    use super::super::lab::{burst, flat, seconds, tree};
    use super::*;
    use crate::{Figures, RetryAfter, Scenario, ServerSpec, Wrap, run};

    fn played(scenario: &Scenario) -> Figures {
        run(scenario, &mut SharedSpacing::new(), 1).expect("a valid server")
    }

    #[test]
    fn the_interval_doubles_up_to_two_seconds_and_the_seventh_refusal_opens_the_circuit() {
        // Refused at 0, 0.1, 0.3, 0.7, 1.5, 3.1 and 5.1 s; the turn at 7.1 s was fixed by then, and at
        // it everybody else is sent.
        let figures = played(&burst(50, ServerSpec::always()));
        assert_eq!((seconds(figures.elapsed), figures.failed), (7.1, 50));
    }

    #[test]
    fn a_retry_after_pauses_all_and_counts_as_a_minute_at_most() {
        let hour = ServerSpec::always().retry_after(RetryAfter::Seconds(3600.0));
        let figures = played(&burst(10, hour));
        assert_eq!((seconds(figures.elapsed), figures.failed), (180.4, 10));
    }

    #[test]
    fn each_success_shortens_the_interval_by_a_tenth() {
        // Refused at 0 and 1 s; from 3 s on 0.18, 0.18, 0.162 … 0.027 s apart, then at once.
        let down = Wrap::outage([Duration::ZERO..Duration::from_secs(2)]);
        let figures = played(&tree(500, 10, 0, ServerSpec::open().wrap(down)));
        assert_eq!((seconds(figures.elapsed), figures.refused), (4.737, 2));
    }

    #[test]
    fn a_503_is_outside_all_this() {
        let down = Wrap::outage([Duration::ZERO..Duration::from_secs(2)]).status(503);
        let figures = played(&flat(500, 10, 0, ServerSpec::open().wrap(down)));
        assert_eq!((seconds(figures.elapsed), figures.refused), (3.0, 20));
    }
}
