//! Keys, as far as they mean something here.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
}

impl Key {
    /// What was pressed; `None` for what has no meaning, and for keys that are let go.
    pub(super) fn of(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        if event
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
        {
            return match (event.modifiers, event.code) {
                (KeyModifiers::CONTROL, KeyCode::Char('c')) => Some(Self::Interrupt),
                (KeyModifiers::CONTROL, KeyCode::Char('z')) => Some(Self::Suspend),
                _ => None,
            };
        }
        Some(match event.code {
            KeyCode::Char(char) => Self::Char(char),
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_alt_are_not_the_letter() {
        let key = |code, modifiers| Key::of(KeyEvent::new(code, modifiers));
        let c = KeyCode::Char('c');
        assert_eq!(key(c, KeyModifiers::NONE), Some(Key::Char('c')));
        assert_eq!(key(c, KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(key(c, KeyModifiers::ALT), None);
        let r = KeyCode::Char('r');
        assert_eq!(key(r, KeyModifiers::CONTROL), None, "it resets nothing");
        assert_eq!(
            key(KeyCode::Char('S'), KeyModifiers::SHIFT),
            Some(Key::Char('S'))
        );
    }

    #[test]
    fn a_key_that_is_let_go_is_none() {
        let mut event = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        event.kind = KeyEventKind::Release;
        assert_eq!(Key::of(event), None);
    }
}
