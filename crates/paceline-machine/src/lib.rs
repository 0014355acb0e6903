//! What the processes of one machine share: a folder, a store of bytes in it, a clock, and bells by which they wake each other.
//!
//! It knows nothing of paces: only bytes, names and times.
//!
//! ```no_run
//! use paceline_machine::{Bell, Bells, BootClock, Folder, Rung, place};
//!
//! let folder = Folder::open(&place(|name| std::env::var_os(name))?)?;
//! for remark in folder.remarks() {
//!     eprintln!("{remark}");
//! }
//! let clock = BootClock::new()?;
//! let bell = Bell::hang(folder.path(), || println!("woken"))?;
//!
//! // What another process does, who found the number in a record:
//! let mut bells = Bells::new(folder.path());
//! assert_eq!(bells.ring(bell.number())?, Rung::Heard);
//! # let _ = clock.now();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod folder;

#[cfg(unix)]
mod bell;
#[cfg(unix)]
mod boot;
#[cfg(unix)]
mod key;
#[cfg(unix)]
pub mod store;
#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
pub use crate::bell::{Bell, Bells, Rung, sweep};
#[cfg(unix)]
pub use crate::boot::{BootClock, BootId};
#[cfg(unix)]
pub use crate::folder::{Folder, place};
pub use crate::folder::{FolderError, STATE_DIR};
#[cfg(unix)]
pub use crate::key::Key;
#[cfg(not(unix))]
pub use crate::unsupported::{Bell, Bells, BootClock, BootId, Folder, Key, Rung, place, sweep};
