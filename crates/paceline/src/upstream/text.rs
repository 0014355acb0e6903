//! Text that should have been something else: what is wrong with it, and what would be right.

use core::fmt;
use std::borrow::Cow;

use paceline_engine::LimitError;

/// Characters of a wrong text that an error repeats; enough to find it, and an error stays one
/// line.
const QUOTED: usize = 60;

/// A text that could not be read as what it should be: a duration, a route, a host, …
///
/// Shared by the configuration, which adds file and line, and by command lines, which add the
/// option's name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextError {
    /// What is wrong, with the text quoted.
    pub problem: String,
    /// What would be right.
    pub expected: String,
}

impl TextError {
    pub(crate) fn new(problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            expected: expected.into(),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.problem, self.expected)
    }
}

impl core::error::Error for TextError {}

impl From<LimitError> for TextError {
    fn from(error: LimitError) -> Self {
        Self::new(error.problem(), error.expected())
    }
}

/// The text in quotation marks, on one line, not longer than a line, without the credentials of a
/// URL.
pub(crate) fn quote(text: &str) -> String {
    let text = without_credentials(text);
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

/// `redis://user:secret@host/` as `redis://…@host/`: errors and logs are read by more people than
/// files are.
pub(crate) fn without_credentials(text: &str) -> Cow<'_, str> {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            Cow::Owned(format!("{}://…{}", &text[..scheme], &text[at..]))
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_stays_one_short_line() {
        assert_eq!(quote("a\n\"b\""), r#""a\n\"b\"""#);
        assert_eq!(quote("redis://me:pw@x@h/0"), "\"redis://…@h/0\"");
        assert_eq!(quote(&"x".repeat(1000)).chars().count(), QUOTED + 3);
    }
}
