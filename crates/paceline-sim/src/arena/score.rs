//! What many matches come to.

use super::Match;
use crate::Figures;

/// Many matches of one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// Scenarios whose target was met.
    pub met: u64,
    /// Scenarios that have a target.
    pub of: u64,
    /// Refused answers: the median of each scenario's runs, in all.
    pub refused: u64,
    /// Requests given up: of each scenario's worst run, in all.
    pub failed: u64,
    /// Of time to ideal, where there is one above zero and no run has lost a request.
    pub worst: f64,
    logarithms: f64,
    ratios: u64,
}

impl Score {
    /// Of these matches.
    pub fn of<'a>(matches: impl IntoIterator<Item = &'a Match>) -> Self {
        let mut score = Self::default();
        for played in matches {
            score.of += u64::from(played.target.is_some());
            score.met += u64::from(played.is_met());
            if let Some(figures) = played.figures() {
                score.refused += figures.refused;
                score.failed += figures.failed;
            }
            if let Some(ratio) = played.ratio() {
                score.worst = score.worst.max(ratio);
                score.logarithms += ratio.ln();
                score.ratios += 1;
            }
        }
        score
    }

    /// The geometric mean of time to ideal; `None` where no match has a ratio.
    pub fn mean(&self) -> Option<f64> {
        (self.ratios > 0).then(|| (self.logarithms / self.ratios as f64).exp())
    }
}

impl Match {
    /// Whether there is a target and it is met.
    pub fn is_met(&self) -> bool {
        self.target.is_some_and(|target| target.is_met(&self.runs))
    }

    /// What its runs come to; `None` without a run.
    pub fn figures(&self) -> Option<Figures> {
        Figures::of(&self.runs)
    }

    /// Time to ideal, where that is above zero and nothing is lost.
    pub fn ratio(&self) -> Option<f64> {
        let ideal = self.ideal.filter(|ideal| *ideal > 0.0)?;
        let figures = self.figures().filter(|figures| figures.failed == 0)?;
        Some(figures.elapsed.as_secs_f64() / ideal)
    }
}
