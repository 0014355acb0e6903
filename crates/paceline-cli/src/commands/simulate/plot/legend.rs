//! What the marks mean; only of those that are there.

use core::ops::Range;

use super::LEFT;
use super::history::History;
use super::panel::{TICK_HEIGHT, cross, tick};
use crate::picture::{Anchor, Svg};

/// Draws it with its middle at `y`; returns its lower edge.
pub(super) fn draw(
    svg: &mut Svg,
    y: f64,
    limits: &[(f64, Option<f64>)],
    outages: &[Range<f64>],
    histories: &[History],
) -> f64 {
    let mut x = LEFT;
    let mut entry = |svg: &mut Svg, sign: &dyn Fn(&mut Svg, f64), words: &str| {
        sign(svg, x);
        svg.text((x + 26.0, y + 4.0), "note", Anchor::Start, words);
        x += 26.0 + words.chars().count() as f64 * 6.4 + 22.0;
    };
    if limits.iter().any(|(_, rate)| rate.is_some()) {
        let line = |svg: &mut Svg, x: f64| svg.line((x, y), (x + 20.0, y), "limit");
        entry(svg, &line, "the server's limit");
    }
    if histories
        .iter()
        .any(|history| history.believed.iter().any(|(_, rate)| rate.is_some()))
    {
        let line = |svg: &mut Svg, x: f64| svg.line((x, y), (x + 20.0, y), "believed");
        entry(svg, &line, "the limit believed in");
    }
    let bar = |svg: &mut Svg, x: f64| svg.rectangle((x, y - 6.0), (20.0, 12.0), "rate");
    entry(svg, &bar, "served a second");
    let ticks = |svg: &mut Svg, x: f64| {
        let ticks: String = [4.0, 9.0, 14.0]
            .map(|dx| tick(x + dx, y - TICK_HEIGHT / 2.0))
            .concat();
        svg.path(&ticks, "served many");
    };
    entry(svg, &ticks, "start, served");
    if histories.iter().any(|history| !history.refused.is_empty()) {
        let crosses = |svg: &mut Svg, x: f64| svg.path(&cross(x + 10.0, y), "refused");
        entry(svg, &crosses, "start, refused");
    }
    if !outages.is_empty() {
        let box_ = |svg: &mut Svg, x: f64| svg.rectangle((x, y - 6.0), (20.0, 12.0), "outage");
        entry(svg, &box_, "server down");
    }
    y + 8.0
}
