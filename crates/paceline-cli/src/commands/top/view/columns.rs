//! Which columns fit, and how wide they are.

use crate::commands::top::row::Row;
use crate::commands::top::sort::Sort;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Upstream,
    Gate,
    Pace,
    Waiting,
    InFlight,
    Refused,
    Circuit,
    Next,
}

/// Between two columns.
pub(super) const GAP: u16 = 2;

impl Column {
    /// From left to right.
    const ALL: [Self; 8] = [
        Self::Upstream,
        Self::Gate,
        Self::Pace,
        Self::Waiting,
        Self::InFlight,
        Self::Refused,
        Self::Circuit,
        Self::Next,
    ];
    /// Who goes first where there is no room for all.
    const LEAST: [Self; 7] = [
        Self::Circuit,
        Self::Refused,
        Self::Pace,
        Self::InFlight,
        Self::Gate,
        Self::Next,
        Self::Waiting,
    ];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Upstream => "UPSTREAM",
            Self::Gate => "GATE",
            Self::Pace => "PACE",
            Self::Waiting => "WAITING",
            Self::InFlight => "IN FLIGHT",
            Self::Refused => "REFUSED",
            Self::Circuit => "CIRCUIT",
            Self::Next => "NEXT ONE",
        }
    }

    pub(super) const fn sort(self) -> Option<Sort> {
        match self {
            Self::Upstream => Some(Sort::Name),
            Self::Pace => Some(Sort::Pace),
            Self::Waiting => Some(Sort::Waiting),
            Self::InFlight => Some(Sort::InFlight),
            Self::Refused => Some(Sort::Refused),
            Self::Next => Some(Sort::Next),
            Self::Gate | Self::Circuit => None,
        }
    }

    pub(super) fn text(self, row: &Row) -> String {
        let gate = &row.gate;
        match self {
            Self::Upstream => row.upstream.clone(),
            Self::Gate => gate.name.to_string(),
            Self::Pace => row.pace(),
            Self::Waiting => gate.waiting.to_string(),
            Self::InFlight => gate.in_flight.to_string(),
            Self::Refused => gate.belief.refusals.to_string(),
            Self::Circuit => gate.circuit.to_string(),
            Self::Next => row.when(),
        }
    }

    /// Numbers stand on the right.
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Waiting | Self::InFlight | Self::Refused)
    }

    /// With room for the mark of the order in its title.
    const fn least(self) -> u16 {
        match self {
            Self::Upstream => 16,
            Self::Gate => 6,
            Self::Pace => 14,
            Self::Waiting | Self::Refused | Self::Circuit => 9,
            Self::InFlight => 11,
            Self::Next => 12,
        }
    }

    const fn most(self) -> u16 {
        match self {
            Self::Upstream | Self::Gate | Self::Pace => 48,
            Self::Next => u16::MAX,
            _ => self.least(),
        }
    }
}

/// The columns that fit into `width`, of which each wants so much.
pub(super) fn columns(width: u16, wanted: impl Fn(Column) -> u16) -> Vec<(Column, u16)> {
    let mut columns: Vec<_> = Column::ALL.map(|own| (own, own.least())).into();
    for least in Column::LEAST {
        if taken(&columns) <= width {
            break;
        }
        columns.retain(|(own, _)| *own != least);
    }
    if let [(_, only)] = columns.as_mut_slice() {
        *only = width;
    }
    let mut left = width.saturating_sub(taken(&columns));
    // The selected gate's reason and limits are told below in full.
    for column in [Column::Upstream, Column::Gate, Column::Next, Column::Pace] {
        let own = columns.iter_mut().find(|(own, _)| *own == column);
        if let Some((column, own)) = own {
            let more = wanted(*column).min(column.most()).saturating_sub(*own);
            let more = more.min(left);
            *own += more;
            left -= more;
        }
    }
    if let Some((_, last)) = columns.last_mut() {
        *last += left;
    }
    columns
}

fn taken(columns: &[(Column, u16)]) -> u16 {
    let widths: u16 = columns.iter().map(|(_, width)| *width).sum();
    let gaps = u16::try_from(columns.len().saturating_sub(1)).unwrap_or_default();
    widths + gaps * GAP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_width_is_used_and_no_more() {
        for wanted in [0, 10, 60, u16::MAX] {
            for width in 1..=400 {
                let columns = columns(width, |_| wanted);
                assert_eq!(taken(&columns), width, "{columns:?}");
                assert_eq!(columns[0].0, Column::Upstream);
            }
        }
        assert_eq!(columns(0, |_| 10), [(Column::Upstream, 0)]);
    }

    #[test]
    fn what_matters_least_goes_first() {
        let count = |width| columns(width, |_| 10).len();
        assert_eq!([200, 100, 99].map(count), [8, 8, 7]);
        let narrow: Vec<_> = columns(45, |_| 10)
            .into_iter()
            .map(|(own, _)| own)
            .collect();
        use Column::*;
        assert_eq!(narrow, [Upstream, Waiting, Next]);
        let narrow: Vec<_> = columns(33, |_| 10)
            .into_iter()
            .map(|(own, _)| own)
            .collect();
        assert_eq!(narrow, [Upstream, Waiting]);
    }

    #[test]
    fn long_names_and_reasons_get_what_is_left() {
        let wanted = |column| match column {
            Column::Upstream => 30,
            Column::Next => 45,
            _ => 0,
        };
        let width = |width, column| {
            let columns = columns(width, wanted);
            columns.iter().find(|(own, _)| *own == column).unwrap().1
        };
        assert_eq!(width(160, Column::Upstream), 30);
        assert_eq!(width(160, Column::Next), 58);
        assert_eq!(width(110, Column::Upstream), 26);
        assert_eq!(width(110, Column::Next), 12);
    }
}
