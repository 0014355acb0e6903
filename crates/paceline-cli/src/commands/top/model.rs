//! What is shown, what is selected, and what a key does. It reads and writes nothing.

use core::time::Duration;

use paceline::GateKey;

use super::keys::Key;
use super::prompt::{Answer, Change, Prompt};
use super::row::{Looked, Row};
use super::sort::Sort;

#[derive(Debug, Default)]
pub(super) struct Model {
    /// Where the state is, and how often it is looked at.
    pub(super) folder: String,
    pub(super) interval: Duration,
    pub(super) rows: Vec<Row>,
    /// It has been looked at.
    pub(super) seen: bool,
    pub(super) waiting: u64,
    pub(super) left_out: Vec<String>,
    /// Why the latest look failed.
    pub(super) trouble: Option<String>,
    /// For how long the folder has not answered.
    pub(super) silent: Option<Duration>,
    /// What became of the latest change.
    pub(super) said: Option<String>,
    pub(super) sort: Sort,
    pub(super) reversed: bool,
    pub(super) over: Over,
    selected: Option<GateKey>,
    /// Where that was, if it goes.
    was_at: usize,
    /// The first line of the table that is shown, and how many are.
    pub(super) first: usize,
    height: usize,
}

/// What lies over the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Over {
    #[default]
    Nothing,
    Help,
    Prompt(Prompt),
}

/// What is to be done about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Quit,
    Interrupt,
    Suspend,
    Change(Change),
}

impl Model {
    pub(super) fn new(folder: String, interval: Duration) -> Self {
        Self {
            folder,
            interval,
            ..Self::default()
        }
    }

    /// What there was when somebody looked.
    pub(super) fn looked(&mut self, looked: Looked) {
        let Looked {
            rows,
            waiting,
            left_out,
        } = looked;
        (self.rows, self.waiting, self.left_out) = (rows, waiting, left_out);
        self.seen = true;
        (self.trouble, self.silent) = (None, None);
        self.sorted();
    }

    fn sorted(&mut self) {
        self.sort.sort(&mut self.rows, self.reversed);
        let last = self.rows.len().saturating_sub(1);
        let index = self.index().unwrap_or_else(|| self.was_at.min(last));
        self.select(index);
    }

    fn index(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.rows.iter().position(|row| row.key == *selected)
    }

    fn select(&mut self, index: usize) {
        let index = index.min(self.rows.len().saturating_sub(1));
        self.selected = self.rows.get(index).map(|row| row.key.clone());
        self.was_at = index;
        self.fit(self.height);
    }

    /// The table has so many lines: the selected one is among them.
    pub(super) fn fit(&mut self, height: usize) {
        self.height = height;
        let last_first = self.rows.len().saturating_sub(height);
        let least = (self.was_at + 1).saturating_sub(height);
        let most = self.was_at.min(last_first.max(least));
        self.first = self.first.clamp(least.min(most), most);
    }

    /// The lines that are shown, and whether each is selected.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&Row, bool)> {
        let shown = self.rows.iter().skip(self.first).take(self.height);
        shown.map(|row| (row, self.selected.as_ref() == Some(&row.key)))
    }

    pub(super) fn selected(&self) -> Option<&Row> {
        self.rows.get(self.index()?)
    }

    pub(super) fn press(&mut self, key: Key) -> Option<Order> {
        match key {
            Key::Interrupt => return Some(Order::Interrupt),
            Key::Suspend => return Some(Order::Suspend),
            _ => {}
        }
        match &mut self.over {
            Over::Nothing => self.press_table(key),
            Over::Help => {
                self.over = Over::Nothing;
                None
            }
            Over::Prompt(prompt) => {
                let answer = prompt.press(key);
                if answer != Answer::Open {
                    self.over = Over::Nothing;
                }
                match answer {
                    Answer::Confirmed(change) => Some(Order::Change(change)),
                    Answer::Open | Answer::Closed => None,
                }
            }
        }
    }

    fn press_table(&mut self, key: Key) -> Option<Order> {
        let page = self.height.max(1);
        self.said = None;
        match key {
            Key::Up | Key::Char('k') => self.select(self.was_at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.select(self.was_at + 1),
            Key::PageUp => self.select(self.was_at.saturating_sub(page)),
            Key::PageDown => self.select(self.was_at + page),
            Key::Home | Key::Char('g') => self.select(0),
            Key::End | Key::Char('G') => self.select(usize::MAX),
            Key::Char('s') => self.sort_by(self.sort.next(), false),
            Key::Char('S') => self.sort_by(self.sort.previous(), false),
            Key::Char('o') => self.sort_by(self.sort, !self.reversed),
            Key::Char('p') => self.ask(Prompt::pause),
            Key::Char('r') => self.ask(Prompt::reset),
            Key::Char('?' | 'h') => self.over = Over::Help,
            Key::Char('q') => return Some(Order::Quit),
            _ => {}
        }
        None
    }

    fn sort_by(&mut self, sort: Sort, reversed: bool) {
        (self.sort, self.reversed) = (sort, reversed);
        self.sorted();
    }

    fn ask(&mut self, prompt: impl Fn(&Row) -> Prompt) {
        if let Some(prompt) = self.selected().map(prompt) {
            self.over = Over::Prompt(prompt);
        }
    }
}

#[cfg(test)]
mod tests;
