//! Whether what was read could have been saved: whatever wrote it, no sum of it overflows and nothing grows without bound.

/// Why it cannot be.
pub(crate) type Flaw = &'static str;

/// State that says itself what it can be.
pub(crate) trait Sound {
    fn check(&self) -> Result<(), Flaw>;
}

impl<T: Sound> Sound for Option<T> {
    fn check(&self) -> Result<(), Flaw> {
        self.as_ref().map_or(Ok(()), Sound::check)
    }
}

impl<T: Sound + ?Sized> Sound for Box<T> {
    fn check(&self) -> Result<(), Flaw> {
        (**self).check()
    }
}

impl<T: Sound> Sound for [T] {
    fn check(&self) -> Result<(), Flaw> {
        self.iter().try_for_each(Sound::check)
    }
}

pub(crate) fn ensure(holds: bool, flaw: Flaw) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(flaw) }
}

/// Nobody counted so far, and there is room to go on counting.
pub(crate) fn counts<const N: usize>(all: [u64; N]) -> Result<(), Flaw> {
    let most = all.into_iter().fold(0, u64::max);
    ensure(most <= u64::MAX / 4, "more than anybody counted")
}

/// Larger ones are neither seconds nor tokens, and calculating with them ends in none.
const LARGEST: f64 = 1e18;

pub(crate) fn is_number(own: f64) -> bool {
    own.abs() <= LARGEST
}

pub(crate) fn numbers<const N: usize>(all: [f64; N]) -> Result<(), Flaw> {
    ensure(all.into_iter().all(is_number), NO_NUMBER)
}

pub(crate) const NO_NUMBER: Flaw = "a number that is none";
