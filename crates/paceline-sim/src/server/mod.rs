//! Server models: limiters as pure state machines.
//!
//! ```text
//! arrive(now, request) ──► wraps, in order ──► limiter ──► Admit … finish(now) when its response left
//!                             │ refuses           │ refuses
//!                             └──► Refuse, nothing below is asked or charged
//! ```
//!
//! Times are integer nanoseconds since the model's origin; before it, token buckets are full and
//! windows are empty. Rates arrive as `f64` and are turned into integers once, when the
//! model is built. Floating point remains in the dice and in a rival's arrival times, and each of
//! those is rounded to a nanosecond, so that a seed replays.

mod all_of;
mod build;
mod concurrency;
mod fixed_window;
mod limiter;
mod outage;
mod over_time;
mod retry_after;
mod rival;
mod sliding_log;
mod spec;
mod token_bucket;
mod words;
mod wrap;

use core::time::Duration;

use paceline_engine::Timestamp;

use limiter::Limiter;
use retry_after::Wording;
use rival::Rival;
use wrap::Layer;

pub use build::SpecError;
pub use retry_after::RetryAfter;
pub(crate) use spec::Kind;
pub use spec::ServerSpec;
pub use wrap::Wrap;
pub(crate) use wrap::WrapKind;

/// What a server says to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Served; tell [`Model::finish`] when the response has left.
    Admit,
    /// Refused; there is nothing to finish.
    Refuse {
        /// The status of the answer, 429 unless the specification says otherwise.
        status: u16,
        /// How long until the next admission, or the fixed second of a server that cannot know;
        /// [`Duration::MAX`] if there will be none.
        exact_wait: Duration,
        /// The Retry-After field's value; `None` where the answer has no such field.
        retry_after: Option<String>,
    },
}

/// A server's limiter with everything that is wrapped around it; made by [`ServerSpec::model`].
///
/// The contract: [`arrive`](Self::arrive) once for each request, in order of time, and
/// [`finish`](Self::finish) once for each request that was admitted. A `now` that is earlier than
/// one seen before counts as that one. A clone goes on from the same state with the same dice,
/// which is how to ask "what if".
#[derive(Clone, Debug)]
pub struct Model {
    layers: Vec<Layer>,
    limiter: Limiter,
    wording: Wording,
    latest: u64,
}

impl Model {
    /// Request number `request` reaches the server at `now`.
    pub fn arrive(&mut self, now: Timestamp, request: u64) -> Decision {
        let now = self.clamp(now);
        match self.ask(now, Some(request)) {
            Ok(()) => {
                self.charge(now);
                Decision::Admit
            }
            Err(Refusal {
                wording,
                exact_wait,
            }) => Decision::Refuse {
                status: wording.status,
                exact_wait,
                retry_after: wording.retry_after.word(exact_wait),
            },
        }
    }

    /// The response to an admitted request has left at `now`: its slot is free.
    pub fn finish(&mut self, now: Timestamp) {
        let now = self.clamp(now);
        self.release(now);
    }

    /// Whether a slot is held until [`finish`](Self::finish): such a server decides the moment a
    /// request is sent, holds the slot for the whole latency, and refuses within 10 ms.
    pub fn holds_slots(&self) -> bool {
        self.limiter.holds_slots()
    }

    /// A clone without what refuses whatever a client does: at random, by arrival number, and the
    /// poisoned request.
    pub(crate) fn quiet(&self) -> Self {
        let mut quiet = self.clone();
        quiet.silence();
        quiet
    }

    fn silence(&mut self) {
        self.layers.retain(|layer| !layer.is_noise());
        self.limiter.silence();
    }

    fn clamp(&mut self, now: Timestamp) -> u64 {
        self.latest = self.latest.max(now.as_nanos());
        self.latest
    }

    /// Asks every layer and the limiter; charges nobody. `request` is `None` for a rival's.
    fn ask(&mut self, now: u64, request: Option<u64>) -> Result<(), Refusal> {
        ask_down(&mut self.layers, &mut self.limiter, now, request).map_err(
            |(wording, exact_wait)| Refusal {
                wording: wording.unwrap_or(self.wording),
                exact_wait,
            },
        )
    }

    fn charge(&mut self, now: u64) {
        self.limiter.charge(now);
    }

    fn release(&mut self, now: u64) {
        rivals_until(&mut self.layers, &mut self.limiter, now);
        self.limiter.release(now);
    }
}

/// Who refused, in whose words.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    wording: Wording,
    exact_wait: Duration,
}

/// The refusing layer's own words, or `None` where it was the limiter.
type Refused = (Option<Wording>, Duration);

fn ask_down(
    layers: &mut [Layer],
    limiter: &mut Limiter,
    now: u64,
    request: Option<u64>,
) -> Result<(), Refused> {
    let Some((layer, below)) = layers.split_first_mut() else {
        return limiter.ask(now, request).map_err(|wait| (None, wait));
    };
    match layer {
        Layer::Rival(rival) => act(rival, below, limiter, now),
        Layer::Refusing(refusing, wording) => {
            refusing
                .ask(now, request)
                .map_err(|wait| (Some(*wording), wait))?;
        }
    }
    ask_down(below, limiter, now, request)
}

/// Lets a rival try everything below it, up to and including `now`.
fn act(rival: &mut Rival, below: &mut [Layer], limiter: &mut Limiter, now: u64) {
    while let Some(at) = rival.next_until(now) {
        if ask_down(below, limiter, at, None).is_ok() {
            // A rival has no latency, so a slot that it takes is free again at once.
            limiter.charge(at);
            limiter.release(at);
        }
    }
}

/// Lets every rival act up to `now`, without asking anybody on a client's behalf.
fn rivals_until(layers: &mut [Layer], limiter: &mut Limiter, now: u64) {
    let mut rest = layers;
    while let Some((layer, below)) = rest.split_first_mut() {
        if let Layer::Rival(rival) = layer {
            act(rival, below, limiter, now);
        }
        rest = below;
    }
}

/// "Servers tolerate 1e-7 s of rounding": a request this much too early is admitted, in
/// nanoseconds.
const TOLERANCE: u64 = 100;

/// What a server says that cannot know when the next admission will be.
const UNKNOWN_WAIT: Duration = Duration::from_secs(1);

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod lab;
#[cfg(test)]
mod tests;
