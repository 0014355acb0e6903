//! The two trees of a store's file, page by page: everything that LMDB would take on trust.

use std::cmp::Ordering;

use super::check::{Fault, Root, damaged, u16_at, u32_at, u64_at};
use super::page::{self, BIG_DATA, HEADER};

const P_BRANCH: u16 = 0x01;
const P_LEAF: u16 = 0x02;
const P_OVERFLOW: u16 = 0x04;
const NOWHERE: u64 = u64::MAX;
/// LMDB's cursors hold this many pages and do not look whether there are more.
const DEEPEST: u16 = 32;
/// LMDB writes no longer ones.
const LONGEST_KEY: usize = 511;

type Compare = fn(&[u8], &[u8]) -> Ordering;

pub(super) struct Walk<'b> {
    bytes: &'b [u8],
    size: usize,
    seen: Vec<bool>,
    places: Vec<(usize, usize)>,
}

/// What is counted on the way, to be compared with what the head says.
#[derive(Default)]
struct Counted {
    branches: u64,
    leaves: u64,
    overflow: u64,
    entries: u64,
}

struct Order<'b> {
    compare: Compare,
    last: Option<&'b [u8]>,
}

type Each<'f, 'b> = &'f mut dyn FnMut(&mut Walk<'b>, &'b [u8], &'b [u8]) -> Result<(), Fault>;

impl<'b> Walk<'b> {
    pub(super) fn new(bytes: &'b [u8], size: usize, pages: usize) -> Self {
        let mut seen = vec![false; pages];
        seen[..2].fill(true); // the heads
        Self {
            bytes,
            size,
            seen,
            places: Vec::new(),
        }
    }

    /// How many pages neither tree leads to.
    pub(super) fn unseen(&self) -> u64 {
        self.seen.iter().filter(|&&seen| !seen).count() as u64
    }

    /// The tree of free pages: each transaction's list, sorted downwards. Says how many there are.
    pub(super) fn free(&mut self, root: &Root, newest: u64) -> Result<u64, Fault> {
        let mut free = 0;
        let as_numbers: Compare = |a, b| match (a.len(), b.len()) {
            (8, 8) => u64_at(a, 0).cmp(&u64_at(b, 0)),
            (a, b) => a.cmp(&b),
        };
        self.tree(root, as_numbers, &mut |walk, key, value| {
            if key.len() != 8
                || u64_at(key, 0) > newest
                || value.len() < 8
                || !value.len().is_multiple_of(8)
            {
                return damaged("a list of free pages is not one");
            }
            let len = u64_at(value, 0);
            if len > value.len() as u64 / 8 - 1 {
                return damaged("a list of free pages is longer than its value");
            }
            let mut before = NOWHERE;
            for i in 1..=len as usize {
                let page = u64_at(value, i * 8);
                if page >= before {
                    return damaged("a list of free pages is not sorted");
                }
                walk.claim(page, 1)?;
                before = page;
            }
            free += len;
            Ok(())
        })?;
        Ok(free)
    }

    /// The tree of what is kept. Gives the value of one key.
    pub(super) fn main(&mut self, root: &Root, wanted: &[u8]) -> Result<Option<&'b [u8]>, Fault> {
        if root.flags != 0 {
            return damaged(format!("its database has flags {:#x}", root.flags));
        }
        let mut found = None;
        self.tree(root, |a, b| a.cmp(b), &mut |_, key, value| {
            if key == wanted {
                found = Some(value);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn tree(&mut self, root: &Root, compare: Compare, each: Each<'_, 'b>) -> Result<(), Fault> {
        if (root.page == NOWHERE) != (root.depth == 0) || root.depth > DEEPEST {
            return damaged(format!(
                "a tree of depth {} begins at page {:#x}",
                root.depth, root.page
            ));
        }
        let mut counted = Counted::default();
        if root.page != NOWHERE {
            let mut order = Order {
                compare,
                last: None,
            };
            self.page(root.page, root.depth, &mut order, None, &mut counted, each)?;
        }
        let told = [root.branches, root.leaves, root.overflow, root.entries];
        if told
            != [
                counted.branches,
                counted.leaves,
                counted.overflow,
                counted.entries,
            ]
        {
            return damaged("a tree has other pages or entries than its head says");
        }
        Ok(())
    }

    /// Takes `count` pages from `page` on. A page has one place: twice is a cycle, or free and in use.
    fn claim(&mut self, page: u64, count: u64) -> Result<&'b [u8], Fault> {
        let end = page.saturating_add(count);
        if page < 2 || end > self.seen.len() as u64 {
            return damaged(format!("page {page:#x} is out of range"));
        }
        let (from, to) = (page as usize, end as usize);
        if self.seen[from..to].contains(&true) {
            return damaged(format!("page {page} is used twice"));
        }
        self.seen[from..to].fill(true);
        Ok(&self.bytes[from * self.size..to * self.size])
    }

    /// `below` is the key from which on the next page has them.
    fn page(
        &mut self,
        number: u64,
        levels: u16,
        order: &mut Order<'b>,
        below: Option<&'b [u8]>,
        counted: &mut Counted,
        each: Each<'_, 'b>,
    ) -> Result<(), Fault> {
        let page = self.claim(number, 1)?;
        let leaf = levels == 1;
        let (lower, upper) = (u16_at(page, 12) as usize, u16_at(page, 14) as usize);
        let right =
            u64_at(page, 0) == number && u16_at(page, 10) == if leaf { P_LEAF } else { P_BRANCH };
        if !right
            || lower <= HEADER
            || !lower.is_multiple_of(2)
            || lower > upper
            || upper > self.size
        {
            return damaged(format!("page {number} has a wrong head"));
        }
        *if leaf {
            &mut counted.leaves
        } else {
            &mut counted.branches
        } += 1;
        let count = (lower - HEADER) / 2;
        page::nodes_fill(&mut self.places, number, page, count, upper, leaf)?;
        for i in 0..count {
            let (key, rest, flags, word) = page::node(page, i);
            let first_of_branch = !leaf && i == 0; // its key is not looked at, and mostly empty
            if key.len() > LONGEST_KEY || (!first_of_branch && key.is_empty()) {
                return damaged(format!("page {number} has a key of {} bytes", key.len()));
            }
            if !leaf {
                let next = if i + 1 < count {
                    Some(page::node(page, i + 1).0)
                } else {
                    below
                };
                let fits = |after: &[u8]| {
                    order
                        .last
                        .is_none_or(|last| (order.compare)(last, after).is_lt())
                };
                if !first_of_branch && !fits(key) {
                    return damaged(format!("page {number} has keys out of order"));
                }
                let child = u64::from(word) | u64::from(flags) << 32;
                self.page(child, levels - 1, order, next, counted, each)?;
                if let (Some(next), Some(last)) = (next, order.last)
                    && (order.compare)(last, next).is_ge()
                {
                    return damaged(format!("page {child} has keys of the next"));
                }
                continue;
            }
            if order
                .last
                .is_some_and(|last| (order.compare)(last, key).is_ge())
            {
                return damaged(format!("page {number} has keys out of order"));
            }
            order.last = Some(key);
            counted.entries += 1;
            let value = if flags == BIG_DATA {
                self.run(u64_at(rest, 0), word, counted)?
            } else {
                rest
            };
            each(self, key, value)?;
        }
        Ok(())
    }

    /// A value that is too long for a page has pages of its own, the first with a header.
    fn run(&mut self, number: u64, len: u32, counted: &mut Counted) -> Result<&'b [u8], Fault> {
        let needed = (HEADER + len as usize).div_ceil(self.size) as u64;
        let first = self.claim(number, 1)?;
        let pages = u64::from(u32_at(first, 12));
        if u64_at(first, 0) != number || u16_at(first, 10) != P_OVERFLOW || pages < needed {
            return damaged(format!(
                "page {number} does not hold the value that it should"
            ));
        }
        self.claim(number + 1, pages - 1)?;
        counted.overflow += pages;
        let from = number as usize * self.size + HEADER;
        Ok(&self.bytes[from..from + len as usize])
    }
}
