//! What is wrong with a scenario: where, what, and what would be right.

use core::fmt;

/// The first thing that is wrong with a scenario.
///
/// Displayed as `line 3: server.wrap[1].p: must be a number from 0 to 1, not 1.5`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScenarioError {
    /// The line of the text, from 1.
    pub line: u64,
    /// The field as a path, such as `server.wrap[1].p`; empty if it concerns no field.
    pub field: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl ScenarioError {
    /// Something about the text as such, and no field of it.
    pub fn new(line: u64, problem: impl Into<String>) -> Self {
        Self {
            line,
            field: String::new(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.problem)
    }
}

impl core::error::Error for ScenarioError {}
