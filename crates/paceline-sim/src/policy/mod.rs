//! Clients to compare.

mod paceline;

pub use paceline::Paceline;
