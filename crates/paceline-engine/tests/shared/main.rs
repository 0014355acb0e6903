//! The same promises of an engine whose state is saved after every input and loaded again, as one does that shares its line.

#[path = "../support/mod.rs"]
mod support;

#[path = "../contract/answers.rs"]
mod answers;
#[path = "../contract/by_hand.rs"]
mod by_hand;
#[path = "../contract/costs.rs"]
mod costs;
#[path = "../contract/dear.rs"]
mod dear;
#[path = "../contract/found/mod.rs"]
mod found;
#[path = "../contract/gates.rs"]
mod gates;
#[path = "../contract/live_changes.rs"]
mod live_changes;
#[path = "../contract/refunds.rs"]
mod refunds;
#[path = "../contract/refusals.rs"]
mod refusals;
#[path = "../contract/server_time/mod.rs"]
mod server_time;
#[path = "../contract/spending.rs"]
mod spending;
#[path = "../contract/the_line.rs"]
mod the_line;
#[path = "../contract/told.rs"]
mod told;
#[path = "../contract/words.rs"]
mod words;

mod several;

use paceline_engine::*;
use support::*;

/// All of an engine's state is in a record.
const SHARED: bool = true;

/// Gate 0 is the upstream's own, as in a pace; routes come after it.
const API: u16 = 0;
const ROUTE: u16 = 1;
const OTHER_ROUTE: u16 = 2;
