//! What a step sees and changes: the sections of one room, within one write transaction.

use std::cell::OnceCell;

use heed::types::Bytes;
use heed::{Database, RwTxn};

use super::StoreError;
use super::open::Shared;
use super::reserve::{FIRST_CHANGE, NEXT_CHANGE};

pub(super) type Data = Database<'static, Bytes, Bytes>;

/// The key of a section: that of its room, then its number, so that a room's sections lie side by side.
const KEY: usize = 20;

/// The sections of one room while a step is made.
///
/// An error of a change or a look is kept, whatever follows does nothing, and the step returns it.
pub struct Sections<'s> {
    open: &'s Shared,
    txn: RwTxn<'s>,
    key: [u8; KEY],
    changed: bool,
    /// Pages that the changes so far can have taken, and how many have blocks.
    may_take: usize,
    ready: usize,
    failed: OnceCell<StoreError>,
}

impl<'s> Sections<'s> {
    #[inline]
    pub(super) fn begin(open: &'s Shared, room: [u8; 16]) -> Result<Self, StoreError> {
        let txn = open
            .env()
            .write_txn()
            .map_err(|error| StoreError::lmdb("begin a step of", open.path(), error))?;
        Ok(Self {
            open,
            txn,
            key: key(room, 0),
            changed: false,
            may_take: 0,
            ready: 0,
            failed: OnceCell::new(),
        })
    }

    /// The bytes of a section.
    #[inline]
    pub fn get(&self, section: u32) -> Option<&[u8]> {
        let mut key = self.key;
        key[16..].copy_from_slice(&section.to_be_bytes());
        match self.open.data().get(&self.txn, &key) {
            Ok(found) => found,
            Err(error) => {
                let _ = self
                    .failed
                    .set(StoreError::lmdb("read", self.open.path(), error));
                None
            }
        }
    }

    /// Keeps `bytes` in a section.
    #[inline]
    pub fn put(&mut self, section: u32, bytes: &[u8]) {
        self.key[16..].copy_from_slice(&section.to_be_bytes());
        self.change(bytes.len(), |data, txn, key| {
            data.put(txn, key, bytes).map(|()| true)
        });
    }

    /// Removes a section. It need not be there.
    pub fn remove(&mut self, section: u32) {
        self.key[16..].copy_from_slice(&section.to_be_bytes());
        self.change(0, |data, txn, key| data.delete(txn, key));
    }

    /// Removes all sections; says whether there were any.
    pub fn clear(&mut self) -> bool {
        let mut any = false;
        loop {
            let from = key(self.room(), 0);
            let next = self
                .open
                .data()
                .get_greater_than_or_equal_to(&self.txn, &from);
            let next = match next {
                Ok(Some((found, _))) if found.len() == KEY && found[..16] == from[..16] => {
                    u32::from_be_bytes(std::array::from_fn(|i| found[16 + i]))
                }
                Ok(_) => return any,
                Err(error) => {
                    let _ = self
                        .failed
                        .set(StoreError::lmdb("read", self.open.path(), error));
                    return any;
                }
            };
            self.remove(next);
            if self.failed.get().is_some() {
                return any;
            }
            any = true;
        }
    }

    #[inline]
    pub(super) fn end(mut self) -> Result<(), StoreError> {
        match self.failed.take() {
            Some(error) => Err(error),
            // Dropping the transaction costs a fifth of committing it.
            None if !self.changed => Ok(()),
            None => self
                .txn
                .commit()
                .map_err(|error| StoreError::lmdb("write", self.open.path(), error)),
        }
    }

    #[inline]
    fn change(
        &mut self,
        len: usize,
        change: impl FnOnce(&Data, &mut RwTxn<'s>, &[u8; KEY]) -> Result<bool, heed::Error>,
    ) {
        if self.failed.get().is_some() {
            return;
        }
        self.may_take += if self.may_take == 0 {
            FIRST_CHANGE
        } else {
            NEXT_CHANGE
        };
        self.may_take += len / self.open.page_size();
        let done = self.reserve().and_then(|()| {
            let done = change(self.open.data(), &mut self.txn, &self.key);
            done.map_err(|error| StoreError::lmdb("write", self.open.path(), error))
        });
        match done {
            Ok(changed) => self.changed |= changed,
            Err(error) => drop(self.failed.set(error)),
        }
    }

    #[inline]
    fn reserve(&mut self) -> Result<(), StoreError> {
        if self.may_take > self.ready {
            // For the usual few changes at once.
            let ready = self.may_take + 4 * NEXT_CHANGE;
            self.open.reserve(ready)?;
            self.ready = ready;
        }
        Ok(())
    }

    fn room(&self) -> [u8; 16] {
        std::array::from_fn(|i| self.key[i])
    }
}

fn key(room: [u8; 16], section: u32) -> [u8; KEY] {
    let mut key = [0; KEY];
    key[..16].copy_from_slice(&room);
    key[16..].copy_from_slice(&section.to_be_bytes());
    key
}

/// The sections of a room that is only looked at.
pub struct Look<'s> {
    data: &'s Data,
    txn: &'s RwTxn<'s>,
    room: [u8; 16],
}

impl Look<'_> {
    /// The bytes of a section; `None` also where it cannot be read.
    pub fn get(&self, section: u32) -> Option<&[u8]> {
        self.data
            .get(self.txn, &key(self.room, section))
            .ok()
            .flatten()
    }
}

pub(super) fn rooms(
    open: &Shared,
    each: &mut dyn FnMut([u8; 16], &Look<'_>),
) -> Result<(), StoreError> {
    let failed = |error| StoreError::lmdb("read", open.path(), error);
    let txn = open.env().write_txn().map_err(failed)?;
    let data = open.data();
    let mut found = data.first(&txn).map_err(failed)?;
    while let Some((at, _)) = found {
        let Ok(at) = <[u8; KEY]>::try_from(at) else {
            found = data.get_greater_than(&txn, at).map_err(failed)?;
            continue;
        };
        let room = std::array::from_fn(|i| at[i]);
        each(
            room,
            &Look {
                data,
                txn: &txn,
                room,
            },
        );
        found = data
            .get_greater_than(&txn, &key(room, u32::MAX))
            .map_err(failed)?;
    }
    Ok(())
}
