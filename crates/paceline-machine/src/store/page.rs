//! One page of a tree: a head, the places of its entries, and the entries, at its end.

use super::check::{Fault, damaged, u16_at, u32_at};

pub(super) const HEADER: usize = 16;
/// The entry's value has pages of its own.
pub(super) const BIG_DATA: u16 = 0x01;
/// An entry's own head.
const NODE: usize = 8;

/// The nodes of a page lie side by side from `upper` to its end. Nothing else is looked at before this holds.
pub(super) fn nodes_fill(
    places: &mut Vec<(usize, usize)>,
    number: u64,
    page: &[u8],
    count: usize,
    upper: usize,
    leaf: bool,
) -> Result<(), Fault> {
    places.clear();
    for i in 0..count {
        let at = u16_at(page, HEADER + 2 * i) as usize;
        if at < upper || !at.is_multiple_of(2) || at + NODE > page.len() {
            return damaged(format!("page {number} has an entry at {at}"));
        }
        let (word, flags, key) = (
            u32_at(page, at),
            u16_at(page, at + 4),
            u16_at(page, at + 6) as usize,
        );
        let data = match (leaf, flags) {
            (false, _) => 0,
            (true, 0) => word as usize,
            (true, BIG_DATA) => 8,
            (true, _) => {
                return damaged(format!("page {number} has an entry of kind {flags:#x}"));
            }
        };
        places.push((at, (NODE + key + data).next_multiple_of(2)));
    }
    places.sort_unstable();
    let mut end = upper;
    for &(at, len) in &*places {
        if at != end {
            return damaged(format!(
                "page {number} has entries that overlap or are apart"
            ));
        }
        end = at + len;
    }
    if end != page.len() {
        damaged(format!("page {number} has entries beyond its end"))
    } else {
        Ok(())
    }
}

/// Key, what follows it, flags and the first word of an entry; the first word is a length or a page.
pub(super) fn node(page: &[u8], i: usize) -> (&[u8], &[u8], u16, u32) {
    let at = u16_at(page, HEADER + 2 * i) as usize;
    let (word, flags, key) = (
        u32_at(page, at),
        u16_at(page, at + 4),
        u16_at(page, at + 6) as usize,
    );
    let (key, rest) = page[at + NODE..].split_at(key);
    let len = if flags == BIG_DATA { 8 } else { word as usize };
    (key, rest.get(..len).unwrap_or(rest), flags, word)
}
