//! The latest sends that count in a window, in their order, and which of them were the first of one.

use std::collections::VecDeque;

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, ensure, numbers};

/// Twice as many as a window lets through at most.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(super) struct Sends {
    #[n(0)]
    count: usize,
    #[n(1)]
    sends: VecDeque<Sent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub(super) struct Sent {
    #[n(0)]
    order: u64,
    #[n(1)]
    pub(super) at: f64,
    /// One length after the first of the window before.
    #[n(2)]
    pub(super) first: bool,
}

impl Sends {
    /// These, of a window that lets `count` through, which is not zero.
    pub(super) fn of(count: usize, passed: impl IntoIterator<Item = (u64, f64)>) -> Self {
        // Answers came in another order.
        let mut passed: Vec<_> = passed.into_iter().collect();
        passed.sort_unstable_by_key(|(order, _)| *order);
        let mut own = Self {
            count,
            sends: VecDeque::new(),
        };
        for (order, at) in passed {
            own.push(order, at);
        }
        own
    }

    /// How many a window lets through.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The one that is a whole window before the next send but `ahead`, fewer than a window.
    pub(super) fn before_next(&self, ahead: usize) -> Option<&Sent> {
        let place = self.sends.len().checked_sub(self.count - ahead)?;
        self.sends.get(place)
    }

    pub(super) fn push(&mut self, order: u64, at: f64) {
        let first = self.before_next(0).is_some_and(|send| send.first);
        self.sends.push_back(Sent { order, at, first });
        if self.sends.len() > 2 * self.count {
            self.sends.pop_front();
        }
    }

    fn place(&self, order: u64) -> Option<usize> {
        let place = self.sends.binary_search_by_key(&order, |send| send.order);
        place.ok()
    }

    pub(super) fn is_first(&self, order: u64) -> bool {
        let place = self.place(order);
        place.is_some_and(|place| self.sends[place].first)
    }

    /// The send `order` is the first of a window.
    pub(super) fn begin(&mut self, order: u64) {
        if let Some(place) = self.place(order) {
            self.sends[place].first = true;
        }
    }

    /// It did not leave. If it was a first one, the next is, be it under way or still to come.
    pub(super) fn forget(&mut self, order: u64) {
        let Some(place) = self.place(order) else {
            return;
        };
        if self.sends.remove(place).is_some_and(|send| send.first)
            && let Some(next) = self.sends.get_mut(place)
        {
            next.first = true;
        }
    }

    /// It was refused; it may count all the same.
    pub(super) fn refuse(&mut self, order: u64, counts: bool) {
        if let Some(place) = self.place(order) {
            self.sends[place].first = false;
            if !counts {
                self.sends.remove(place);
            }
        }
    }
}

impl Sound for Sends {
    fn check(&self) -> Result<(), Flaw> {
        let kept = (super::FEWEST..=super::KEPT).contains(&self.count)
            && self.sends.len() <= 2 * self.count;
        ensure(kept, "other sends than a window has")?;
        let mut sends = self.sends.iter();
        sends.try_for_each(|send| numbers([send.at]))
    }
}
