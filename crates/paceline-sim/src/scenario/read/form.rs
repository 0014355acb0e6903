//! What a field may be: the words that an error says, and the reading.

use core::ops::RangeInclusive;
use core::time::Duration;

use crate::scenario::document::Value;

/// What a value must be to mean a [`Form::Meaning`].
pub(super) trait Form {
    type Meaning;

    /// What would be right, after "must be".
    fn words(&self) -> String;

    fn read(&self, value: &Value) -> Option<Self::Meaning>;
}

/// `true` or `false`.
pub(super) struct Flag;

impl Form for Flag {
    type Meaning = bool;

    fn words(&self) -> String {
        "true or false".to_owned()
    }

    fn read(&self, value: &Value) -> Option<bool> {
        match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

/// A text that is not empty.
pub(super) struct Text;

impl Form for Text {
    type Meaning = String;

    fn words(&self) -> String {
        "a text that is not empty".to_owned()
    }

    fn read(&self, value: &Value) -> Option<String> {
        match value {
            Value::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => None,
        }
    }
}

/// One of these words.
pub(super) struct Word<'a, T>(pub(super) &'a [(&'a str, T)]);

impl<T: Copy> Form for Word<'_, T> {
    type Meaning = T;

    fn words(&self) -> String {
        let known: Vec<&str> = self.0.iter().map(|(word, _)| *word).collect();
        format!("one of {}", known.join(", "))
    }

    fn read(&self, value: &Value) -> Option<T> {
        let Value::Text(text) = value else {
            return None;
        };
        self.0
            .iter()
            .find(|(word, _)| word == text)
            .map(|(_, meaning)| *meaning)
    }
}

/// A whole number in a range; `10.0` is one.
pub(super) struct Whole(pub(super) RangeInclusive<u64>);

impl Form for Whole {
    type Meaning = u64;

    fn words(&self) -> String {
        let (least, most) = (self.0.start(), self.0.end());
        match *most {
            u64::MAX => format!("a whole number of at least {least}"),
            most => format!("a whole number from {least} to {most}"),
        }
    }

    fn read(&self, value: &Value) -> Option<u64> {
        let number = match value {
            Value::Whole(number) => u64::try_from(*number).ok()?,
            // A cast of what is whole and not negative saturates.
            Value::Number(number) if *number >= 0.0 && number.fract() == 0.0 => *number as u64,
            _ => return None,
        };
        self.0.contains(&number).then_some(number)
    }
}

/// A number up to a most one.
pub(super) struct Number {
    pub(super) zero: bool,
    pub(super) most: f64,
}

impl Number {
    pub(super) const fn from_zero(most: f64) -> Self {
        Self { zero: true, most }
    }

    pub(super) const fn above_zero(most: f64) -> Self {
        Self { zero: false, most }
    }
}

impl Form for Number {
    type Meaning = f64;

    fn words(&self) -> String {
        match (self.zero, self.most) {
            (true, f64::MAX) => "a finite number of at least 0".to_owned(),
            (true, most) => format!("a number from 0 to {most}"),
            (false, most) => format!("a number above 0 and at most {most}"),
        }
    }

    fn read(&self, value: &Value) -> Option<f64> {
        let number = match value {
            Value::Whole(number) => *number as f64,
            Value::Number(number) => *number,
            _ => return None,
        };
        let fits = (0.0..=self.most).contains(&number) && (self.zero || number > 0.0);
        // Minus zero is zero.
        fits.then_some(number.abs())
    }
}

/// Seconds as a duration.
pub(super) struct Seconds(pub(super) Number);

/// A year has 3·10⁷; the clock counts nanoseconds up to 1.8·10¹⁰.
pub(super) const MOST_SECONDS: f64 = 1e9;

impl Seconds {
    pub(super) const FROM_ZERO: Self = Self(Number::from_zero(MOST_SECONDS));
    pub(super) const ABOVE_ZERO: Self = Self(Number::above_zero(MOST_SECONDS));
}

impl Form for Seconds {
    type Meaning = Duration;

    fn words(&self) -> String {
        match self.0.zero {
            true => format!("seconds from 0 to {MOST_SECONDS}"),
            false => format!("seconds, from a nanosecond to {MOST_SECONDS}"),
        }
    }

    fn read(&self, value: &Value) -> Option<Duration> {
        let seconds = Duration::try_from_secs_f64(self.0.read(value)?).ok()?;
        (self.0.zero || !seconds.is_zero()).then_some(seconds)
    }
}
