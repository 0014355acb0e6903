//! Which rates of a cell's stretch can be the limit's, and how likely each is: a density that rises or falls evenly.
//!
//! Rates are written `r (1 + x)`. An answer that some of them cannot explain cuts the part; one that some explain better
//! tilts it, so that two opposite hints cancel each other. What would tilt it further than to zero at one end shrinks it.

use super::line::Line;

/// `x` lies between `from` and `to`; its density at the ends is `1 - tilt` and `1 + tilt` times the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) tilt: f64,
}

/// Three points and their weights that integrate what bends up to five times (Gauss and Legendre), on -1 to 1.
const POINTS: [(f64, f64); 3] = [
    (-0.774_596_669_241_483, 5.0 / 18.0),
    (0.0, 8.0 / 18.0),
    (0.774_596_669_241_483, 5.0 / 18.0),
];

impl Part {
    /// All that is nearer to a rate than to its neighbours, which are `step` away, as a logarithm.
    pub(super) fn whole(step: f64) -> Self {
        let half = (step / 2.0).exp();
        Self {
            from: 1.0 / half - 1.0,
            to: half - 1.0,
            tilt: 0.0,
        }
    }

    pub(super) const fn middle(self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    pub(super) const fn width(self) -> f64 {
        self.to - self.from
    }

    /// The part in which the line lies at `level` or above, and how much of the weight is there.
    pub(super) fn above(self, line: Line, level: f64) -> (Self, f64) {
        self.not_negative(line.at - level, line.slope)
    }

    /// The part in which the line lies at `level` or below, and how much of the weight is there.
    pub(super) fn below(self, line: Line, level: f64) -> (Self, f64) {
        self.not_negative(level - line.at, -line.slope)
    }

    fn not_negative(self, at: f64, slope: f64) -> (Self, f64) {
        let (first, last) = (at + slope * self.from, at + slope * self.to);
        if first >= 0.0 && last >= 0.0 {
            return (self, 1.0);
        }
        if first < 0.0 && last < 0.0 {
            return (self, 0.0);
        }
        let zero = -at / slope;
        if slope > 0.0 {
            self.within(zero, self.to)
        } else {
            self.within(self.from, zero)
        }
    }

    /// What lies between the two, and how much of the weight that is.
    pub(super) fn within(self, from: f64, to: f64) -> (Self, f64) {
        let (from, to) = (from.max(self.from), to.min(self.to));
        let half = self.width() / 2.0;
        if to < from || half <= 0.0 {
            let share = if to < from { 0.0 } else { 1.0 };
            return (self, share);
        }
        let (first, last) = (
            (from - self.middle()) / half * self.tilt,
            (to - self.middle()) / half * self.tilt,
        );
        let mean = 1.0 + f64::midpoint(first, last);
        let tilt = (last - first) / (2.0 * mean).max(f64::MIN_POSITIVE);
        let share = (to - from) / self.width() * mean;
        (Self { from, to, tilt }, share)
    }

    /// The `x` above which so much of the weight lies.
    pub(super) fn top_share(self, share: f64) -> f64 {
        // The weight above u is (1 - u) / 2 + tilt (1 - u²) / 4, with u from -1 to 1.
        let t = self.tilt / 2.0;
        let rest = 0.5 + t / 2.0 - share;
        let root = (0.25 + 2.0 * t * rest).max(0.0).sqrt();
        let u = (2.0 * rest / (0.5 + root)).clamp(-1.0, 1.0);
        self.middle() + u * self.width() / 2.0
    }

    /// How likely an answer is that is as likely as `likely` says at each `x`; the part leans to where it is more.
    pub(super) fn lean(&mut self, likely: impl Fn(f64) -> f64) -> f64 {
        let (mut mean, mut moment) = (0.0, 0.0);
        for (u, weight) in POINTS {
            let x = self.middle() + u * self.width() / 2.0;
            let here = weight * (1.0 + self.tilt * u) * likely(x);
            mean += here;
            moment += here * u;
        }
        if mean > 0.0 {
            let centre = moment / mean;
            // Evenly rising from zero at one end, the centre lies at a third.
            self.tilt = 3.0 * centre;
            if self.tilt > 1.0 {
                self.from = self.to - self.width() * (1.0 - centre);
                self.tilt = 0.0;
            } else if self.tilt < -1.0 {
                self.to = self.from + self.width() * (1.0 + centre);
                self.tilt = 0.0;
            }
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Part = Part {
        from: -0.2,
        to: 0.2,
        tilt: 0.0,
    };

    #[test]
    fn a_cut_keeps_its_share_of_the_weight_and_the_two_sides_are_all_of_it() {
        let leaning = Part { tilt: 0.8, ..WHOLE };
        let line = Line {
            at: 0.9,
            slope: 1.0,
        };
        let (above, up) = leaning.above(line, 1.0);
        let (below, down) = leaning.below(line, 1.0);
        assert!((above.from - 0.1).abs() < 1e-12, "{above:?}");
        assert!((below.to - 0.1).abs() < 1e-12, "{below:?}");
        assert!((up + down - 1.0).abs() < 1e-12, "{up} + {down}");
        assert!(up > 0.25, "{up}: it leans to there");
    }

    #[test]
    fn two_opposite_hints_cancel_and_strong_ones_shrink_it() {
        let mut part = WHOLE;
        part.lean(|x| 1.0 + x);
        part.lean(|x| 1.0 - x);
        assert!(part.tilt.abs() < 0.02 && part.width() > 0.39, "{part:?}");
        for _ in 0..6 {
            part.lean(|x| 0.5 + x);
        }
        assert!(part.width() < 0.3 && part.to >= 0.2, "{part:?}");
    }

    #[test]
    fn a_share_top_share_is_found_again_by_a_cut() {
        for tilt in [-1.0, -0.3, 0.0, 0.6, 1.0] {
            let part = Part { tilt, ..WHOLE };
            for share in [0.02, 0.3, 0.5, 0.98] {
                let (_, above) = part.within(part.top_share(share), part.to);
                assert!((above - share).abs() < 1e-9, "{tilt} {share}: {above}");
            }
        }
    }
}
