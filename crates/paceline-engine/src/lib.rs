//! The rules of Paceline.
#![forbid(unsafe_code)]

mod limits;
mod observation;
mod priority;
mod reason;
mod time;

pub use limits::{LIMIT_GRAMMAR, Limit, LimitError, LimitKind};
pub use observation::{Answer, Failure, Flags, Observation, Scope, Unit, Verdict, Window};
pub use priority::Priority;
pub use reason::Reason;
pub use time::{Deadline, Timestamp, WallTime};
