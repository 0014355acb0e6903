//! What reached a limited server.

use std::time::Duration;

use paceline_engine::Timestamp;

/// Counts since the server began; times are since then too, as the server's clock has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Requests that reached the server; those whose answer is still on its way are neither served
    /// nor refused yet.
    pub received: u64,
    /// Requests that the limiter admitted, or to which a script gave a status below 400.
    pub served: u64,
    /// All others that were answered.
    pub refused: u64,
    /// Requests that were received and whose answer has not left.
    pub in_flight: u64,
    /// The most that were in flight at once.
    pub max_in_flight: u64,
    /// When the first request was received.
    pub first_at: Option<Duration>,
    /// When the last request was received.
    pub last_at: Option<Duration>,
    /// When each request was received, in order: the first 100,000 of them.
    pub arrivals: Vec<Duration>,
}

impl Stats {
    /// The most arrivals in any stretch of `window`, its end not included. Looks at `arrivals`, so
    /// at the first 100,000.
    pub fn most_within(&self, window: Duration) -> usize {
        let mut first = 0;
        let counts = self.arrivals.iter().enumerate().map(|(last, &at)| {
            while at - self.arrivals[first] >= window && first < last {
                first += 1;
            }
            last + 1 - first
        });
        counts.max().unwrap_or(0)
    }

    pub(super) fn on_received(&mut self, now: Timestamp) {
        let at = now.since(Timestamp::ZERO);
        self.received += 1;
        self.in_flight += 1;
        self.max_in_flight = self.max_in_flight.max(self.in_flight);
        self.first_at.get_or_insert(at);
        self.last_at = Some(at);
        if self.arrivals.len() < MAX_ARRIVALS {
            self.arrivals.push(at);
        }
    }
}

/// 1.6 MB: enough for any test that a person would wait for.
const MAX_ARRIVALS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_window_does_not_include_its_end() {
        let arrivals = [0, 100, 900, 1_000, 1_099, 1_100, 5_000]
            .map(Duration::from_millis)
            .to_vec();
        let stats = Stats {
            arrivals,
            ..Stats::default()
        };
        // From 100 ms: 100, 900, 1,000 and 1,099, but not 1,100.
        assert_eq!(stats.most_within(Duration::from_secs(1)), 4);
        assert_eq!(stats.most_within(Duration::from_millis(1)), 1);
        assert_eq!(stats.most_within(Duration::from_secs(60)), 7);
        assert_eq!(Stats::default().most_within(Duration::from_secs(1)), 0);
    }

    #[test]
    fn arrivals_are_bounded_and_the_last_one_is_still_known() {
        let mut stats = Stats::default();
        for second in 0..=MAX_ARRIVALS as u64 {
            stats.on_received(Timestamp::ZERO + Duration::from_secs(second));
        }
        assert_eq!(stats.arrivals.len(), MAX_ARRIVALS);
        assert_eq!(stats.received, MAX_ARRIVALS as u64 + 1);
        assert_eq!(stats.first_at, Some(Duration::ZERO));
        assert_eq!(
            stats.last_at,
            Some(Duration::from_secs(MAX_ARRIVALS as u64))
        );
    }
}
