//! What the layer fails with: only where nothing was received, or nothing was sent.

use core::fmt;

use crate::outcome::{Outcome, Stopped};

pub(super) type BoxError = Box<dyn core::error::Error + Send + Sync>;

/// Nothing was received, or nothing was sent. A response that was received, refusals included, is never an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was sent, or nothing more: why, and when it would have been possible.
    Stopped(Stopped),
    /// The service below failed, for the last time.
    Service {
        /// Its error.
        source: BoxError,
        /// What the request went through.
        outcome: Outcome,
    },
}

impl Error {
    pub(super) fn not_ready(source: BoxError) -> Self {
        Self::Service {
            source,
            outcome: Outcome::default(),
        }
    }

    /// What the request went through.
    pub const fn outcome(&self) -> &Outcome {
        match self {
            Self::Stopped(stopped) => &stopped.outcome,
            Self::Service { outcome, .. } => outcome,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(stopped) => stopped.fmt(f),
            Self::Service { source, outcome } => {
                write!(f, "{source}")?;
                match (outcome.attempts, outcome.stopped) {
                    (2.., Some(reason)) => write!(f, " ({} attempts; {reason})", outcome.attempts),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Stopped(stopped) => Some(stopped),
            Self::Service { source, .. } => Some(&**source),
        }
    }
}
