//! The proof of admission, for exactly one HTTP request.

use std::sync::Arc;

use paceline_engine::{Deadline, Decision, GateSet, Observation, Sent, Timestamp};

use super::{Asking, Shared};

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

    /// Tells the gates what came back. The request stays in flight until the permit is dropped. A second call does
    /// nothing.
    pub fn settle(&mut self, seen: &Observation) {
        self.left = true;
        if let Some(sent) = self.sent.as_mut().filter(|sent| !sent.is_answered()) {
            self.shared.settle(sent, seen);
        }
    }

    /// The same, and what becomes of the request that it was for.
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
