//! Requests under way whose bucket nobody has named: they may turn out to have been in any bucket of their object.
//!
//! Until they are answered, a window of such a bucket keeps something back for them. Otherwise the last of a window would go
//! twice: to one of its own, and to one of whom it was not known.

use super::Engine;
use crate::Timestamp;
use crate::cost::{Ahead, Cost};
use crate::opening::Opening;
use crate::ticket::Sent;

impl Engine {
    /// Whether the windows of a gate have room for those, too.
    pub(super) fn leaves_room(
        &self,
        now: Timestamp,
        index: usize,
        ahead: Ahead<'_>,
        cost: &Cost,
    ) -> Opening {
        let found = self.found.as_ref();
        let doubtful = found.map_or(0, |found| found.doubtful_at(index));
        let gate = self.gates.get(index).filter(|_| doubtful > 0);
        gate.map_or(Opening::NOW, |gate| {
            gate.leaves_room(now, ahead, doubtful, cost)
        })
    }

    /// It leaves; which of its gates is its bucket's may be unknown.
    pub(super) fn doubts(&mut self, sent: &mut Sent) {
        if let (Some(found), Some(route)) = (self.found.as_mut(), sent.route) {
            let is_unknown = |index: usize| found.is_provisional_at(index);
            sent.doubtful = sent.gates().iter().any(is_unknown);
            if sent.doubtful {
                found.doubt(route.resource);
            }
        }
    }

    /// It was answered, or nobody will tell how it ended.
    pub(super) fn no_more_doubts(&mut self, sent: &mut Sent) {
        let resource = sent.route.and_then(|route| route.resource);
        if core::mem::take(&mut sent.doubtful)
            && let Some(found) = self.found.as_mut()
        {
            found.no_doubt(resource);
        }
    }
}
