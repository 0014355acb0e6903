//! What happens when: by time, then in the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use paceline_engine::Timestamp;

/// Events to come.
#[derive(Debug)]
pub(super) struct Queue<E> {
    heap: BinaryHeap<Reverse<Scheduled<E>>>,
    next: u64,
}

#[derive(Debug)]
struct Scheduled<E> {
    at: Timestamp,
    sequence: u64,
    event: E,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            next: 0,
        }
    }
}

impl<E> Queue<E> {
    pub(super) fn push(&mut self, at: Timestamp, event: E) {
        self.heap.push(Reverse(Scheduled {
            at,
            sequence: self.next,
            event,
        }));
        self.next += 1;
    }

    pub(super) fn pop(&mut self) -> Option<(Timestamp, E)> {
        let Reverse(Scheduled { at, event, .. }) = self.heap.pop()?;
        Some((at, event))
    }
}

impl<E> Scheduled<E> {
    const fn key(&self) -> (Timestamp, u64) {
        (self.at, self.sequence)
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Scheduled<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_equal_times_keep_their_order() {
        let mut queue = Queue::default();
        for (at, event) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            queue.push(Timestamp::from_nanos(at), event);
        }
        let order: String = core::iter::from_fn(|| queue.pop().map(|(_, event)| event)).collect();
        assert_eq!(order, "abcd");
    }
}
