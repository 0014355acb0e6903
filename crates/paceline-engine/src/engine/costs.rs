//! What requests did cost, as their responses or their callers say.

use super::Engine;
use crate::cost::Cost;
use crate::effects::Effects;
use crate::ticket::{Charge, Receipt, Sent};
use crate::{Observation, Timestamp, Verdict};

impl Engine {
    /// What a request that was sent did cost, as its response says, mostly at the end of the body; once, before `finish`
    /// (or by a [`Receipt`] at any time). What it cost less than was charged is given back to each limit of its gates that
    /// counts the unit, as if it had never been charged; what it cost more is charged now, so that later requests make up
    /// for it. Units that `actual` does not name keep their estimate, and those that the observation named are told
    /// already.
    pub fn settle_cost(&mut self, now: Timestamp, sent: &mut Sent, actual: &Cost) -> Effects<'_> {
        match sent.receipt() {
            Some(receipt) => self.settle_receipt(now, receipt, actual),
            None => Effects::new(self),
        }
    }

    /// The same, from whoever took the receipt.
    pub fn settle_receipt(
        &mut self,
        now: Timestamp,
        mut receipt: Receipt,
        actual: &Cost,
    ) -> Effects<'_> {
        self.correct(now, &mut receipt.0, actual);
        self.drop_receipt(now, receipt)
    }

    /// Nobody will say what else it did cost: the estimate stands.
    pub fn drop_receipt(&mut self, now: Timestamp, receipt: Receipt) -> Effects<'_> {
        self.cost_stands(&receipt.0);
        if let Some(outstanding) = self.outstanding() {
            outstanding.told(receipt.0.order);
        }
        self.serve(now);
        Effects::new(self)
    }

    /// What the response itself says, unless somebody else has taken the right to tell. Of the units that it names, that is
    /// the last word.
    pub(super) fn cost_told(&mut self, now: Timestamp, sent: &mut Sent, seen: &Observation) {
        let redirected = seen.verdict == Verdict::Redirect;
        if sent.receipt_gone || (seen.spent.is_empty() && !redirected) {
            return;
        }
        let mut actual = seen.cost();
        if redirected {
            // The work is done elsewhere, by a request that reserves for itself.
            actual = actual.or(&sent.charge.cost.others_free());
        }
        self.correct(now, &mut sent.charge, &actual);
    }

    pub(super) fn cost_stands(&mut self, charge: &Charge) {
        for gate in charge.gates.iter() {
            if let Some(gate) = self.gates.get_mut(gate) {
                gate.cost_stands(charge);
            }
        }
    }

    fn correct(&mut self, now: Timestamp, charge: &mut Charge, actual: &Cost) {
        for gate in charge.gates.iter() {
            if let Some(gate) = self.gates.get_mut(gate) {
                gate.settle_cost(now, charge, actual);
            }
        }
        charge.told = charge.told.or(actual);
    }
}
