//! What becomes of a request that was sent and brought no response.

use core::fmt;

use ::reqwest::StatusCode;
use reqwest_middleware::Error as Below;

use crate::outcome::{Outcome, Seconds, Stopped};

/// A request that was sent, and brought no response that could be handed back.
///
/// It rides in [`reqwest_middleware::Error::Middleware`]; its source is the client's own error.
#[derive(Debug)]
pub struct Error {
    upstream: Box<str>,
    outcome: Outcome,
    last: Last,
    stopped: Option<Stopped>,
}

/// What the last attempt came to.
#[derive(Debug)]
pub(super) enum Last {
    /// The client failed.
    Failed(Below),
    /// Its time was over before an answer came.
    TimedOut,
    /// An answer with this status, whose body was too long or too slow to be kept.
    Dropped(StatusCode),
}

impl Error {
    pub(super) fn new(
        upstream: &str,
        outcome: Outcome,
        last: Last,
        stopped: Option<Stopped>,
    ) -> Self {
        Self {
            upstream: upstream.into(),
            outcome,
            last,
            stopped,
        }
    }

    /// The one in `error`, if that is where it comes from.
    pub fn of(error: &Below) -> Option<&Self> {
        match error {
            Below::Middleware(any) => any.downcast_ref(),
            Below::Reqwest(_) => None,
        }
    }

    /// What the request went through.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Why the wait for another attempt ended, if that is what ended it.
    pub const fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// The status of the last answer, if there was one: it was to be tried again, so its body was
    /// not kept.
    pub const fn status(&self) -> Option<StatusCode> {
        match self.last {
            Last::Dropped(status) => Some(status),
            Last::Failed(_) | Last::TimedOut => None,
        }
    }

    /// Whether the last attempt got no answer in time.
    pub fn is_timeout(&self) -> bool {
        match &self.last {
            Last::Failed(error) => error.is_timeout(),
            Last::TimedOut => true,
            Last::Dropped(_) => false,
        }
    }

    /// Whether the last attempt found no connection.
    pub fn is_connect(&self) -> bool {
        matches!(&self.last, Last::Failed(error) if error.is_connect())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome {
            attempts,
            waited,
            stopped,
            ..
        } = self.outcome;
        write!(f, "{}: ", self.upstream)?;
        match &self.last {
            Last::Failed(_) => f.write_str("no answer")?,
            Last::TimedOut => f.write_str("no answer in time")?,
            Last::Dropped(status) => write!(f, "answered {}, body not kept", status.as_u16())?,
        }
        write!(f, " (attempt {attempts})")?;
        if let Some(reason) = stopped {
            write!(f, ": not sent again: {reason}")?;
        }
        if let Some(asked) = self.outcome.asked {
            write!(f, "; the upstream asked for {}", Seconds(asked))?;
        }
        if !waited.is_zero() {
            write!(f, "; waited {}", Seconds(waited))?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.last {
            Last::Failed(Below::Reqwest(error)) => Some(error),
            Last::Failed(Below::Middleware(error)) => Some(&**error),
            Last::TimedOut | Last::Dropped(_) => None,
        }
    }
}
