//! At the end of a long run of refusals: was it an outage, or is the limit another one now?
//!
//! The belief from before the run and the one that took the run for the limit start even. Each answer speaks for the one
//! that thought it more likely.

use minicbor::{Decode, Encode};

use super::bucket::Buckets;
use crate::record::sound::{Flaw, Sound, counts, ensure};

/// The belief from before a run, on trial.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(super) struct Trial {
    #[n(0)]
    pub(super) buckets: Box<Buckets>,
    #[n(1)]
    odds: f64,
    #[n(2)]
    leads: bool,
    /// Accepted before the run.
    #[n(3)]
    pub(super) known: u64,
    /// Accepted since it began. So many and one more may be under way: the line is never dumped on a guess.
    #[n(4)]
    pub(super) accepted: u64,
}

/// Decided where less than this is left of the other one.
const DECIDED: f64 = 0.05;

impl Trial {
    pub(super) const fn new(buckets: Box<Buckets>, known: u64) -> Self {
        Self {
            buckets,
            odds: 0.5,
            leads: true,
            known,
            accepted: 0,
        }
    }

    /// It is followed. Only a refusal takes the lead away: where both expect to be accepted, an acceptance is no reason
    /// to go slower.
    pub(super) const fn leads(&self) -> bool {
        self.leads
    }

    /// An answer that the other belief had given `theirs`; whether this one has won, once that is decided.
    pub(super) fn weigh(
        &mut self,
        at: f64,
        accepted: bool,
        asked: f64,
        theirs: f64,
    ) -> Option<bool> {
        let own = self.odds * self.buckets.learn(at, accepted, asked);
        let theirs = (1.0 - self.odds) * theirs;
        self.odds = own / (own + theirs).max(f64::MIN_POSITIVE);
        self.leads = self.odds >= 0.5 || self.leads && accepted;
        self.accepted += u64::from(accepted);
        if self.odds > 1.0 - DECIDED {
            Some(true)
        } else {
            (self.odds < DECIDED).then_some(false)
        }
    }
}

impl Sound for Trial {
    fn check(&self) -> Result<(), Flaw> {
        ensure((0.0..=1.0).contains(&self.odds), "odds that are none")?;
        counts([self.known, self.accepted])?;
        self.buckets.check()
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::{FASTEST, SLOWEST};
    use super::super::burst::Burst;
    use super::*;

    /// Most likely no limit, against a belief that gives each answer `theirs`.
    fn weighed(accepted: bool, theirs: f64) -> Option<bool> {
        let free = Buckets::wide(0.0, SLOWEST, FASTEST, 0.99, &Burst::default());
        let mut trial = Trial::new(Box::new(free), 0);
        assert!(trial.leads());
        (0..5).find_map(|_| trial.weigh(0.0, accepted, 0.0, theirs))
    }

    #[test]
    fn after_an_outage_the_belief_from_before_wins() {
        assert_eq!(weighed(true, 0.05), Some(true));
    }

    #[test]
    fn where_the_run_was_the_limit_it_loses() {
        assert_eq!(weighed(false, 0.95), Some(false));
    }

    #[test]
    fn an_acceptance_that_both_expected_takes_no_lead_away_and_a_refusal_does() {
        let free = Buckets::wide(0.0, SLOWEST, FASTEST, 0.99, &Burst::default());
        let mut trial = Trial::new(Box::new(free), 0);
        assert_eq!(trial.weigh(0.0, true, 0.0, 0.99), None);
        assert!(trial.odds < 0.5 && trial.leads(), "{}", trial.odds);
        trial.weigh(0.0, false, 0.0, 0.5);
        assert!(!trial.leads());
    }
}
