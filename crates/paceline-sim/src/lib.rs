//! A world for Paceline: server models that hide a limit, and virtual time in which clients meet them.
//!
//! A model is told what time it is and which request arrives, and says whether it admits it. It
//! reads no clock, does no IO and draws its dice from a seed, so one model serves virtual time,
//! paused tokio time and a real server on loopback, and a run can be replayed.
//!
//! ```
//! use paceline_engine::Timestamp;
//! use paceline_sim::{Decision, RetryAfter, ServerSpec};
//!
//! let spec = ServerSpec::token_bucket(2.0, 1).retry_after(RetryAfter::Float);
//! let mut server = spec.model(1)?;
//! assert_eq!(server.arrive(Timestamp::ZERO, 0), Decision::Admit);
//! match server.arrive(Timestamp::ZERO, 1) {
//!     Decision::Refuse { retry_after, .. } => assert_eq!(retry_after.as_deref(), Some("0.5")),
//!     Decision::Admit => unreachable!("the burst is 1"),
//! }
//! # Ok::<(), paceline_sim::SpecError>(())
//! ```
//!
//! A model knows no latency: that is the business of whoever drives it. [`run`] does so in virtual time: it
//! plays a [`Scenario`] (server, workload, network) with a [`Client`], one of the [`policy`] module or your
//! own. [`arena`] lets many play many.
#![forbid(unsafe_code)]

pub mod arena;
mod client;
pub mod policy;
mod scenario;
mod server;
mod world;

// The public interface is:
pub use client::{Answer, Client, Orders};
pub use scenario::{Baseline, Scenario, ScenarioError, Shape, Target};
pub use server::{Decision, Model, RetryAfter, ServerSpec, SpecError, Wrap};
pub use world::{Figures, Moment, Trace, record, run};
