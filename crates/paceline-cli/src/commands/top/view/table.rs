//! The gates, a line each, below the names of the columns.

use paceline::Reason;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::columns::{Column, GAP, columns};
use super::cut::{columns as columns_of, cut, cut_origin};
use super::theme::Theme;
use super::titles;
use crate::commands::top::model::Model;
use crate::commands::top::row::Row;

pub(super) fn draw(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let columns = columns(area.width, |column| wanted(model, column));
    let mut lines = area.rows();
    if titles(area.height) > 0
        && let Some(line) = lines.next()
    {
        let titles = columns.iter().map(|(column, width)| {
            let mark = match (column.sort() == Some(model.sort), model.reversed) {
                (true, false) => " ▼",
                (true, true) => " ▲",
                (false, _) => "",
            };
            let title = format!("{}{mark}", column.title());
            (*column, *width, title, theme.quiet())
        });
        cells(line, buffer, titles);
    }
    for ((row, selected), line) in model.shown().zip(lines) {
        let texts = columns.iter().map(|(column, width)| {
            let text = column.text(row);
            let text = match column {
                Column::Upstream => cut_origin(&text, *width),
                _ => text,
            };
            (*column, *width, text, style(*column, row, theme))
        });
        cells(line, buffer, texts);
        if selected {
            buffer.set_style(line, theme.selected());
        }
    }
}

fn cells(
    line: Rect,
    buffer: &mut Buffer,
    texts: impl Iterator<Item = (Column, u16, String, Style)>,
) {
    let mut x = line.x;
    for (column, width, text, style) in texts {
        let text = cut(&text, width);
        let free = usize::from(width).saturating_sub(columns_of(&text));
        let indent = if column.is_number() { free } else { 0 };
        let at = x.saturating_add(u16::try_from(indent).unwrap_or_default());
        buffer.set_stringn(at, line.y, &text, usize::from(width), style);
        x = x.saturating_add(width).saturating_add(GAP);
    }
}

fn style(column: Column, row: &Row, theme: Theme) -> Style {
    let is_stopped = matches!(
        row.gate.reason,
        Some(Reason::Pause | Reason::ByHand | Reason::Circuit | Reason::Window)
    );
    match column {
        Column::Next if is_stopped => theme.stopped(),
        Column::Circuit if row.gate.circuit != "closed" => theme.stopped(),
        Column::Upstream | Column::Gate => theme.strong(),
        _ => Style::new(),
    }
}

/// The longest text of those that are shown.
fn wanted(model: &Model, column: Column) -> u16 {
    let texts = model.shown().map(|(row, _)| columns_of(&column.text(row)));
    u16::try_from(texts.max().unwrap_or_default()).unwrap_or(u16::MAX)
}
