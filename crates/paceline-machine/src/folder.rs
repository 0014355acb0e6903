//! The state folder: where it is, and whether it may be trusted.
//!
//! Whoever can write to it can hold or let go every process of its user, so it is ours alone or it is not used. Everything
//! is asked of the opened folder, not of its name: what was checked is what is used.

mod error;
#[cfg(unix)]
mod network;
#[cfg(unix)]
mod open;

pub use error::FolderError;
#[cfg(unix)]
pub use open::{Folder, place};

/// The variable that names the state folder, as an absolute path.
pub const STATE_DIR: &str = "PACELINE_STATE_DIR";

/// The folder of the bells in it.
#[cfg(unix)]
pub(crate) const BELLS: &str = "bells";
