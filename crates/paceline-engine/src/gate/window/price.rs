//! What requests cost that do not say so: as much as the latest ones did, by what their answers told.
//!
//! Tokens and points are seldom worth naming for whoever sends many queries of a kind. The server tells what each was taken
//! for, so the next one waits for as much.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, ensure};
use crate::{Cost, Observation, Spent, Unit};

/// The going price in each unit that answers told.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[cbor(transparent)]
pub(super) struct Prices(#[n(0)] Vec<(Unit, u64)>);

/// More units than an upstream counts.
const MOST: usize = 8;
/// How much one price weighs against those before it.
const WEIGHT: u64 = 4;

impl Prices {
    /// An answer told what its request was taken for, or what it came to.
    pub(super) fn learn(&mut self, seen: &Observation) {
        let told = |spent: &Spent| spent.requested.or(spent.actual);
        for (unit, price) in seen
            .spent
            .iter()
            .filter_map(|own| Some((&own.unit, told(own)?)))
        {
            let has_room = self.0.len() < MOST;
            match self.0.iter_mut().find(|(own, _)| own == unit) {
                // Rounded towards the new one, so that it is reached.
                Some((_, going)) if price > *going => *going += (price - *going).div_ceil(WEIGHT),
                Some((_, going)) => *going -= (*going - price).div_ceil(WEIGHT),
                None if has_room => self.0.push((unit.clone(), price)),
                None => {}
            }
        }
    }

    /// What a request that does not name this unit is taken to spend of it; one request is one, of the others nothing is
    /// known before the first answer.
    pub(super) fn of(&self, unit: &Unit) -> u64 {
        let known = self.0.iter().find(|(own, _)| own == unit);
        known.map_or(0, |(_, price)| *price)
    }

    /// What a request of `cost` needs of a window of this unit. Where nobody knows, something has to be left.
    pub(super) fn charge(&self, unit: &Unit, cost: &Cost) -> u64 {
        match unit {
            Unit::Other(_) => cost.named(unit).unwrap_or_else(|| self.of(unit).max(1)),
            _ => cost.of(unit),
        }
    }
}

impl Sound for Prices {
    fn check(&self) -> Result<(), Flaw> {
        ensure(self.0.len() <= MOST, "more prices than are kept")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn points() -> Unit {
        Unit::Other("points".into())
    }

    fn told(requested: Option<u64>, actual: Option<u64>) -> Observation {
        let mut seen = Observation::status(Verdict::Ok, 200);
        seen.spent.push(Spent {
            unit: points(),
            requested,
            actual,
        });
        seen
    }

    #[test]
    fn who_names_nothing_pays_what_others_were_taken_for() {
        let mut prices = Prices::default();
        assert_eq!(prices.charge(&points(), &Cost::default()), 1);
        prices.learn(&told(Some(100), Some(20)));
        assert_eq!(prices.charge(&points(), &Cost::default()), 100);
        assert_eq!(prices.charge(&points(), &Cost::points(7)), 7);
        assert_eq!(prices.charge(&Unit::Requests, &Cost::default()), 1);
    }

    #[test]
    fn one_that_is_out_of_the_way_moves_it_by_a_quarter_and_several_reach_it() {
        let mut prices = Prices::default();
        prices.learn(&told(Some(100), None));
        prices.learn(&told(None, Some(500)));
        assert_eq!(prices.of(&points()), 200);
        for _ in 0..40 {
            prices.learn(&told(Some(3), None));
        }
        assert_eq!(prices.of(&points()), 3);
    }
}
