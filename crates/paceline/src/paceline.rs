//! All upstreams of a program.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::uri::Authority;
use http::{HeaderMap, Method, Uri, header};
use paceline_engine::{Cost, GateSet, Snapshot, Want};

use crate::dialect::Provider;
#[cfg(all(feature = "machine", unix))]
use crate::machine::Machine;
use crate::pace::{Pace, PaceBuilder};
use crate::partition::{Partition, PartitionKeyer};
use crate::router::{Routed, Router};
#[cfg(all(feature = "machine", unix))]
use crate::upstream::Share;
use crate::upstream::{PartitionKey, Upstream};

/// All upstreams of a program: finds the pace of each request by its host, its route and its credential.
///
/// An upstream that nobody configured is the request's origin, and who shares its quota is told by the `Authorization`
/// header. With the feature `config`, hosts of providers that are known speak their [dialect](crate::dialect).
#[derive(Clone, Debug)]
pub struct Paceline {
    inner: Arc<Inner>,
}

/// Dialects by their names.
type Dialects = BTreeMap<String, Arc<Provider>>;

#[derive(Debug)]
struct Inner {
    keyer: PartitionKeyer,
    upstreams: Vec<(Box<str>, Upstream)>,
    /// What applies to origins that nobody configured.
    others: Upstream,
    /// Those of the configuration: their hosts speak so.
    dialects: Dialects,
    paces: Mutex<Paces>,
    #[cfg(all(feature = "machine", unix))]
    machine: Option<Machine>,
}

/// One quota: an upstream, or an origin that nobody configured, and who spends it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    name: Box<str>,
    configured: bool,
    partition: Partition,
}

#[derive(Debug, Default)]
struct Paces {
    by_key: BTreeMap<Key, Kept>,
    routed: u64,
}

#[derive(Debug)]
struct Kept {
    pace: Pace,
    /// How many requests had been routed when it was used last.
    used: u64,
}

/// A program that meets more quotas than this forgets those that have been idle longest.
const MOST_PACES: usize = 10_000;

/// The label of all origins that nobody configured, so that metrics stay bounded.
const OTHERS: &str = "origin";

impl Paceline {
    /// Nothing configured: every origin and credential keeps a pace of its own.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Configures one.
    pub fn builder() -> PacelineBuilder {
        PacelineBuilder::default()
    }

    /// Everything that is, by upstream name.
    pub fn snapshots(&self) -> Vec<(Box<str>, Snapshot)> {
        let paces = self.inner.paces();
        let paces = paces.by_key.values();
        paces
            .map(|kept| (kept.pace.name().into(), kept.pace.snapshot()))
            .collect()
    }

    /// Refuses everybody who waits, and whoever asks later at a pace that is known already.
    pub fn shut_down(&self) {
        self.inner
            .paces()
            .by_key
            .values()
            .for_each(|kept| kept.pace.shut_down());
    }

    /// The name of the upstream that a request to `uri` belongs to; its origin if nobody configured one.
    pub fn upstream_of(&self, uri: &Uri, headers: &HeaderMap) -> Box<str> {
        self.inner.upstream_of(uri, headers).0
    }
}

impl Default for Paceline {
    fn default() -> Self {
        Self::new()
    }
}

impl Router for Paceline {
    fn route(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Routed {
        let inner = &*self.inner;
        let (name, configured) = inner.upstream_of(uri, headers);
        let upstream = configured.unwrap_or(&inner.others);
        let partition = inner.partition(upstream, uri, headers);
        let key = Key {
            name,
            configured: configured.is_some(),
            partition,
        };
        let pace = inner.pace(key, upstream, || origin(uri, headers));

        let (gates, cost, priority) = charges(upstream, method, uri.path());
        let want = Want::new(gates)
            .cost(cost)
            .priority(priority)
            .route(pace.route_of(method, uri.path()));
        let policy = pace.policy();
        let mut routed = Routed::new(pace, want, policy);
        routed.total = Some(upstream.retry.total);
        routed.queue_wait = upstream.queue.wait;
        routed
    }
}

impl Inner {
    fn upstream_of(&self, uri: &Uri, headers: &HeaderMap) -> (Box<str>, Option<&Upstream>) {
        let Some((authority, port)) = origin(uri, headers) else {
            return (OTHERS.into(), None);
        };
        let host = authority.host();
        let claims = self.upstreams.iter().flat_map(|(name, upstream)| {
            let hosts = upstream.hosts.iter().filter(|own| own.matches(host, port));
            hosts.map(move |own| (own, name, upstream))
        });
        match claims.max_by_key(|(own, ..)| *own) {
            Some((_, name, upstream)) => (name.clone(), Some(upstream)),
            // Without userinfo: names are printed.
            None => {
                let scheme = uri.scheme_str().unwrap_or("http");
                let name = format!("{scheme}://{host}:{port}").to_ascii_lowercase();
                (name.into(), None)
            }
        }
    }

    fn partition(&self, upstream: &Upstream, uri: &Uri, headers: &HeaderMap) -> Partition {
        let values = upstream.partition.iter().map(|key| match key {
            PartitionKey::Header(name) => headers.get(name).map(header::HeaderValue::as_bytes),
            PartitionKey::Query(name) => query_value(uri, name).map(str::as_bytes),
            PartitionKey::None => None,
        });
        self.keyer.partition(values)
    }

    fn pace(
        &self,
        key: Key,
        upstream: &Upstream,
        origin: impl FnOnce() -> Option<(Authority, u16)>,
    ) -> Pace {
        let mut paces = self.paces();
        paces.routed += 1;
        let Paces { by_key, routed } = &mut *paces;
        let used = *routed;
        if let Some(kept) = by_key.get_mut(&key) {
            kept.used = used;
            return kept.pace.clone();
        }
        let named = upstream.dialect.clone();
        let dialect = named.or_else(|| spoken_at(&origin()?, &self.dialects));
        if by_key.len() >= MOST_PACES {
            forget_idle(by_key);
        }
        let builder = build(&key, upstream, dialect);
        #[cfg(all(feature = "machine", unix))]
        let builder = match &self.machine {
            Some(machine) if upstream.share == Share::Machine => {
                builder.machine_for(machine, key.partition)
            }
            _ => builder,
        };
        let pace = builder.build();
        let kept = Kept {
            pace: pace.clone(),
            used,
        };
        by_key.insert(key, kept);
        pace
    }

    fn paces(&self) -> MutexGuard<'_, Paces> {
        self.paces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Host and port of a request; one in origin form names its host in a field (RFC 9112 section 3.2.1).
fn origin(uri: &Uri, headers: &HeaderMap) -> Option<(Authority, u16)> {
    let from_field = || headers.get(header::HOST)?.to_str().ok()?.parse().ok();
    let authority = uri.authority().cloned().or_else(from_field)?;
    let scheme = uri.scheme_str().unwrap_or("http");
    let default = if scheme.eq_ignore_ascii_case("https") {
        443
    } else {
        80
    };
    let port = authority.port_u16().unwrap_or(default);
    Some((authority, port))
}

/// The dialect that a host is known to speak: one of `own`, else one that comes with the library.
#[cfg(feature = "config")]
fn spoken_at((authority, port): &(Authority, u16), own: &Dialects) -> Option<Arc<Provider>> {
    crate::dialect::spoken_at(authority.host(), *port, own)
}

#[cfg(not(feature = "config"))]
fn spoken_at(_: &(Authority, u16), _: &Dialects) -> Option<Arc<Provider>> {
    None
}

/// The pace of a quota that is met for the first time: the upstream's gate, and one for each route that has limits.
fn build(key: &Key, upstream: &Upstream, dialect: Option<Arc<Provider>>) -> PaceBuilder {
    let mut builder = Pace::builder(&key.name)
        .max_waiting(upstream.queue.max)
        .policy(upstream.retry.policy());
    if !key.configured {
        builder = builder.label(OTHERS);
    }
    if let Some(provider) = dialect {
        builder = builder
            .dialect(provider.dialect.clone())
            .find_gates(provider.gates.clone());
        if upstream.dialect.is_some() && upstream.published {
            builder = builder.cold_start(provider.cold_start);
        }
    }
    for limit in &upstream.limits {
        builder = builder.limit(limit.clone());
    }
    // Names of gates are labels of metrics: an origin that a request named is none.
    let label = if key.configured { &key.name } else { OTHERS };
    for route in limited(upstream) {
        let name = format!("{label} {}", route.matcher);
        builder = builder.gate(&name, route.limits.clone());
    }
    builder
}

/// Which gates a request is charged to, what it spends, how much it matters: all routes that match add up, the dearest
/// says the cost in each unit, the first that says one the priority.
fn charges(
    upstream: &Upstream,
    method: &Method,
    path: &str,
) -> (GateSet, Cost, paceline_engine::Priority) {
    let gates = limited(upstream)
        .zip(1..)
        .filter(|(route, _)| route.matcher.matches(method, path))
        .fold(GateSet::one(0), |gates, (_, index)| {
            gates.with(index).unwrap_or(gates)
        });
    let cost = upstream
        .routes_of(method, path)
        .map(|route| route.cost.clone())
        .reduce(|dearest, cost| dearest.max(&cost))
        .unwrap_or_default();
    let priority = upstream
        .routes_of(method, path)
        .find_map(|route| route.priority);
    (gates, cost, priority.unwrap_or_default())
}

fn limited(upstream: &Upstream) -> impl Iterator<Item = &crate::upstream::Route> {
    upstream
        .routes
        .iter()
        .filter(|route| !route.limits.is_empty())
}

/// Makes room: those paces that were used longest ago, among those that nobody waits for, that have nothing under way and
/// that hold nobody back. A tenth of all at once, because finding them means looking at all.
fn forget_idle(paces: &mut BTreeMap<Key, Kept>) {
    let idle = |snapshot: &Snapshot| {
        let gates = &snapshot.gates;
        snapshot.waiting == 0
            && gates
                .iter()
                .all(|gate| gate.in_flight == 0 && gate.throttled_until.is_none())
    };
    let mut idle: Vec<_> = paces
        .iter()
        .filter(|(_, kept)| idle(&kept.pace.snapshot()))
        .map(|(key, kept)| (kept.used, key.clone()))
        .collect();
    idle.sort_unstable();
    for (_, key) in idle.iter().take(MOST_PACES / 10) {
        paces.remove(key);
    }
}

fn query_value<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    uri.query()?
        .split('&')
        .find_map(|pair| match pair.split_once('=') {
            Some((own, value)) if own == name => Some(value),
            None if pair == name => Some(""),
            _ => None,
        })
}

/// Configures a [`Paceline`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct PacelineBuilder {
    upstreams: Vec<(Box<str>, Upstream)>,
    others: Upstream,
    dialects: Dialects,
    #[cfg(all(feature = "machine", unix))]
    machine: Option<Machine>,
}

impl PacelineBuilder {
    /// An upstream by name. Where two claim a host, the more specific pattern wins.
    pub fn upstream(mut self, name: &str, upstream: Upstream) -> Self {
        self.upstreams.push((name.into(), upstream));
        self
    }

    /// All upstreams of a configuration, and its dialects for the hosts that they name.
    #[cfg(feature = "config")]
    pub fn config(mut self, config: crate::config::Config) -> Self {
        self.dialects.extend(config.dialects);
        let named = config.upstreams.into_iter();
        self.upstreams
            .extend(named.map(|(name, upstream)| (name.into(), upstream)));
        self
    }

    /// What applies to origins that nobody configured: limits, queue, retries, who shares a quota.
    pub fn others(mut self, others: Upstream) -> Self {
        self.others = others;
        self
    }

    /// Upstreams whose `share` says so are shared by all processes of this user on this machine. Without this each keeps a pace
    /// of its own, whatever `share` says.
    #[cfg(all(feature = "machine", unix))]
    pub fn machine(mut self, machine: &Machine) -> Self {
        self.machine = Some(machine.clone());
        self
    }

    /// Builds it.
    pub fn build(self) -> Paceline {
        let keyer = PartitionKeyer::random();
        #[cfg(all(feature = "machine", unix))]
        let keyer = self.machine.as_ref().map_or(keyer, Machine::keyer);
        let upstreams = self.upstreams.into_iter();
        let inner = Inner {
            keyer,
            #[cfg(all(feature = "machine", unix))]
            machine: self.machine,
            upstreams: upstreams
                .map(|(name, upstream)| (name, upstream.with_published()))
                .collect(),
            others: self.others.with_published(),
            dialects: self.dialects,
            paces: Mutex::default(),
        };
        Paceline {
            inner: Arc::new(inner),
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "config")]
    use paceline_engine::response::dialect::Dialect;

    use super::*;

    fn upstream(hosts: &str) -> Upstream {
        Upstream {
            hosts: vec![hosts.parse().unwrap()],
            ..Upstream::default()
        }
    }

    fn route(paceline: &Paceline, uri: &str, token: Option<&str>) -> Routed {
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            headers.insert(header::AUTHORIZATION, token.parse().unwrap());
        }
        paceline.route(&Method::GET, &uri.parse().unwrap(), &headers)
    }

    fn same(a: &Routed, b: &Routed) -> bool {
        Arc::ptr_eq(a.pace.shared(), b.pace.shared())
    }

    #[test]
    fn an_origin_and_a_credential_are_a_quota() {
        let paceline = Paceline::new();
        let first = route(&paceline, "http://a.example/x?y=1", Some("t1"));
        assert!(same(
            &first,
            &route(&paceline, "http://A.example:80/z", Some("t1"))
        ));
        assert!(!same(
            &first,
            &route(&paceline, "http://a.example/x?y=1", Some("t2"))
        ));
        assert!(!same(
            &first,
            &route(&paceline, "https://a.example/x", Some("t1"))
        ));
    }

    #[test]
    fn the_hosts_of_an_upstream_share_it_and_the_most_specific_pattern_wins() {
        let paceline = Paceline::builder()
            .upstream("all", upstream("*.example"))
            .upstream("one", upstream("a.example"))
            .build();
        let name = |uri: &str| route(&paceline, uri, None).pace.name().to_owned();
        assert_eq!(name("https://a.example/"), "one");
        assert_eq!(name("http://b.example/"), "all");
        assert_eq!(name("http://user:secret@b.test/"), "http://b.test:80");
    }

    #[test]
    fn routes_that_match_add_their_limits_and_the_dearest_says_the_cost() {
        let search = |matcher: &str, cost| crate::upstream::Route {
            matcher: matcher.parse().unwrap(),
            limits: vec!["30/m".parse().unwrap()],
            cost: Cost::requests(cost).and("tokens", 100 / cost),
            priority: None,
        };
        let mut github = upstream("a.example");
        github.routes = vec![search("GET /search/**", 1), search("* /search/code", 5)];
        let paceline = Paceline::builder().upstream("github", github).build();
        let want = |uri: &str| route(&paceline, uri, None).want;
        assert_eq!(want("http://a.example/x").gates, GateSet::one(0));
        let code = want("http://a.example/search/code?q=1");
        assert_eq!(code.gates.iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(code.cost, Cost::requests(5).and("tokens", 100));
        assert_eq!(want("http://a.example/x").cost, Cost::default());
    }

    #[cfg(feature = "config")]
    #[test]
    fn a_named_dialect_brings_its_limits_and_a_known_host_only_its_words() {
        let mut named = upstream("a.example");
        named.dialect = crate::dialect::named("shopify-rest");
        let paceline = Paceline::builder().upstream("shop", named.clone()).build();
        let pace = |uri: &str| route(&paceline, uri, None).pace;
        let limits = |pace: &Pace| pace.snapshot().gates[0].limits.len();
        assert_eq!(limits(&pace("https://a.example/")), 1);

        let known = pace("https://b.myshopify.com/admin");
        assert_eq!(known.dialect(), &named.dialect.as_ref().unwrap().dialect);
        assert_eq!(limits(&known), 0);
        assert_eq!(pace("https://b.example/").dialect(), &Dialect::PLAIN);

        let mut none = named.clone();
        none.published = false;
        let paceline = Paceline::builder().upstream("shop", none).build();
        assert_eq!(
            limits(&route(&paceline, "https://a.example/", None).pace),
            0
        );

        named.limits = vec!["1/s".parse().unwrap()];
        let own = Paceline::builder().upstream("shop", named).build();
        let snapshot = route(&own, "https://a.example/", None).pace.snapshot();
        assert_eq!(snapshot.gates[0].limits[0].limit, "1/s".parse().unwrap());
    }

    #[cfg(feature = "config")]
    #[test]
    fn hosts_of_a_dialect_of_ones_own_speak_it_before_any_that_is_built_in() {
        let text = r#"
            [dialect.mine]
            hosts = ["*.example:8080", "*.github.com"]
            pause = "7s"
            limits = ["1/s"]
            [dialect.slack]
            pause = "8s"
        "#;
        let config = crate::config::Config::parse(text, "own.toml").unwrap();
        let paceline = Paceline::builder().config(config).build();
        let pause = |uri: &str| {
            let pace = route(&paceline, uri, None).pace;
            assert!(pace.snapshot().gates[0].limits.is_empty());
            pace.dialect().pause.map(|pause| pause.as_secs())
        };
        assert_eq!(pause("http://a.example:8080/x"), Some(7));
        assert_eq!(pause("http://a.example/x"), None);
        // Less is said of this host than by the built-in one, and it counts all the same.
        assert_eq!(pause("https://api.github.com/x"), Some(7));
        // Of the name of a built-in one: in its place, also where its hosts are met.
        assert_eq!(pause("https://slack.com/api/x"), Some(8));
    }

    #[test]
    fn ten_thousand_quotas_are_kept_and_those_that_were_idle_longest_go() {
        let paceline = Paceline::new();
        let host = |i: usize| format!("http://h{i}.example/");
        let kept = |i| {
            let paces = paceline.inner.paces();
            let name = host(i).trim_end_matches('/').to_owned() + ":80";
            paces.by_key.keys().any(|key| *key.name == name)
        };
        let busy = route(&paceline, &host(0), None).pace;
        let mut in_flight = busy.acquire_blocking(&busy.want()).unwrap();
        in_flight.sending();
        for i in 1..MOST_PACES {
            route(&paceline, &host(i), None);
        }
        assert_eq!(paceline.inner.paces().by_key.len(), MOST_PACES);
        route(&paceline, &host(MOST_PACES), None);
        assert_eq!(paceline.inner.paces().by_key.len(), MOST_PACES * 9 / 10 + 1);
        assert!(kept(0) && !kept(1) && kept(MOST_PACES - 1) && kept(MOST_PACES));
    }
}
