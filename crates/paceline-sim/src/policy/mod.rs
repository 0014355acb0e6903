//! Clients to compare, each under the name that the command line knows.

mod paceline;

pub use paceline::Paceline;

use crate::{Client, Scenario};

/// Which client plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The real engine, told nothing.
    Paceline,
}

impl Kind {
    /// All there are, in the order of tables.
    pub const ALL: &'static [Self] = &[Self::Paceline];

    /// The name, such as `paceline`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paceline => "paceline",
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
        }
    }
}

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
