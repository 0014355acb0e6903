//! What was sent and is not answered yet: the server may or may not have counted it.

use crate::{Cost, Unit};

/// The costs of requests under way, summed in each unit that they name.
#[derive(Clone, Debug, Default)]
pub(super) struct UnderWay {
    sends: u64,
    requests: u64,
    others: Vec<(Box<str>, u64)>,
}

/// More units than an upstream counts.
const FEW: usize = 8;

impl UnderWay {
    pub(super) const fn is_nothing(&self) -> bool {
        self.sends == 0
    }

    pub(super) fn of(&self, unit: &Unit) -> u64 {
        match unit {
            Unit::Requests => self.requests,
            Unit::Concurrent => self.sends,
            Unit::Other(word) => self
                .others
                .iter()
                .find(|(own, _)| own == word)
                .map_or(0, |(_, sum)| *sum),
        }
    }

    pub(super) fn add(&mut self, cost: &Cost) {
        self.sends += 1;
        self.requests = self.requests.saturating_add(cost.of(&Unit::Requests));
        for (unit, amount) in cost.others() {
            match self.others.iter_mut().find(|(own, _)| **own == *unit) {
                Some((_, sum)) => *sum = sum.saturating_add(amount),
                None => self.others.push((unit.into(), amount)),
            }
        }
    }

    pub(super) fn remove(&mut self, cost: &Cost) {
        self.sends = self.sends.saturating_sub(1);
        self.requests = self.requests.saturating_sub(cost.of(&Unit::Requests));
        for (unit, amount) in cost.others() {
            if let Some((_, sum)) = self.others.iter_mut().find(|(own, _)| **own == *unit) {
                *sum = sum.saturating_sub(amount);
            }
        }
        // Most callers name the same few again; whoever invents units may not fill the memory.
        if self.others.len() > FEW {
            self.others.retain(|(_, sum)| *sum > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_nobody_spends_any_more_are_forgotten_when_there_are_many() {
        let mut under_way = UnderWay::default();
        for number in 0..1000 {
            let cost = Cost::default().and(format!("unit {number}"), 1);
            under_way.add(&cost);
            under_way.remove(&cost);
        }
        assert!(under_way.others.len() <= FEW);
    }

    #[test]
    fn each_unit_has_its_own_sum() {
        let tokens = Unit::Other("tokens".into());
        let mut under_way = UnderWay::default();
        under_way.add(&Cost::requests(1).and("tokens", 700));
        under_way.add(&Cost::requests(2).and("tokens", 50));
        under_way.add(&Cost::default());
        assert_eq!(under_way.of(&Unit::Requests), 4);
        assert_eq!(under_way.of(&tokens), 750);
        assert_eq!(under_way.of(&Unit::Other("points".into())), 0);

        under_way.remove(&Cost::requests(1).and("tokens", 700));
        under_way.remove(&Cost::requests(2).and("tokens", 50));
        assert_eq!(under_way.of(&tokens), 0);
        assert!(!under_way.is_nothing());
        under_way.remove(&Cost::default());
        assert!(under_way.is_nothing());
    }
}
