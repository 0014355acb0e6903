//! `docs/dialects.md` says everything that a dialect's file may say, and nothing else.

use super::{example, gate_rules, read, rules};
use crate::config::Config;

const PAGE: &str = include_str!("../../../../docs/dialects.md");

/// The first column of the table under a heading.
fn keys(heading: &str) -> Vec<&'static str> {
    let (_, section) = PAGE
        .split_once(&format!("\n### `{heading}`\n"))
        .unwrap_or_else(|| panic!("there is no {heading}"));
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| Some(row.split_once('`')?.0))
        .collect()
}

fn row(heading: &str, key: &str) -> &'static str {
    let (_, section) = PAGE
        .split_once(&format!("\n### `{heading}`\n"))
        .expect("a heading");
    let (_, row) = section
        .split_once(&format!("\n| `{key}` |"))
        .expect("a row");
    row.lines().next().unwrap_or_default()
}

#[test]
fn every_key_is_on_the_page_in_its_order() {
    let tables: [(&str, &[&str]); 9] = [
        ("[dialect.NAME]", &read::KEYS),
        ("[[dialect.NAME.when]]", &rules::WHEN_KEYS),
        ("[[dialect.NAME.window]]", &rules::WINDOW_KEYS),
        ("[[dialect.NAME.wait]]", &rules::WAIT_KEYS),
        ("[[dialect.NAME.cost]]", &rules::COST_KEYS),
        ("[dialect.NAME.gates]", &gate_rules::KEYS),
        ("[[dialect.NAME.gates.route]]", &gate_rules::ROUTE_KEYS),
        ("[[dialect.NAME.example]]", &example::KEYS),
        ("expect", &example::EXPECT_KEYS),
    ];
    for (heading, known) in tables {
        assert_eq!(keys(heading), known, "{heading}");
    }
    assert_eq!(PAGE.matches("\n### ").count(), tables.len());
}

#[test]
fn every_word_that_a_key_takes_is_on_its_row() {
    let when = "[[dialect.NAME.when]]";
    let words = |words: &[&'static str]| words.to_vec();
    let classes = rules::CLASSES.map(|(word, _)| word);
    let kinds = rules::KINDS.map(|(word, _)| word);
    let scopes = rules::scopes().map(|(word, _)| word);
    let units = super::values::UNITS.map(|(word, _)| word);
    let confidences = read::CONFIDENCES.map(|(word, _)| word);
    let by = paceline_engine::GatesBy::ALL.map(|by| by.code());
    for (heading, key, words) in [
        (when, "class", words(&classes)),
        (when, "kind", words(&kinds)),
        (when, "scope", words(&scopes)),
        ("[[dialect.NAME.window]]", "reset_in", words(&units)),
        ("[[dialect.NAME.wait]]", "unit", words(&units)),
        ("[dialect.NAME]", "confidence", words(&confidences)),
        ("[dialect.NAME.gates]", "by", words(&by)),
    ] {
        for word in words {
            assert!(
                row(heading, key).contains(&format!("`{word}`")),
                "{key}: {word}"
            );
        }
    }
}

#[test]
fn the_worked_example_is_read_as_it_says() {
    let (_, block) = PAGE.split_once("```toml\n").expect("an example");
    let (text, _) = block.split_once("```").expect("its end");
    let config =
        Config::parse(text, "docs/dialects.md").unwrap_or_else(|errors| panic!("{errors}"));
    let zorb = config.dialect("zorb").expect("it is there");
    assert_eq!((zorb.examples.len(), zorb.limits.len()), (4, 2));
    for wrong in [
        ("MONTH_USED_UP\"]", "MONTH\"]"),
        ("1500\"]", "1600\"]"),
        ("of\"\n", "size\"\n"),
    ] {
        let text = text.replacen(wrong.0, wrong.1, 1);
        assert!(Config::parse(&text, "docs").is_err(), "{wrong:?}");
    }
}

/// Each place of its table is one.
#[test]
fn places_on_the_page_are_places() {
    let (_, section) = PAGE.split_once("## Where a value stands\n").expect("it");
    let section = section.split("\n#").next().unwrap_or_default();
    let places = section
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0));
    let mut count = 0;
    for place in places {
        let read: Result<paceline_engine::response::dialect::Place, _> = place.parse();
        assert_eq!(read.expect(place).to_string(), place);
        count += 1;
    }
    assert_eq!(count, 11);
}
