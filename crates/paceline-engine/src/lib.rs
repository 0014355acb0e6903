//! The rules of Paceline.
#![forbid(unsafe_code)]

mod limits;
mod observation;
mod reason;
mod time;

pub use limits::{Limit, LimitError, LimitKind};
pub use observation::{Answer, Failure, Flags, Observation, Scope, Unit, Verdict, Window};
pub use reason::Reason;
pub use time::{Deadline, Timestamp, WallTime};
