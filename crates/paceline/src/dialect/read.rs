//! From a TOML document to a dialect.

use std::sync::Arc;

use paceline_engine::Scope;
use toml::de::DeTable;

use super::values::{TEXT, TEXTS, named_texts, one_of, statuses, texts};
use super::{Confidence, Provider, example, gate_rules, known, rules, whole};
use crate::config::ConfigErrors;
use crate::config::document::{Document, Table};
use crate::config::read::{limits, routes, syntax};
use crate::upstream::TextError;

/// What a dialect may say.
pub(crate) const KEYS: [&str; 24] = [
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
    "gates",
    "units",
    "when",
    "window",
    "wait",
    "cost",
    "example",
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
    let base = |name: &str| {
        known::base(name)
            .map(Arc::new)
            .ok_or_else(|| known::missing(name, core::iter::empty()))
    };
    let provider = provider(slug, &root, &base);
    document.finish().map_or(Ok(provider), Err)
}

/// Reads a dialect's table; `others` knows those that it builds on.
pub(crate) fn provider(
    slug: &str,
    table: &Table<'_>,
    others: &dyn Fn(&str) -> Result<Arc<Provider>, TextError>,
) -> Provider {
    let text = |key: &str| -> Box<str> {
        let node = table.entry(key);
        node.and_then(|node| node.text(TEXT))
            .unwrap_or_default()
            .into()
    };
    let examples = example::tables_of(table);
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
        dialect: rules::dialect(table),
        gates: gate_rules::gates(table),
        limits: limits(table),
        routes: routes(table),
        cold_start: table
            .entry("cold_start")
            .and_then(|node| node.whole(1..=1_000_000)),
        examples: examples.iter().map(example::read).collect(),
    };
    if provider.name.is_empty() {
        provider.name = slug.into();
    }
    let also = table.entry("also");
    for node in also.iter().flat_map(|node| node.elements(TEXTS)) {
        if let Some(other) = node.read_with(TEXT, others) {
            add(&mut provider, (*other).clone());
        }
    }
    whole::check_units(table, &provider.dialect);
    whole::check_statuses(table, &provider.dialect);
    if let Some(gates) = &provider.gates {
        gate_rules::check(table, gates.by, provider.dialect.bucket.is_some());
    }
    for (table, own) in examples.iter().zip(&provider.examples) {
        example::check(table, own, &provider.dialect);
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
    own.gates = own.gates.take().or(other.gates);
    own.cold_start = own.cold_start.or(other.cold_start);
    let (mine, its) = (&mut own.dialect, other.dialect);
    // Two may build on the same third one, whose costs count once.
    add_new(&mut mine.windows, its.windows);
    add_new(&mut mine.when, its.when);
    add_new(&mut mine.waits, its.waits);
    add_new(&mut mine.costs, its.costs);
    add_new(&mut mine.units, its.units);
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

pub(super) const CONFIDENCES: [(&str, Confidence); 3] = [
    ("read", Confidence::Read),
    ("mixed", Confidence::Mixed),
    ("prior", Confidence::Prior),
];
