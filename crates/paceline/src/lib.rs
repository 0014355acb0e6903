//! All HTTP requests that share an upstream's quota keep one pace.
#![forbid(unsafe_code)]

mod call;
mod clock;
#[cfg(feature = "config")]
pub mod config;
mod driver;
mod options;
mod outcome;
mod pace;
mod paceline;
mod partition;
mod prepaid;
mod router;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
pub mod upstream;

pub use call::{Call, Next};
pub use clock::{Clock, TokioClock};
pub use driver::{Acquire, Permit};
pub use options::RequestOptions;
pub use outcome::{Outcome, Stopped};
pub use pace::{Pace, PaceBuilder};
pub use paceline::{Paceline, PacelineBuilder};
pub use prepaid::Prepaid;
pub use router::{Routed, Router};

pub use paceline_engine::*;
