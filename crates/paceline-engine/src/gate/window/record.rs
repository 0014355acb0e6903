//! What a record may say of windows.

use super::{MOST_WINDOWS, Windows};
use crate::record::sound::{Flaw, Sound, ensure};

impl Sound for Windows {
    fn check(&self) -> Result<(), Flaw> {
        let most = self.known.len().max(self.buckets.len());
        ensure(most <= MOST_WINDOWS, "more windows than are kept")?;
        self.known.check()?;
        self.spending.under_way.check()?;
        self.spending.prices.check()
    }
}
