//! Which gates a request is charged to.

/// The gates of one request, by their place in the pace line's configuration; at most sixteen, in order, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GateSet {
    len: u8,
    ids: [u16; Self::MOST],
}

impl GateSet {
    /// The most gates one request may be charged to: an upstream's own and fifteen routes that add up.
    pub const MOST: usize = 16;

    /// Only the gate at `index`.
    pub const fn one(index: u16) -> Self {
        let mut ids = [0; Self::MOST];
        ids[0] = index;
        Self { len: 1, ids }
    }

    /// Also the gate at `index`. `None` if there is no room.
    #[must_use]
    pub fn with(mut self, index: u16) -> Option<Self> {
        let len = usize::from(self.len);
        match self.ids[..len].binary_search(&index) {
            Ok(_) => Some(self),
            Err(_) if len == Self::MOST => None,
            Err(place) => {
                self.ids.copy_within(place..len, place + 1);
                self.ids[place] = index;
                self.len += 1;
                Some(self)
            }
        }
    }

    /// The indices, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.ids[..usize::from(self.len)]
            .iter()
            .map(|index| usize::from(*index))
    }

    /// Only the others.
    pub(crate) fn without(self, these: impl Fn(usize) -> bool) -> Self {
        let ids = &self.ids[..usize::from(self.len)];
        let others = ids.iter().filter(|index| !these(usize::from(**index)));
        others.fold(Self::default(), |set, index| {
            set.with(*index).unwrap_or(set)
        })
    }

    pub(crate) fn contains(&self, index: usize) -> bool {
        self.iter().any(|own| own == index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_ordered_unique_and_bounded() {
        let set = GateSet::one(5)
            .with(2)
            .and_then(|set| set.with(5))
            .expect("room for three");
        assert_eq!(set.iter().collect::<Vec<_>>(), [2, 5]);
        assert!(set.contains(2) && !set.contains(3));
        assert_eq!(set.without(|index| index >= 5), GateSet::one(2));
        let full = (1..16)
            .try_fold(GateSet::one(0), GateSet::with)
            .expect("sixteen fit");
        assert_eq!(full.with(16), None);
    }
}
