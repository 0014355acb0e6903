//! The rules of Paceline: when the next HTTP request of a shared quota may go, and why not before.
//!
//! Pure: no clock, no randomness of its own, no IO, no threads. The time is an argument, a seed decides all jitter, so a run
//! replays. A driver waits and sends; `paceline` is one, a simulator another.
//!
//! ```
//! use core::time::Duration;
//! use paceline_engine::*;
//!
//! let start = Timestamp::ZERO;
//! let mut engine = Engine::new(100, 1);
//! let gate = engine.add_gate(start, "api", vec!["1/s".parse()?]).expect("there is room");
//! let want = Want::new(GateSet::one(gate));
//!
//! let Joined::Admitted(sent) = engine.join(start, &want, None, &Attempts::default(), start) else {
//!     unreachable!("nothing was sent before");
//! };
//! let Joined::Waiting(ticket, effects) =
//!     engine.join(start, &want, None, &Attempts::default(), start)
//! else {
//!     unreachable!("one a second");
//! };
//! let deadline = effects.finish().expect("the limit says when");
//! assert_eq!((deadline.at.since(start), deadline.reason), (Duration::from_secs(1), Reason::Limit));
//!
//! let admitted = engine.handle_timeout(deadline.at).next();
//! assert!(matches!(admitted, Some(Effect::Admitted { ticket: t, .. }) if t == ticket));
//! # engine.finish(deadline.at, sent).finish();
//! # Ok::<(), LimitError>(())
//! ```
//!
//! What it does not do: it does not wait, send, or store; `response` reads HTTP and knows no gates, gates know no HTTP.
#![forbid(unsafe_code)]

mod cost;
mod effects;
mod engine;
mod event;
mod gate;
mod gates;
mod limits;
mod line;
mod observation;
mod opening;
mod owner;
mod priority;
mod reason;
mod record;
pub mod response;
mod retry;
mod route;
mod snapshot;
mod ticket;
mod time;

// The public interface is:
pub use cost::Cost;
pub use effects::{Effect, Effects};
pub use engine::{Engine, Gauges, Joined};
pub use event::{Event, EventKind};
pub use gates::GateSet;
pub use limits::{LIMIT_GRAMMAR, Limit, LimitError, LimitKind};
pub use line::{Place, TicketId};
pub use observation::{
    Answer, Failure, Flags, Kind, Observation, Scope, Spent, Unit, Verdict, Window,
};
pub use owner::Owner;
pub use priority::Priority;
pub use reason::Reason;
pub use record::{Sections, Unreadable};
pub use retry::{Attempts, Backoff, Decision, Repeatable, RetryPolicy};
pub use route::{FindGates, GatesBy, RouteKey};
pub use snapshot::{BeliefSnapshot, GateSnapshot, LimitSnapshot, Snapshot, WindowSnapshot};
pub use ticket::{Receipt, Refusal, Sent, TooCostly, Want};
pub use time::{Deadline, Timestamp, WallTime};
