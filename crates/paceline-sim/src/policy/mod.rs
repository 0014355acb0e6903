//! Clients to compare, each under the name that the command line knows.

mod adaptive_cubic;
mod independent;
#[cfg(test)]
mod lab;
mod line;
mod oracle;
mod paceline;
mod shared_spacing;

use core::time::Duration;

use crate::{Answer, Client, Scenario};

pub use adaptive_cubic::AdaptiveCubic;
pub use independent::Independent;
pub use oracle::{Oracle, ideal};
pub use paceline::Paceline;
pub use shared_spacing::SharedSpacing;

/// Which client plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The real engine, told nothing.
    Paceline,
    /// Each request retries alone.
    Independent,
    /// One spacing shared by all requests.
    SharedSpacing,
    /// The adaptive rate limiter of a large cloud SDK.
    AdaptiveCubic,
    /// Knows the server, and is never refused.
    Oracle,
}

impl Kind {
    /// All there are, in the order of tables.
    pub const ALL: &'static [Self] = &[
        Self::Paceline,
        Self::Independent,
        Self::SharedSpacing,
        Self::AdaptiveCubic,
        Self::Oracle,
    ];

    /// The name, such as `paceline`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paceline => "paceline",
            Self::Independent => "independent",
            Self::SharedSpacing => "shared-spacing",
            Self::AdaptiveCubic => "adaptive-cubic",
            Self::Oracle => "oracle",
        }
    }

    /// The one of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// A client for one run of a scenario.
    pub fn client(self, scenario: &Scenario, seed: u64) -> Box<dyn Client> {
        match self {
            Self::Paceline => Box::new(Paceline::new(scenario, seed)),
            Self::Independent => Box::new(Independent::new()),
            Self::SharedSpacing => Box::new(SharedSpacing::new()),
            Self::AdaptiveCubic => Box::new(AdaptiveCubic::new()),
            Self::Oracle => Box::new(Oracle::new(scenario, seed)),
        }
    }
}

/// A positive Retry-After as the simpler clients obey it: a minute at most.
fn obeyed(answer: &Answer) -> Option<Duration> {
    let seconds: f64 = answer.retry_after.as_deref()?.parse().ok()?;
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(MOST_OBEYED)))
}

/// Seconds. A server that asks for more is asked again after this.
const MOST_OBEYED: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_found_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.name()), Some(*kind));
        }
        assert_eq!(Kind::parse("Paceline"), None);
    }
}
