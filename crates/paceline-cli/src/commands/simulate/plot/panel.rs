//! One run: rates over time, and below them each start.

use core::fmt::Write as _;
use core::ops::Range;
use std::collections::BTreeMap;

use super::history::History;
use super::{LEFT, RIGHT};
use crate::picture::{Anchor, Scale, Svg, number};

/// What all panels of a picture share.
pub(super) struct Panel<'a> {
    pub(super) time: Scale,
    /// What the rate axis goes up to, requests per second.
    pub(super) rate: f64,
    pub(super) limits: &'a [(f64, Option<f64>)],
    pub(super) outages: &'a [Range<f64>],
    pub(super) ideal: Option<f64>,
}

const TITLE_HEIGHT: f64 = 24.0;
const RATE_HEIGHT: f64 = 130.0;
pub(super) const TICK_HEIGHT: f64 = 10.0;
const CROSS: f64 = 6.0;
/// A column of crosses is as wide as one.
const CROSS_COLUMN: f64 = CROSS + 1.0;
/// Refusals at about the same time are piled up; what is more is a number.
const HIGHEST_PILE: u64 = 5;
const PILE_HEIGHT: f64 = HIGHEST_PILE as f64 * CROSS_COLUMN + 6.0;
const GAP: f64 = 26.0;

impl Panel<'_> {
    /// Draws it from `top` down; returns its lower edge.
    pub(super) fn draw(&self, svg: &mut Svg, top: f64, history: &History) -> f64 {
        let rates = top + TITLE_HEIGHT;
        let zero = rates + RATE_HEIGHT;
        let ticks = zero + 6.0;
        let piles = ticks + TICK_HEIGHT + 4.0;
        let crosses = if history.refused.is_empty() {
            0.0
        } else {
            PILE_HEIGHT
        };
        let bottom = piles + crosses;
        let scale = Scale::new(self.rate, zero, rates);

        self.title(svg, top + 14.0, history);
        self.grid(svg, &scale, rates, bottom);
        self.bars(svg, &scale, history);
        self.limit(svg, &scale);
        self.believed(svg, &scale, history);
        self.served(svg, ticks, history);
        if crosses > 0.0 {
            self.refused(svg, piles, history);
        }
        self.ends(svg, rates, bottom, history);
        bottom + GAP
    }

    fn title(&self, svg: &mut Svg, y: f64, history: &History) {
        svg.text((LEFT, y), "policy", Anchor::Start, history.policy);
        let figures = &history.figures;
        let mut facts = match history.cut_short {
            true => format!("stopped at {:.1} s by a lost page", history.end()),
            false => format!("{:.1} s", history.end()),
        };
        if let Some(ideal) = self
            .ideal
            .filter(|ideal| *ideal > 0.0 && !history.cut_short)
        {
            let ratio = history.end() / ideal;
            let _ = write!(facts, " = {ratio:.2} × the ideal {ideal:.1} s");
        }
        let _ = write!(
            facts,
            " · {} refused of {} sent",
            figures.refused, figures.sent
        );
        let (class, lost) = match figures.failed {
            0 => ("note", "none lost".to_owned()),
            failed => ("note bad", format!("{failed} lost")),
        };
        svg.text((RIGHT, y), class, Anchor::End, &format!("{facts} · {lost}"));
    }

    fn grid(&self, svg: &mut Svg, scale: &Scale, rates: f64, bottom: f64) {
        for outage in self.outages {
            let (from, to) = (self.time.at(outage.start), self.time.at(outage.end));
            svg.rectangle((from, rates), (to - from, bottom - rates), "outage");
        }
        for (seconds, _) in self.time.ticks(8) {
            let x = self.time.at(seconds);
            svg.line((x, rates), (x, bottom), "grid");
        }
        for (value, text) in scale.ticks(4) {
            let y = scale.at(value);
            svg.line((LEFT, y), (RIGHT, y), "grid");
            svg.text((LEFT - 6.0, y + 4.0), "tick", Anchor::End, &text);
        }
        let middle = f64::midpoint(rates, scale.at(0.0));
        svg.text_upwards((LEFT - 44.0, middle), "tick", "requests/s");
    }

    fn bars(&self, svg: &mut Svg, scale: &Scale, history: &History) {
        let rates = scale.at(self.rate);
        let mut bars = String::new();
        let mut cut = String::new();
        let zero = scale.at(0.0);
        for bar in history.bars().filter(|bar| bar.served > 0.0) {
            let (from, to) = (self.time.at(bar.from), self.time.at(bar.to));
            let y = scale.at(bar.served);
            let [x, width, y, height] = [from, (to - from).max(1.0), y, zero - y].map(number);
            let _ = write!(bars, "M{x} {y}h{width}v{height}h-{width}z");
            if bar.served > self.rate {
                cut += &triangle(f64::midpoint(from, to), rates);
            }
        }
        svg.path(&bars, "rate");
        svg.path(&cut, "cut");
    }

    fn limit(&self, svg: &mut Svg, scale: &Scale) {
        svg.path(&self.steps(scale, self.limits, f64::INFINITY), "limit");
    }

    fn believed(&self, svg: &mut Svg, scale: &Scale, history: &History) {
        svg.path(
            &self.steps(scale, &history.believed, history.end()),
            "believed",
        );
    }

    /// A line that keeps its height until the next value, and is not there where there is none. Of
    /// several values in one column of pixels the last is drawn.
    fn steps(&self, scale: &Scale, values: &[(f64, Option<f64>)], end: f64) -> String {
        let mut steps: Vec<(f64, Option<f64>)> = Vec::new();
        for (from, value) in values {
            let x = self.time.at(*from);
            match steps.last_mut() {
                Some((last, shown)) if x - *last < 1.0 => *shown = *value,
                _ => steps.push((x, *value)),
            }
        }
        let ends = steps.iter().skip(1).map(|(x, _)| *x);
        let ends: Vec<f64> = ends.chain([self.time.at(end)]).collect();
        let mut path = String::new();
        let mut before = None;
        for ((from, value), to) in steps.into_iter().zip(ends) {
            if let Some(value) = value {
                let [from, to, y] = [from, to, scale.at(value)].map(number);
                let _ = match before {
                    Some(_) => write!(path, "V{y}H{to}"),
                    None => write!(path, "M{from} {y}H{to}"),
                };
            }
            before = value;
        }
        path
    }

    /// A stroke for each start; where several fall on one column of pixels, a darker one.
    fn served(&self, svg: &mut Svg, top: f64, history: &History) {
        let mut columns: BTreeMap<u32, u64> = BTreeMap::new();
        for at in &history.served {
            *columns.entry(self.time.at(*at) as u32).or_default() += 1;
        }
        let mut paths = [const { String::new() }; 3];
        for (x, count) in columns {
            let dark = match count {
                1 => 0,
                2..=4 => 1,
                _ => 2,
            };
            paths[dark] += &tick(f64::from(x) + 0.5, top);
        }
        for (path, class) in paths
            .iter()
            .zip(["served one", "served some", "served many"])
        {
            svg.path(path, class);
        }
    }

    fn refused(&self, svg: &mut Svg, top: f64, history: &History) {
        let mut columns: BTreeMap<u32, u64> = BTreeMap::new();
        for at in &history.refused {
            let column = (self.time.at(*at) - LEFT) / CROSS_COLUMN;
            *columns.entry(column as u32).or_default() += 1;
        }
        let mut path = String::new();
        let mut free = LEFT;
        for (column, count) in columns {
            let x = LEFT + f64::from(column) * CROSS_COLUMN + CROSS / 2.0;
            for place in 0..count.min(HIGHEST_PILE) {
                path += &cross(x, top + CROSS / 2.0 + place as f64 * CROSS_COLUMN);
            }
            if count > HIGHEST_PILE && x >= free {
                let words = count.to_string();
                let y = top + PILE_HEIGHT + 4.0;
                svg.text((x, y), "pile", Anchor::Middle, &words);
                free = x + words.len() as f64 * 6.0 + 6.0;
            }
        }
        svg.path(&path, "refused");
    }

    fn ends(&self, svg: &mut Svg, rates: f64, bottom: f64, history: &History) {
        let end = self.time.at(history.end());
        svg.line((end, rates), (end, bottom), "end");
        if let Some(ideal) = self.ideal.filter(|ideal| *ideal > 0.0) {
            let x = self.time.at(ideal);
            svg.line((x, rates), (x, bottom), "ideal");
            let (x, anchor) = match x > LEFT + 40.0 {
                true => (x - 4.0, Anchor::End),
                false => (x + 4.0, Anchor::Start),
            };
            svg.text((x, rates + 11.0), "tick", anchor, "ideal");
        }
    }
}

/// The stroke of a served start, downwards from `y`.
pub(super) fn tick(x: f64, y: f64) -> String {
    format!("M{} {}v{TICK_HEIGHT}", number(x), number(y))
}

/// The tip of a bar that is higher than there is room for, above `y`.
pub(super) fn triangle(x: f64, y: f64) -> String {
    format!("M{} {}l3 5h-6z", number(x), number(y - 6.0))
}

/// The cross of a refused start around a place.
pub(super) fn cross(x: f64, y: f64) -> String {
    let half = CROSS / 2.0 - 0.5;
    let (left, top, whole) = (number(x - half), number(y - half), 2.0 * half);
    format!("M{left} {top}l{whole} {whole}m0 -{whole}l-{whole} {whole}")
}
