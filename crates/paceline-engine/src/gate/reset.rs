//! A gate that forgets what it learned and was told: a person knows better.

use super::Gate;
use super::belief::Belief;
use super::by_hand::ByHand;
use super::circuit::Circuit;
use super::crowd::Crowd;
use super::pause::Pause;

impl Gate {
    /// Forgets pauses, windows, the belief and the circuit. What was spent of configured limits stays spent, and what is under
    /// way stays so.
    pub(crate) fn reset(&mut self) {
        self.pause = Pause::default();
        self.by_hand = ByHand::default();
        self.windows.forget();
        self.belief = Belief::default();
        self.circuit = Circuit::default();
        self.crowd = Crowd::default();
        self.unexplained = false;
        self.overloaded = 0;
    }
}
