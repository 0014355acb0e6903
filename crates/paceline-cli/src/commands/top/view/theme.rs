//! How it looks, with colours and without.

use ratatui::style::{Color, Modifier, Style};

/// Without colours everything is still told apart: bold, dim, reversed, and words.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands::top) struct Theme {
    pub(in crate::commands::top) colours: bool,
}

impl Theme {
    /// As `NO_COLOR` says (https://no-color.org): set to anything but nothing.
    pub(in crate::commands::top) fn of(no_color: Option<&std::ffi::OsStr>) -> Self {
        Self {
            colours: no_color.is_none_or(std::ffi::OsStr::is_empty),
        }
    }

    pub(super) const fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) const fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) const fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Somebody stopped it: the upstream, a person, a circuit.
    pub(super) const fn stopped(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub(super) const fn wrong(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    const fn coloured(self, color: Color) -> Style {
        if self.colours {
            Style::new().fg(color)
        } else {
            Style::new()
        }
    }
}
