//! Reads a store's file without LMDB, to find damage before LMDB maps it: there, damage is a crash.
//!
//! The layout is LMDB's data version 1 for 64 bits: two meta pages, of which the one with the greater transaction number
//! counts, a tree of free pages and a tree of what is kept. The other meta page may be half written, by a process that was
//! killed in its commit; only what never changes is looked at there.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::{LAYOUT_KEY, MAP_SIZE, tree};

const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;
const META_LEN: usize = 152;
const P_META: u16 = 0x08;
const FIXED_MAP: u16 = 0x01;
const INTEGER_KEY: u16 = 0x08;
/// LMDB takes pages of these sizes, those of processors, and no others.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 512..=32_768;

/// What is in a file that is sound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sound {
    /// Keys with their values.
    pub entries: u64,
    /// Pages in use or free, those of the head included.
    pub pages: u64,
    /// Of these, how many are free.
    pub free: u64,
    /// Pages that nothing leads to. There are none, also after kills; were there some, they would do no harm.
    pub lost: u64,
    pub(super) layout: Option<u32>,
}

/// What is wrong with it.
#[derive(Debug)]
pub(super) enum Fault {
    Damaged(String),
    Newer(u32),
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub(super) fn damaged<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Damaged(what.into()))
}

/// A tree as a meta page describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) flags: u16,
    pub(super) depth: u16,
    pub(super) branches: u64,
    pub(super) leaves: u64,
    pub(super) overflow: u64,
    pub(super) entries: u64,
    pub(super) page: u64,
}

struct Meta {
    page_size: usize,
    free: Root,
    main: Root,
    last_page: u64,
    txn: u64,
}

/// The head alone, for a file that others write while we look: `None` for an empty file, which LMDB begins anew.
pub(super) fn head(file: &File) -> Result<Option<()>, Fault> {
    Ok(newest(file)?.map(|_| ()))
}

/// All of it; nobody may write meanwhile.
pub(super) fn whole(file: &File) -> Result<Option<Sound>, Fault> {
    let Some(meta) = newest(file)? else {
        return Ok(None);
    };
    let pages = meta.last_page + 1;
    let mut bytes = vec![0; pages as usize * meta.page_size];
    file.read_exact_at(&mut bytes, 0)?;
    let mut walk = tree::Walk::new(&bytes, meta.page_size, pages as usize);
    let free = walk.free(&meta.free, meta.txn)?;
    let layout = walk.main(&meta.main, LAYOUT_KEY)?;
    let layout = match layout {
        None => None,
        Some(value) => match <[u8; 4]>::try_from(value) {
            Ok(value) => Some(u32::from_be_bytes(value)),
            Err(_) => return damaged("its layout has no number"),
        },
    };
    if layout.is_none() && meta.main.entries > 0 {
        return damaged("it is not a store of paces");
    }
    Ok(Some(Sound {
        entries: meta.main.entries,
        pages,
        free,
        lost: walk.unseen(),
        layout,
    }))
}

fn newest(file: &File) -> Result<Option<Meta>, Fault> {
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(None);
    }
    let first = meta(file, len, 0, 0)?;
    let second = meta(file, len, first.page_size as u64, 1)?;
    if first.page_size != second.page_size {
        return damaged("its two heads disagree about the size of pages");
    }
    let meta = if first.txn < second.txn {
        second
    } else {
        first
    };
    if meta.last_page < 1 || meta.last_page >= (MAP_SIZE / meta.page_size) as u64 {
        return damaged(format!(
            "its last page, {}, is out of range",
            meta.last_page
        ));
    }
    if len < (meta.last_page + 1) * meta.page_size as u64 {
        return damaged(format!(
            "it was cut off: page {} of {len} bytes",
            meta.last_page
        ));
    }
    Ok(Some(meta))
}

fn meta(file: &File, len: u64, at: u64, number: u64) -> Result<Meta, Fault> {
    let mut bytes = [0; META_LEN];
    if len < at + META_LEN as u64 {
        return damaged(format!("it was cut off after {len} bytes"));
    }
    file.read_exact_at(&mut bytes, at)?;
    if u64_at(&bytes, 0) != number || u16_at(&bytes, 10) != P_META || u32_at(&bytes, 16) != MAGIC {
        return damaged(format!("head {number} is not one of LMDB"));
    }
    let version = u32_at(&bytes, 20);
    if version != VERSION {
        return damaged(format!(
            "it has LMDB's data version {version}, {VERSION} is known"
        ));
    }
    let page_size = u32_at(&bytes, 40) as usize;
    if !page_size.is_power_of_two() || !PAGE_SIZES.contains(&page_size) {
        return damaged(format!("its pages have {page_size} bytes"));
    }
    let (free, main) = (root(&bytes[40..]), root(&bytes[88..]));
    // With the first flag LMDB maps the file where it says, over whatever is there.
    if free.flags & FIXED_MAP != 0 || free.flags & INTEGER_KEY == 0 {
        return damaged(format!("head {number} has flags {:#x}", free.flags));
    }
    Ok(Meta {
        page_size,
        free,
        main,
        last_page: u64_at(&bytes, 136),
        txn: u64_at(&bytes, 144),
    })
}

fn root(bytes: &[u8]) -> Root {
    Root {
        flags: u16_at(bytes, 4),
        depth: u16_at(bytes, 6),
        branches: u64_at(bytes, 8),
        leaves: u64_at(bytes, 16),
        overflow: u64_at(bytes, 24),
        entries: u64_at(bytes, 32),
        page: u64_at(bytes, 40),
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]))
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
compile_error!("the store knows LMDB's layout for 64 bits, and Unix's rules about files");
