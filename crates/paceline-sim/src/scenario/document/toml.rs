//! TOML into nodes.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{DEEPEST, Node, TOO_DEEP, Value};
use crate::scenario::ScenarioError;

pub(in crate::scenario) fn parse(text: &str) -> Result<Node, ScenarioError> {
    let lines = Lines::new(text);
    let root = DeTable::parse(text).map_err(|error| ScenarioError {
        line: lines.of(error.span().unwrap_or_default().start),
        field: String::new(),
        problem: format!("is not TOML: {}", error.message()),
    })?;
    table(&lines, root.get_ref(), 0)
        .map(|value| Node { line: 1, value })
        .map_err(|line| ScenarioError {
            line,
            field: String::new(),
            problem: TOO_DEEP.to_owned(),
        })
}

/// The value, or the line that goes too deep.
fn node(lines: &Lines, spanned: &Spanned<DeValue<'_>>, depth: usize) -> Result<Node, u64> {
    let line = lines.of(spanned.span().start);
    if depth > DEEPEST {
        return Err(line);
    }
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.as_ref().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(integer) => {
            // The parser has checked the digits; only too many of them can fail.
            i128::from_str_radix(integer.as_str(), integer.radix())
                .map_or(Value::Number(f64::INFINITY), Value::Whole)
        }
        DeValue::Float(float) => Value::Number(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(elements) => {
            let elements = elements
                .iter()
                .map(|element| node(lines, element, depth + 1));
            Value::List(elements.collect::<Result<_, _>>()?)
        }
        DeValue::Table(entries) => table(lines, entries, depth)?,
    };
    Ok(Node { line, value })
}

fn table(lines: &Lines, entries: &DeTable<'_>, depth: usize) -> Result<Value, u64> {
    let mut table = BTreeMap::new();
    for (key, value) in entries.iter() {
        table.insert(
            key.get_ref().as_ref().to_owned(),
            node(lines, value, depth + 1)?,
        );
    }
    Ok(Value::Table(table))
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of the byte at `offset`, from 1.
    fn of(&self, offset: usize) -> u64 {
        self.0.partition_point(|newline| *newline < offset) as u64 + 1
    }
}
