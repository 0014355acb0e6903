//! Where the grid lies: around the weight, as fine as the belief is narrow, further out where the weight is at an edge.

use super::bucket::{Buckets, FASTEST, NOISES, RATES, SLOWEST};
use super::cell::Cell;
use super::line::Line;
use super::part::Part;

/// What lies outside of these parts of the weight does not keep the grid wide.
const TAIL: f64 = 0.03;
/// The finest step between two rates.
const FINEST: f64 = 0.002;
/// So much weight at an edge says that the limit may lie beyond.
const AT_THE_EDGE: f64 = 0.1;
/// What is known of rates that were not on the grid: they are unlikely, or it would have lain there.
const OUTSIDE: f64 = 1e-4;
/// Where hardly anything speaks for a limit, it does not matter which.
const HARDLY_A_LIMIT: f64 = 0.9;

impl Buckets {
    /// Moves the grid to where the weight is: closer where that is narrow, further where it lies at an edge.
    pub(super) fn follow(&mut self) {
        if self.free() > HARDLY_A_LIMIT {
            return;
        }
        let (low, high) = (self.quantile(TAIL), self.quantile(1.0 - TAIL));
        let (bottom, top) = (self.rate(1), self.rate(RATES - 2));
        let span = (high / low).ln();
        let whole = self.step * RATES as f64;
        let below = low < bottom
            && self.rate(0) > SLOWEST
            && self.columns[0] + self.columns[1] > AT_THE_EDGE;
        let above = high > top
            && self.rate(RATES - 1) < FASTEST
            && self.columns[RATES - 1] + self.columns[RATES - 2] > AT_THE_EDGE;
        let margin = if below || above {
            0.5 * whole
        } else if span < whole / 3.0 && self.step > FINEST * 1.01 {
            (span * 0.4).max((FINEST * (RATES - 1) as f64 - span) / 2.0)
        } else {
            return;
        };
        let lowest = (low.ln() - margin).max(SLOWEST.ln());
        let highest = (high.ln() + margin).min(FASTEST.ln());
        // The outermost rates stand for some that are not looked for: there is no grid around those.
        if highest - lowest > FINEST {
            self.regrid(lowest, (highest - lowest) / (RATES - 1) as f64);
        }
    }

    fn regrid(&mut self, lowest: f64, step: f64) {
        let old = self.clone();
        self.lie(lowest, step);
        let mut total: f64 = self.free.iter().sum();
        for i in 0..RATES {
            let place = (lowest + step * i as f64 - old.lowest) / old.step;
            self.capacity[i] = old.capacity_at(place);
            for noise in 0..NOISES.len() {
                self.cells[i][noise] = old.stretch(self.rate(i), step, noise, self.capacity[i]);
                total += self.cells[i][noise].weight;
            }
        }
        self.normalise(total);
        self.weighed();
    }

    fn capacity_at(&self, place: f64) -> f64 {
        let place = place.clamp(0.0, (RATES - 1) as f64);
        let i = (place as usize).min(RATES - 2);
        let part = place - i as f64;
        self.capacity[i] * (1.0 - part) + self.capacity[i + 1] * part
    }

    /// What is known of the stretch around `rate`: the weight of all that lies in it, the tokens of the heaviest.
    fn stretch(&self, rate: f64, step: f64, noise: usize, capacity: f64) -> Cell {
        let whole = Part::whole(step);
        let (bottom, top) = (rate * (1.0 + whole.from), rate * (1.0 + whole.to));
        let place = |rate: f64| (rate.ln() - self.lowest) / self.step + 0.5;
        let last = RATES as f64 - 1.0;
        if place(top) < 0.0 {
            return beyond(&self.cells[0][noise], whole, capacity);
        }
        if place(bottom) > last + 1.0 {
            return beyond(&self.cells[RATES - 1][noise], whole, capacity);
        }
        let within = |place: f64| place.clamp(0.0, last) as usize;
        let old = within(place(bottom))..=within(place(top));
        // What each of the old stretches has in the new one.
        let pieces = || {
            old.clone().filter_map(|i| {
                let (own, cell) = (self.rate(i), &self.cells[i][noise]);
                let (part, share) = cell.part.within(bottom / own - 1.0, top / own - 1.0);
                (share > 0.0).then_some((i, part, cell.weight * share))
            })
        };
        let Some((heaviest, part, _)) = pieces().max_by(|a, b| a.2.total_cmp(&b.2)) else {
            let known = &self.cells[old.start().midpoint(*old.end())][noise];
            return Cell {
                part: whole,
                weight: 0.0,
                ..*known
            };
        };
        let ends = pieces().map(|(i, part, _)| (self.rate(i), part));
        let (from, to) = ends.fold((f64::MAX, f64::MIN), |(from, to), (own, part)| {
            (
                from.min(own * (1.0 + part.from)),
                to.max(own * (1.0 + part.to)),
            )
        });
        let ratio = rate / self.rate(heaviest);
        let known = &self.cells[heaviest][noise];
        Cell {
            low: known.low.around(ratio),
            high: known.high.around(ratio),
            part: Part {
                from: from / rate - 1.0,
                to: to / rate - 1.0,
                tilt: part.tilt,
            },
            weight: pieces().map(|(_, _, weight)| weight).sum(),
        }
    }
}

/// What is known of a stretch further out than this cell at the edge: hardly anything.
fn beyond(edge: &Cell, part: Part, capacity: f64) -> Cell {
    let middle = edge.part.middle();
    Cell {
        low: Line::level(edge.low.on(middle).min(0.0)),
        high: Line::level(edge.high.on(middle).max(1.0).min(capacity.max(1.0))),
        part,
        weight: edge.weight.min(OUTSIDE),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::tests::{ask, wide};
    use super::*;

    #[test]
    fn it_is_as_fine_as_the_belief_is_narrow_and_then_stays_where_it_is() {
        let (mut buckets, mut served, mut steps) = (wide(), 0.0, Vec::new());
        for _ in 0..60 {
            served = ask(&mut buckets, 1.0, served);
            steps.push(buckets.step);
        }
        assert!(buckets.step <= FINEST * 1.01, "{}", buckets.step);
        assert_eq!(steps[40], steps[59], "moved again");
    }

    #[test]
    fn a_limit_beyond_what_is_looked_for_leaves_it_at_the_edge() {
        for (edge, beyond) in [(0, -0.29), (RATES - 1, 0.4)] {
            let mut buckets = wide();
            buckets.cells[edge][0] = Cell {
                weight: 100.0,
                part: Part {
                    from: beyond,
                    to: beyond,
                    tilt: 0.0,
                },
                ..buckets.cells[edge][0]
            };
            buckets.normalise(101.0);
            buckets.weighed();
            buckets.follow();
            let (lowest, highest) = (buckets.rate(0), buckets.rate(RATES - 1));
            assert!(lowest < highest, "from {lowest} to {highest}");
            assert!(lowest >= SLOWEST * 0.999 && highest <= FASTEST * 1.001);
        }
    }

    #[test]
    fn it_never_reaches_beyond_what_is_looked_for() {
        let mut buckets = wide();
        for volley in 0..20 {
            buckets.learn(f64::from(volley) * 0.01, false, 9.95);
        }
        assert!(buckets.rate(0) >= SLOWEST * 0.999, "{}", buckets.rate(0));
    }
}
