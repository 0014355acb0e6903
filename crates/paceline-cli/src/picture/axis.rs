//! From values to pixels, with round numbers to write at the axis.

/// Values from 0 to some most one, spread over a stretch of pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    most: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// 0 lies at `from`, `most` at `to`, which may be the lower one. A `most` that is no positive
    /// number counts as 1.
    pub(crate) fn new(most: f64, from: f64, to: f64) -> Self {
        let most = if most.is_finite() && most > 0.0 {
            most
        } else {
            1.0
        };
        Self { most, from, to }
    }

    /// Where a value lies; what is beyond an end lies there.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value / self.most).clamp(0.0, 1.0);
        self.from + (self.to - self.from) * share
    }

    /// Round values from 0 on, at most about `count`, with the text for each.
    pub(crate) fn ticks(&self, count: u32) -> Vec<(f64, String)> {
        let rough = self.most / f64::from(count);
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(rough);
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
        (0..=count + 1)
            .map(|tick| f64::from(tick) * step)
            .take_while(|value| *value <= self.most * 1.000_001)
            .map(|value| (value, format!("{value:.decimals$}")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(most: f64) -> String {
        let ticks = Scale::new(most, 0.0, 100.0).ticks(6);
        ticks
            .into_iter()
            .map(|(_, text)| text)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(340.0), "0 100 200 300");
        assert_eq!(ticks(7.0), "0 2 4 6");
        assert_eq!(ticks(0.5), "0.0 0.1 0.2 0.3 0.4 0.5");
        assert_eq!(
            ticks(1e9),
            "0 200000000 400000000 600000000 800000000 1000000000"
        );
        assert_eq!(ticks(f64::NAN), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(ticks(0.0), ticks(1.0));
    }

    #[test]
    fn what_is_beyond_lies_at_the_end() {
        let scale = Scale::new(10.0, 200.0, 100.0);
        assert_eq!(scale.at(0.0), 200.0);
        assert_eq!(scale.at(5.0), 150.0);
        assert_eq!(scale.at(50.0), 100.0);
        assert_eq!(scale.at(-1.0), 200.0);
    }
}
