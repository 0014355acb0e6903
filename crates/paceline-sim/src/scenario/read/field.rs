//! A field with its path, and the table it is in: every error is made here.

use core::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::form::Form;
use crate::scenario::ScenarioError;
use crate::scenario::document::{Node, Value};

type Result<T> = core::result::Result<T, ScenarioError>;

/// A value and how to get to it.
pub(in crate::scenario) struct Field<'a> {
    node: &'a Node,
    path: String,
}

/// An object whose fields are asked for by name; `null` is absent.
pub(super) struct Table<'a> {
    entries: &'a BTreeMap<String, Node>,
    path: String,
    line: u64,
    /// The names that were asked for.
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Field<'a> {
    pub(in crate::scenario) const fn root(node: &'a Node) -> Self {
        Self {
            node,
            path: String::new(),
        }
    }

    pub(super) fn read<F: Form>(&self, form: &F) -> Result<F::Meaning> {
        form.read(&self.node.value)
            .ok_or_else(|| self.must_be(&form.words()))
    }

    pub(super) fn table(&self, words: &str) -> Result<Table<'a>> {
        match &self.node.value {
            Value::Table(entries) => Ok(Table {
                entries,
                path: self.path.clone(),
                line: self.node.line,
                asked: RefCell::default(),
            }),
            _ => Err(self.must_be(words)),
        }
    }

    pub(super) fn list(&self, words: &str) -> Result<Vec<Self>> {
        let Value::List(list) = &self.node.value else {
            return Err(self.must_be(words));
        };
        let element = |(index, node)| Self {
            node,
            path: format!("{}[{index}]", self.path),
        };
        Ok(list.iter().enumerate().map(element).collect())
    }

    /// A list of exactly two.
    pub(super) fn pair(&self, words: &str) -> Result<(Self, Self)> {
        let pair: core::result::Result<[Self; 2], _> = self.list(words)?.try_into();
        match pair {
            Ok([first, second]) => Ok((first, second)),
            Err(list) => Err(self.error(format!("must be {words}, not a list of {}", list.len()))),
        }
    }

    pub(super) fn must_be(&self, words: &str) -> ScenarioError {
        self.error(format!("must be {words}, not {}", self.node.value.words()))
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> ScenarioError {
        ScenarioError {
            line: self.node.line,
            field: self.path.clone(),
            problem: problem.into(),
        }
    }
}

impl<'a> Table<'a> {
    /// What nobody has asked for is a mistake: most likely a name that is spelt otherwise.
    pub(super) fn has_no_other(&self) -> Result<()> {
        let asked = self.asked.borrow();
        let Some((key, node)) = self.entries.iter().find(|(key, _)| !asked.contains(*key)) else {
            return Ok(());
        };
        let known: Vec<&str> = asked.iter().map(String::as_str).collect();
        Err(ScenarioError {
            line: node.line,
            field: self.path_of(key),
            problem: format!("is not a key here; must be one of {}", known.join(", ")),
        })
    }

    pub(super) fn find(&self, key: &str) -> Option<Field<'a>> {
        self.asked.borrow_mut().insert(key.to_owned());
        let node = self.entries.get(key)?;
        (node.value != Value::Null).then(|| Field {
            node,
            path: self.path_of(key),
        })
    }

    /// The field, or what would have been right.
    pub(super) fn find_or(&self, key: &str, words: &str) -> Result<Field<'a>> {
        self.find(key).ok_or_else(|| {
            let line = self.entries.get(key).map_or(self.line, |node| node.line);
            ScenarioError {
                line,
                field: self.path_of(key),
                problem: format!("is missing; must be {words}"),
            }
        })
    }

    pub(super) fn need<F: Form>(&self, key: &str, form: &F) -> Result<F::Meaning> {
        self.find_or(key, &form.words())?.read(form)
    }

    pub(super) fn maybe<F: Form>(&self, key: &str, form: &F) -> Result<Option<F::Meaning>> {
        self.find(key).map(|field| field.read(form)).transpose()
    }

    pub(super) fn or<F: Form>(&self, key: &str, form: &F, usual: F::Meaning) -> Result<F::Meaning> {
        Ok(self.maybe(key, form)?.unwrap_or(usual))
    }

    fn path_of(&self, key: &str) -> String {
        match self.path.is_empty() {
            true => key.to_owned(),
            false => format!("{}.{key}", self.path),
        }
    }
}
