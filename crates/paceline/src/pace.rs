//! One pace: the gates that some requests share, and the way to ask them.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode};
use paceline_engine::response::dialect::Dialect;
use paceline_engine::{
    Attempts, Deadline, GateSet, Limit, LimitError, Observation, RetryPolicy, RouteKey, Snapshot,
    Timestamp, Want,
};

use crate::clock::{Clock, TokioClock};
use crate::dialect::Gates;
use crate::driver::{Acquire, Attempt, Permit, Shared};
#[cfg(all(feature = "machine", unix))]
use crate::machine::Machine;
use crate::outcome::Stopped;
#[cfg(all(feature = "machine", unix))]
use crate::partition::Partition;
use crate::partition::PartitionKeyer;

/// One pace, shared by everything that holds a clone of it.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let pace = paceline::Pace::builder("api").limit("10/s burst 50".parse()?).build();
/// let mut permit = pace.acquire(&pace.want()).await?;
/// permit.sending();
/// // … send the request; then tell what came back:
/// permit.settle(&paceline::response::read(http::StatusCode::OK, &http::HeaderMap::new(), pace.wall()));
/// drop(permit); // once the body has ended
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Pace {
    shared: Arc<Shared>,
    policy: Arc<RetryPolicy>,
    dialect: Arc<Dialect>,
    gates: Option<Arc<Finder>>,
}

/// How the routes of requests are told apart.
#[derive(Debug)]
struct Finder {
    gates: Gates,
    keyer: PartitionKeyer,
}

impl Pace {
    /// A pace for the upstream `name`. With nothing configured it delays nothing until it is refused.
    pub fn builder(name: &str) -> PaceBuilder {
        PaceBuilder {
            name: name.into(),
            gates: vec![(name.into(), Vec::new())],
            max_waiting: 10_000,
            clock: None,
            seed: None,
            policy: RetryPolicy::default(),
            dialect: Arc::new(Dialect::PLAIN),
            find: None,
            cold_start: None,
            #[cfg(all(feature = "machine", unix))]
            machine: None,
        }
    }

    /// The upstream's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// What most requests want: one request through the upstream's own gate, with all the time in the world.
    pub fn want(&self) -> Want {
        Want::new(GateSet::one(0))
    }

    /// What its upstream's quotas go by, if gates are found for them.
    pub fn gates(&self) -> Option<&Gates> {
        self.gates.as_ref().map(|finder| &finder.gates)
    }

    /// The route of a request, for [`Want::route`]; `path` is what is sent, without the query. `None` where all requests
    /// share the upstream's quota.
    pub fn route_of(&self, method: &Method, path: &str) -> Option<RouteKey> {
        let Finder { gates, keyer } = &**self.gates.as_ref()?;
        Some(gates.route(keyer, method, path))
    }

    /// Waits for admission. Dropping the future leaves the line at once; nothing is charged then.
    ///
    /// # Errors
    ///
    /// [`Stopped`] if it will never be admitted in time; nothing is charged.
    pub fn acquire(&self, want: &Want) -> Acquire {
        Acquire::new(Arc::clone(&self.shared), &first(want))
    }

    /// The same for programs without an async runtime: parks the thread. Both kinds stand in one line.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn acquire_blocking(&self, want: &Want) -> Result<Permit, Stopped> {
        self.acquire(want).block().map(|(permit, ..)| permit)
    }

    /// Charges a request that was already sent without asking, so that later ones make up for it.
    pub fn spend(&self, want: &Want) {
        self.shared.spend(want);
    }

    /// When a request could start if nobody were waiting, and why not before; `None` if at once.
    pub fn next_start(&self, want: &Want) -> Option<Deadline> {
        self.shared.next_start(want)
    }

    /// Changes the limits of a gate (0 is the upstream's own) while it runs. What was spent stays spent.
    pub fn change_limits(&self, gate: u16, limits: Vec<Limit>) {
        self.shared.change_limits(gate, limits);
    }

    /// Everything that is, as data.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot()
    }

    /// This pace's time.
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// The instant `after` from now, for deadlines.
    pub fn after(&self, after: Duration) -> Timestamp {
        self.shared.now() + after
    }

    /// The wall clock, to read the dates that upstreams send.
    pub fn wall(&self) -> paceline_engine::WallTime {
        self.shared.clock.wall()
    }

    /// How its upstream speaks of limits.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Reads a response's head, and its body where the dialect understands it, for [`Permit::settle`](crate::Permit::settle).
    pub fn read(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&[u8]>,
    ) -> Observation {
        self.dialect.read(status, headers, body, self.wall())
    }

    /// Refuses everybody who waits and whoever asks later, with [`Reason::Shutdown`](crate::Reason::Shutdown).
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }

    /// How far it goes for each request.
    pub fn policy(&self) -> Arc<RetryPolicy> {
        Arc::clone(&self.policy)
    }

    #[cfg(any(feature = "tower", feature = "reqwest"))]
    pub(crate) fn sleep_until(&self, at: Timestamp) -> crate::clock::Sleep {
        self.shared.clock.sleep_until(at)
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pace").field(&self.shared.name).finish()
    }
}

/// A first attempt.
fn first(want: &Want) -> Attempt<'_> {
    static NONE: Attempts = Attempts::new();
    Attempt {
        want,
        place: None,
        attempts: &NONE,
        not_before: Timestamp::ZERO,
    }
}

/// Configures a [`Pace`].
#[derive(Clone)]
#[must_use]
pub struct PaceBuilder {
    name: Box<str>,
    gates: Vec<(Box<str>, Vec<Limit>)>,
    max_waiting: usize,
    clock: Option<Arc<dyn Clock>>,
    seed: Option<u64>,
    policy: RetryPolicy,
    dialect: Arc<Dialect>,
    find: Option<Gates>,
    cold_start: Option<u64>,
    #[cfg(all(feature = "machine", unix))]
    machine: Option<(Machine, Option<Partition>)>,
}

impl PaceBuilder {
    /// A limit on the upstream's own gate. Several add up: all must admit.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.gates[0].1.push(limit);
        self
    }

    /// The same from text.
    ///
    /// # Errors
    ///
    /// If the text is not a limit; the error says what would be.
    pub fn limit_text(self, limit: &str) -> Result<Self, LimitError> {
        Ok(self.limit(limit.parse()?))
    }

    /// What the upstream's own gate is called in metrics, if not by the upstream's name: names that come from requests do
    /// not belong there.
    pub fn label(mut self, label: &str) -> Self {
        self.gates[0].0 = label.into();
        self
    }

    /// A further gate with its own limits; the first one added has index 1 in [`GateSet`]s.
    pub fn gate(mut self, name: &str, limits: Vec<Limit>) -> Self {
        self.gates.push((name.into(), limits));
        self
    }

    /// The most that may wait (10,000). Raising it lets longer jobs queue up and makes each wait longer.
    pub const fn max_waiting(mut self, max: usize) -> Self {
        self.max_waiting = max;
        self
    }

    /// Another clock than tokio's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// The seed of all jitter, for runs that replay. Otherwise it differs in every process.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How its upstream speaks of limits, beyond what all upstreams say.
    pub fn dialect(mut self, dialect: impl Into<Arc<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// What its upstream's quotas go by: gates are found for them from requests and responses, at most 512. Requests say
    /// their route with [`Pace::route_of`]; the adapters do.
    pub fn find_gates(mut self, gates: impl Into<Option<Gates>>) -> Self {
        self.find = gates.into();
        self
    }

    /// The most that may be under way before the first request has been served, for upstreams that tell their limits with
    /// the first answer and punish who finds out by trying; at each gate, where gates are found.
    pub const fn cold_start(mut self, most: Option<u64>) -> Self {
        self.cold_start = most;
        self
    }

    /// Shared by all processes of this user on this machine that build a pace of this name: one line, one quota, one belief.
    /// Each names its gates and limits as it knows them; gates of one name are one, and of limits that differ all hold. Its
    /// time is the machine's, whatever [`clock`](Self::clock) says. If sharing fails later on (a full disk), it goes on as
    /// a pace of its own, and a warning says so.
    #[cfg(all(feature = "machine", unix))]
    pub fn machine(mut self, machine: &Machine) -> Self {
        self.machine = Some((machine.clone(), None));
        self
    }

    /// The same, for one of several who spend quotas of their own at the upstream.
    #[cfg(all(feature = "machine", unix))]
    pub(crate) fn machine_for(mut self, machine: &Machine, partition: Partition) -> Self {
        self.machine = Some((machine.clone(), Some(partition)));
        self
    }

    /// How far to go for each request.
    pub fn policy(mut self, policy: RetryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Builds it.
    pub fn build(self) -> Pace {
        #[cfg(all(feature = "machine", unix))]
        let room = self
            .machine
            .as_ref()
            .map(|(machine, partition)| machine.room(&self.name, *partition));
        #[cfg(all(feature = "machine", unix))]
        let own_clock = room.as_ref().map(|room| room.clock() as Arc<dyn Clock>);
        #[cfg(not(all(feature = "machine", unix)))]
        let own_clock = None;
        let clock = own_clock.or(self.clock);
        let clock = clock.unwrap_or_else(|| Arc::new(TokioClock::new()));
        let seed = self.seed.unwrap_or_else(crate::partition::random_u64);
        let shared = Shared::new(&self.name, clock, self.gates, self.max_waiting, seed);
        match (&self.find, self.cold_start) {
            (Some(gates), most) => shared.find_gates(gates.find(most)),
            (None, Some(most)) => shared.cold_start(most),
            (None, None) => {}
        }
        let shared = Arc::new(shared);
        #[cfg(all(feature = "machine", unix))]
        if let Some(room) = room {
            shared.share(Arc::new(room), seed);
        }
        let keyer = PartitionKeyer::random();
        // Routes are known to all by the same numbers.
        #[cfg(all(feature = "machine", unix))]
        let keyer = self
            .machine
            .as_ref()
            .map_or(keyer, |(machine, _)| machine.keyer());
        let finder = self.find.map(|gates| Finder { gates, keyer });
        Pace {
            gates: finder.map(Arc::new),
            shared,
            dialect: self.dialect,
            policy: Arc::new(self.policy),
        }
    }
}

impl fmt::Debug for PaceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaceBuilder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
