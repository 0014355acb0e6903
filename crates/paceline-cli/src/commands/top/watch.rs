//! The hand on the folder: a thread that looks and changes when it is told to.
//!
//! A process that is stopped within a step holds everybody up. Then this thread waits, and keys still do what they should.

use std::os::unix::fs::MetadataExt;
use std::sync::mpsc;

use paceline::{Machine, Survey};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::prompt::Change;

/// What it is told. It ends when nobody can tell it anything any more.
pub(super) enum Ask {
    Look,
    Change(Change),
}

/// What it tells.
pub(super) enum News {
    Looked(Survey),
    Failed(String),
    /// What became of a change.
    Changed(String),
}

pub(super) fn start(machine: Machine) -> (mpsc::Sender<Ask>, UnboundedReceiver<News>) {
    let (ask, asked) = mpsc::channel();
    let (tell, told) = unbounded_channel();
    std::thread::spawn(move || watch(&machine, &asked, &tell));
    (ask, told)
}

fn watch(machine: &Machine, asked: &mpsc::Receiver<Ask>, tell: &UnboundedSender<News>) {
    let opened = which(machine);
    for ask in asked {
        // What is open stays readable where its folder is removed, but nobody else sees it any more.
        let is_there = opened.is_some() && which(machine) == opened;
        if let Ask::Change(wish) = ask {
            let said = if is_there {
                changed(machine, &wish).unwrap_or_else(|error| format!("error: {error}"))
            } else {
                gone(machine)
            };
            if tell.send(News::Changed(said)).is_err() {
                return;
            }
        }
        let news = match is_there.then(|| machine.survey()) {
            Some(Ok(survey)) => News::Looked(survey),
            Some(Err(error)) => News::Failed(error.to_string()),
            None => News::Failed(gone(machine)),
        };
        if tell.send(news).is_err() {
            return;
        }
    }
}

/// Which folder is at its path now.
fn which(machine: &Machine) -> Option<(u64, u64)> {
    let folder = machine.path().metadata().ok()?;
    Some((folder.dev(), folder.ino()))
}

fn gone(machine: &Machine) -> String {
    let path = machine.path().display();
    format!("{path} was removed while it was open; start paceline top again")
}

fn changed(machine: &Machine, wish: &Change) -> Result<String, paceline::MachineError> {
    let Change { gate, title, pause } = wish;
    let is_there = match pause {
        Some(length) => machine.pause(gate, *length)?,
        None => machine.reset_gate(gate)?,
    };
    Ok(match pause {
        _ if !is_there => format!("{title} is not there any more"),
        None => format!("reset: {title}"),
        Some(length) if length.is_zero() => format!("the pause by hand is over: {title}"),
        Some(length) => format!("paused for {length:?}: {title}"),
    })
}
