//! Keys, signals, time and what the folder says, one after another, until somebody quits.

use core::time::Duration;
use std::io;
use std::sync::mpsc::Sender;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use paceline::Machine;
use tokio::time::{Instant, MissedTickBehavior};

use super::keys::Key;
use super::model::{Model, Order};
use super::row::Looked;
use super::screen::Screen;
use super::signals::{Caught, Signals};
use super::view::{self, Theme};
use super::watch::{self, Ask, News};
use crate::output::{Exit, Stop};

/// Who is stopped in a step is waited for so long in the end; whoever is not answers in microseconds.
const FAREWELL: Duration = Duration::from_millis(200);

pub(super) async fn run(machine: Machine, interval: Duration) -> Result<Exit, Stop> {
    let lost = |error: io::Error| Stop::open(format_args!("the terminal: {error}"));
    let theme = Theme::of(std::env::var_os("NO_COLOR").as_deref());
    let mut model = Model::new(machine.path().display().to_string(), interval);
    let mut signals = Signals::listen().map_err(lost)?;
    let (ask, mut told) = watch::start(machine);
    let mut screen = Screen::open().map_err(lost)?;
    let mut keys = EventStream::new();
    let mut time = tokio::time::interval(interval);
    time.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Since when an answer is waited for.
    let mut since = None;
    let ended = loop {
        let area = screen.area().map_err(lost)?;
        model.fit(view::height(&model, area));
        let draw = screen.draw(|frame| view::draw(&model, theme, frame));
        draw.map_err(lost)?;
        let order = tokio::select! {
            event = keys.next() => match event {
                Some(Ok(Event::Key(key))) => Key::of(key).and_then(|key| model.press(key)),
                // It is drawn anew.
                Some(Ok(_)) => None,
                Some(Err(error)) => return Err(lost(error)),
                None => Some(Order::Quit),
            },
            _ = time.tick() => {
                look(&mut model, &ask, &mut since);
                None
            }
            news = told.recv() => {
                let Some(news) = news else {
                    return Err(Stop::open("whoever looks at the state has ended"));
                };
                heard(&mut model, news, &mut since);
                None
            }
            caught = signals.next() => Some(match caught {
                Caught::End => Order::Interrupt,
                Caught::Suspend => Order::Suspend,
            }),
        };
        match order {
            None => {}
            Some(Order::Quit) => break Exit::Good,
            Some(Order::Interrupt) => break Exit::Interrupted,
            Some(Order::Suspend) => screen.suspend().map_err(lost)?,
            Some(Order::Change(change)) => {
                since.get_or_insert_with(Instant::now);
                // Whether it still listens is seen when it tells nothing more.
                let _ = ask.send(Ask::Change(change));
            }
        }
    };
    drop(screen);
    drop(ask);
    let over = async { while told.recv().await.is_some() {} };
    let _ = tokio::time::timeout(FAREWELL, over).await;
    Ok(ended)
}

fn look(model: &mut Model, ask: &Sender<Ask>, since: &mut Option<Instant>) {
    match since {
        None => {
            *since = Some(Instant::now());
            let _ = ask.send(Ask::Look);
        }
        Some(since) => {
            let silent = since.elapsed();
            model.silent = (silent >= Duration::from_secs(1)).then_some(silent);
        }
    }
}

fn heard(model: &mut Model, news: News, since: &mut Option<Instant>) {
    match news {
        News::Looked(survey) => {
            model.looked(Looked::from(&survey));
            *since = None;
        }
        News::Failed(error) => {
            model.trouble = Some(error);
            *since = None;
        }
        News::Changed(said) => model.said = Some(said),
    }
}
