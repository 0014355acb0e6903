//! Signals that would leave the terminal as it must not be left.

use std::io;

/// What a signal wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caught {
    End,
    Suspend,
}

#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
    suspend: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let suspend = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            suspend: signal(suspend)?,
        })
    }

    pub(super) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.interrupt.recv() => Caught::End,
            _ = self.terminate.recv() => Caught::End,
            _ = self.hangup.recv() => Caught::End,
            _ = self.quit.recv() => Caught::End,
            _ = self.suspend.recv() => Caught::Suspend,
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) -> Caught {
        if tokio::signal::ctrl_c().await.is_err() {
            core::future::pending::<()>().await;
        }
        Caught::End
    }
}
