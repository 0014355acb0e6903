//! A TOML document in which every value knows its key and its place, and every mistake is noted.
//!
//! Readers take what they can and go on: all mistakes of a file are told at once.

use core::cell::RefCell;
use core::ops::RangeInclusive;
use core::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigErrors, Position};
use crate::upstream::text::{TextError, quote};

/// Nobody reads further, and a wrong file may hold a hundred thousand.
const MOST_ERRORS: usize = 100;

/// The file that is read, and what was found wrong with it.
pub(crate) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    noted: RefCell<Vec<(usize, String, TextError)>>,
}

impl<'a> Document<'a> {
    pub(crate) const fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            noted: RefCell::new(Vec::new()),
        }
    }

    fn note(&self, offset: usize, key: &str, error: TextError) {
        self.noted.borrow_mut().push((offset, key.into(), error));
    }

    pub(crate) fn error(&self, offset: usize, key: &str, error: TextError) -> ConfigError {
        ConfigError {
            file: self.file.into(),
            position: Some(Position::of(self.text, offset)),
            key: key.into(),
            problem: error.problem,
            expected: error.expected,
        }
    }

    /// What is wrong, in the order of the file.
    pub(crate) fn finish(self) -> Option<ConfigErrors> {
        let mut noted = self.noted.take();
        noted.sort_by_key(|(offset, ..)| *offset);
        let noted = noted.into_iter().take(MOST_ERRORS);
        ConfigErrors::new(
            noted
                .map(|(offset, key, error)| self.error(offset, &key, error))
                .collect(),
        )
    }
}

/// A value with its key and place.
pub(crate) struct Node<'a> {
    document: &'a Document<'a>,
    key: String,
    offset: usize,
    value: &'a DeValue<'a>,
}

/// A table of which only known keys are asked for.
pub(crate) struct Table<'a> {
    document: &'a Document<'a>,
    key: String,
    offset: usize,
    entries: &'a DeTable<'a>,
}

impl<'a> Node<'a> {
    fn below(document: &'a Document<'a>, key: String, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            document,
            key,
            offset: value.span().start,
            value: value.get_ref(),
        }
    }

    /// Notes that this value is wrong.
    pub(crate) fn fail(&self, problem: impl Into<String>, expected: impl Into<String>) {
        self.note(TextError::new(problem, expected));
    }

    fn note(&self, error: TextError) {
        self.document.note(self.offset, &self.key, error);
    }

    fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        let kind = self.value.type_str();
        let article = if kind.starts_with(['a', 'i']) {
            "an"
        } else {
            "a"
        };
        self.fail(format!("{article} {kind} does not belong here"), expected);
        None
    }

    pub(crate) fn text(&self, expected: &str) -> Option<&'a str> {
        self.value.as_str().or_else(|| self.wrong_type(expected))
    }

    /// A text that is read as a `T`.
    pub(crate) fn read<T: FromStr<Err: Into<TextError>>>(&self, expected: &str) -> Option<T> {
        self.read_with(expected, str::parse)
    }

    /// A text that `reader` understands.
    pub(crate) fn read_with<T, E: Into<TextError>>(
        &self,
        expected: &str,
        reader: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        reader(self.text(expected)?)
            .map_err(|error| self.note(error.into()))
            .ok()
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        const FORM: &str = "true or false";
        self.value.as_bool().or_else(|| self.wrong_type(FORM))
    }

    /// Whether it is a text at all.
    pub(crate) fn is_text(&self) -> bool {
        self.value.as_str().is_some()
    }

    /// A value without parts, or an array, as JSON writes it.
    pub(crate) fn as_json(&self) -> String {
        json(self.value)
    }

    /// A whole number in the range; a `T` must hold every number of it.
    pub(crate) fn whole<T: TryFrom<u64>>(&self, range: RangeInclusive<u64>) -> Option<T> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let Some(integer) = self.value.as_integer() else {
            return self.wrong_type(&expected);
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .filter(|number| range.contains(number))
            .and_then(|number| T::try_from(number).ok());
        if number.is_none() {
            self.fail(format!("{integer} is out of range"), expected);
        }
        number
    }

    pub(super) fn is_number(&self) -> bool {
        self.value.as_integer().is_some()
    }

    pub(crate) fn is_empty_array(&self) -> bool {
        self.value.as_array().is_some_and(|array| array.is_empty())
    }

    /// The elements of an array; none if it is not one, which is noted.
    pub(crate) fn elements(&self, expected: &str) -> Vec<Self> {
        let Some(array) = self.value.as_array() else {
            self.wrong_type::<()>(expected);
            return Vec::new();
        };
        let element = |(i, value)| Self::below(self.document, format!("{}[{i}]", self.key), value);
        array.iter().enumerate().map(element).collect()
    }

    /// A table whose keys are among `known`; others are noted.
    pub(crate) fn table(&self, known: &[&str], expected: &str) -> Option<Table<'a>> {
        let table = self.any_table(expected)?;
        table.refuse_unknown(known);
        Some(table)
    }

    /// A table whose keys are names.
    pub(crate) fn any_table(&self, expected: &str) -> Option<Table<'a>> {
        let entries = self
            .value
            .as_table()
            .or_else(|| self.wrong_type(expected))?;
        Some(Table {
            document: self.document,
            key: self.key.clone(),
            offset: self.offset,
            entries,
        })
    }
}

impl<'a> Table<'a> {
    /// The whole document.
    pub(crate) const fn root(document: &'a Document<'a>, entries: &'a DeTable<'a>) -> Self {
        Self {
            document,
            key: String::new(),
            offset: 0,
            entries,
        }
    }

    /// Where it stands in the file.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// Whether something was found wrong with the file.
    pub(crate) fn is_in_wrong_file(&self) -> bool {
        !self.document.noted.borrow().is_empty()
    }

    /// Notes that the table as such is wrong.
    pub(crate) fn fail(&self, problem: impl Into<String>, expected: impl Into<String>) {
        let error = TextError::new(problem, expected);
        self.document.note(self.offset, &self.key, error);
    }

    pub(crate) fn entry(&self, key: &str) -> Option<Node<'a>> {
        let value = self.entries.get(key)?;
        Some(Node::below(self.document, self.path(key), value))
    }

    /// All names with their values, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(&'a str, Node<'a>)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let node = |name: &'a str, value| Node::below(self.document, self.path(name), value);
        entries
            .into_iter()
            .map(|(name, value)| (name.get_ref().as_ref(), node(name.get_ref(), value)))
            .collect()
    }

    pub(crate) fn refuse_unknown(&self, known: &[&str]) {
        for (key, _) in self.entries.iter() {
            let (name, at) = (key.get_ref(), key.span().start);
            if known.contains(&name.as_ref()) {
                continue;
            }
            let all = known.join(", ");
            let expected = match nearest(name, known) {
                Some(near) => format!("{near}? (the keys here are: {all})"),
                None => format!("one of: {all}"),
            };
            let error = TextError::new(format!("{} is not a key", quote(name)), expected);
            self.document.note(at, &self.path(name), error);
        }
    }

    fn path(&self, key: &str) -> String {
        let bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let key = match !key.is_empty() && key.bytes().all(bare) {
            true => key.to_owned(),
            false => quote(key),
        };
        match self.key.is_empty() {
            true => key,
            false => format!("{}.{key}", self.key),
        }
    }
}

fn json(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(|own| json(own.get_ref())).collect();
            format!("[{}]", elements.join(","))
        }
        _ => "null".into(),
    }
}

/// The known word that was probably meant: at most a third of its letters differ.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    if word.len() > 40 {
        return None;
    }
    let near = known.iter().map(|own| (distance(&word, own), *own)).min()?;
    (near.0 <= near.1.len().div_ceil(3)).then_some(near.1)
}

/// How many letters must be added, removed or replaced to make `a` of `b` (Levenshtein).
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested_and_no_far_one() {
        let known = ["hosts", "limits", "retry", "route", "ignore_retry_after"];
        for (word, near) in [
            ("host", Some("hosts")),
            ("limit", Some("limits")),
            ("Limits", Some("limits")),
            ("routes", Some("route")),
            ("retries", None),
            ("ignore_retry-after", Some("ignore_retry_after")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), near, "{word}");
        }
        assert_eq!(nearest("queu", &[]), None);
    }
}
