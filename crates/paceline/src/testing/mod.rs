//! Servers that limit, for tests that never sleep and never leave the machine.
//!
//! One description of a server opens two doors. [`LimitedService`] is a tower service in tokio
//! time: under `tokio::time::pause()` an hour of pacing takes milliseconds and every number is
//! exact. [`LimitedServer`] is the same service behind a real HTTP/1.1 listener on loopback. Both
//! count what reached them ([`Stats`]).
//!
//! Where a limit is beside the point, a [`Script`] says what to answer, one request after the
//! other.
//!
//! ```
//! use std::time::Duration;
//!
//! use http::Request;
//! use paceline::testing::{LimitedService, RetryAfter, ServerSpec};
//! use tower_service::Service;
//!
//! # use tokio::runtime::Builder;
//! # let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
//! # runtime.block_on(async {
//! let spec = ServerSpec::token_bucket(3.0, 3).retry_after(RetryAfter::Ceil);
//! let mut upstream = LimitedService::new(spec)?.latency(Duration::from_millis(50));
//! for _ in 0..3 {
//!     assert_eq!(upstream.call(Request::new(())).await?.status(), 200);
//! }
//! let fourth = upstream.call(Request::new(())).await?;
//! assert_eq!((fourth.status().as_u16(), &fourth.headers()["retry-after"]), (429, &"1".parse()?));
//! assert_eq!(upstream.stats().last_at, Some(Duration::from_millis(150)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`VirtualClock`] is a pace's own time in a test's hand, for code that waits without such a
//! server, on threads, or on another runtime.
//!
//! What they are not: a way to measure speed. Every request takes a lock.

mod clock;
mod script;
mod server;
mod service;
mod stats;
mod virtual_clock;

// The public interface is:
pub use paceline_sim::{RetryAfter, ServerSpec, SpecError, Wrap};
pub use script::Script;
pub use server::LimitedServer;
pub use service::LimitedService;
pub use stats::Stats;
pub use virtual_clock::VirtualClock;
