//! Ctrl-C: the first time what is under way may finish, the second time nothing may.

use core::time::Duration;
use std::io;

use tokio::sync::watch;
use tokio::time::Instant;

/// How far an interruption has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// There was none.
    Running,
    /// Nothing new begins, nobody waits any more; what is under way may finish.
    Finishing,
    /// Everything is dropped.
    Cancelled,
}

/// How long what is under way may take after the first interruption: a usual answer comes, and nobody loses patience.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Listens for interruptions.
pub(super) struct Interrupts {
    signals: Signals,
    stage: watch::Sender<Stage>,
    grace_ends: Option<Instant>,
}

impl Interrupts {
    /// From here on an interruption does not end the process.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            signals: Signals::listen()?,
            stage: watch::Sender::new(Stage::Running),
            grace_ends: None,
        })
    }

    /// For those who are to be interrupted.
    pub(super) fn stage(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    /// The next stage, once it is reached. Cancel-safe.
    pub(super) async fn next(&mut self) -> Stage {
        match self.grace_ends {
            None => self.signals.next().await,
            Some(end) => tokio::select! {
                () = self.signals.next() => {}
                () = tokio::time::sleep_until(end) => {}
            },
        }
        let stage = match *self.stage.borrow() {
            Stage::Running => {
                self.grace_ends = Some(Instant::now() + GRACE);
                Stage::Finishing
            }
            Stage::Finishing | Stage::Cancelled => {
                self.grace_ends = None;
                Stage::Cancelled
            }
        };
        self.stage.send_replace(stage);
        stage
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self {
            interrupt: signal(interrupt)?,
            terminate: signal(terminate)?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            core::future::pending::<()>().await;
        }
    }
}
