//! All HTTP requests that share an upstream's quota keep one pace.
#![forbid(unsafe_code)]

mod call;
mod clock;
#[cfg(feature = "config")]
pub mod config;
pub mod dialect;
mod driver;
#[cfg(any(feature = "tower", feature = "reqwest"))]
mod failure;
#[cfg(all(feature = "machine", unix))]
mod machine;
#[cfg_attr(
    not(any(feature = "tower", feature = "reqwest")),
    expect(dead_code, reason = "for adapters")
)]
mod options;
mod outcome;
mod pace;
mod paceline;
mod partition;
#[cfg(any(feature = "tower", feature = "reqwest"))]
mod peek;
mod prepaid;
mod replay;
#[cfg(feature = "reqwest")]
pub mod reqwest;
mod router;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tower")]
pub mod tower;
pub mod upstream;

pub use call::{Call, Next};
pub use clock::{Clock, Sleep, TokioClock};
pub use driver::{Acquire, Permit, SettleCost};
#[cfg(all(feature = "machine", unix))]
pub use machine::{GateKey, LeftOut, Machine, MachineError, Shared, Survey};
pub use options::RequestOptions;
pub use outcome::{Outcome, Stopped};
pub use pace::{Pace, PaceBuilder};
pub use paceline::{Paceline, PacelineBuilder};
pub use prepaid::Prepaid;
pub use replay::ReplayBody;
pub use router::{Routed, Router};

pub use paceline_engine::*;

/// The examples of the README, as tests.
#[cfg(all(doctest, feature = "reqwest"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the page about dialects, as tests.
#[cfg(all(doctest, feature = "reqwest", feature = "config"))]
#[doc = include_str!("../../../docs/dialects.md")]
struct Dialects;
