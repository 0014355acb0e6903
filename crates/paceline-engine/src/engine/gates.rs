//! The gates of a pace line, and which of them changed since they were saved.

use std::collections::BTreeMap;

use crate::gate::Gate;

#[derive(Debug, Default)]
pub(super) struct Gates {
    all: Vec<Gate>,
    /// Which may have changed, each once; kept only for who saves them.
    touched: Option<Vec<u16>>,
}

impl Gates {
    /// From now on it is kept which may have changed.
    pub(super) fn watch(&mut self) {
        self.touched = Some((0..).take(self.all.len()).collect());
    }

    pub(super) fn get(&self, index: usize) -> Option<&Gate> {
        self.all.get(index)
    }

    /// To change it.
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Gate> {
        let gate = self.all.get_mut(index)?;
        if let Some(touched) = &mut self.touched {
            touch(touched, index);
        }
        Some(gate)
    }

    /// Which may have changed since this was asked last.
    pub(super) fn take_touched(&mut self) -> Vec<u16> {
        self.touched.as_mut().map_or_else(Vec::new, core::mem::take)
    }

    /// Others that were saved, and how many there are.
    pub(super) fn load(&mut self, loaded: BTreeMap<u16, Gate>, count: usize) {
        self.all.truncate(count);
        for (index, gate) in loaded {
            match self.all.get_mut(usize::from(index)) {
                Some(own) => *own = gate,
                // They come in order, without a gap: whatever is not known here was loaded.
                None => self.all.push(gate),
            }
        }
        if let Some(touched) = &mut self.touched {
            touched.clear();
        }
    }

    pub(super) fn first(&self) -> Option<&Gate> {
        self.all.first()
    }

    pub(super) fn iter(&self) -> core::slice::Iter<'_, Gate> {
        self.all.iter()
    }

    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn push(&mut self, gate: Gate) {
        self.all.push(gate);
        if let Some(touched) = &mut self.touched {
            touch(touched, self.all.len() - 1);
        }
    }
}

fn touch(touched: &mut Vec<u16>, index: usize) {
    if let Ok(index) = u16::try_from(index)
        && !touched.contains(&index)
    {
        touched.push(index);
    }
}
