//! Telling what a request did cost, once its response has said so.

use std::sync::{Arc, Mutex, PoisonError};

use paceline_engine::{Cost, Receipt};

use super::Shared;

/// The right to tell, once, what a request did cost: mostly the last line of its response's body says it.
///
/// It rides in the extensions of responses to requests that named a cost, and of all where a limit counts something else
/// than requests. What the request cost less than was charged comes back at once, and those who wait may have it; what it
/// cost more is made up for by later requests. While the body streams, after it has ended, on another thread: the first who
/// tells counts, later ones change nothing. Units whose cost the upstream's dialect has read in the response are settled by
/// then. If all clones are dropped and nobody has told, the estimate stands.
#[derive(Clone, Debug)]
pub struct SettleCost(Arc<Slip>);

#[derive(Debug)]
struct Slip {
    shared: Arc<Shared>,
    receipt: Mutex<Option<Receipt>>,
}

impl SettleCost {
    pub(super) fn new(shared: Arc<Shared>, receipt: Option<Receipt>) -> Self {
        let receipt = Mutex::new(receipt);
        Self(Arc::new(Slip { shared, receipt }))
    }

    /// It did cost so many tokens. Other units keep their estimate.
    pub fn tokens(&self, tokens: u64) {
        self.cost(&Cost::tokens(tokens));
    }

    /// It did cost so many points. Other units keep their estimate.
    pub fn points(&self, points: u64) {
        self.cost(&Cost::points(points));
    }

    /// It did cost this. Units that it does not name keep their estimate.
    pub fn cost(&self, actual: &Cost) {
        if let Some(receipt) = self.0.take() {
            self.0.shared.settle_receipt(receipt, actual);
        }
    }
}

impl Slip {
    fn take(&self) -> Option<Receipt> {
        let mut receipt = self.receipt.lock().unwrap_or_else(PoisonError::into_inner);
        receipt.take()
    }
}

impl Drop for Slip {
    fn drop(&mut self) {
        if let Some(receipt) = self.take() {
            self.shared.drop_receipt(receipt);
        }
    }
}
