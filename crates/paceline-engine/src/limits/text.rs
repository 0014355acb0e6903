//! Limits as text.

/// Why a limit's text was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitError;

impl core::fmt::Display for LimitError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("not a limit")
    }
}

impl core::error::Error for LimitError {}

impl core::str::FromStr for super::Limit {
    type Err = LimitError;

    fn from_str(_text: &str) -> Result<Self, LimitError> {
        Err(LimitError)
    }
}
