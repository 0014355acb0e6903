//! In which order the gates are.

use core::cmp::Ordering;

use super::row::Row;

/// By what they are sorted: the most first, and what is equal by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Waiting,
    InFlight,
    Refused,
    /// The slowest first; who knows of no pace comes last.
    Pace,
    /// Who is held longest comes first.
    Next,
    Name,
}

impl Sort {
    const ALL: [Self; 6] = [
        Self::Waiting,
        Self::InFlight,
        Self::Refused,
        Self::Pace,
        Self::Next,
        Self::Name,
    ];

    pub(super) fn next(self) -> Self {
        self.step(1)
    }

    pub(super) fn previous(self) -> Self {
        self.step(Self::ALL.len() - 1)
    }

    fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|own| *own == self);
        Self::ALL[(at.unwrap_or_default() + by) % Self::ALL.len()]
    }

    pub(super) fn sort(self, rows: &mut [Row], reversed: bool) {
        rows.sort_by(|a, b| {
            let by = self.compare(a, b);
            let by = if reversed { by.reverse() } else { by };
            by.then_with(|| name(a).cmp(&name(b)))
                .then_with(|| a.key.cmp(&b.key))
        });
    }

    fn compare(self, a: &Row, b: &Row) -> Ordering {
        match self {
            Self::Waiting => b.gate.waiting.cmp(&a.gate.waiting),
            Self::InFlight => b.gate.in_flight.cmp(&a.gate.in_flight),
            Self::Refused => b.gate.belief.refusals.cmp(&a.gate.belief.refusals),
            Self::Pace => {
                let pace = |row: &Row| row.per_s().unwrap_or(f64::INFINITY);
                pace(a).total_cmp(&pace(b))
            }
            Self::Next => {
                let held = |row: &Row| (row.held_for(), row.gate.reason.is_some());
                held(b).cmp(&held(a))
            }
            Self::Name => name(a).cmp(&name(b)),
        }
    }
}

fn name(row: &Row) -> (&str, &str) {
    (&row.upstream, &row.gate.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::top::row::tests::{ms, row};

    fn order(sort: Sort, reversed: bool) -> Vec<u8> {
        let mut rows = vec![
            row(1, "origin", &["2/s"], 5, ms(0)),
            row(2, "origin", &["4 in flight"], 4, ms(0)),
            row(3, "origin", &[], 2, ms(60_000)),
            row(4, "origin", &[], 0, ms(0)),
        ];
        sort.sort(&mut rows, reversed);
        rows.iter().map(|row| row.key.room[0]).collect()
    }

    #[test]
    fn the_most_comes_first_and_equals_by_name() {
        assert_eq!(order(Sort::Waiting, false), [1, 3, 2, 4]);
        assert_eq!(order(Sort::InFlight, false), [2, 1, 3, 4]);
        assert_eq!(order(Sort::Refused, false), [3, 1, 2, 4]);
        assert_eq!(order(Sort::Next, false)[0], 3);
        assert_eq!(order(Sort::Name, false), [1, 2, 3, 4]);
        let pace = order(Sort::Pace, false);
        assert_eq!(pace[2..], [2, 4], "who knows of none");
    }

    #[test]
    fn the_other_way_round_equals_stay_by_name() {
        assert_eq!(order(Sort::Waiting, true), [2, 4, 3, 1]);
        assert_eq!(order(Sort::Name, true), [4, 3, 2, 1]);
    }

    #[test]
    fn next_and_previous_go_through_all_and_around() {
        let mut sort = Sort::default();
        for _ in Sort::ALL {
            assert_eq!(sort.next().previous(), sort);
            sort = sort.next();
        }
        assert_eq!(sort, Sort::default());
    }
}
