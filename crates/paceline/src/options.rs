//! What a caller says about one request, in the request's extensions.

use core::time::Duration;

use http::{HeaderMap, Method};
use paceline_engine::{Cost, Priority, Repeatable};

use crate::call::Call;
use crate::prepaid::Prepaid;
use crate::router::Routed;

/// What a caller says about one request; put it into the request's extensions.
///
/// ```
/// # use std::time::Duration;
/// # use paceline::{Priority, RequestOptions};
/// let request = http::Request::get("https://api.example.com/report")
///     .extension(
///         RequestOptions::new().priority(Priority::Interactive).total(Duration::from_secs(5)),
///     )
///     .body(())?;
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RequestOptions {
    cost: Option<Cost>,
    priority: Option<Priority>,
    total: Option<Duration>,
    repeatable: bool,
    best_effort: bool,
    prepaid: Option<Prepaid>,
}

impl RequestOptions {
    /// Nothing special.
    pub fn new() -> Self {
        Self::default()
    }

    /// It spends this: of the units that it names, instead of what its route says. An estimate will do, such as
    /// `Cost::tokens(1200)`, where the response tells the truth and the caller passes it on to
    /// [`SettleCost`](crate::SettleCost).
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// It matters this much.
    #[must_use]
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// All its waits and sends together take no longer than this.
    #[must_use]
    pub const fn total(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// Doing it twice is doing it once, whatever its method.
    #[must_use]
    pub const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Go now or not at all, once.
    #[must_use]
    pub const fn best_effort(mut self) -> Self {
        self.best_effort = true;
        self
    }

    /// Its first HTTP request uses this permit.
    #[must_use]
    pub fn prepaid(mut self, prepaid: Prepaid) -> Self {
        self.prepaid = Some(prepaid);
        self
    }
}

/// The call of a request with this head, routed like this.
pub(crate) fn call(
    routed: Routed,
    method: &Method,
    headers: &HeaderMap,
    options: Option<&RequestOptions>,
    body_can_be_resent: bool,
) -> Call {
    let Routed {
        pace,
        mut want,
        mut policy,
        mut total,
        queue_wait,
    } = routed;
    let mut marked = headers.contains_key("idempotency-key");
    let mut prepaid = None;
    if let Some(options) = options {
        marked |= options.repeatable;
        prepaid.clone_from(&options.prepaid);
        total = options.total.or(total);
        want.priority = options.priority.unwrap_or(want.priority);
        if let Some(cost) = &options.cost {
            want.cost = cost.or(&want.cost);
        }
        if options.best_effort {
            std::sync::Arc::make_mut(&mut policy).best_effort = true;
        }
    }
    let mut call = Call::new(&pace, want)
        .policy(policy)
        .repeatable(Repeatable::new(method, marked, body_can_be_resent));
    if let Some(total) = total {
        call = call.total(total);
    }
    if let Some(wait) = queue_wait {
        call = call.queue_wait(wait);
    }
    match prepaid {
        Some(prepaid) => call.prepaid(prepaid),
        None => call,
    }
}
