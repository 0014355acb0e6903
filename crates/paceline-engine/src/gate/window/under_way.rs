//! What was sent and is not answered yet: the server may or may not have counted it.

use minicbor::{Decode, Encode};

use super::price::Prices;
use crate::record::sound::{Flaw, Sound, counts};
use crate::{Cost, Unit};

/// The costs of requests under way, summed in each unit that they name, and how many name it.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct UnderWay {
    #[n(0)]
    sends: u64,
    #[n(1)]
    requests: u64,
    #[n(2)]
    others: Vec<Sum>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Sum {
    #[n(0)]
    unit: Box<str>,
    #[n(1)]
    sends: u64,
    #[n(2)]
    amount: u64,
}

/// More units than an upstream counts.
const FEW: usize = 8;

impl UnderWay {
    pub(super) const fn is_nothing(&self) -> bool {
        self.sends == 0
    }

    /// Those that do not name the unit are taken to cost its going price.
    pub(super) fn of(&self, unit: &Unit, prices: &Prices) -> u64 {
        match unit {
            Unit::Requests => self.requests,
            Unit::Concurrent => self.sends,
            Unit::Other(word) => {
                let named = self.others.iter().find(|own| own.unit == *word);
                let (sends, amount) = named.map_or((0, 0), |own| (own.sends, own.amount));
                let rest = self.sends.saturating_sub(sends);
                amount.saturating_add(rest.saturating_mul(prices.of(unit)))
            }
        }
    }

    pub(super) fn add(&mut self, cost: &Cost) {
        self.sends += 1;
        self.requests = self.requests.saturating_add(cost.of(&Unit::Requests));
        for (unit, amount) in cost.others() {
            match self.others.iter_mut().find(|own| *own.unit == *unit) {
                Some(own) => {
                    own.sends += 1;
                    own.amount = own.amount.saturating_add(amount);
                }
                None => self.others.push(Sum {
                    unit: unit.into(),
                    sends: 1,
                    amount,
                }),
            }
        }
    }

    pub(super) fn remove(&mut self, cost: &Cost) {
        self.sends = self.sends.saturating_sub(1);
        self.requests = self.requests.saturating_sub(cost.of(&Unit::Requests));
        for (unit, amount) in cost.others() {
            if let Some(own) = self.others.iter_mut().find(|own| *own.unit == *unit) {
                own.sends = own.sends.saturating_sub(1);
                own.amount = own.amount.saturating_sub(amount);
            }
        }
        // Most callers name the same few again; whoever invents units may not fill the memory.
        if self.others.len() > FEW {
            self.others.retain(|own| own.sends > 0);
        }
    }
}

impl Sound for UnderWay {
    fn check(&self) -> Result<(), Flaw> {
        counts([self.sends])?;
        self.others.iter().try_for_each(|own| counts([own.sends]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_nobody_spends_any_more_are_forgotten_when_there_are_many() {
        let mut under_way = UnderWay::default();
        for number in 0..1000 {
            let cost = Cost::default().and(&format!("unit {number}"), 1);
            under_way.add(&cost);
            under_way.remove(&cost);
        }
        assert!(under_way.others.len() <= FEW);
    }

    #[test]
    fn each_unit_has_its_own_sum() {
        let (tokens, prices) = (Unit::Other("tokens".into()), Prices::default());
        let mut under_way = UnderWay::default();
        under_way.add(&Cost::requests(1).and("tokens", 700));
        under_way.add(&Cost::requests(2).and("tokens", 50));
        under_way.add(&Cost::default());
        assert_eq!(under_way.of(&Unit::Requests, &prices), 4);
        assert_eq!(under_way.of(&tokens, &prices), 750);
        assert_eq!(under_way.of(&Unit::Other("points".into()), &prices), 0);

        under_way.remove(&Cost::requests(1).and("tokens", 700));
        under_way.remove(&Cost::requests(2).and("tokens", 50));
        assert_eq!(under_way.of(&tokens, &prices), 0);
        assert!(!under_way.is_nothing());
        under_way.remove(&Cost::default());
        assert!(under_way.is_nothing());
    }
}
