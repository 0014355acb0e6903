//! Waiting for admission: a future, and its twin for threads.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;
use std::thread::Thread;

use paceline_engine::{Attempts, Place, Reason, TicketId, Timestamp, Want};

use super::waiters::Turn;
use super::{Answer, Permit, Shared};
use crate::clock::Sleep;
use crate::outcome::Stopped;

/// What one attempt asks.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) want: &'a Want,
    pub(crate) place: Option<Place>,
    pub(crate) attempts: &'a Attempts,
    pub(crate) not_before: Timestamp,
}

/// The future of a permit. Dropping it leaves the line at once and gives back whatever was granted in between.
#[must_use = "nothing is sent before the permit is there"]
pub struct Acquire {
    shared: Arc<Shared>,
    place: Place,
    state: State,
    sleep: Option<(Timestamp, Sleep)>,
}

enum State {
    Answered(Option<Answer>),
    Waiting(TicketId),
}

/// A permit and what it waited for, or why there is none.
pub(crate) type Granted = Result<(Permit, Duration, Reason), Stopped>;

impl Acquire {
    pub(crate) fn new(shared: Arc<Shared>, attempt: &Attempt<'_>) -> Self {
        let (place, joined) = shared.join(attempt);
        let state = match joined {
            Ok(answer) => State::Answered(Some(answer)),
            Err(ticket) => State::Waiting(ticket),
        };
        Self {
            shared,
            place,
            state,
            sleep: None,
        }
    }

    /// Where it stands, for the attempts after this one.
    pub(crate) const fn place(&self) -> Place {
        self.place
    }

    /// Waits by parking this thread: for programs without an async runtime.
    pub(crate) fn block(mut self) -> Granted {
        struct Unpark(Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            match self.step(&waker) {
                Turn::Answered(answer) => return self.granted(answer),
                Turn::Rest(patience) => {
                    let until = self.shared.now() + patience;
                    self.shared.clock.park_until(Some(until));
                }
                Turn::Keep(due) => self.shared.clock.park_until(due),
            }
        }
    }

    pub(crate) fn poll_granted(&mut self, cx: &mut Context<'_>) -> Poll<Granted> {
        loop {
            let asleep_until = self.sleep.as_ref().map(|(at, _)| *at);
            let until = match self.step(cx.waker()) {
                Turn::Answered(answer) => return Poll::Ready(self.granted(answer)),
                Turn::Keep(None) => {
                    self.sleep = None;
                    return Poll::Pending;
                }
                Turn::Keep(Some(due)) => due,
                // A sleep that has begun is not put off: being polled often is no reason never to look.
                Turn::Rest(patience) => {
                    let latest = self.shared.now() + patience;
                    asleep_until.map_or(latest, |at| at.min(latest))
                }
            };
            if asleep_until != Some(until) {
                self.sleep = Some((until, self.shared.clock.sleep_until(until)));
            }
            if let Some((_, sleep)) = &mut self.sleep {
                core::task::ready!(sleep.as_mut().poll(cx));
            }
            self.sleep = None;
        }
    }

    /// Looks once: an answer, rest, or until when to sleep.
    fn step(&mut self, waker: &Waker) -> Turn {
        match &mut self.state {
            State::Waiting(ticket) => self.shared.turn(*ticket, waker),
            State::Answered(answer) => {
                Turn::Answered(answer.take().expect("not polled again after it was ready"))
            }
        }
    }

    fn granted(&mut self, answer: Answer) -> Granted {
        self.state = State::Answered(None);
        match answer {
            Answer::Admitted(sent, waited, reason) => {
                Ok((Permit::new(Arc::clone(&self.shared), sent), waited, reason))
            }
            Answer::Refused(refusal) => {
                Err(Stopped::new(&self.shared.name, self.shared.now(), refusal))
            }
        }
    }
}

impl Future for Acquire {
    type Output = Result<Permit, Stopped>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_granted(cx)
            .map(|granted| granted.map(|(permit, ..)| permit))
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let answer = match &mut self.state {
            State::Waiting(ticket) => self.shared.leave(*ticket),
            State::Answered(answer) => answer.take(),
        };
        if let Some(Answer::Admitted(sent, ..)) = answer {
            self.shared.refund(sent);
        }
    }
}

impl core::fmt::Debug for Acquire {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Acquire")
            .field("pace", &self.shared)
            .finish_non_exhaustive()
    }
}
