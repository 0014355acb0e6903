//! An unbroken run of refusals: walked with one probe at a time, at growing gaps.
//!
//! What ends a run and when is not known, a tenth of a second or a minute. Gaps that grow with what has passed find its
//! end within a part of its length, for a number of probes that grows with the logarithm of it.

/// The run that is going on, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Refusals of requests that left after the one before was known.
    pub(super) length: u32,
    pub(super) started: f64,
    /// The latest refused send.
    pub(super) last: f64,
    fresh_from: u64,
}

/// Seconds. About half of what has passed, in round numbers.
const GAPS: [f64; 16] = [
    0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0,
];

impl Run {
    /// A refused send. Says whether it left after the refusal before it was known.
    pub(super) fn refused(&mut self, at: f64, order: u64, next_order: u64) -> bool {
        if self.length > 0 && order < self.fresh_from {
            self.last = self.last.max(at);
            return false;
        }
        if self.length == 0 {
            self.started = at;
        }
        self.length += 1;
        self.last = at;
        self.fresh_from = next_order;
        true
    }

    pub(super) const fn is_fresh(&self, order: u64) -> bool {
        order >= self.fresh_from
    }

    /// When to probe at the latest.
    pub(super) fn probe_by(&self) -> f64 {
        self.last + GAPS[(self.length.max(1) as usize - 1).min(GAPS.len() - 1)]
    }
}
