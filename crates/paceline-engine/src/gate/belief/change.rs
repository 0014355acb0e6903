//! Whether the limit has become another one.
//!
//! Against the belief stands a hypothesis that knows nothing and gives every answer one half. As long as the belief
//! predicts, it loses; answers that the belief thought improbable, one after the other, raise it quickly.

use minicbor::{Decode, Encode};

use crate::record::sound::{Flaw, Sound, ensure};

/// The probability that the limit has changed.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
#[cbor(transparent)]
pub(super) struct Doubt(#[n(0)] f64);

/// A limit changes about once in so many answers.
const RARELY: f64 = 0.001;
const CONVINCED: f64 = 0.5;
const LEAST_LIKELY: f64 = 1e-9;

impl Default for Doubt {
    fn default() -> Self {
        Self(RARELY)
    }
}

impl Doubt {
    /// An answer that the belief had given `likely`. Says whether it has changed; then the doubt is gone.
    pub(super) fn changed(&mut self, likely: f64) -> bool {
        let odds = self.0 / (1.0 - self.0) * 0.5 / likely.max(LEAST_LIKELY);
        self.0 = (odds / (1.0 + odds)).clamp(RARELY, 1.0 - RARELY);
        let changed = self.0 > CONVINCED;
        if changed {
            self.0 = RARELY;
        }
        changed
    }
}

impl Sound for Doubt {
    fn check(&self) -> Result<(), Flaw> {
        ensure(
            (RARELY..=1.0 - RARELY).contains(&self.0),
            "a doubt that is no probability",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_surprise_is_an_accident_and_three_in_a_row_are_a_change() {
        let mut doubt = Doubt::default();
        assert!(!doubt.changed(0.03));
        for _ in 0..5 {
            assert!(!doubt.changed(0.97));
        }
        let surprises = (1..10).find(|_| doubt.changed(0.03));
        assert_eq!(surprises, Some(3));
    }
}
