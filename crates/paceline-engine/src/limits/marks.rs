//! How full a bucket has been since a charge: more than what fitted in then cannot come back.
//!
//! A charge that is taken back must leave the bucket as if it had never been made. If the bucket was full in between, the
//! tokens would have flowed over, and others have had their chance since: giving all of them back would let more through
//! than the limit ever allows.

use std::collections::VecDeque;

use minicbor::{Decode, Encode};

use crate::Timestamp;
use crate::record::sound::{Flaw, Sound, ensure};

/// What was missing from a full bucket just before charges, where later ones found more missing: only those bind.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[cbor(transparent)]
pub(super) struct Marks(#[n(0)] VecDeque<Mark>);

#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
struct Mark {
    #[n(0)]
    at: Timestamp,
    #[n(1)]
    #[cbor(with = "crate::record::wide")]
    missing: i128,
}

/// Beyond this, two neighbours that differ least become one, which gives back too little rather than too much. They lie
/// between full and empty, so each is a few per cent of the bucket.
const MOST: usize = 16;

impl Marks {
    /// With all the room that it ever needs: a charge allocates nothing.
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(MOST))
    }

    /// So much was missing when something was charged.
    pub(super) fn note(&mut self, at: Timestamp, missing: i128) {
        while self.0.back().is_some_and(|last| last.missing >= missing) {
            self.0.pop_back();
        }
        // Within one instant nothing flows over.
        if self.0.back().is_some_and(|last| last.at == at) {
            return;
        }
        if self.0.len() == MOST {
            self.merge();
        }
        self.0.push_back(Mark { at, missing });
    }

    /// Takes back `amount` of a charge made at `charged`; how much of it has not flowed over since.
    pub(super) fn take_back(&mut self, charged: Timestamp, amount: i128) -> i128 {
        let later = self.0.iter_mut().filter(|mark| mark.at > charged);
        later.fold(amount, |left, mark| {
            let left = left.min(mark.missing);
            mark.missing -= left;
            left
        })
    }

    fn merge(&mut self) {
        let gap = |i: &usize| self.0[i + 1].missing - self.0[*i].missing;
        let Some(first) = (0..self.0.len() - 1).min_by_key(gap) else {
            return;
        };
        let Some(second) = self.0.remove(first + 1) else {
            return;
        };
        let one = &mut self.0[first];
        one.at = second.at;
        one.missing = one.missing.min(second.missing);
    }
}

impl Sound for Marks {
    fn check(&self) -> Result<(), Flaw> {
        let sound = self.0.iter().all(|mark| mark.missing >= 0);
        ensure(sound && self.0.len() <= MOST, "marks that no bucket has")
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use proptest::prelude::*;

    use super::super::bucket::Bucket;
    use super::*;

    const BURST: u64 = 1000;

    fn bucket() -> Bucket {
        Bucket::full(Timestamp::ZERO, 100, Duration::from_secs(1), BURST)
    }

    /// The bucket after these charges and no others.
    fn after(charges: &[(Timestamp, u64)]) -> Bucket {
        let mut bucket = bucket();
        for (at, cost) in charges {
            bucket.charge(*at, *cost);
        }
        bucket
    }

    proptest! {
        /// Exact while the marks suffice; beyond that, never too much.
        #[test]
        fn what_is_taken_back_was_never_charged(
            steps in prop::collection::vec((0..6_000_u64, 1..BURST, any::<usize>(), 0..BURST), 1..80),
        ) {
            let mut bucket = bucket();
            let (mut charges, mut now) = (Vec::new(), Timestamp::ZERO);
            for (count, (pause, cost, which, back)) in steps.into_iter().enumerate() {
                // Every third comes at the same instant as the one before.
                now = now + Duration::from_millis(if pause % 3 == 0 { 0 } else { pause });
                bucket.charge(now, cost);
                charges.push((now, cost));
                let which = which % charges.len();
                let back = back.min(charges[which].1);
                charges[which].1 -= back;
                bucket.refund(now, charges[which].0, back);
                let (own, right) = (bucket.missing(now), after(&charges).missing(now));
                prop_assert!(own >= right, "{own} missing, not {right}");
                if count < MOST {
                    prop_assert_eq!(own, right);
                }
            }
        }
    }

    #[test]
    fn charges_take_no_memory() {
        let mut marks = Marks::new();
        let room = marks.0.capacity();
        for i in 0..1000 {
            marks.note(Timestamp::from_nanos(i), i128::from(i));
        }
        assert_eq!((marks.0.len(), marks.0.capacity()), (MOST, room));
    }
}
