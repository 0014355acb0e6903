//! State as bytes, for those who share it.
//!
//! A record is a few sections of bytes by number. Each is a CBOR array whose places are the `n` of the derives: places that
//! are not known here are skipped, and those that are missing are what they are at the beginning. So a field is only ever
//! added at the end, and its place is never used again.

pub(crate) mod amounts;
pub(crate) mod duration;
pub(crate) mod floats;
mod gate_set;
pub(crate) mod pace;
pub(crate) mod period;
pub(crate) mod sound;
pub(crate) mod unless_new;
pub(crate) mod wide;

use core::fmt;

use minicbor::Encode;

/// Where a record is kept, while nobody else changes it.
pub trait Sections {
    /// What was put there last.
    fn get(&self, section: u32) -> Option<&[u8]>;

    /// Puts it there.
    fn put(&mut self, section: u32, bytes: &[u8]);
}

impl Sections for std::collections::BTreeMap<u32, Vec<u8>> {
    fn get(&self, section: u32) -> Option<&[u8]> {
        self.get(&section).map(Vec::as_slice)
    }

    fn put(&mut self, section: u32, bytes: &[u8]) {
        self.insert(section, bytes.to_vec());
    }
}

/// A record that is none, or one of a version that nobody here knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    section: u32,
    what: Box<str>,
    newer: bool,
}

impl Unreadable {
    pub(crate) fn because(section: u32, what: &str) -> Self {
        Self {
            section,
            what: what.into(),
            newer: false,
        }
    }

    pub(crate) fn newer(section: u32) -> Self {
        Self {
            newer: true,
            ..Self::because(section, "a newer version wrote it")
        }
    }

    /// Others understand it: it is not ours to write over.
    pub const fn is_newer(&self) -> bool {
        self.newer
    }

    pub(crate) fn missing(section: u32) -> Self {
        Self::because(section, "it is missing")
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "section {} of the record cannot be read: {}",
            self.section, self.what
        )
    }
}

impl core::error::Error for Unreadable {}

pub(crate) fn encode_into(what: &impl Encode<()>, bytes: &mut Vec<u8>) {
    match minicbor::encode(what, bytes) {
        Ok(()) => {}
        Err(error) => unreachable!("a vector takes everything: {error}"),
    }
}

pub(crate) fn decode<'b, T: minicbor::Decode<'b, ()>>(
    section: u32,
    bytes: &'b [u8],
) -> Result<T, Unreadable> {
    minicbor::decode(bytes).map_err(|error| Unreadable::because(section, &error.to_string()))
}
