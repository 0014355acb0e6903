//! Each request retries alone: what most programs do today.

use core::time::Duration;
use std::collections::HashMap;

use paceline_engine::Timestamp;

use super::obeyed;
use crate::client::{Answer, Client, Orders};

/// Three retries after 1, 2 and 4 s, or after a positive Retry-After of at most a minute instead.
///
/// The schedule is that of common HTTP clients, the obedience that of the better ones. No request
/// knows of another.
#[derive(Debug, Default)]
pub struct Independent {
    refusals: HashMap<u64, u32>,
}

impl Independent {
    /// Before its first request.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Client for Independent {
    fn start(&mut self, _: Timestamp, request: u64, orders: &mut Orders) {
        orders.send(request);
    }

    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, orders: &mut Orders) {
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
    }

    fn woken(&mut self, _: Timestamp, request: u64, orders: &mut Orders) {
        orders.send(request);
    }
}

/// The wait of a request that was refused this often before; `None` after its last retry.
pub(super) fn own_delay(refusals_before: u32, answer: &Answer) -> Option<Duration> {
    let own = match refusals_before {
        0 => Duration::from_secs(1),
        1 => Duration::from_secs(2),
        2 => Duration::from_secs(4),
        _ => return None,
    };
    Some(obeyed(answer).unwrap_or(own))
}

#[cfg(test)]
mod tests {
    use super::super::lab::{burst, seconds};
    use super::*;
    use crate::{RetryAfter, ServerSpec, run};

    fn played(server: ServerSpec) -> (f64, u64, u64) {
        let figures = run(&burst(10, server), &mut Independent::new(), 1).expect("a valid server");
        (seconds(figures.elapsed), figures.sent, figures.failed)
    }

    #[test]
    fn four_sends_in_seven_seconds_then_it_gives_up() {
        assert_eq!(played(ServerSpec::always()), (7.0, 40, 10));
        let zero = ServerSpec::always().retry_after(RetryAfter::Zero);
        assert_eq!(played(zero), (7.0, 40, 10));
    }

    #[test]
    fn a_retry_after_replaces_its_own_delay_and_counts_as_a_minute_at_most() {
        let brief = ServerSpec::always().retry_after(RetryAfter::Seconds(0.5));
        assert_eq!(played(brief), (1.5, 40, 10));
        let hour = ServerSpec::always().retry_after(RetryAfter::Seconds(3600.0));
        assert_eq!(played(hour), (180.0, 40, 10));
    }

    #[test]
    fn each_waits_alone_and_is_served_in_its_turn_or_not_at_all() {
        // Two at once, two more after 1 s, four after 3 s in all, and the rest finds two at 7 s.
        let (elapsed, sent, failed) = played(ServerSpec::token_bucket(2.0, 2));
        assert_eq!((elapsed, failed), (7.0, 2));
        assert_eq!(sent, 10 + 8 + 6 + 4);
    }
}
