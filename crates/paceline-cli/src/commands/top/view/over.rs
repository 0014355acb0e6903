//! What lies over the table: questions, and the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::theme::Theme;
use crate::commands::top::prompt::{Prompt, What};

const KEYS: &str = "\
↑ ↓  k j        select a gate
PgUp PgDn       a page up or down
Home End  g G   the first, the last
s  S            sort by the next, the previous column
o               the other way round
p               pause the selected gate
r               reset it: pauses, windows, what was learned
?               this help
q  Ctrl-C       quit
";

const MEANS: &str = "\
PACE      what is believed, else what is configured
REFUSED   refusals that shaped what is believed
NEXT ONE  when the next request may go, why not before
";

pub(super) fn help(frame: &mut Frame<'_>, theme: Theme) {
    let lines = KEYS.lines().chain([""]).chain(MEANS.lines());
    let lines = lines.map(Line::from).collect();
    window(frame, theme, "keys", lines);
}

pub(super) fn prompt(frame: &mut Frame<'_>, theme: Theme, prompt: &Prompt) {
    let title = Line::styled(prompt.title.clone(), theme.strong());
    match &prompt.what {
        What::Reset => {
            let says = "It forgets pauses, windows and what was learned. What was spent of configured limits \
                stays spent.";
            let keys = Line::from("y: reset it   n: leave it");
            window(frame, theme, "reset?", vec![keys, title, says.into()]);
        }
        What::Pause { length, wrong, .. } => {
            let asked = Line::from(format!("for how long: {length}_"));
            let says = "Nobody starts there until then, or until it is reset. What is under way goes on. \
                0s ends a pause by hand.";
            let keys = Line::from("Enter: pause it   Esc: leave it");
            let mut lines = vec![asked, keys, title, says.into()];
            if let Some(wrong) = wrong {
                lines.insert(1, Line::styled(wrong.clone(), theme.wrong()));
            }
            window(frame, theme, "pause?", lines);
        }
    }
}

/// In the middle; what matters comes first, for the end may be cut off.
fn window(frame: &mut Frame<'_>, theme: Theme, title: &str, lines: Vec<Line<'_>>) {
    let area = frame.area();
    let block = Block::bordered().title(Line::styled(title.to_owned(), theme.strong()));
    let width = area.width.min(64);
    let inside = usize::from(width.saturating_sub(2)).max(1);
    // Words go to the next line whole, so that this is a little less than needed.
    let heights = lines
        .iter()
        .map(|line| line.width().div_ceil(inside).max(1));
    let height: usize = heights.sum::<usize>() + 3;
    let height = u16::try_from(height).unwrap_or(u16::MAX).min(area.height);
    let place: Rect = area.centered(Constraint::Length(width), Constraint::Length(height));
    frame.render_widget(Clear, place);
    let paragraph = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(paragraph.block(block), place);
}
