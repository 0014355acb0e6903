//! What the engine promises a driver, one promise a test, in virtual time.

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod by_hand;
mod costs;
mod dear;
mod found;
mod gates;
mod live_changes;
mod refunds;
mod refusals;
mod server_time;
mod spending;
mod the_line;
mod told;
mod words;

use paceline_engine::*;
use support::*;

/// All of an engine's state is its own.
const SHARED: bool = false;

/// Gate 0 is the upstream's own, as in a pace; routes come after it.
const API: u16 = 0;
const ROUTE: u16 = 1;
const OTHER_ROUTE: u16 = 2;
