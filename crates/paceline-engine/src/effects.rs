//! What a driver must do after an input.

use core::time::Duration;

use crate::engine::Engine;
use crate::event::Event;
use crate::line::TicketId;
use crate::owner::Owner;
use crate::ticket::{Refusal, Sent};
use crate::{Deadline, Reason};

/// One thing to do, or to report.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// A waiting request may be sent now, once.
    Admitted {
        /// Which.
        ticket: TicketId,
        /// What was charged for it.
        sent: Sent,
        /// How long it stood in line.
        waited: Duration,
        /// What it waited for in the end.
        reason: Reason,
    },
    /// A waiting request will not be sent; nothing was charged.
    Refused {
        /// Which.
        ticket: TicketId,
        /// Why.
        refusal: Refusal,
    },
    /// Something to report.
    Event(Event),
    /// Another owner has to look: call its `handle_timeout`. A call that is lost delays its requests and nothing else.
    Call {
        /// Whose requests may start, or never will.
        owner: Owner,
    },
}

/// The effects of one input. It borrows the engine, so the next input has to wait until these are drained.
///
/// ```compile_fail
/// # use paceline_engine::{Engine, Timestamp};
/// let mut engine = Engine::new(10, 1);
/// let effects = engine.handle_timeout(Timestamp::ZERO);
/// engine.handle_timeout(Timestamp::ZERO); // a second input before the first one's effects are drained
/// effects.finish();
/// ```
#[derive(Debug)]
#[must_use = "a request that was admitted waits for ever unless the effects are drained"]
pub struct Effects<'a>(&'a mut Engine);

impl<'a> Effects<'a> {
    pub(crate) const fn new(engine: &'a mut Engine) -> Self {
        Self(engine)
    }

    /// When to call `handle_timeout`, unless another input comes first; `None` if only an input can change anything.
    ///
    /// # Panics
    ///
    /// In debug builds, if effects are left.
    pub fn finish(mut self) -> Option<Deadline> {
        debug_assert!(self.next().is_none(), "effects were left undone");
        self.0.wake()
    }
}

impl Iterator for Effects<'_> {
    type Item = Effect;

    fn next(&mut self) -> Option<Effect> {
        self.0.next_effect()
    }
}
