//! What goes into the line and what comes out of it.

use core::fmt;
use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::cost::Cost;
use crate::gates::GateSet;
use crate::limits::Time;
use crate::retry::Neighbours;
use crate::{Limit, LimitKind, Priority, Reason, RouteKey, Timestamp};

/// What a request asks of a pace line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Want {
    /// The gates that must all admit it.
    pub gates: GateSet,
    /// What it spends on each.
    pub cost: Cost,
    /// How much it matters.
    pub priority: Priority,
    /// The instant after which its start is worthless; `None` for whenever.
    pub deadline: Option<Timestamp>,
    /// Go now or not at all.
    pub best_effort: bool,
    /// Its route, where gates are found from responses: the gate that is found for it comes on top of `gates`.
    pub route: Option<RouteKey>,
}

impl Want {
    /// One request of the usual cost and priority through `gates`, with all the time in the world.
    pub fn new(gates: GateSet) -> Self {
        Self {
            gates,
            cost: Cost::default(),
            priority: Priority::default(),
            deadline: None,
            best_effort: false,
            route: None,
        }
    }

    /// At another cost.
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    /// With another priority.
    #[must_use]
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Not after `deadline`.
    #[must_use]
    pub const fn deadline(mut self, deadline: Timestamp) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Go now or not at all.
    #[must_use]
    pub const fn best_effort(mut self) -> Self {
        self.best_effort = true;
        self
    }

    /// Of this route.
    #[must_use]
    pub const fn route(mut self, route: Option<RouteKey>) -> Self {
        self.route = route;
        self
    }
}

/// What was charged, when, and to which gates.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Charge {
    #[n(0)]
    pub(crate) order: u64,
    #[n(1)]
    pub(crate) at: Timestamp,
    #[n(2)]
    pub(crate) gates: GateSet,
    #[n(3)]
    pub(crate) cost: Cost,
    /// What it did cost, of the units that were told: each once.
    #[n(4)]
    pub(crate) told: Cost,
}

/// How a request ended that was sent, as far as the server's time is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was served: the next one may take as long.
    Served,
    /// It was refused, or it failed.
    Answered,
    /// Nobody heard of it again.
    Lost,
}

/// One HTTP request that was admitted: what was charged for it, and its place in the order of sends.
///
/// Not `Clone`: it is settled once, then finished or refunded once.
#[derive(Debug, PartialEq, Eq, Encode, Decode)]
pub struct Sent {
    #[n(0)]
    pub(crate) charge: Charge,
    /// What it costs may turn out differently.
    #[n(1)]
    pub(crate) estimate: bool,
    /// The right to say what it did cost is used, or with a [`Receipt`].
    #[n(2)]
    pub(crate) receipt_gone: bool,
    #[n(3)]
    pub(crate) answered: bool,
    #[n(4)]
    pub(crate) route: Option<RouteKey>,
    /// It left before its bucket was known, and has not been answered.
    #[n(5)]
    pub(crate) doubtful: bool,
    /// How its neighbours had been answered when it was refused last.
    #[n(6)]
    pub(crate) refused: Option<Neighbours>,
    /// It was answered, and not with a refusal.
    #[n(7)]
    #[cbor(default)]
    pub(crate) served: bool,
}

impl Sent {
    /// How it ended, if it ends now.
    pub(crate) const fn ended(&self) -> Ended {
        match (self.answered, self.served) {
            (true, true) => Ended::Served,
            (true, false) => Ended::Answered,
            (false, _) => Ended::Lost,
        }
    }

    /// The same, to be ended by somebody else if its owner never does.
    pub(crate) fn twin(&self) -> Self {
        Self {
            charge: self.charge.clone(),
            ..*self
        }
    }

    /// When it was admitted.
    pub const fn at(&self) -> Timestamp {
        self.charge.at
    }

    /// Its place in the order of all sends of its pace line.
    pub const fn order(&self) -> u64 {
        self.charge.order
    }

    /// The gates it was charged to.
    pub const fn gates(&self) -> GateSet {
        self.charge.gates
    }

    /// What was charged for it.
    pub const fn cost(&self) -> &Cost {
        &self.charge.cost
    }

    /// Whether somebody should say what it did cost: it named more than one request, or a limit of its gates counts
    /// something else.
    pub const fn is_estimate(&self) -> bool {
        self.estimate
    }

    /// The right to say what it did cost, for whoever learns that later than this is finished; once.
    pub fn receipt(&mut self) -> Option<Receipt> {
        let gone = core::mem::replace(&mut self.receipt_gone, true);
        (!gone).then(|| Receipt(self.charge.clone()))
    }

    /// Somebody knows what it did cost, or will, and only who was sent costs anything.
    pub(crate) fn has_left(&self) -> bool {
        self.receipt_gone || self.charge.told != Cost::default()
    }

    /// It was admitted before its route was known.
    pub fn takes(&mut self, route: Option<RouteKey>) {
        self.route = self.route.or(route);
    }

    /// Whether it was settled: a second answer changes nothing.
    pub const fn is_answered(&self) -> bool {
        self.answered
    }
}

/// The right to say, once, what a request that was sent did cost: to be settled, or given back if nobody will say.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "as long as it may be settled, those who wait may hope for what it gives back"]
pub struct Receipt(pub(crate) Charge);

impl Receipt {
    /// What was charged.
    pub const fn cost(&self) -> &Cost {
        &self.0.cost
    }
}

/// Why a request was not admitted. Nothing was charged for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// What ended it.
    pub reason: Reason,
    /// What it would have had to wait for, if `reason` is a deadline or best effort.
    pub waiting_for: Option<Reason>,
    /// When it would have been possible, as far as is known.
    pub possible_at: Option<Timestamp>,
    /// How long the upstream asked us to stop, if a pause is in force.
    pub asked: Option<Duration>,
    /// Which limit it exceeds, if it costs more than that ever allows.
    pub too_costly: Option<Box<TooCostly>>,
}

/// A request that exceeds a limit by itself. Displayed after "because it costs more than a limit ever allows: ".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooCostly {
    /// What it costs, in the limit's unit; of server time, what requests take, in milliseconds.
    pub cost: u64,
    /// The limit.
    pub limit: Limit,
}

impl fmt::Display for TooCostly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { cost, limit }, most) = (self, self.limit.most());
        if let LimitKind::ServerTime { amount, .. } = limit.kind {
            let [takes, most] = [Duration::from_millis(*cost), amount].map(Time);
            return write!(f, "requests take {takes} where {limit} allows {most}");
        }
        let unit = match &limit.unit {
            crate::Unit::Other(word) => word,
            _ => "requests",
        };
        write!(f, "{cost} {unit} where {limit} allows {most} at once")
    }
}

impl Refusal {
    pub(crate) const fn because(reason: Reason) -> Self {
        Self {
            reason,
            waiting_for: None,
            possible_at: None,
            asked: None,
            too_costly: None,
        }
    }
}
