//! What the processes of one machine share: sections of bytes, in a folder of the user's own.
//!
//! Nothing here knows what the bytes mean.

pub mod store;
