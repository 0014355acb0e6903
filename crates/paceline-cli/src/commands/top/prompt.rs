//! What is asked before a gate is changed.

use core::time::Duration;

use paceline::GateKey;
use paceline::upstream::parse_duration;

use super::keys::Key;
use super::row::Row;

/// A question about one gate, which stays the same while the table goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) gate: GateKey,
    pub(super) title: String,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Reset,
    Pause {
        /// As typed.
        length: String,
        /// It is what was proposed: the first letter takes its place.
        proposed: bool,
        /// What is wrong with it.
        wrong: Option<String>,
    },
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) gate: GateKey,
    pub(super) title: String,
    /// How long it is paused; `None` to reset it.
    pub(super) pause: Option<Duration>,
}

/// What becomes of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Open,
    Closed,
    Confirmed(Change),
}

/// Long enough to look into something, and over by itself before it is forgotten.
const PROPOSED: &str = "1m";
/// No length is longer.
const LONGEST_TEXT: usize = 24;

impl Prompt {
    pub(super) fn reset(row: &Row) -> Self {
        Self::new(row, What::Reset)
    }

    pub(super) fn pause(row: &Row) -> Self {
        let what = What::Pause {
            length: PROPOSED.into(),
            proposed: true,
            wrong: None,
        };
        Self::new(row, what)
    }

    fn new(row: &Row, what: What) -> Self {
        Self {
            gate: row.key.clone(),
            title: row.title(),
            what,
        }
    }

    pub(super) fn press(&mut self, key: Key) -> Answer {
        if key == Key::Escape {
            return Answer::Closed;
        }
        match &mut self.what {
            What::Reset => match key {
                Key::Char('y' | 'Y') => self.confirmed(None),
                Key::Char('n' | 'N' | 'q') => Answer::Closed,
                _ => Answer::Open,
            },
            What::Pause {
                length,
                proposed,
                wrong,
            } => {
                match key {
                    Key::Char(char) => {
                        if core::mem::take(proposed) {
                            length.clear();
                        }
                        if length.len() < LONGEST_TEXT {
                            length.push(char);
                        }
                    }
                    Key::Backspace => {
                        *proposed = false;
                        length.pop();
                    }
                    Key::Enter => match parse_duration(length) {
                        Ok(length) => return self.confirmed(Some(length)),
                        Err(error) => {
                            *wrong = Some(error.to_string());
                            return Answer::Open;
                        }
                    },
                    _ => return Answer::Open,
                }
                *wrong = None;
                Answer::Open
            }
        }
    }

    fn confirmed(&self, pause: Option<Duration>) -> Answer {
        Answer::Confirmed(Change {
            gate: self.gate.clone(),
            title: self.title.clone(),
            pause,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::top::row::tests::{ms, row};

    fn typed(prompt: &mut Prompt, text: &str) {
        for char in text.chars() {
            assert_eq!(prompt.press(Key::Char(char)), Answer::Open);
        }
    }

    fn paused(answer: Answer) -> Option<Duration> {
        match answer {
            Answer::Confirmed(change) => change.pause,
            _ => None,
        }
    }

    #[test]
    fn a_minute_is_proposed_and_what_is_typed_takes_its_place() {
        let row = row(1, "origin", &[], 0, ms(0));
        let mut prompt = Prompt::pause(&row);
        assert_eq!(paused(prompt.press(Key::Enter)), Some(ms(60_000)));
        typed(&mut prompt, "1h30m");
        assert_eq!(paused(prompt.press(Key::Enter)), Some(ms(5_400_000)));
        let mut prompt = Prompt::pause(&row);
        prompt.press(Key::Backspace);
        typed(&mut prompt, "0s");
        assert_eq!(paused(prompt.press(Key::Enter)), Some(ms(10_000)), "10s");
        let mut prompt = Prompt::pause(&row);
        typed(&mut prompt, "0s");
        let none = paused(prompt.press(Key::Enter));
        assert_eq!(none, Some(Duration::ZERO), "the pause is over");
    }

    #[test]
    fn a_length_that_is_none_is_said_and_can_be_corrected() {
        let mut prompt = Prompt::pause(&row(1, "origin", &[], 0, ms(0)));
        typed(&mut prompt, "5");
        assert_eq!(prompt.press(Key::Enter), Answer::Open);
        let wrong = |prompt: &Prompt| match &prompt.what {
            What::Pause { wrong, .. } => wrong.clone(),
            What::Reset => None,
        };
        assert!(wrong(&prompt).is_some_and(|wrong| wrong.contains("no unit")));
        typed(&mut prompt, "m");
        assert_eq!(wrong(&prompt), None);
        assert_eq!(paused(prompt.press(Key::Enter)), Some(ms(300_000)));
        typed(&mut prompt, &"9".repeat(200));
        assert_eq!(prompt.press(Key::Enter), Answer::Open);
        assert_eq!(prompt.press(Key::Escape), Answer::Closed);
    }

    #[test]
    fn a_reset_needs_a_yes() {
        let mut prompt = Prompt::reset(&row(1, "origin", &[], 0, ms(0)));
        for key in [Key::Enter, Key::Char('r'), Key::Char(' '), Key::Down] {
            assert_eq!(prompt.press(key), Answer::Open, "{key:?}");
        }
        for key in [Key::Escape, Key::Char('n')] {
            assert_eq!(prompt.press(key), Answer::Closed, "{key:?}");
        }
        let change = Change {
            gate: prompt.gate.clone(),
            title: "origin of https://api-1.example.com".into(),
            pause: None,
        };
        assert_eq!(prompt.press(Key::Char('y')), Answer::Confirmed(change));
    }
}
