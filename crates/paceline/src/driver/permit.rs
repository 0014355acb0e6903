//! The proof of admission, for exactly one HTTP request.

use std::sync::Arc;

use paceline_engine::{Cost, Deadline, Decision, GateSet, Observation, Sent, Timestamp};

use super::{Asking, SettleCost, Shared};

/// The proof of admission, for exactly one HTTP request.
///
/// Call [`sending`](Self::sending) just before the request leaves, [`settle`](Self::settle) with what its response's head
/// taught, and drop the permit when the body has ended: until then the request is in flight. A permit that is dropped
/// before `sending` is refunded: as if it had never been taken.
#[derive(Debug)]
#[must_use = "dropping a permit gives it back"]
pub struct Permit {
    shared: Arc<Shared>,
    sent: Option<Sent>,
    left: bool,
}

impl Permit {
    pub(crate) const fn new(shared: Arc<Shared>, sent: Sent) -> Self {
        Self {
            shared,
            sent: Some(sent),
            left: false,
        }
    }

    /// The request leaves now: from here on the permit is spent, whatever happens.
    pub const fn sending(&mut self) {
        self.left = true;
    }

    /// Tells the gates what came back, and what the request did cost if that is said. The request stays in flight until the
    /// permit is dropped. A second call does nothing.
    pub fn settle(&mut self, seen: &Observation) {
        self.left = true;
        if let Some(sent) = self.sent.as_mut().filter(|sent| !sent.is_answered()) {
            self.shared.settle(sent, seen);
        }
    }

    /// Tells the gates what the request did cost, as its response says; once. What it cost less than was charged comes back
    /// at once, what it cost more is made up for by later requests, and units that `actual` does not name keep their
    /// estimate. Units that the observation named are settled already.
    ///
    /// ```
    /// # use paceline::{Cost, Observation, Pace, Verdict};
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let pace = Pace::builder("llm").limit("90000 tokens/m".parse()?).build();
    /// let mut permit = pace.acquire(&pace.want().cost(Cost::tokens(1200))).await?;
    /// permit.sending();
    /// // … send the request and read the response's head, then its body, which says `"total_tokens": 873`:
    /// permit.settle(&Observation::status(Verdict::Ok, 200));
    /// permit.settle_cost(&Cost::tokens(873));
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle_cost(&mut self, actual: &Cost) {
        self.left = true;
        if let Some(sent) = &mut self.sent {
            self.shared.settle_cost(sent, actual);
        }
    }

    /// The right to call [`settle_cost`](Self::settle_cost), for whoever learns the cost elsewhere or later. The request has
    /// left.
    pub fn settle_cost_later(&mut self) -> SettleCost {
        self.left = true;
        let receipt = self.sent.as_mut().and_then(Sent::receipt);
        SettleCost::new(Arc::clone(&self.shared), receipt)
    }

    /// Whether somebody should tell what it did cost.
    #[cfg(any(feature = "tower", feature = "reqwest"))]
    pub(crate) fn is_estimate(&self) -> bool {
        self.sent.as_ref().is_some_and(Sent::is_estimate)
    }

    /// [`settle`](Self::settle), and what becomes of the request that it was for.
    pub(crate) fn settle_call(
        &mut self,
        seen: &Observation,
        call: Asking<'_>,
    ) -> (Decision, Option<Deadline>, Timestamp) {
        self.left = true;
        let sent = self
            .sent
            .as_mut()
            .expect("a permit holds it until it is dropped");
        self.shared.settle_call(sent, seen, call)
    }

    /// The gates that it was charged to.
    pub fn gates(&self) -> GateSet {
        self.sent.as_ref().map(Sent::gates).unwrap_or_default()
    }

    pub(crate) fn is_from(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        match self.sent.take() {
            Some(sent) if self.left => self.shared.finish(sent),
            Some(sent) => self.shared.refund(sent),
            None => {}
        }
    }
}
