//! One gate as bytes.

use super::{Gate, OVERLOADED};
use crate::record::sound::{Flaw, Sound, counts, ensure};
use crate::record::{self, Unreadable};

impl Gate {
    pub(crate) fn save(&self, into: &mut Vec<u8>) {
        record::encode_into(self, into);
    }

    /// What was saved in `section`.
    pub(crate) fn load(section: u32, bytes: &[u8]) -> Result<Self, Unreadable> {
        let own: Self = record::decode(section, bytes)?;
        own.check()
            .map_err(|flaw| Unreadable::because(section, flaw))?;
        Ok(own)
    }
}

impl Sound for Gate {
    fn check(&self) -> Result<(), Flaw> {
        counts([self.in_flight])?;
        ensure(
            self.overloaded <= OVERLOADED,
            "more trouble than is counted",
        )?;
        self.limits.check()?;
        self.by_hand.check()?;
        self.windows.check()?;
        self.belief.check()?;
        self.circuit.check()?;
        self.crowd.check()
    }
}

#[cfg(test)]
mod tests;
