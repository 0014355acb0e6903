//! One gate as bytes.

use super::Gate;
use crate::record::{self, Unreadable};

impl Gate {
    pub(crate) fn save(&self, into: &mut Vec<u8>) {
        record::encode_into(self, into);
    }

    /// What was saved in `section`.
    pub(crate) fn load(section: u32, bytes: &[u8]) -> Result<Self, Unreadable> {
        record::decode(section, bytes)
    }
}
