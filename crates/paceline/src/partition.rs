//! Who shares a quota: credentials, only ever as a keyed hash.

use core::hash::Hasher;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use siphasher::sip128::{Hasher128, SipHasher24};

/// A key that nobody outside this process knows, or outside this user's processes on this machine.
#[derive(Clone, Copy)]
pub(crate) struct PartitionKeyer(SipHasher24);

/// The keyed hash of what tells one partition from another. It cannot be reversed, and differs wherever the key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Partition(u128);

impl PartitionKeyer {
    /// The same in every process that knows the key.
    #[cfg(all(feature = "machine", unix))]
    pub(crate) fn with_key(key: [u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(&key))
    }

    pub(crate) fn random() -> Self {
        Self(SipHasher24::new_with_keys(random_u64(), random_u64()))
    }

    /// The partition of these values, in order; `None` for a value that is absent.
    pub(crate) fn partition<'a>(
        &self,
        values: impl IntoIterator<Item = Option<&'a [u8]>>,
    ) -> Partition {
        let mut hasher = self.0;
        for value in values {
            match value {
                // The length goes first, so that no two lists of values are the same bytes.
                Some(value) => {
                    hasher.write_u64(1 + value.len() as u64);
                    hasher.write(value);
                }
                None => hasher.write_u64(0),
            }
        }
        Partition(hasher.finish128().as_u128())
    }

    /// A number for these values, in order.
    pub(crate) fn number<'a>(&self, values: impl IntoIterator<Item = &'a [u8]>) -> u64 {
        let partition = self.partition(values.into_iter().map(Some));
        // Its halves are independent.
        u64::from_le_bytes(
            partition.0.to_le_bytes()[..8]
                .try_into()
                .unwrap_or_default(),
        )
    }
}

#[cfg(all(feature = "machine", unix))]
impl Partition {
    pub(crate) const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl core::fmt::Debug for PartitionKeyer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PartitionKeyer(…)")
    }
}

/// Randomness from the operating system, by way of the standard library's hash seeds.
pub(crate) fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_and_different_ones_do_not() {
        let keyer = PartitionKeyer::random();
        let of = |values: &[Option<&[u8]>]| keyer.partition(values.iter().copied());
        assert_eq!(of(&[Some(b"a")]), of(&[Some(b"a")]));
        assert_ne!(of(&[Some(b"a")]), of(&[Some(b"b")]));
        assert_ne!(
            of(&[Some(b"ab"), Some(b"c")]),
            of(&[Some(b"a"), Some(b"bc")])
        );
        assert_ne!(of(&[None]), of(&[Some(b"")]));
    }

    #[test]
    fn another_process_has_other_hashes() {
        let value = [Some(b"token".as_slice())];
        assert_ne!(
            PartitionKeyer::random().partition(value),
            PartitionKeyer::random().partition(value)
        );
    }
}
