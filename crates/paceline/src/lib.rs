//! placeholder

#[cfg(feature = "config")]
pub mod config;
