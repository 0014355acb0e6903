//! Ways in which other HTTP clients went wrong in public, each as a test of the whole client, named after what must not happen.
//!
//! The line above a test is where it happened. What is tested is the kind: the values beside the one that was reported, the
//! other routes to the same wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[expect(dead_code, reason = "the behaviour tests use all of it")]
#[path = "../behaviour/lab.rs"]
mod lab;
#[expect(dead_code, reason = "the tests of the middleware use all of it")]
#[path = "../reqwest/upstream.rs"]
mod loopback;
mod scene;

mod deadline;
mod detection;
mod herd;
mod hints;
mod outage;
mod overflow;
mod pace;
mod parse;
mod replay;
mod retry;
mod scope;
mod time;
mod windows;
