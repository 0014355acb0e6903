//! The state of one quota: everything that shares it shares the gate.
//!
//! A gate asks its parts when the next request may start and takes the latest answer: configured limits, a pause, the
//! windows that the server reported, the belief, the circuit. It knows no HTTP and no line of waiters.

mod belief;
mod by_hand;
mod circuit;
mod crowd;
mod found;
mod hints;
mod pause;
mod quotas;
mod record;
mod reset;
mod snapshot;
mod window;

use core::time::Duration;

use minicbor::{Decode, Encode};

use crate::cost::{Ahead, Cost};
use crate::limits::Account;
use crate::opening::Opening;
use crate::ticket::{Charge, Ended};
use crate::{Kind, Limit, Observation, Reason, Scope, Timestamp, Verdict};
use belief::{Belief, Evidence, Sighting};
use by_hand::ByHand;
use circuit::Circuit;
pub(crate) use circuit::Moved;
use crowd::Crowd;
use pause::Pause;
use window::{Told, Windows};

/// One quota.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub(crate) struct Gate {
    #[n(0)]
    name: Box<str>,
    #[n(1)]
    limits: Vec<Account>,
    #[n(2)]
    #[cbor(default, with = "crate::record::unless_new")]
    pause: Pause,
    #[n(3)]
    #[cbor(default, with = "crate::record::unless_new")]
    windows: Windows,
    #[n(4)]
    #[cbor(default, with = "crate::record::unless_new")]
    belief: Belief,
    /// A refusal that no reported window explains: there is a limit that nobody tells of.
    #[n(5)]
    unexplained: bool,
    #[n(6)]
    #[cbor(default, with = "crate::record::unless_new")]
    circuit: Circuit,
    #[n(7)]
    #[cbor(default, with = "crate::record::unless_new")]
    crowd: Crowd,
    /// The most under way before the first request has been served.
    #[n(8)]
    cold_start: Option<u64>,
    #[n(9)]
    in_flight: u64,
    /// Answers that said "overloaded", two points each; one less for every request served.
    #[n(10)]
    overloaded: u32,
    /// The latest send that was served: what it left after is known to be past.
    #[n(11)]
    served_order: u64,
    /// The shortest time from a send to its answer, in nanoseconds.
    #[n(12)]
    quickest: Option<u64>,
    /// How many it is the shortest of.
    #[n(14)]
    #[cbor(default)]
    trips: u32,
    /// How much longer the others are, about, in nanoseconds.
    #[n(15)]
    #[cbor(default)]
    unsteady: u64,
    /// Refills are not counted on before requests are known to have arrived.
    #[n(13)]
    #[cbor(default)]
    holds: bool,
    #[n(16)]
    #[cbor(default, with = "crate::record::unless_new")]
    by_hand: ByHand,
}

/// An answer as a gate sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    /// When its request left, and as which.
    pub(crate) sent: Timestamp,
    pub(crate) order: u64,
    /// The order that the next request will have.
    pub(crate) next_order: u64,
    /// A refusal that is about this request and not about the gate.
    pub(crate) alone: bool,
    /// What it was charged.
    pub(crate) cost: &'a Cost,
    /// The answer itself says that it means this gate, where there are others.
    pub(crate) named: bool,
    pub(crate) seen: &'a Observation,
}

impl Answered<'_> {
    fn told(&self, now: Timestamp) -> Told {
        Told {
            now,
            sent: self.sent,
            order: self.order,
            next_order: self.next_order,
            refused: self.seen.verdict.is_refusal(),
        }
    }
}

/// What an answer changed, for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Paused { until: Timestamp, asked: Duration },
    Resumed,
    Pace { interval: Duration },
    Circuit(Moved),
}

/// Points. Where one in thirty fails at random, three in a row are rarer than one in twenty thousand; where every other
/// request is refused, five are enough.
const OVERLOADED: u32 = 6;
/// A refusal about its request or its object, in the upstream's own words.
const fn is_about_itself(seen: &Observation) -> bool {
    seen.verdict.is_refusal() && is_narrow(seen.scope)
}

/// Says nothing about most requests of a gate.
const fn is_narrow(scope: Scope) -> bool {
    matches!(scope, Scope::Request | Scope::Resource)
}

impl Gate {
    pub(crate) fn new(name: &str, now: Timestamp, limits: Vec<Limit>) -> Self {
        Self {
            name: name.into(),
            limits: limits
                .into_iter()
                .map(|limit| Account::open(now, 0, limit))
                .collect(),
            pause: Pause::default(),
            windows: Windows::default(),
            belief: Belief::default(),
            unexplained: false,
            circuit: Circuit::default(),
            crowd: Crowd::default(),
            cold_start: None,
            in_flight: 0,
            overloaded: 0,
            served_order: 0,
            quickest: None,
            trips: 0,
            unsteady: 0,
            holds: false,
            by_hand: ByHand::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Nothing is configured, nothing was reported or asked for, nothing goes wrong: time plays no part.
    pub(crate) fn is_calm(&self) -> bool {
        self.limits.is_empty()
            && self.pause.is_none()
            && self.by_hand.is_none()
            && self.windows.is_empty()
            && self.belief.is_idle()
            && self.circuit.is_calm()
            && self.crowd.is_calm()
            && self.cold_start.is_none()
    }

    /// When a request of `cost` may start after those `ahead`.
    pub(crate) fn opens(&self, now: Timestamp, ahead: Ahead<'_>, cost: &Cost) -> Opening {
        if self.is_calm() {
            return Opening::NOW;
        }
        let bounds = self.bounds_with(now, ahead, cost, Account::opens);
        let circuit = self.circuit.opens(now, self.in_flight, ahead.requests);
        let bounds = bounds
            .and(circuit)
            .and(self.crowd.opens(self.in_flight, ahead.requests))
            .and(self.warms_up(ahead.requests));
        // The probes of an open circuit are what the belief learns from. Where the server says what is left, and that explains
        // its refusals, there is nothing to believe.
        let told = self.windows.govern() && !self.unexplained;
        if told || !self.circuit.is_closed() {
            return bounds;
        }
        bounds.and(self.belief.opens(self.in_flight, ahead.requests))
    }

    /// The part of `opens` that no answer can make earlier: limits, pauses, windows. A caller whose time ends before
    /// that has nothing to hope for.
    pub(crate) fn bounds(&self, now: Timestamp, ahead: Ahead<'_>, cost: &Cost) -> Opening {
        self.bounds_with(now, ahead, cost, Account::bounds)
    }

    fn bounds_with(
        &self,
        now: Timestamp,
        ahead: Ahead<'_>,
        cost: &Cost,
        opens: impl Fn(&Account, Timestamp, u64, Ahead<'_>, &Cost) -> Opening,
    ) -> Opening {
        let limits = self
            .limits
            .iter()
            .map(|account| opens(account, now, self.in_flight, ahead, cost))
            .fold(Opening::NOW, Opening::and);
        limits
            .and(self.pause.opens(now))
            .and(self.by_hand.opens(now))
            .and(self.windows.opens(now, ahead, cost))
    }

    /// Nothing is known before the first answer, and some upstreams punish who finds out by trying.
    fn warms_up(&self, ahead: u64) -> Opening {
        match self.cold_start {
            Some(most) if self.in_flight.saturating_add(ahead) >= most => {
                Opening::completion(Reason::InFlight, Timestamp::MAX)
            }
            _ => Opening::NOW,
        }
    }

    pub(crate) const fn cold_start(&mut self, most: u64) {
        self.cold_start = Some(most);
    }

    /// A request leaves. Charges whatever `opens` says: whoever calls has asked.
    pub(crate) fn take(&mut self, now: Timestamp, order: u64, cost: &Cost) {
        for account in &mut self.limits {
            account.charge(now, order, cost);
        }
        self.by_hand.over(now);
        self.belief.sent(now, order);
        self.in_flight += 1;
        self.windows.sent(now, cost);
        self.circuit.sent(now, order);
    }

    /// It was not sent after all: as if it had never been taken.
    pub(crate) fn refund(&mut self, now: Timestamp, charge: &Charge) {
        for account in &mut self.limits {
            account.refund(now, charge);
        }
        self.windows.unsent(&charge.cost);
        self.belief.unsent(charge.order);
        self.circuit.unsent(now, charge.order);
    }

    /// It was sent, and nobody will tell how it ended.
    pub(crate) fn abandoned(&mut self, now: Timestamp, charge: &Charge) {
        self.ended(now, charge.at);
        self.windows.lost(now, &charge.cost);
        self.belief.unsent(charge.order);
        self.circuit.unsent(now, charge.order);
    }

    /// Its response has ended, or there will be none.
    pub(crate) fn finish(&mut self, now: Timestamp, charge: &Charge, ended: Ended) {
        self.in_flight = self.in_flight.saturating_sub(1);
        for account in &mut self.limits {
            account.end(now, charge, ended);
        }
    }

    /// Learns from an answer.
    pub(crate) fn observe(
        &mut self,
        now: Timestamp,
        answer: Answered<'_>,
        rng: &mut fastrand::Rng,
        mut changed: impl FnMut(Change),
    ) {
        let told = answer.told(now);
        let explained = self
            .windows
            .answered(told, answer.cost, answer.seen, || rng.f64());
        if answer.seen.is_served() {
            self.served(now, answer, &mut changed);
            self.obey(now, answer, rng, &mut changed);
        } else if !self.circuit.is_closed() || !(answer.alone || is_about_itself(answer.seen)) {
            // Whoever asks while it is open asks for all.
            self.unserved(now, answer, explained, rng, &mut changed);
            self.heed(now, answer, explained, rng, &mut changed);
        } else if is_about_itself(answer.seen) {
            self.belief.unsent(answer.order);
        }
    }

    fn served(&mut self, now: Timestamp, answer: Answered<'_>, changed: &mut impl FnMut(Change)) {
        let order = answer.order;
        self.served_order = self.served_order.max(order);
        self.overloaded = self.overloaded.saturating_sub(1);
        self.cold_start = None;
        self.crowd.served(order, self.in_flight.saturating_sub(1));
        self.pause.served_after_assumed(order);
        if self.pause.served(now, order) {
            changed(Change::Resumed);
        }
        if let Some(moved) = self.circuit.served(order) {
            // The pause came from the refusals that opened it; they are over.
            self.pause.clear();
            changed(Change::Circuit(moved));
        }
        if !self.belief.is_idle() {
            self.learn(now, &answer, Evidence::Accepted, changed);
            self.unexplained &= !self.belief.is_idle();
        } else {
            self.belief.served(order);
        }
    }

    fn unserved(
        &mut self,
        now: Timestamp,
        answer: Answered<'_>,
        explained: bool,
        rng: &mut fastrand::Rng,
        changed: &mut impl FnMut(Change),
    ) {
        let seen = answer.seen;
        let refused = seen.verdict == Verdict::RateLimited || self.speaks_of_a_limit(seen);
        if refused && (explained || seen.kind != Kind::Rate) {
            // The window says all there is to learn, or it is no word about the pace.
            self.belief.unsent(answer.order);
            if seen.kind == Kind::Concurrency {
                let others = self.in_flight.saturating_sub(1);
                self.crowd.refused(answer.order, answer.next_order, others);
            }
        } else if refused {
            self.unexplained |= self.windows.govern();
            let refused = Evidence::Refused {
                asked: seen.wait.unwrap_or_default().as_secs_f64(),
                chance: rng.f64(),
            };
            self.learn(now, &answer, refused, changed);
        } else {
            self.belief.failed(answer.order);
        }
        let (order, next_order) = (answer.order, answer.next_order);
        if let Some(moved) = self.circuit.unserved(now, order, next_order, refused, rng) {
            changed(Change::Circuit(moved));
        }
    }

    fn learn(
        &mut self,
        now: Timestamp,
        answer: &Answered<'_>,
        seen: Evidence,
        changed: &mut impl FnMut(Change),
    ) {
        let sighting = Sighting {
            sent: answer.sent,
            order: answer.order,
            next_order: answer.next_order,
            under_way: self.in_flight,
            quickest: self.quickest.map(Duration::from_nanos),
            seen,
        };
        self.belief.observe(now, sighting);
        changed(Change::Pace {
            interval: self.belief.interval(),
        });
    }

    /// Whether "overloaded" is how this upstream refuses: it served us, and now it says so again and again, or a limit is
    /// believed in already. One in thirty at random is trouble of its own and paces nobody.
    fn speaks_of_a_limit(&mut self, seen: &Observation) -> bool {
        if seen.verdict != Verdict::Overloaded || self.served_order == 0 {
            return false;
        }
        self.overloaded = (self.overloaded + 2).min(OVERLOADED);
        let believed = !self.belief.is_idle() && !self.belief.is_noise();
        believed || self.overloaded >= OVERLOADED
    }

    /// The chance of a refusal that is taken on purpose, to learn the pace.
    pub(crate) fn risk(&self) -> f64 {
        self.belief.risk()
    }

    /// It has answered something else than a refusal or a failure.
    pub(crate) const fn has_served(&self) -> bool {
        self.served_order > 0
    }

    pub(crate) const fn circuit_is_closed(&self) -> bool {
        self.circuit.is_closed()
    }

    /// The time between two starts that is believed to be needed; zero for none.
    pub(crate) fn interval(&self) -> Duration {
        self.belief.interval()
    }

    pub(crate) const fn circuit_word(&self) -> &'static str {
        self.circuit.word()
    }

    pub(crate) const fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
