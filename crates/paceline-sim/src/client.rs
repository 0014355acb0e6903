//! The seam between a world and whoever is under test.

use paceline_engine::Timestamp;

/// A policy that sends requests: told what happens, it orders what to do.
///
/// Every request that it is given it settles exactly once, and it has at most one send of a request under way.
pub trait Client {
    /// A worker takes request number `request`.
    fn start(&mut self, now: Timestamp, request: u64, orders: &mut Orders);

    /// The answer to the latest send of a request.
    fn answered(&mut self, now: Timestamp, request: u64, answer: &Answer, orders: &mut Orders);

    /// A time that was ordered with [`Orders::wake`] has come. Orders cannot be taken back.
    fn woken(&mut self, now: Timestamp, token: u64, orders: &mut Orders);

    /// Requests per second that it believes the server allows; `None` for no limit, or no belief.
    fn believed(&self, now: Timestamp) -> Option<f64> {
        let _ = now;
        None
    }
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "all that a limit shows")]
pub struct Answer {
    /// 200 if it was served, else the refusal's.
    pub status: u16,
    /// It was served. A refusal's status may be 200, too.
    pub served: bool,
    /// The field's value.
    pub retry_after: Option<String>,
}

/// What a client wants done, in this order.
#[derive(Debug, Default)]
pub struct Orders(pub(crate) Vec<Order>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Send(u64),
    SendSteadily(u64),
    Settle { request: u64, ok: bool },
    Wake { at: Timestamp, token: u64 },
}

impl Orders {
    /// Sends a request now.
    pub fn send(&mut self, request: u64) {
        self.0.push(Order::Send(request));
    }

    /// Sends a request now, for one who knows the network too: without jitter on its way there.
    pub(crate) fn send_steadily(&mut self, request: u64) {
        self.0.push(Order::SendSteadily(request));
    }

    /// Gives a request's result to its caller: served, or given up.
    pub fn settle(&mut self, request: u64, ok: bool) {
        self.0.push(Order::Settle { request, ok });
    }

    /// Calls back at `at`, or at once if that is past.
    pub fn wake(&mut self, at: Timestamp, token: u64) {
        self.0.push(Order::Wake { at, token });
    }
}
