//! How far a gate is shared.

use core::fmt;
use core::str::FromStr;

use http::Uri;

use super::text::{TextError, quote, without_credentials};

/// What errors and help texts say that a share looks like.
pub(crate) const FORM: &str = "process, machine or redis://HOST[:PORT][/DATABASE]";

/// Who shares a gate. Whether this build and this machine can do it is decided where it is opened.
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Share {
    /// The tasks of one process.
    #[default]
    Process,
    /// All processes of one user on one machine.
    Machine,
    /// All machines that use this Redis or Valkey: a `redis://` or `rediss://` URL, which may hold
    /// a password and is shown without it.
    Redis(String),
}

impl FromStr for Share {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = |what: &str| TextError::new(format!("{} {what}", quote(text)), FORM);
        match text {
            "process" => return Ok(Self::Process),
            "machine" => return Ok(Self::Machine),
            _ => {}
        }
        if !text.starts_with("redis://") && !text.starts_with("rediss://") {
            return Err(wrong("is not a way to share"));
        }
        match text.parse::<Uri>() {
            Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) => {
                Ok(Self::Redis(text.into()))
            }
            Ok(_) => Err(wrong("names no host")),
            Err(error) => Err(wrong(&format!("is not a URL: {error}"))),
        }
    }
}

impl fmt::Display for Share {
    /// The text that was read, without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process => f.write_str("process"),
            Self::Machine => f.write_str("machine"),
            Self::Redis(url) => f.write_str(&without_credentials(url)),
        }
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_ways_are_read_and_shown_without_a_password() {
        for (text, shown) in [
            ("process", "process"),
            ("machine", "machine"),
            ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
            ("rediss://me:secret@cache/0", "rediss://…@cache/0"),
        ] {
            let share: Share = text.parse().expect(text);
            assert_eq!(share.to_string(), shown);
            assert_eq!(format!("{share:?}"), format!("Share({shown})"));
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_keep_the_password() {
        for (text, wrong) in [
            ("", "\"\" is not a way to share"),
            ("fleet", "\"fleet\" is not a way to share"),
            ("Machine", "\"Machine\" is not a way to share"),
            (
                "http://me:pw@cache",
                "\"http://…@cache\" is not a way to share",
            ),
            ("redis://", "\"redis://\" is not a URL: empty string"),
            (
                "redis://me:p w@cache",
                "\"redis://…@cache\" is not a URL: invalid uri character",
            ),
            ("redis://:6379", "\"redis://:6379\" names no host"),
        ] {
            let error = text.parse::<Share>().expect_err(text);
            assert_eq!(error.to_string(), format!("{wrong}; expected {FORM}"));
        }
    }
}
