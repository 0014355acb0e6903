//! A driver in virtual time: it does what a real one does, checks after every input what holds at any time, and keeps a log.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use paceline_engine::*;

/// A request, by the order in which it asked.
pub(crate) type Name = usize;

/// A request that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) name: Name,
    pub(crate) at: Timestamp,
    pub(crate) reason: Reason,
}

/// An engine, its time, and everything that came of it.
pub(crate) struct Driver {
    pub(crate) engine: Engine,
    pub(crate) now: Timestamp,
    pub(crate) wake: Option<Deadline>,
    pub(crate) starts: Vec<Start>,
    pub(crate) refusals: Vec<(Name, Refusal)>,
    pub(crate) events: Vec<EventKind>,
    pub(crate) under_way: BTreeMap<Name, Sent>,
    pub(crate) tickets: BTreeMap<TicketId, Name>,
    pub(crate) asked: usize,
    /// One is being answered, and so still under way.
    answering: bool,
    /// Where all of the engine is saved after every input and loaded from again, if it shares its line.
    record: Option<BTreeMap<u32, Vec<u8>>>,
    saved: u64,
}

/// Sections of a record that take long to load.
const MUCH: usize = 50;

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::ZERO + ms(millis)
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn limits(texts: &[&str]) -> Vec<Limit> {
    texts
        .iter()
        .map(|text| text.parse().expect("a limit"))
        .collect()
}

/// A request through these gates.
pub(crate) fn through(gates: &[u16]) -> Want {
    let one = GateSet::one(gates[0]);
    Want::new(
        gates[1..]
            .iter()
            .try_fold(one, |set, gate| set.with(*gate))
            .expect("a few gates"),
    )
}

pub(crate) fn ok() -> Observation {
    Observation::status(Verdict::Ok, 200)
}

pub(crate) fn refused() -> Observation {
    Observation::status(Verdict::RateLimited, 429)
}

pub(crate) fn refused_for(wait: Duration) -> Observation {
    let mut seen = refused();
    seen.retry_after = Some(wait);
    seen.wait = Some(wait);
    seen
}

pub(crate) fn window(remaining: u64, reset: Duration) -> Window {
    let mut window = Window::unknown();
    window.remaining = Some(remaining);
    window.reset = Some(reset);
    window
}

impl Driver {
    /// One gate for each list of limits.
    pub(crate) fn new(gates: &[&[&str]]) -> Self {
        Self::with(1, 1_000, gates)
    }

    pub(crate) fn with(seed: u64, max_waiting: usize, gates: &[&[&str]]) -> Self {
        let mut engine = Engine::new(max_waiting, seed);
        for (index, texts) in gates.iter().enumerate() {
            let gate = engine.add_gate(at(0), &format!("gate {index}"), limits(texts));
            assert_eq!(gate, u16::try_from(index).ok());
        }
        Self {
            engine,
            now: at(0),
            wake: None,
            starts: Vec::new(),
            refusals: Vec::new(),
            events: Vec::new(),
            under_way: BTreeMap::new(),
            tickets: BTreeMap::new(),
            asked: 0,
            answering: false,
            record: None,
            saved: 0,
        }
        .shared(crate::SHARED)
    }

    fn shared(mut self, shared: bool) -> Self {
        if shared {
            self.engine.share(Owner::new(NonZeroU64::MIN));
            self.engine.enroll(self.now).finish();
            self.record = Some(BTreeMap::new());
            self.pass_on();
        }
        self
    }

    /// Saves the engine and loads it again, as if all of it were news; now and then only, where that is much.
    fn pass_on(&mut self) {
        if let Some(record) = &mut self.record {
            self.engine.save(self.now, 1, record);
            self.saved += 1;
            if record.len() > MUCH && !self.saved.is_multiple_of(16) {
                return;
            }
            let loaded = self.engine.load_anew(record);
            assert_eq!(loaded, Ok(true), "it was saved");
        }
    }

    pub(crate) fn ask(&mut self, want: &Want) -> Name {
        self.ask_again(want, None, &Attempts::default(), self.now)
    }

    pub(crate) fn ask_again(
        &mut self,
        want: &Want,
        place: Option<Place>,
        attempts: &Attempts,
        not_before: Timestamp,
    ) -> Name {
        let name = self.asked;
        self.asked += 1;
        match self
            .engine
            .join(self.now, want, place, attempts, not_before)
        {
            Joined::Admitted(sent) => {
                self.started(name, sent, Reason::Turn);
                self.pass_on();
            }
            Joined::Refused(refusal) => self.refusals.push((name, refusal)),
            Joined::Waiting(ticket, effects) => {
                let (effects, wake) = drained(effects);
                self.tickets.insert(ticket, name);
                self.apply(effects, wake);
            }
        }
        name
    }

    pub(crate) fn ask_all(&mut self, count: usize, want: &Want) {
        for _ in 0..count {
            self.ask(want);
        }
    }

    pub(crate) fn settle(&mut self, name: Name, seen: &Observation) {
        let mut sent = self.under_way.remove(&name).expect("under way");
        self.answering = true;
        self.input(|engine, now| engine.settle(now, &mut sent, seen));
        self.answering = false;
        self.under_way.insert(name, sent);
    }

    /// Its response says what it did cost.
    pub(crate) fn settle_cost(&mut self, name: Name, actual: &Cost) {
        let mut sent = self.under_way.remove(&name).expect("under way");
        self.input(|engine, now| engine.settle_cost(now, &mut sent, actual));
        self.under_way.insert(name, sent);
    }

    pub(crate) fn receipt(&mut self, name: Name) -> Option<Receipt> {
        let sent = self.under_way.get_mut(&name).expect("under way");
        sent.receipt()
    }

    pub(crate) fn finish(&mut self, name: Name) {
        let sent = self.under_way.remove(&name).expect("under way");
        self.input(|engine, now| engine.finish(now, sent));
    }

    /// Answered, to the end of the body.
    pub(crate) fn answer(&mut self, name: Name, seen: &Observation) {
        self.settle(name, seen);
        self.finish(name);
    }

    pub(crate) fn refund(&mut self, name: Name) {
        let sent = self.under_way.remove(&name).expect("under way");
        self.input(|engine, now| engine.refund(now, sent));
    }

    pub(crate) fn leave(&mut self, name: Name) {
        let ticket = self.tickets.iter().find(|(_, own)| **own == name);
        let ticket = *ticket.expect("it waits").0;
        self.tickets.remove(&ticket);
        self.input(|engine, now| engine.leave(now, ticket));
    }

    pub(crate) fn change_limits(&mut self, gate: u16, texts: &[&str]) {
        self.input(|engine, now| engine.change_limits(now, gate, limits(texts)));
    }

    /// Time passes until `until`, and the engine hears of it at its deadlines; a timer that fires early, too.
    pub(crate) fn pass_to(&mut self, until: Timestamp) {
        while let Some(wake) = self.wake.filter(|wake| wake.at <= until) {
            let early = Timestamp::from_nanos(wake.at.as_nanos() - 1).max(self.now);
            self.now = early;
            let (effects, again) = drained(self.engine.handle_timeout(early));
            assert_eq!(
                (effects, again.map(|again| again.at)),
                (Vec::new(), Some(wake.at)),
                "an early timer changes nothing"
            );
            self.now = wake.at;
            self.input(|engine, now| engine.handle_timeout(now));
        }
        self.now = self.now.max(until);
    }

    pub(crate) fn pass(&mut self, duration: Duration) {
        self.pass_to(self.now + duration);
    }

    /// Time passes to the next deadline.
    pub(crate) fn wait(&mut self) -> Deadline {
        let wake = self.wake.expect("somebody waits for a time");
        self.pass_to(wake.at);
        wake
    }

    /// Whose requests started, in order.
    pub(crate) fn order(&self) -> Vec<Name> {
        self.starts.iter().map(|start| start.name).collect()
    }

    /// The requests with their starts in milliseconds.
    pub(crate) fn times(&self) -> Vec<(Name, u128)> {
        let starts = self.starts.iter();
        starts
            .map(|start| (start.name, start.at.since(at(0)).as_millis()))
            .collect()
    }

    pub(crate) fn refusal(&self, name: Name) -> Refusal {
        let mut refusals = self.refusals.iter();
        refusals
            .find(|(own, _)| *own == name)
            .expect("it was refused")
            .1
            .clone()
    }

    pub(crate) fn available(&self, gate: usize) -> Vec<u64> {
        let snapshot = self.engine.snapshot(self.now);
        let limits = snapshot.gates[gate].limits.iter();
        limits.map(|limit| limit.available).collect()
    }

    pub(crate) fn waiting(&self, gate: u16) -> u64 {
        self.engine.gauges(gate).expect("a gate").waiting
    }

    pub(crate) fn in_flight(&self, gate: u16) -> u64 {
        self.engine.gauges(gate).expect("a gate").in_flight
    }

    pub(crate) fn circuit(&self, gate: u16) -> &'static str {
        self.engine.gauges(gate).expect("a gate").circuit
    }

    pub(crate) fn input(&mut self, input: impl FnOnce(&mut Engine, Timestamp) -> Effects<'_>) {
        let (effects, wake) = drained(input(&mut self.engine, self.now));
        self.apply(effects, wake);
    }

    fn started(&mut self, name: Name, sent: Sent, reason: Reason) {
        assert_eq!(sent.at(), self.now, "a request starts now or not yet");
        let at = sent.at();
        self.starts.push(Start { name, at, reason });
        let twice = self.under_way.insert(name, sent);
        assert_eq!(twice, None, "admitted once");
    }

    fn apply(&mut self, effects: Vec<Effect>, wake: Option<Deadline>) {
        for effect in effects {
            match effect {
                Effect::Admitted {
                    ticket,
                    sent,
                    reason,
                    ..
                } => {
                    let name = self.tickets.remove(&ticket).expect("one that waits");
                    self.started(name, sent, reason);
                }
                Effect::Refused { ticket, refusal } => {
                    let name = self.tickets.remove(&ticket).expect("one that waits");
                    self.refusals.push((name, refusal));
                }
                Effect::Event(event) => self.events.push(event.kind),
                other => panic!("{other:?}"),
            }
        }
        self.wake = wake;
        self.pass_on();
        self.check();
    }

    /// What holds after every input.
    fn check(&mut self) {
        let (effects, again) = drained(self.engine.handle_timeout(self.now));
        assert_eq!(
            (effects, again),
            (Vec::new(), self.wake),
            "a second look changes nothing"
        );
        assert_eq!(self.engine.waiting(), self.tickets.len());
        assert!(
            self.wake.is_none_or(|wake| wake.at > self.now),
            "a deadline that is past is a loop: {:?} at {:?}",
            self.wake,
            self.now
        );
        let hope = self.wake.is_some() || !self.under_way.is_empty() || self.answering;
        assert!(
            self.tickets.is_empty() || hope,
            "{} wait for nothing",
            self.tickets.len()
        );
    }
}

fn drained(mut effects: Effects<'_>) -> (Vec<Effect>, Option<Deadline>) {
    let all = effects.by_ref().collect();
    (all, effects.finish())
}
