//! From a TOML document to a dialect.

use core::time::Duration;

use paceline_engine::response::dialect::{
    Amount, Applies, CostRule, Dialect, Effect, Label, Place, Span, Test, TimeUnit, WaitRule, When,
    WindowRule,
};
use paceline_engine::{Kind, Scope, Unit, Verdict};
use toml::de::DeTable;

use super::{Confidence, Example, Provider, known};
use crate::config::ConfigErrors;
use crate::config::document::{Document, Node, Table};
use crate::config::read::{limits, routes, syntax};
use crate::upstream::text::quote;
use crate::upstream::{TextError, parse_duration};

/// What a dialect may say.
pub(crate) const KEYS: [&str; 23] = [
    "statuses",
    "fields",
    "period",
    "shared_by",
    "name",
    "hosts",
    "source",
    "date",
    "confidence",
    "notes",
    "also",
    "limits",
    "route",
    "cold_start",
    "pause",
    "scope",
    "bucket",
    "units",
    "when",
    "window",
    "wait",
    "cost",
    "example",
];
const WHEN_KEYS: [&str; 11] = [
    "status", "at", "missing", "is", "contains", "code", "class", "kind", "scope", "pause", "retry",
];
const WINDOW_KEYS: [&str; 17] = [
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
const WAIT_KEYS: [&str; 3] = ["at", "unit", "always"];
const COST_KEYS: [&str; 3] = ["unit", "requested", "actual"];
const EXAMPLE_KEYS: [&str; 5] = ["now", "status", "headers", "body", "expect"];

const TEXT: &str = "a text";
const TEXTS: &str = r#"an array of texts, such as ["api.github.com"]"#;
const TABLE: &str = "a table";
const TABLES: &str = "an array of tables";
const PLACE: &str = r#"a place, such as "x-shop-limit" or "body: errors[].code""#;
const DURATION: &str = r#"a duration, such as "60s""#;
const UNITS: [(&str, TimeUnit); 3] = [
    ("seconds", TimeUnit::Seconds),
    ("milliseconds", TimeUnit::Milliseconds),
    ("minutes", TimeUnit::Minutes),
];

/// Reads an embedded file.
pub(crate) fn file(slug: &str, text: &str) -> Result<Provider, ConfigErrors> {
    let file = format!("{slug}.toml");
    let document = Document::new(&file, text);
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or_default().start;
        document.error(at, "", syntax(error.message()))
    })?;
    let root = Table::root(&document, root.get_ref());
    root.refuse_unknown(&KEYS);
    let provider = provider(slug, &root, &|name| file_named(name));
    document.finish().map_or(Ok(provider), Err)
}

/// A dialect that a file builds on; embedded ones only build on such that build on none.
fn file_named(slug: &str) -> Option<Provider> {
    known::text(slug).and_then(|text| file(slug, text).ok())
}

/// Reads a dialect's table; `others` knows those that it builds on.
pub(crate) fn provider(
    slug: &str,
    table: &Table<'_>,
    others: &dyn Fn(&str) -> Option<Provider>,
) -> Provider {
    let text = |key: &str| -> Box<str> {
        let node = table.entry(key);
        node.and_then(|node| node.text(TEXT))
            .unwrap_or_default()
            .into()
    };
    let hosts = table.entry("hosts");
    let hosts = hosts.iter().flat_map(|node| node.elements(TEXTS));
    let mut provider = Provider {
        slug: slug.into(),
        name: text("name"),
        hosts: hosts.filter_map(|node| node.read(TEXT)).collect(),
        source: text("source"),
        date: text("date"),
        confidence: one_of(table, "confidence", &CONFIDENCES).unwrap_or_default(),
        statuses: statuses(table, "statuses"),
        fields: named_texts(table, "fields"),
        period: text("period"),
        shared_by: texts(table, "shared_by"),
        notes: texts(table, "notes"),
        dialect: dialect(table),
        limits: limits(table),
        routes: routes(table),
        cold_start: table
            .entry("cold_start")
            .and_then(|node| node.whole(1..=1_000_000)),
        examples: tables(table, "example", &EXAMPLE_KEYS)
            .iter()
            .map(example)
            .collect(),
    };
    if provider.name.is_empty() {
        provider.name = slug.into();
    }
    let also = table.entry("also");
    for node in also.iter().flat_map(|node| node.elements(TEXTS)) {
        let Some(name) = node.text(TEXT) else {
            continue;
        };
        match others(name) {
            Some(other) => add(&mut provider, other),
            None => node.fail(
                format!("there is no dialect {}", quote(name)),
                known::expected_name(name),
            ),
        }
    }
    provider
}

/// What the other says counts where this one says nothing.
fn add(own: &mut Provider, other: Provider) {
    if own.source.is_empty() {
        own.source = other.source;
        own.date = other.date;
        own.confidence = other.confidence;
        own.period = other.period;
    }
    add_new(&mut own.statuses, other.statuses);
    add_new(&mut own.fields, other.fields);
    add_new(&mut own.shared_by, other.shared_by);
    add_new(&mut own.notes, other.notes);
    add_new(&mut own.limits, other.limits);
    add_new(&mut own.routes, other.routes);
    own.cold_start = own.cold_start.or(other.cold_start);
    let (mine, its) = (&mut own.dialect, other.dialect);
    mine.windows.extend(its.windows);
    mine.when.extend(its.when);
    mine.waits.extend(its.waits);
    mine.costs.extend(its.costs);
    mine.units.extend(its.units);
    mine.bucket = mine.bucket.take().or(its.bucket);
    mine.pause = mine.pause.or(its.pause);
    if mine.scope == Scope::default() {
        mine.scope = its.scope;
    }
}

fn add_new<T: PartialEq>(own: &mut Vec<T>, others: Vec<T>) {
    for other in others {
        if !own.contains(&other) {
            own.push(other);
        }
    }
}

fn dialect(table: &Table<'_>) -> Dialect {
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
    if test != Test::Present && table.entry("at").is_none() {
        table.fail(
            "it does not say where to look",
            r#"at = "body: error.code""#,
        );
    }
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

fn window(table: &Table<'_>) -> WindowRule {
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
        remaining: place(table, "remaining"),
        used: place(table, "used"),
        used_share: place(table, "used_share"),
        usage: place(table, "usage"),
        reset: place(table, "reset"),
        reset_in: one_of(table, "reset_in", &UNITS),
        length: span(table, "length", "length_in"),
        aligned: flag("aligned"),
        steady: flag("steady"),
        refill: amount(table, "refill"),
        refill_every: span(table, "refill_every", "refill_every_in"),
    }
}

fn wait(table: &Table<'_>) -> Option<WaitRule> {
    let Some(at) = place(table, "at") else {
        table.fail("it does not say where", r#"at = "body: error.retry_after""#);
        return None;
    };
    let always = table.entry("always").and_then(|node| node.boolean());
    Some(WaitRule {
        at,
        unit: one_of(table, "unit", &UNITS),
        applies: match always {
            Some(true) => Applies::Always,
            _ => Applies::Refusals,
        },
    })
}

fn cost(table: &Table<'_>) -> CostRule {
    let unit = table.entry("unit").and_then(|node| node.text(TEXT));
    let actual = table.entry("actual");
    let actual = actual
        .iter()
        .flat_map(|node| node.elements("an array of places"));
    CostRule {
        unit: unit.map(Unit::from_word).unwrap_or_default(),
        requested: place(table, "requested"),
        actual: actual
            .filter_map(|node| node.read_with(PLACE, read_place))
            .collect(),
    }
}

fn example(table: &Table<'_>) -> Example {
    let text = |key: &str| table.entry(key).and_then(|node| node.text(TEXT));
    let headers = table.entry("headers");
    let pair = |node: &Node<'_>| -> Option<(Box<str>, Box<str>)> {
        let pair = node.elements("a name and a value");
        Some((
            pair.first()?.text(TEXT)?.into(),
            pair.get(1)?.text(TEXT)?.into(),
        ))
    };
    let expect = table.entry("expect").and_then(|node| node.any_table(TABLE));
    Example {
        now: text("now").unwrap_or("2025-05-01T22:01:18Z").into(),
        status: table
            .entry("status")
            .and_then(|node| node.whole(100..=999))
            .unwrap_or(200),
        headers: headers
            .iter()
            .flat_map(|node| node.elements("an array of [name, value]"))
            .filter_map(|node| pair(&node))
            .collect(),
        body: text("body").map(Into::into),
        expect: expect
            .iter()
            .flat_map(Table::entries)
            .map(|(key, node)| (key.into(), node.as_json().into()))
            .collect(),
    }
}

fn tables<'a>(table: &Table<'a>, key: &str, known: &[&str]) -> Vec<Table<'a>> {
    let node = table.entry(key);
    let elements = node.iter().flat_map(|node| node.elements(TABLES));
    elements
        .filter_map(|node| node.table(known, TABLE))
        .collect()
}

fn texts(table: &Table<'_>, key: &str) -> Vec<Box<str>> {
    let node = table.entry(key);
    let elements = node.iter().flat_map(|node| node.elements(TEXTS));
    elements
        .filter_map(|node| node.text(TEXT))
        .map(Into::into)
        .collect()
}

fn named_texts(table: &Table<'_>, key: &str) -> Vec<(Box<str>, Box<str>)> {
    let node = table.entry(key).and_then(|node| node.any_table(TABLE));
    let entries = node.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, node)| Some((name.into(), node.text(TEXT)?.into())))
        .collect()
}

fn statuses(table: &Table<'_>, key: &str) -> Vec<u16> {
    let node = table.entry(key);
    let elements = node
        .iter()
        .flat_map(|node| node.elements("an array of statuses"));
    elements.filter_map(|node| node.whole(100..=999)).collect()
}

fn place(table: &Table<'_>, key: &str) -> Option<Place> {
    table.entry(key)?.read_with(PLACE, read_place)
}

fn read_place(text: &str) -> Result<Place, TextError> {
    text.parse()
        .map_err(|error: paceline_engine::response::dialect::PlaceError| {
            TextError::new(
                format!("{}: {}", quote(text), error.problem()),
                error.expected(),
            )
        })
}

/// A name as such, or a part of what `each` finds.
fn label(table: &Table<'_>) -> Option<Label> {
    let node = table.entry("name")?;
    let text = node.text(TEXT)?;
    if text.starts_with('.') {
        return node.read_with(PLACE, read_place).map(Label::At);
    }
    Some(Label::Text(text.into()))
}

/// A number as such, or the place of one.
fn amount(table: &Table<'_>, key: &str) -> Option<Amount> {
    let node = table.entry(key)?;
    if node.is_text() {
        return node.read_with(PLACE, read_place).map(Amount::At);
    }
    node.whole(0..=1_000_000_000_000_000).map(Amount::Fixed)
}

/// A duration as such, or the place of one with the key of its unit.
fn span(table: &Table<'_>, key: &str, unit: &str) -> Option<Span> {
    let node = table.entry(key)?;
    if let Some(unit) = one_of(table, unit, &UNITS) {
        return node
            .read_with(PLACE, read_place)
            .map(|place| Span::At(place, unit));
    }
    let form = format!(r#"a duration, such as "15m", or a place beside {unit} = "seconds""#);
    node.read_with(&form, parse_duration).map(Span::Fixed)
}

fn duration(table: &Table<'_>, key: &str) -> Option<Duration> {
    table.entry(key)?.read_with(DURATION, parse_duration)
}

/// One of some words.
fn one_of<T: Clone>(table: &Table<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
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

const CONFIDENCES: [(&str, Confidence); 3] = [
    ("read", Confidence::Read),
    ("mixed", Confidence::Mixed),
    ("prior", Confidence::Prior),
];

const CLASSES: [(&str, Verdict); 5] = [
    ("ok", Verdict::Ok),
    ("rate_limited", Verdict::RateLimited),
    ("overloaded", Verdict::Overloaded),
    ("redirect", Verdict::Redirect),
    ("other", Verdict::Other),
];

const KINDS: [(&str, Kind); 3] = [
    ("rate", Kind::Rate),
    ("concurrency", Kind::Concurrency),
    ("quota", Kind::Quota),
];

fn scopes() -> [(&'static str, Scope); 6] {
    Scope::ALL.map(|scope| (scope.code(), scope))
}
