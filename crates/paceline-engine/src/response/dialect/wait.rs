//! Waits that stand in bodies or in fields of one upstream's own, and those that a bucket's numbers justify.

use core::time::Duration;

use super::super::instant::Clocks;
use super::super::span;
use super::Dialect;
use super::place::{Place, Sources};
use super::reading::TimeUnit;
use crate::{Flags, Observation};

/// Where a wait stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain settings, made by whoever reads a dialect's file"
)]
pub struct WaitRule {
    /// Its place.
    pub at: Place,
    /// Its unit; told by its size and form if there is none.
    pub unit: Option<TimeUnit>,
    /// On which answers it is a wait.
    pub applies: Applies,
}

/// On which answers something applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an answer is a refusal or is not")]
pub enum Applies {
    /// On refusals.
    #[default]
    Refusals,
    /// On all: also whoever was served is to wait.
    Always,
}

impl Dialect {
    /// The longest wait that stands at this dialect's places.
    pub(in super::super) fn wait(
        &self,
        refused: bool,
        sources: &Sources<'_>,
        clocks: &mut Clocks<'_>,
        flags: &mut Flags,
    ) -> Option<Duration> {
        let rules = self.waits.iter();
        let rules = rules.filter(|rule| refused || rule.applies == Applies::Always);
        let mut longest = None;
        for rule in rules {
            for found in rule.at.find(sources, None) {
                let Some(text) = super::content::text(&found.value) else {
                    continue;
                };
                let wait = TimeUnit::read(rule.unit, text.as_bytes(), clocks, flags);
                if wait.is_none() {
                    flags.add(format!("malformed:{}", found.from));
                }
                longest = longest.max(wait);
            }
        }
        longest.filter(|wait| !wait.is_zero())
    }
}

/// When the buckets that refill steadily hold enough again for the request that was refused.
pub(in super::super) fn refilled(seen: &Observation) -> Option<Duration> {
    let missing = seen.windows.iter().filter_map(|window| {
        let (refill, left) = (window.refill?, window.remaining?);
        let needed = seen.requested(&window.unit).unwrap_or(1);
        let missing = u32::try_from(needed.saturating_sub(left)).unwrap_or(u32::MAX);
        Some(refill.saturating_mul(missing))
    });
    let longest = Duration::from_secs(span::LONGEST_SECONDS);
    missing
        .max()
        .filter(|wait| !wait.is_zero())
        .map(|wait| wait.min(longest))
}
