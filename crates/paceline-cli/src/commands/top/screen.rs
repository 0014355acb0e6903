//! The terminal while it is ours, and as it was again whatever happens.

use core::mem::ManuallyDrop;
use std::io::{self, IsTerminal, Stdout};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

/// Until it is dropped, keys come one by one and what is drawn lies over what was there.
pub(super) struct Screen {
    /// Never dropped: it would complain to standard error, and panic where the terminal is gone and that with it.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

/// The terminal is ours. A panic may happen in any thread, and only one of them has the screen.
static OURS: AtomicBool = AtomicBool::new(false);

/// Why nothing can be drawn here; `None` if it can.
pub(super) fn obstacle() -> Option<&'static str> {
    if !io::stdout().is_terminal() {
        return Some("standard output is no terminal");
    }
    if !io::stdin().is_terminal() {
        return Some("standard input is no terminal");
    }
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    dumb.then_some("this terminal can only be written to line by line (TERM is dumb)")
}

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                leave();
                before(info);
            }));
        });
        let screen = Self { terminal: blank()? };
        enter()?;
        Ok(screen)
    }

    /// Draws what is different from before. Whoever panicked has the last word.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if OURS.load(Ordering::SeqCst) {
            self.terminal.draw(render)?;
        }
        Ok(())
    }

    /// The size may have changed since it was drawn last.
    pub(super) fn area(&mut self) -> io::Result<ratatui::layout::Rect> {
        Ok(ratatui::layout::Rect::from((
            ratatui::layout::Position::ORIGIN,
            self.terminal.size()?,
        )))
    }

    /// Gives the terminal back, stops this process as its shell's job control does, and takes the terminal when it goes on.
    #[cfg(unix)]
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        use rustix::process::{Signal, getpid, kill_process};
        leave();
        kill_process(getpid(), Signal::STOP)?;
        // What was drawn is gone. To clear it, the terminal would be asked for its cursor, and keys are what it answers with.
        self.terminal = blank()?;
        enter()
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "elsewhere it is used")]
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if !leave() {
            // Another thread panicked, perhaps while this one drew, which hides the cursor.
            let _ = execute!(io::stdout(), Show);
        }
    }
}

fn blank() -> io::Result<ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>> {
    Terminal::new(CrosstermBackend::new(io::stdout())).map(ManuallyDrop::new)
}

fn enter() -> io::Result<()> {
    OURS.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

/// Once; whether it was. A terminal that is gone needs no restoring.
fn leave() -> bool {
    let was_ours = OURS.swap(false, Ordering::SeqCst);
    if was_ours {
        let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
    was_ours
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::commands::top::terminal::Terminal;

    const IN_A_TERMINAL: &str = "PACELINE_TEST_IN_A_TERMINAL";
    const MYSELF: &str = "commands::top::screen::tests::a_panic_gives_the_terminal_back";

    /// Runs itself in a terminal, where it panics.
    #[test]
    fn a_panic_gives_the_terminal_back() {
        if std::env::var_os(IN_A_TERMINAL).is_some() {
            let mut screen = Screen::open().unwrap();
            screen
                .draw(|frame| frame.render_widget("drawn", frame.area()))
                .unwrap();
            panic!("on purpose");
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", MYSELF, "--nocapture"]);
        let mut terminal = Terminal::run(
            command.env(IN_A_TERMINAL, "yes").env("RUST_BACKTRACE", "0"),
            80,
            24,
        );
        assert_ne!(terminal.ended(), Some(0));
        terminal.wait_for("on purpose");
        assert!(terminal.is_as_before(), "{}", terminal.text());
        assert!(!terminal.text().contains("drawn"), "{}", terminal.text());
    }
}
