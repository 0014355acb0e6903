//! What the marks mean; only of those that are there.

use core::ops::Range;

use super::LEFT;
use super::history::History;
use super::panel::{TICK_HEIGHT, cross, tick, triangle};
use crate::picture::{Anchor, Svg};

/// Draws it with its middle at `y`, for a rate axis that ends at `rate`; returns its lower edge.
pub(super) fn draw(
    svg: &mut Svg,
    y: f64,
    rate: f64,
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
        entry(svg, &line, "limit");
    }
    if histories
        .iter()
        .any(|history| history.believed.iter().any(|(_, rate)| rate.is_some()))
    {
        let line = |svg: &mut Svg, x: f64| svg.line((x, y), (x + 20.0, y), "believed");
        entry(svg, &line, "believed limit");
    }
    let bar = |svg: &mut Svg, x: f64| svg.rectangle((x, y - 6.0), (20.0, 12.0), "rate");
    entry(svg, &bar, "served a second");
    let ticks = |svg: &mut Svg, x: f64| {
        let ticks: String = [4.0, 9.0, 14.0]
            .map(|dx| tick(x + dx, y - TICK_HEIGHT / 2.0))
            .concat();
        svg.path(&ticks, "served many");
    };
    entry(svg, &ticks, "served start");
    if histories.iter().any(|history| !history.refused.is_empty()) {
        let crosses = |svg: &mut Svg, x: f64| svg.path(&cross(x + 10.0, y), "refused");
        entry(svg, &crosses, "refused start");
    }
    let higher = |history: &History| history.bars().any(|bar| bar.served > rate);
    if histories.iter().any(higher) {
        let tip = |svg: &mut Svg, x: f64| svg.path(&triangle(x + 10.0, y + 3.0), "cut");
        entry(svg, &tip, "higher");
    }
    if !outages.is_empty() {
        let area = |svg: &mut Svg, x: f64| svg.rectangle((x, y - 6.0), (20.0, 12.0), "outage");
        entry(svg, &area, "server down");
    }
    y + 8.0
}
