//! A gate as data.

use super::Gate;
use crate::cost::{Ahead, Cost};
use crate::snapshot::{BeliefSnapshot, GateSnapshot, LimitSnapshot};
use crate::{Reason, Timestamp};

impl Gate {
    /// Everything that is, as data.
    pub(crate) fn snapshot(&self, now: Timestamp, place: usize, waiting: u64) -> GateSnapshot {
        let stop = self.pause.current(now);
        let opening = self.opens(now, Ahead::NOTHING, &Cost::default());
        let (refusals, accepted_since) = self.belief.grounds();
        let interval = self.belief.interval();
        let throttled = (opening.earliest() > now).then(|| opening.earliest());
        GateSnapshot {
            name: self.name.clone(),
            place,
            throttled_until: throttled,
            reason: (!opening.is_open(now)).then(|| opening.reason(now)),
            since: match opening.reason(now) {
                Reason::Pause => stop.map(|stop| stop.since),
                Reason::ByHand => self.by_hand.since(now),
                Reason::Circuit => self.circuit.since(),
                _ => None,
            },
            asked: stop.map(|stop| stop.asked),
            asked_by_status: stop.map(|stop| stop.status),
            waiting,
            in_flight: self.in_flight,
            circuit: self.circuit.word(),
            limits: self
                .limits
                .iter()
                .map(|account| LimitSnapshot {
                    limit: account.limit().clone(),
                    available: account.available(now, self.in_flight),
                    expected: account.expected(),
                })
                .collect(),
            windows: self.windows.snapshot(now),
            belief: BeliefSnapshot {
                interval: (!interval.is_zero()).then_some(interval),
                between: self.belief.between(),
                no_limit_percent: self.belief.no_limit_percent(),
                at_once: self.belief.at_once(),
                window: self.belief.window(),
                refusals,
                accepted_since,
            },
        }
    }
}
