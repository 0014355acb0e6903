//! Why a limit's text was not understood, and what would have been right.

use core::fmt;

/// The forms that a limit may have, as errors and help texts show them.
pub const LIMIT_GRAMMAR: &str = "N/s, N/m, N/h, N/d or N/Ks \
     (never more than N in any such period), N/s burst B (a token bucket), N in flight, \
     Ts server time / Ws (what requests take, together); \
     a word after N counts something else: N tokens/m";

/// Characters of a wrong text that an error repeats; enough to find it, and an error stays one
/// line.
const QUOTED: usize = 60;

/// A text is not a limit: what is wrong, where, and what would be right.
///
/// Nothing has changed when it is returned.
///
/// ```
/// let error = "10/0s".parse::<paceline_engine::Limit>().unwrap_err();
/// assert_eq!(error.character(), 4);
/// assert_eq!(
///     error.problem(),
///     r#""10/0s" is not a limit: the period is zero (character 4)"#
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitError {
    text: Box<str>,
    character: usize,
    fault: Fault,
}

/// What can be wrong with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Empty,
    Amount,
    Negative,
    Point,
    Digits,
    TooLarge,
    ZeroAmount,
    Unit,
    NoPeriod,
    Period,
    ZeroPeriod,
    LongPeriod,
    RareAmount,
    Flight,
    Burst,
    ZeroBurst,
    Trailing,
    NoUnitOfTime,
    ServerTime,
}

impl Fault {
    /// What is wrong, and what would be right there.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Empty => ("it is empty", "a limit such as 10/s"),
            Self::Amount => (
                "the amount is not a number",
                "digits, with a fraction if need be, such as 10/s or 0.5/s",
            ),
            Self::Negative => (
                "the amount is negative",
                "an amount above zero, such as 1/s",
            ),
            Self::Point => (
                "no digit follows the decimal point",
                "digits on both sides of it, such as 0.5/s",
            ),
            Self::Digits => (
                "the number has more than 9 fraction digits",
                "at most 9 of them, such as 0.5/s, or a longer period, such as 1/2s",
            ),
            Self::TooLarge => (
                "the number is too large",
                "at most 18446744073709551615; leave the limit out if there is none",
            ),
            Self::ZeroAmount => (
                "the amount is zero, so nothing could ever go",
                "an amount above zero, such as 1/s",
            ),
            Self::Unit => (
                "that is not a word for what is counted",
                "a letter, then letters, digits and hyphens, at most 64, such as 90000 tokens/m",
            ),
            Self::NoPeriod => (
                "it does not say per what",
                "a period, such as 10/s, or 10 in flight",
            ),
            Self::Period => (
                "the period is not s, m, h or d, with or without a number before it",
                "such as 10/s, 10/m or 50/10s",
            ),
            Self::ZeroPeriod => ("the period is zero", "a period above zero, such as 10/s"),
            Self::LongPeriod => (
                "the period is longer than 366 days",
                "at most 366d; a smaller amount in a shorter period is the same pace",
            ),
            Self::RareAmount => (
                "the period in which the amount is a whole number is longer than 366 days",
                "an amount with fewer digits, such as 0.5/s, or a whole one, such as 1/2s",
            ),
            Self::Flight => (
                "\"in\" is not followed by \"flight\"",
                "such as 10 in flight",
            ),
            Self::Burst => (
                "\"burst\" is not followed by a whole number",
                "such as 10/s burst 50",
            ),
            Self::ZeroBurst => (
                "the burst is zero, so nothing could ever go",
                "a burst of at least 1, such as 10/s burst 1",
            ),
            Self::Trailing => (
                "something follows where the limit has ended",
                "one limit per text, such as 10/s or 10/s burst 50",
            ),
            Self::NoUnitOfTime => (
                "it does not say in what the server time is",
                "s, m, h or d, such as 20s server time / 10s",
            ),
            Self::ServerTime => (
                "\"server\" is not followed by \"time\"",
                "such as 20s server time / 10s",
            ),
        }
    }
}

impl LimitError {
    pub(super) fn new(text: &str, offset: usize, fault: Fault) -> Self {
        Self {
            text: shorten(text),
            character: text[..offset].chars().count() + 1,
            fault,
        }
    }

    /// Where it went wrong, counted in characters from 1; one past the end if something is missing
    /// there.
    pub const fn character(&self) -> usize {
        self.character
    }

    /// What is wrong, with the text quoted.
    pub fn problem(&self) -> String {
        let (wrong, _) = self.fault.words();
        format!(
            "{:?} is not a limit: {wrong} (character {})",
            self.text, self.character
        )
    }

    /// What would be right, with the grammar.
    pub fn expected(&self) -> String {
        let (_, right) = self.fault.words();
        format!("{right} [limits are: {LIMIT_GRAMMAR}]")
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.problem(), self.expected())
    }
}

impl core::error::Error for LimitError {}

fn shorten(text: &str) -> Box<str> {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
