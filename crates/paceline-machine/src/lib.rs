//! What the processes of one machine share: sections of bytes in a folder of the user's own, one clock, and bells.
//!
//! Nothing here knows what the bytes mean.

pub mod bell;
pub mod boot;
pub mod folder;
pub mod key;
pub mod store;
