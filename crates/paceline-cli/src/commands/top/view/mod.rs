//! The model as cells of a terminal. It changes nothing and asks nobody.

mod columns;
mod cut;
mod over;
mod table;
mod theme;

use core::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use self::cut::cut;
pub(super) use self::theme::Theme;
use super::model::{Model, Over};
use crate::commands::status;

/// From top to bottom; what there is no room for is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Areas {
    title: Rect,
    table: Rect,
    detail: Rect,
    message: Rect,
    keys: Rect,
}

/// What is known of the selected gate is shown where the table has at least so many lines beside it.
const TABLE: u16 = 8;
/// A rule, its name, when the next one may go, and some limits and windows.
const DETAIL: u16 = 7;

const HINTS: &str = "q quit  ? keys  s sort  p pause  r reset  ↑↓ select";

/// How many gates an area shows.
pub(super) fn height(model: &Model, area: Rect) -> usize {
    let lines = areas(model, area).table.height;
    usize::from(lines - titles(lines))
}

pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame<'_>) {
    let areas = areas(model, frame.area());
    line(frame, areas.title, &title(model), theme.strong());
    if model.rows.is_empty() {
        nothing(model, frame, areas.table);
    } else {
        table::draw(model, theme, areas.table, frame.buffer_mut());
        detail(model, theme, frame, areas.detail);
    }
    if let Some((text, style)) = message(model, theme) {
        line(frame, areas.message, &text, style);
    }
    line(frame, areas.keys, HINTS, theme.quiet());
    match &model.over {
        Over::Nothing => {}
        Over::Help => over::help(frame, theme),
        Over::Prompt(prompt) => over::prompt(frame, theme, prompt),
    }
}

fn areas(model: &Model, area: Rect) -> Areas {
    let mut left = area;
    let mut from_top = |height: u16, least: u16| {
        let height = if left.height > least {
            height.min(left.height)
        } else {
            0
        };
        let taken = Rect { height, ..left };
        left.y += height;
        left.height -= height;
        taken
    };
    // The gates matter most, then what went wrong.
    let title = from_top(1, 3);
    let mut from_bottom = |height: u16, least: u16| {
        let height = if left.height > least { height } else { 0 };
        left.height -= height;
        Rect {
            y: left.y + left.height,
            height,
            ..left
        }
    };
    let keys = from_bottom(1, 3);
    let is_said = message(model, Theme { colours: false }).is_some();
    let message = from_bottom(u16::from(is_said), 1);
    let is_known = !model.rows.is_empty();
    let detail = from_bottom(if is_known { DETAIL } else { 0 }, TABLE + DETAIL);
    Areas {
        title,
        table: left,
        detail,
        message,
        keys,
    }
}

/// One gate is worth more than the names of the columns.
const fn titles(lines: u16) -> u16 {
    if lines > 1 { 1 } else { 0 }
}

fn title(model: &Model) -> String {
    let waiting = model.waiting;
    let gates = match model.rows.len() {
        1 => "1 gate".into(),
        more => format!("{more} gates"),
    };
    let every = model.interval.as_secs_f64();
    format!("paceline top: {gates}, {waiting} waiting, every {every} s")
}

fn nothing(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    if model.seen {
        let mut rows = area.rows();
        for text in [status::NOTHING, "", &format!("in {}", model.folder)] {
            if let Some(row) = rows.next() {
                line(frame, row, text, Style::new());
            }
        }
    }
}

/// What is known of the selected gate, in the words of `status`.
fn detail(model: &Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let Some(row) = model.selected() else {
        return;
    };
    let mut rows = area.rows();
    let mut next = |text: &str, style| {
        if let Some(row) = rows.next() {
            line(frame, row, text, style);
        }
    };
    next(&"─".repeat(usize::from(area.width)), theme.quiet());
    let takes_part = status::takes_part(row.owners);
    next(&format!("{} ({takes_part})", row.title()), theme.strong());
    next(
        &format!("  {}", status::held(&row.gate, row.at)),
        Style::new(),
    );
    let known = status::of_gate(&row.gate, row.at);
    let room = usize::from(area.height.saturating_sub(3));
    let (shown, more) = match known.len() {
        len if len > room => (room.saturating_sub(1), len - room + 1),
        len => (len, 0),
    };
    for text in known.iter().take(shown) {
        next(&format!("  {text}"), Style::new());
    }
    if more > 0 {
        next(
            &format!("  and {more} more: paceline status"),
            theme.quiet(),
        );
    }
}

/// The one thing that a person should know now.
fn message(model: &Model, theme: Theme) -> Option<(String, Style)> {
    if let Some(trouble) = &model.trouble {
        return Some((trouble.clone(), theme.wrong()));
    }
    if let Some(silent) = model.silent {
        let silent = Duration::from_secs(silent.as_secs());
        let text = format!(
            "the folder has not answered for {silent:?}: a process that uses it may be stopped"
        );
        return Some((text, theme.wrong()));
    }
    if let Some(said) = &model.said {
        return Some((said.clone(), Style::new()));
    }
    match model.left_out.as_slice() {
        [] => None,
        [one] => Some((one.clone(), theme.wrong())),
        [first, more @ ..] => {
            let text = format!("{first} (and {} more)", more.len());
            Some((text, theme.wrong()))
        }
    }
}

fn line(frame: &mut Frame<'_>, area: Rect, text: &str, style: Style) {
    if area.height > 0 {
        frame.render_widget(Line::styled(cut(text, area.width), style), area);
    }
}

#[cfg(test)]
mod tests;
