//! What many matches come to.

use super::Match;

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
            score.refused += played.refused();
            score.failed += played.failed();
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

    /// Seconds: the median of the runs, the upper of two.
    pub fn elapsed(&self) -> f64 {
        median(self.runs.iter().map(|run| run.elapsed)).as_secs_f64()
    }

    /// Answers that are not a success: the median of the runs.
    pub fn refused(&self) -> u64 {
        median(self.runs.iter().map(|run| run.refused))
    }

    /// Requests given up: the worst run.
    pub fn failed(&self) -> u64 {
        let failed = self.runs.iter().map(|run| run.failed);
        failed.max().unwrap_or_default()
    }

    /// Time to ideal, where that is above zero and nothing is lost.
    pub fn ratio(&self) -> Option<f64> {
        let ideal = self.ideal.filter(|ideal| *ideal > 0.0)?;
        (self.failed() == 0).then(|| self.elapsed() / ideal)
    }
}

fn median<T: Ord + Copy + Default>(values: impl Iterator<Item = T>) -> T {
    let mut sorted: Vec<T> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
