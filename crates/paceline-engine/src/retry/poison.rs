//! A request that is refused while its neighbours are served.
//!
//! Giving up after a fixed count would lose requests of a crowded quota, where being refused often is nobody's fault. What
//! singles a request out is how unlikely its own row of refusals is, given how often its neighbours were refused at the
//! same time.

use minicbor::{Decode, Encode};

/// How the upstream answered, in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Neighbours {
    #[n(0)]
    pub(crate) answered: u64,
    #[n(1)]
    pub(crate) refused: u64,
}

/// Rarer than this is not bad luck: one in a million requests is lost to it.
const TOO_UNLIKELY: f64 = 1e-6;

/// Fewer neighbours say too little.
const ENOUGH: u64 = 3;

impl Neighbours {
    pub(crate) const fn answered(&mut self, refused: bool) {
        self.answered += 1;
        self.refused += refused as u64;
    }

    /// What was answered after `earlier`.
    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self {
            answered: self.answered.saturating_sub(earlier.answered),
            refused: self.refused.saturating_sub(earlier.refused),
        }
    }

    /// Some answers, and no refusal among them.
    pub(crate) const fn all_served(self) -> bool {
        self.answered >= 2 && self.refused == 0
    }

    /// Whether `own` refusals in a row single a request out among these answers, its own (all but the first) included.
    /// `risk` is the chance of a refusal that the pace takes on purpose: whoever is first in line bears it.
    pub(crate) fn leaves_alone(self, own: u32, risk: f64) -> bool {
        let mine = u64::from(own.saturating_sub(1));
        let others = self.answered.saturating_sub(mine);
        let refused = self.refused.saturating_sub(mine);
        if others < ENOUGH {
            return false;
        }
        // Laplace's rule of succession: never quite 0, never quite 1.
        let share = (refused as f64 + 1.0) / (others as f64 + 2.0);
        let share = share.max(risk);
        let mut likelihood = 1.0;
        for _ in 0..own {
            likelihood *= share;
        }
        likelihood < TOO_UNLIKELY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_five_times_while_thirty_others_are_served_is_no_accident() {
        let all = Neighbours {
            answered: 30 + 4,
            refused: 4,
        };
        assert!(all.leaves_alone(5, 0.0));
        assert!(!all.leaves_alone(3, 0.0));
    }

    #[test]
    fn in_a_crowd_that_is_refused_half_of_the_time_ten_refusals_are() {
        let all = Neighbours {
            answered: 100 + 9,
            refused: 50 + 9,
        };
        assert!(!all.leaves_alone(10, 0.0));
        assert!(all.leaves_alone(30, 0.0));
    }

    #[test]
    fn where_the_pace_risks_refusals_a_few_are_nobodys_fault() {
        let all = Neighbours {
            answered: 30 + 4,
            refused: 4,
        };
        assert!(!all.leaves_alone(5, 0.6));
        assert!(all.leaves_alone(30, 0.6));
    }

    #[test]
    fn alone_nobody_is_singled_out() {
        assert!(
            !Neighbours {
                answered: 49,
                refused: 49
            }
            .leaves_alone(50, 0.0)
        );
    }
}
