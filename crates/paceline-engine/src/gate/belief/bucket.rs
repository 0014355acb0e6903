//! The hypothesis "a token bucket of rate r behind a fraction of random refusals", for all rates at once.
//!
//! Rates lie on a grid, a constant ratio apart; each is joined with each level of noise, for one running estimate of the
//! noise would confirm itself. Beside the grid stands "no limit": it is what noise alone looks like. The weights are
//! probabilities: each answer multiplies them by how probable it was to each (Bayes), so a handful of refusals is enough.

use super::burst::Burst;
use super::cell::{Cell, Hint};
use super::line::Line;
use super::part::Part;

/// The slowest and the fastest limit that is looked for, per second.
pub(super) const SLOWEST: f64 = 0.003;
pub(super) const FASTEST: f64 = 3000.0;
/// Rates on the grid.
pub(super) const RATES: usize = 21;
/// Refusals that have nothing to do with the rate, as fractions.
pub(super) const NOISES: [f64; 4] = [0.005, 0.04, 0.12, 0.25];
/// No hypothesis is ever quite dead.
const FLOOR: f64 = 1e-7;
/// Servers without a limit seldom say when to come back.
const HINTS_WITHOUT_LIMIT: f64 = 0.3;
/// What neighbouring rates pass to each other at each answer, so that a slow drift is followed.
const DRIFT: f64 = 2e-4;

/// The grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Buckets {
    /// Tokens are as of this instant.
    pub(super) at: f64,
    /// Logarithm of the lowest rate, and of the ratio of neighbours.
    pub(super) lowest: f64,
    pub(super) step: f64,
    pub(super) cells: Cells,
    pub(super) capacity: [f64; RATES],
    /// No limit at all, for each noise.
    pub(super) free: [f64; NOISES.len()],
    /// The rates themselves: derived, for a logarithm is quickly added to and slowly undone.
    rates: [f64; RATES],
    /// The weight of each rate whatever its noise, and where it lies: derived, for every start asks.
    pub(super) columns: [f64; RATES],
    /// The most likely noise of each rate.
    pub(super) best: [usize; RATES],
    spread: Spread,
}

/// One for each noise of each rate.
pub(super) type Cells = [[Cell; NOISES.len()]; RATES];

/// Where the weight is: rates per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) middle: f64,
    pub(super) high: f64,
}

impl Buckets {
    /// Knows nothing but that a send at `at` was refused: every rate between the two is as likely as any other.
    pub(super) fn wide(at: f64, from: f64, to: f64, free: f64, burst: &Burst) -> Self {
        let step = (to / from).ln() / (RATES - 1) as f64;
        let lowest = from.ln();
        let prior = [0.4, 0.3, 0.2, 0.1];
        let mut cells = [[Cell::default(); NOISES.len()]; RATES];
        let mut capacity = [1.0; RATES];
        let rates = rates(lowest, step);
        for (i, row) in cells.iter_mut().enumerate() {
            capacity[i] = burst.capacity(rates[i], at);
            for (noise, cell) in row.iter_mut().enumerate() {
                *cell = Cell {
                    low: Line::level(0.0),
                    high: Line::level(1.0),
                    part: Part::whole(step),
                    weight: (1.0 - free) * prior[noise] / RATES as f64,
                };
            }
        }
        let free = prior.map(|prior| prior * free);
        Self::of(at, [lowest, step], cells, capacity, free)
    }

    /// This grid, with all that is derived.
    pub(super) fn of(
        at: f64,
        [lowest, step]: [f64; 2],
        cells: Cells,
        capacity: [f64; RATES],
        free: [f64; NOISES.len()],
    ) -> Self {
        let mut own = Self {
            at,
            lowest,
            step,
            cells,
            capacity,
            free,
            rates: rates(lowest, step),
            columns: [0.0; RATES],
            best: [0; RATES],
            spread: Spread::default(),
        };
        own.weighed();
        own
    }

    /// What each bucket held before the first refusal is known better now.
    pub(super) fn hold(&mut self, burst: &Burst, at: f64) {
        for i in 0..RATES {
            self.capacity[i] = burst.capacity(self.rates[i], at);
        }
    }

    pub(super) const fn rate(&self, i: usize) -> f64 {
        self.rates[i]
    }

    /// The grid lies elsewhere.
    pub(super) fn lie(&mut self, lowest: f64, step: f64) {
        self.lowest = lowest;
        self.step = step;
        self.rates = rates(lowest, step);
    }

    /// Learns from the answer to a send at `at`; returns how probable that answer was.
    pub(super) fn learn(&mut self, at: f64, accepted: bool, asked: f64) -> f64 {
        let hint = Hint::of(asked).filter(|_| !accepted);
        let dt = (at - self.at).max(0.0);
        self.at = self.at.max(at);
        let (mut total, mut likely) = (0.0, 0.0);
        for i in 0..RATES {
            let rate = self.rate(i);
            let refill = rate * dt;
            let capacity = self.capacity[i];
            for (noise, cell) in self.cells[i].iter_mut().enumerate() {
                cell.refill(refill);
                cell.judge(NOISES[noise], accepted, capacity);
                likely += cell.weight;
                if let Some(hint) = &hint {
                    cell.hear(hint, rate);
                }
                total += cell.weight;
            }
        }
        for (noise, weight) in self.free.iter_mut().enumerate() {
            *weight *= if accepted {
                1.0 - NOISES[noise]
            } else {
                NOISES[noise]
            };
            likely += *weight;
            if hint.is_some() {
                *weight *= HINTS_WITHOUT_LIMIT;
            }
            total += *weight;
        }
        self.normalise(total);
        self.drift();
        self.weighed();
        self.follow();
        likely
    }

    /// A send of which nothing is known: it may have taken a token.
    pub(super) fn miss(&mut self, at: f64) {
        let dt = (at - self.at).max(0.0);
        self.at = self.at.max(at);
        for i in 0..RATES {
            let refill = self.rate(i) * dt;
            let capacity = self.capacity[i];
            for cell in &mut self.cells[i] {
                cell.refill(refill);
                cell.overflow(capacity);
                cell.low.at -= 1.0;
                cell.low.at_least(0.0, cell.part);
            }
        }
    }

    /// Nothing was sent for long: the tokens are whatever a rest can bring.
    pub(super) fn rested(&mut self, at: f64) {
        self.at = at;
        for i in 0..RATES {
            for cell in &mut self.cells[i] {
                cell.low.at_least(1.0, cell.part);
                cell.high = Line::level(self.capacity[i].max(1.0));
            }
        }
    }

    pub(super) fn normalise(&mut self, total: f64) {
        let scale = 1.0 / total.max(f64::MIN_POSITIVE);
        for cell in self.cells.iter_mut().flatten() {
            cell.weight = (cell.weight * scale).max(FLOOR);
        }
        for weight in &mut self.free {
            *weight = (*weight * scale).max(FLOOR);
        }
    }

    fn drift(&mut self) {
        for noise in 0..NOISES.len() {
            let mut before = self.cells[0][noise].weight;
            for i in 0..RATES {
                let own = self.cells[i][noise].weight;
                let after = self.cells[(i + 1).min(RATES - 1)][noise].weight;
                self.cells[i][noise].weight = own + DRIFT * (before + after - 2.0 * own);
                before = own;
            }
        }
    }

    /// How much a bucket holds, about.
    pub(super) const fn holds(&self) -> f64 {
        self.capacity[RATES / 2]
    }

    /// How likely it is that there is no limit.
    pub(super) fn free(&self) -> f64 {
        self.free.iter().sum()
    }

    /// The weights have changed.
    pub(super) fn weighed(&mut self) {
        for (i, row) in self.cells.iter().enumerate() {
            self.columns[i] = row.iter().map(|cell| cell.weight).sum();
            let heavier = |a: &usize, b: &usize| row[*a].weight.total_cmp(&row[*b].weight);
            self.best[i] = (0..NOISES.len()).max_by(heavier).unwrap_or(0);
        }
        self.spread = Spread {
            low: self.quantile(0.1),
            middle: self.quantile(0.5),
            high: self.quantile(0.9),
        };
    }

    /// The rate below which `part` of the weight of all limits lies, between two neighbours.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let mut rest = part * self.columns.iter().sum::<f64>();
        for (i, own) in self.columns.iter().enumerate() {
            if rest <= *own {
                let part = self.likely(i).part;
                let above = 1.0 - rest / own.max(f64::MIN_POSITIVE);
                return self.rate(i) * (1.0 + part.top_share(above));
            }
            rest -= own;
        }
        self.rate(RATES - 1)
    }

    /// The cell of this rate that explains most.
    pub(super) const fn likely(&self, i: usize) -> &Cell {
        &self.cells[i][self.best[i]]
    }

    pub(super) const fn spread(&self) -> Spread {
        self.spread
    }
}

fn rates(lowest: f64, step: f64) -> [f64; RATES] {
    core::array::from_fn(|i| (lowest + step * i as f64).exp())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Nothing known but that a send at zero was refused after one that was served.
    pub(in super::super) fn wide() -> Buckets {
        let mut burst = Burst::default();
        burst.sent(1, 0.0);
        Buckets::wide(0.0, SLOWEST, FASTEST, 0.1, &burst)
    }

    /// Asks a server of one every `interval` once, at the median of what is believed; `served` is when it last
    /// served, and so is what comes back.
    pub(in super::super) fn ask(buckets: &mut Buckets, interval: f64, served: f64) -> f64 {
        let now = buckets.at;
        let next = buckets.opens(0.5, 1.0, 0.0, now).clamp(now, now + 60.0);
        let accepted = next - served >= interval;
        buckets.learn(next, accepted, 0.0);
        if accepted { next } else { served }
    }

    #[test]
    fn a_strict_rate_is_found_within_two_per_cent_for_few_refusals() {
        for interval in [0.005, 0.1, 0.7, 1.0, 10.0] {
            let (mut buckets, mut served, mut refused) = (wide(), 0.0, 0);
            for _ in 0..40 {
                let before = served;
                served = ask(&mut buckets, interval, served);
                refused += u32::from(served == before);
            }
            let spread = buckets.spread();
            let off = spread.middle * interval - 1.0;
            assert!(off.abs() < 0.02, "{interval} s: {spread:?}");
            assert!(refused <= 25, "{interval} s: {refused} refused");
        }
    }

    #[test]
    fn refusals_at_random_are_no_limit() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut buckets = wide();
        for send in 1..300 {
            buckets.learn(f64::from(send) * 0.001, rng.f64() > 0.1, 0.0);
        }
        let free = buckets.free();
        assert!(
            free > 0.1,
            "{free}: it must not lose against limits that never showed"
        );
        let fast = tail(&buckets, 500.0);
        assert!(free + fast > 0.9, "{free} + {fast}");
    }

    /// The weight of limits that a thousand a second never met.
    fn tail(buckets: &Buckets, above: f64) -> f64 {
        let fast = (0..RATES).filter(|i| buckets.rate(*i) > above);
        fast.map(|i| buckets.columns[i]).sum()
    }

    #[test]
    fn the_weights_are_probabilities_whatever_is_answered() {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut buckets = wide();
        let mut now = 0.0;
        for _ in 0..500 {
            now += rng.f64() * rng.f64() * 20.0;
            let likely = buckets.learn(now, rng.bool(), rng.f64() * 5.0);
            let all = buckets.free() + buckets.columns.iter().sum::<f64>();
            assert!((0.99..1.01).contains(&all), "{all}");
            assert!((0.0..=1.001).contains(&likely), "{likely}");
        }
    }

    #[test]
    fn a_grid_is_a_few_kilobytes() {
        assert!(size_of::<Buckets>() < 6 * 1024, "{}", size_of::<Buckets>());
    }
}
