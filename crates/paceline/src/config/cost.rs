//! What a request spends, as a configuration says it: a number of requests, or amounts by unit.

use paceline_engine::{Cost, Unit};

use super::document::Node;
use crate::upstream::text::quote;

/// Dear enough for bytes, and small enough that a sum of costs does not overflow.
const DEAREST: u64 = 1_000_000_000_000_000;

const TABLE: &str = "amounts by unit, such as { requests = 1, tokens = 1200 }";
const WORD: &str =
    "requests, or the word that a limit has for it, such as tokens in 90000 tokens/m";

pub(super) fn cost(node: &Node<'_>) -> Option<Cost> {
    if node.is_number() {
        return node.whole(0..=DEAREST).map(Cost::requests);
    }
    let number = format!("a whole number from 0 to {DEAREST}");
    let table = node.any_table(&format!("{number} of requests, or {TABLE}"))?;
    let mut cost = Cost::default();
    let entries = table.entries();
    if entries.is_empty() {
        node.fail("it is empty", TABLE);
    }
    for (word, node) in entries {
        let Some(unit) = Unit::parse(word) else {
            node.fail(format!("{} is not a unit", quote(word)), WORD);
            continue;
        };
        if cost.named(&unit).is_some() {
            node.fail("this unit is named twice", "each unit once");
        } else if let Some(amount) = node.whole(0..=DEAREST) {
            cost = cost.and(word, amount);
        }
    }
    Some(cost)
}
