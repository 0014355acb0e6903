//! JSON into nodes. Where the text is not JSON, the field is known all the same.

use core::cell::{Cell, RefCell};
use core::fmt::{self, Write as _};
use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{DEEPEST, Node, TOO_DEEP, Value};
use crate::scenario::ScenarioError;

/// `first_line` is the number of the text's first line.
pub(in crate::scenario) fn parse(text: &str, first_line: u64) -> Result<Node, ScenarioError> {
    let place = Place {
        line: Cell::new(first_line),
        path: RefCell::default(),
    };
    let mut reader = serde_json::Deserializer::from_reader(CountLines {
        rest: text.as_bytes(),
        line: &place.line,
    });
    let node = Seed {
        place: &place,
        depth: 0,
    }
    .deserialize(&mut reader)
    .and_then(|node| reader.end().map(|()| node));
    node.map_err(|error| ScenarioError {
        line: first_line + (error.line() as u64).saturating_sub(1),
        field: place.field(),
        problem: problem(text, &error),
    })
}

/// Where the parser is: it tells no more than that on its way.
struct Place {
    line: Cell<u64>,
    /// What has been entered and not left; an error leaves nothing.
    path: RefCell<Vec<Step>>,
}

enum Step {
    Key(String),
    Index(usize),
}

impl Place {
    fn within<T, E>(&self, step: Step, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.path.borrow_mut().push(step);
        let value = read()?;
        self.path.borrow_mut().pop();
        Ok(value)
    }

    fn field(&self) -> String {
        let mut field = String::new();
        for step in self.path.borrow().iter() {
            let written = match step {
                Step::Key(key) if field.is_empty() => write!(field, "{key}"),
                Step::Key(key) => write!(field, ".{key}"),
                Step::Index(index) => write!(field, "[{index}]"),
            };
            written.expect("a text can be written to");
        }
        field
    }
}

/// Hands over byte by byte, so that the count is right whenever somebody looks.
struct CountLines<'a> {
    rest: &'a [u8],
    line: &'a Cell<u64>,
}

impl Read for CountLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((first, rest)) = self.rest.split_first() else {
            return Ok(0);
        };
        let Some(slot) = buffer.first_mut() else {
            return Ok(0);
        };
        *slot = *first;
        self.rest = rest;
        self.line.set(self.line.get() + u64::from(*first == b'\n'));
        Ok(1)
    }
}

/// Reads one value.
struct Seed<'a> {
    place: &'a Place,
    depth: usize,
}

impl Seed<'_> {
    const fn below(&self) -> Self {
        Self {
            place: self.place,
            depth: self.depth + 1,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        if self.depth > DEEPEST {
            return Err(D::Error::custom(TOO_DEEP));
        }
        let line = self.place.line.get();
        let value = deserializer.deserialize_any(self)?;
        Ok(Node { line, value })
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let next = || elements.next_element_seed(self.below());
            match self.place.within(Step::Index(list.len()), next)? {
                Some(node) => list.push(node),
                None => return Ok(Value::List(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = BTreeMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.place.within(Step::Key(key.clone()), || {
                let node = entries.next_value_seed(self.below())?;
                match table.insert(key, node) {
                    None => Ok(()),
                    Some(_) => Err(A::Error::custom("is there twice; must be there once")),
                }
            })?;
        }
        Ok(Value::Table(table))
    }
}

/// What the parser says, without the place, which is told apart.
fn problem(text: &str, error: &serde_json::Error) -> String {
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or_default();
    if error.is_data() {
        return words.to_owned();
    }
    if words == "trailing characters" {
        return "has more after the first value; must be one JSON object (several, one a line, \
                are JSON Lines)"
            .to_owned();
    }
    let line = text.lines().nth(error.line().saturating_sub(1));
    let before = line.and_then(|line| line.get(..error.column()));
    // Some languages write these words for a float; JSON has none.
    let word = ["N", "I", "-I"]
        .iter()
        .zip(["NaN", "Infinity", "-Infinity"]);
    for (start, word) in word.rev() {
        if line.is_some_and(|line| line.contains(word))
            && before.is_some_and(|before| before.ends_with(start))
        {
            return format!("must be a finite number, not {word}");
        }
    }
    format!(
        "is not JSON at column {}: {words}; must be one JSON object",
        error.column()
    )
}
