//! Who goes first among the requests that wait for one gate.

use core::fmt;

/// How much a request matters to those who wait beside it.
///
/// Tickets are served by priority, then by first arrival; a low priority costs a place in the line,
/// never service.
///
/// ```
/// use paceline_engine::Priority;
///
/// assert!(Priority::Interactive > Priority::Normal);
/// assert_eq!(Priority::parse("background"), Some(Priority::Background));
/// assert_eq!(Priority::parse("urgent"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[allow(
    clippy::exhaustive_enums,
    reason = "three words are the contract; who needs more has a scheduler of their own"
)]
pub enum Priority {
    /// Nobody waits for it: batch work, crawls, prefetching.
    Background,
    /// Nothing is known about it.
    #[default]
    Normal,
    /// Somebody sits before a screen and waits for it.
    Interactive,
}

impl Priority {
    /// Every priority, lowest first.
    pub const ALL: &[Self] = &[Self::Background, Self::Normal, Self::Interactive];

    /// The word used in configuration, JSON and metric labels.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::Normal => "normal",
            Self::Interactive => "interactive",
        }
    }

    /// The priority with that word (exactly, in lower case), if there is one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|own| own.code() == word)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_interactive_is_the_highest() {
        for priority in Priority::ALL {
            assert_eq!(Priority::parse(&priority.to_string()), Some(*priority));
        }
        assert!(Priority::ALL.is_sorted());
        assert_eq!(Priority::ALL.last(), Some(&Priority::Interactive));
        assert_eq!(Priority::default(), Priority::Normal);
    }

    #[test]
    fn other_words_are_no_priority() {
        for word in ["", "Normal", " normal", "high", "0"] {
            assert_eq!(Priority::parse(word), None, "{word:?}");
        }
    }
}
