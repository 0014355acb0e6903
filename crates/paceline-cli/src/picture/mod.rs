//! Pictures as SVG: a writer that escapes, and axes with round numbers.

mod axis;
mod svg;

pub(crate) use axis::Scale;
pub(crate) use svg::{Anchor, Svg, number};
