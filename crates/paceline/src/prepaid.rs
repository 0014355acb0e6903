//! A permit taken before the operation that will use it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::driver::Permit;

/// A permit that rides in a request's extensions: the first HTTP request of an operation uses it, later ones take their
/// own, and an operation that sends nothing gives it back when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Prepaid(Arc<Mutex<Option<Permit>>>);

impl Prepaid {
    /// Lets one operation use `permit`.
    pub fn new(permit: Permit) -> Self {
        Self(Arc::new(Mutex::new(Some(permit))))
    }

    /// The permit, once.
    pub fn take(&self) -> Option<Permit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
