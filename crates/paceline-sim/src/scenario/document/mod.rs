//! A text as values that know their line: the same whether it was JSON or TOML.

mod json;
mod toml;

use std::collections::BTreeMap;

pub(super) use self::json::parse as json;
pub(super) use self::toml::parse as toml;

/// A value and the line that it begins in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Whole(i128),
    /// May be infinite or no number at all: TOML has words for both.
    Number(f64),
    Text(String),
    /// What TOML has and JSON has not.
    Date,
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

/// No scenario nests half as deep; what reads it may call itself for each level.
const DEEPEST: usize = 32;

/// What a text that nests deeper is told.
const TOO_DEEP: &str = "nests too deep; must be at most 32 levels";

impl Value {
    /// Itself, if it is short, else what it is.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Flag(flag) => flag.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => format!("{number:?}"),
            Self::Text(text) if text.chars().count() <= LONGEST_QUOTE => format!("{text:?}"),
            Self::Text(text) => {
                let start: String = text.chars().take(LONGEST_QUOTE).collect();
                format!("{start:?}…")
            }
            Self::Date => "a date".to_owned(),
            Self::List(list) if list.is_empty() => "an empty list".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "an object".to_owned(),
        }
    }
}

/// Enough to recognise a text by, in characters.
const LONGEST_QUOTE: usize = 40;
