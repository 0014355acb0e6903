//! Retries earned by success, so that a fleet never multiplies an outage.
//!
//! Attempts bound one request; when everything fails, four attempts each are four times the load on a server that is down.
//! So retries of failures are paid from a budget that successes fill: a fifth of them. A floor keeps small programs and
//! cold starts able to retry at all.

use core::time::Duration;

use crate::Timestamp;
use crate::time::nanos;

/// The budget of one upstream, in hundredths of a retry.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    balance: u64,
    trickled: Timestamp,
}

const RETRY: u64 = 100;
/// A success earns a fifth of a retry.
const SUCCESS: u64 = RETRY / 5;
/// A quiet hour must not pay for a storm.
const MOST: u64 = 100 * RETRY;
/// So many workers can each retry once or thrice before anything has succeeded.
const FLOOR: u64 = 30 * RETRY;
/// The floor comes back by itself, one retry in two seconds.
const TRICKLE: Duration = Duration::from_secs(2);

impl Default for Budget {
    fn default() -> Self {
        Self {
            balance: FLOOR,
            trickled: Timestamp::ZERO,
        }
    }
}

impl Budget {
    pub(crate) fn deposit(&mut self) {
        self.balance = (self.balance + SUCCESS).min(MOST);
    }

    /// Pays for one retry, if there is enough.
    pub(crate) fn withdraw(&mut self, now: Timestamp) -> bool {
        self.trickle(now);
        let enough = self.balance >= RETRY;
        if enough {
            self.balance -= RETRY;
        }
        enough
    }

    fn trickle(&mut self, now: Timestamp) {
        let drops = nanos(now.since(self.trickled)) / nanos(TRICKLE);
        self.trickled = self.trickled + Duration::from_nanos(drops * nanos(TRICKLE));
        if self.balance < FLOOR {
            self.balance = self
                .balance
                .saturating_add(drops.saturating_mul(RETRY))
                .min(FLOOR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(secs)
    }

    #[test]
    fn a_thousand_failures_in_a_minute_are_retried_sixty_times() {
        let mut budget = Budget::default();
        let retried = (0..1000)
            .filter(|i| budget.withdraw(at(i * 60 / 1000)))
            .count();
        assert_eq!(retried, 30 + 29);
    }

    #[test]
    fn a_fifth_of_the_successes_may_be_retried() {
        let mut budget = Budget::default();
        while budget.withdraw(at(0)) {}
        for _ in 0..100 {
            budget.deposit();
        }
        assert_eq!((0..100).filter(|_| budget.withdraw(at(0))).count(), 20);
    }
}
