//! Whatever is read, nothing panics, and what is accepted can be played against.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

/// Words that mean something somewhere, and some that do not.
const WORDS: [&str; 24] = [
    "flat",
    "tree",
    "burst",
    "kind",
    "token-bucket",
    "gcra",
    "fixed-window",
    "sliding-log",
    "concurrency",
    "all-of",
    "open",
    "always",
    "random",
    "outage",
    "nth",
    "poison",
    "rival",
    "none",
    "ceil",
    "",
    "é\u{0}\"",
    "rate",
    "window",
    "parts",
];

const KEYS: [&str; 28] = [
    "name",
    "shape",
    "requests",
    "workers",
    "latency",
    "jitter",
    "seeds",
    "fanout",
    "give_up_after",
    "server",
    "ideal",
    "target",
    "independent",
    "kind",
    "rate",
    "rates",
    "burst",
    "limit",
    "window",
    "phase",
    "max",
    "parts",
    "status",
    "retry_after",
    "wrap",
    "p",
    "windows",
    "nth",
];

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-3_i64..12).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(&WORDS).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let key = || proptest::sample::select(&KEYS).prop_map(str::to_owned);
    leaf().prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key(), inner), 0..8)
                .prop_map(|entries| Value::from(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A value anywhere in a scenario becomes another.
fn replace(value: &mut Value, at: &mut usize, by: &Value) {
    if *at == 0 {
        *value = by.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| replace(value, at, by)),
        Value::Object(map) => map.values_mut().for_each(|value| replace(value, at, by)),
        _ => {}
    }
}

fn read_and_make(text: &str) {
    match Scenario::from_json(text) {
        Ok(scenario) => assert!(scenario.server.model(1).is_ok(), "{text}"),
        Err(error) => assert!(!error.problem.is_empty() && error.line >= 1, "{text}"),
    }
}

proptest! {
    #[test]
    fn any_value_is_read_or_refused(value in value()) {
        read_and_make(&value.to_string());
        let scenario = json!({
            "name": "n", "shape": "flat", "requests": 1, "workers": 1, "latency": 0, "server": value,
        });
        read_and_make(&scenario.to_string());
    }

    #[test]
    fn a_scenario_with_anything_in_it_is_read_or_refused(line in 0..446_usize, at in 0..60_usize, by in value()) {
        let text = ARENA.lines().nth(line).expect("so many lines");
        let mut scenario: Value = serde_json::from_str(text).expect("an object");
        replace(&mut scenario, &mut { at }, &by);
        read_and_make(&scenario.to_string());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", line in 0..446_usize, cut in 0..900_usize) {
        let good = ARENA.lines().nth(line).expect("so many lines");
        let cut = cut.min(good.len());
        for text in [text.clone(), good[..cut].to_owned(), format!("{}{text}{}", &good[..cut], &good[cut..])] {
            read_and_make(&text);
            if let Err(error) = Scenario::from_toml(&text) {
                prop_assert!(error.line >= 1);
            }
        }
    }
}
