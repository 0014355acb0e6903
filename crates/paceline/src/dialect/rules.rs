//! The rules of a dialect: what its file says of windows, words, waits and costs.
//!
//! A rule that can never do anything is a mistake, and told.

use paceline_engine::response::dialect::{
    Applies, CostRule, Dialect, Effect, Test, WaitRule, When, WindowRule,
};
use paceline_engine::{Kind, Scope, Unit, Verdict};

use super::values::{
    PLACE, STATUSES, TEXT, TEXTS, UNITS, amount, duration, label, named_texts, one_of, part, place,
    read_whole, span, statuses, tables, texts,
};
use crate::config::document::{Node, Table};

pub(super) const WHEN_KEYS: [&str; 11] = [
    "status", "at", "missing", "is", "contains", "code", "class", "kind", "scope", "pause", "retry",
];
pub(super) const WINDOW_KEYS: [&str; 17] = [
    "name",
    "unit",
    "each",
    "limit",
    "remaining",
    "used",
    "used_share",
    "usage",
    "reset",
    "reset_in",
    "length",
    "length_in",
    "aligned",
    "steady",
    "refill",
    "refill_every",
    "refill_every_in",
];
pub(super) const WAIT_KEYS: [&str; 3] = ["at", "unit", "always"];
pub(super) const COST_KEYS: [&str; 3] = ["unit", "requested", "actual"];

pub(super) fn dialect(table: &Table<'_>) -> Dialect {
    let units = named_texts(table, "units").into_iter();
    Dialect {
        windows: tables(table, "window", &WINDOW_KEYS)
            .iter()
            .map(window)
            .collect(),
        when: tables(table, "when", &WHEN_KEYS).iter().map(when).collect(),
        waits: tables(table, "wait", &WAIT_KEYS)
            .iter()
            .filter_map(wait)
            .collect(),
        costs: tables(table, "cost", &COST_KEYS).iter().map(cost).collect(),
        bucket: place(table, "bucket"),
        units: units
            .map(|(name, word)| (name, Unit::from_word(&word)))
            .collect(),
        scope: one_of(table, "scope", &scopes()).unwrap_or_default(),
        pause: duration(table, "pause"),
    }
}

fn when(table: &Table<'_>) -> When {
    let words = ["is", "contains", "code"].map(|key| texts(table, key));
    let missing = table.entry("missing").and_then(|node| node.boolean());
    let test = match words {
        [words, ..] if !words.is_empty() => Test::Is(words),
        [_, words, _] if !words.is_empty() => Test::Contains(words),
        [.., words] if !words.is_empty() => Test::Code(words),
        _ if missing == Some(true) => Test::Missing,
        _ => Test::Present,
    };
    check_when(table, &test);
    When {
        statuses: statuses(table, "status"),
        at: place(table, "at"),
        test,
        then: Effect {
            class: one_of(table, "class", &CLASSES),
            kind: one_of(table, "kind", &KINDS),
            scope: one_of(table, "scope", &scopes()),
            pause: duration(table, "pause"),
            retry: table.entry("retry").and_then(|node| node.boolean()),
        },
    }
}

fn check_when(table: &Table<'_>, test: &Test) {
    let has = |key: &str| table.entry(key).is_some();
    if !has("at") && *test != Test::Present {
        table.fail(
            "it does not say where to look",
            r#"at = "body: error.code""#,
        );
    } else if !has("at") && !has("status") {
        table.fail(
            "it fits every response",
            r#"status = [429], or at = "body: error.code""#,
        );
    }
    if !["class", "kind", "scope", "pause", "retry"]
        .iter()
        .any(|key| has(key))
    {
        table.fail(
            "nothing follows from it",
            r#"class = "rate_limited", or one of kind, scope, pause and retry"#,
        );
    }
    if let Some(node) = table.entry("status").filter(|node| node.is_empty_array()) {
        node.fail("it is empty, so that any status would fit", STATUSES);
    }
    let contains = table.entry("contains");
    for node in contains.iter().flat_map(|node| node.elements(TEXTS)) {
        if node.is_text() && node.text(TEXT) == Some("") {
            node.fail(
                "every text has nothing in it",
                r#"words, such as "slow down""#,
            );
        }
    }
    let tests = ["is", "contains", "code", "missing"];
    let mut tests = tests.iter().filter_map(|key| table.entry(key));
    for node in tests.by_ref().take(1) {
        if node.is_empty_array() {
            node.fail("it is empty, so that anything would fit", TEXTS);
        }
    }
    for second in tests {
        second.fail(
            "there is another test beside it",
            "one of is, contains, code and missing; a rule for each",
        );
    }
}

fn window(table: &Table<'_>) -> WindowRule {
    check_window(table);
    let flag = |key| {
        table
            .entry(key)
            .and_then(|node| node.boolean())
            .unwrap_or(false)
    };
    let unit = table.entry("unit").and_then(|node| node.text(TEXT));
    WindowRule {
        name: label(table),
        unit: unit.map(Unit::from_word).unwrap_or_default(),
        each: place(table, "each"),
        limit: amount(table, "limit"),
        remaining: part(table, "remaining"),
        used: part(table, "used"),
        used_share: part(table, "used_share"),
        usage: part(table, "usage"),
        reset: part(table, "reset"),
        reset_in: one_of(table, "reset_in", &UNITS),
        length: span(table, "length", "length_in"),
        aligned: flag("aligned"),
        steady: flag("steady"),
        refill: amount(table, "refill"),
        refill_every: span(table, "refill_every", "refill_every_in"),
    }
}

/// Keys that say nothing by themselves, and what they belong to.
const BESIDE: [(&str, &[&str]); 8] = [
    ("used", &["limit"]),
    ("reset_in", &["reset"]),
    ("length_in", &["length"]),
    ("aligned", &["length"]),
    ("steady", &["length", "reset"]),
    ("steady", &["limit", "usage", "used_share"]),
    ("refill_every", &["refill"]),
    ("refill_every_in", &["refill_every"]),
];

fn check_window(table: &Table<'_>) {
    let numbers = ["remaining", "used", "used_share", "usage", "reset"];
    let has_limit = table.entry("limit").is_some_and(|node| node.is_text());
    if !has_limit && !numbers.iter().any(|key| table.entry(key).is_some()) {
        table.fail(
            "it does not say where any number of it stands",
            r#"remaining = "x-shop-left", or one of limit, used, used_share, usage and reset"#,
        );
    }
    for (key, others) in BESIDE {
        if let Some(node) = table.entry(key)
            && !others.iter().any(|other| table.entry(other).is_some())
        {
            let others = others.join(" or ");
            node.fail("it says nothing by itself", format!("{others} beside it"));
        }
    }
}

fn wait(table: &Table<'_>) -> Option<WaitRule> {
    if table.entry("at").is_none() {
        table.fail("it does not say where", r#"at = "body: error.retry_after""#);
    }
    let (at, unit) = (place(table, "at"), one_of(table, "unit", &UNITS));
    let always = table.entry("always").and_then(|node| node.boolean());
    Some(WaitRule {
        at: at?,
        unit,
        applies: match always {
            Some(true) => Applies::Always,
            _ => Applies::Refusals,
        },
    })
}

fn cost(table: &Table<'_>) -> CostRule {
    let unit = table.entry("unit").and_then(|node| node.text(TEXT));
    let actual = table.entry("actual");
    let names_some = |node: &Node<'_>| !node.is_empty_array();
    if !actual.as_ref().is_some_and(names_some) && table.entry("requested").is_none() {
        table.fail(
            "it does not say where a cost stands",
            r#"actual = ["body: usage.total_tokens"], or requested"#,
        );
    }
    let actual = actual
        .iter()
        .flat_map(|node| node.elements("an array of places"));
    CostRule {
        unit: unit.map(Unit::from_word).unwrap_or_default(),
        requested: place(table, "requested"),
        actual: actual
            .filter_map(|node| node.read_with(PLACE, read_whole))
            .collect(),
    }
}

pub(super) const CLASSES: [(&str, Verdict); 5] = [
    ("ok", Verdict::Ok),
    ("rate_limited", Verdict::RateLimited),
    ("overloaded", Verdict::Overloaded),
    ("redirect", Verdict::Redirect),
    ("other", Verdict::Other),
];

pub(super) const KINDS: [(&str, Kind); 3] = [
    ("rate", Kind::Rate),
    ("concurrency", Kind::Concurrency),
    ("quota", Kind::Quota),
];

pub(super) fn scopes() -> [(&'static str, Scope); 6] {
    Scope::ALL.map(|scope| (scope.code(), scope))
}
