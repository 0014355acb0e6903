//! The kinds of values that a dialect's file holds.

use core::time::Duration;

use paceline_engine::response::dialect::{Amount, Label, Place, PlaceError, Span, TimeUnit};

use crate::config::document::{Table, distance};
use crate::config::read::some_time;
use crate::upstream::TextError;
use crate::upstream::text::quote;

pub(super) const TEXT: &str = "a text";
pub(super) const TEXTS: &str = r#"an array of texts, such as ["api.github.com"]"#;
pub(super) const STATUSES: &str = "an array of statuses, such as [429, 503]";
pub(super) const TABLE: &str = "a table";
pub(super) const TABLES: &str = "an array of tables";
pub(super) const PLACE: &str = r#"a place, such as "x-shop-limit" or "body: errors[].code""#;
pub(super) const DURATION: &str = r#"a duration, such as "60s""#;
pub(super) const UNITS: [(&str, TimeUnit); 3] = [
    ("seconds", TimeUnit::Seconds),
    ("milliseconds", TimeUnit::Milliseconds),
    ("minutes", TimeUnit::Minutes),
];

pub(super) fn tables<'a>(table: &Table<'a>, key: &str, known: &[&str]) -> Vec<Table<'a>> {
    let node = table.entry(key);
    let elements = node.iter().flat_map(|node| node.elements(TABLES));
    elements
        .filter_map(|node| node.table(known, TABLE))
        .collect()
}

pub(super) fn texts(table: &Table<'_>, key: &str) -> Vec<Box<str>> {
    let node = table.entry(key);
    let elements = node.iter().flat_map(|node| node.elements(TEXTS));
    elements
        .filter_map(|node| node.text(TEXT))
        .map(Into::into)
        .collect()
}

pub(super) fn named_texts(table: &Table<'_>, key: &str) -> Vec<(Box<str>, Box<str>)> {
    let node = table.entry(key).and_then(|node| node.any_table(TABLE));
    let entries = node.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, node)| Some((name.into(), node.text(TEXT)?.into())))
        .collect()
}

pub(super) fn statuses(table: &Table<'_>, key: &str) -> Vec<u16> {
    let node = table.entry(key);
    let elements = node.iter().flat_map(|node| node.elements(STATUSES));
    elements.filter_map(|node| node.whole(100..=999)).collect()
}

/// A place in a response.
pub(super) fn place(table: &Table<'_>, key: &str) -> Option<Place> {
    table.entry(key)?.read_with(PLACE, read_whole)
}

/// A place in a response, or a part of what `each` finds.
pub(super) fn part(table: &Table<'_>, key: &str) -> Option<Place> {
    if table.entry("each").is_none() {
        return place(table, key);
    }
    table.entry(key)?.read_with(PLACE, read_place)
}

pub(super) fn read_whole(text: &str) -> Result<Place, TextError> {
    let place = read_place(text)?;
    if place.is_part() {
        let problem = format!(
            "{} is a part of what `each` finds, and there is no `each`",
            quote(text)
        );
        return Err(TextError::new(problem, PLACE));
    }
    Ok(place)
}

fn read_place(text: &str) -> Result<Place, TextError> {
    // One letter beside it is a slip: no field is called so.
    if let Some((source, path)) = text.split_once(':')
        && distance(&source.trim().to_lowercase(), "body") == 1
    {
        return Err(TextError::new(
            format!("{} is no field", quote(source.trim())),
            format!("body:{path}?"),
        ));
    }
    text.parse().map_err(|error: PlaceError| {
        TextError::new(
            format!("{}: {}", quote(text), error.problem()),
            error.expected(),
        )
    })
}

/// A name as such, or a part of what `each` finds.
pub(super) fn label(table: &Table<'_>) -> Option<Label> {
    let node = table.entry("name")?;
    let text = node.text(TEXT)?;
    if text.starts_with('.') {
        return part(table, "name").map(Label::At);
    }
    Some(Label::Text(text.into()))
}

/// A number as such, or the place of one.
pub(super) fn amount(table: &Table<'_>, key: &str) -> Option<Amount> {
    let node = table.entry(key)?;
    if node.is_text() {
        return part(table, key).map(Amount::At);
    }
    node.whole(0..=1_000_000_000_000_000).map(Amount::Fixed)
}

/// A duration as such, or the place of one with the key of its unit.
pub(super) fn span(table: &Table<'_>, key: &str, unit: &str) -> Option<Span> {
    let node = table.entry(key)?;
    if let Some(unit) = one_of(table, unit, &UNITS) {
        return part(table, key).map(|place| Span::At(place, unit));
    }
    let form = format!(r#"a duration, such as "15m", or a place beside {unit} = "seconds""#);
    node.read_with(&form, some_time).map(Span::Fixed)
}

pub(super) fn duration(table: &Table<'_>, key: &str) -> Option<Duration> {
    table.entry(key)?.read_with(DURATION, some_time)
}

/// One of some words.
pub(super) fn one_of<T: Clone>(table: &Table<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
    let node = table.entry(key)?;
    let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let expected = format!("one of: {}", all.join(", "));
    let text = node.text(&expected)?;
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        node.fail(format!("{} is not one of them", quote(text)), expected);
    }
    found.map(|(_, value)| value.clone())
}
