//! What one request would be charged to.
//!
//! None of the request's values is shown: a query, a header, an object in a path may be secret. Of a path only words of the API
//! are, where a gate goes by them.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;
use std::collections::BTreeMap;
use std::hash::DefaultHasher;

use http::{HeaderMap, Method, Uri};
use paceline::config::Config;
use paceline::upstream::{PartitionKey, Upstream};
use paceline::{Cost, GateSnapshot, GatesBy, Paceline, Routed, Router, Unit};
use serde::Serialize;
use url::Url;

use super::summary::{cost_in_words, costs, limits};

/// Method and URL of a request that is only talked about.
pub(super) struct Head {
    method: Method,
    url: Url,
    uri: Uri,
}

impl FromStr for Head {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "--request: {what}; expected a method and a URL, \
                 such as 'GET https://api.example.com/items'"
            )
        };
        let mut words = text.split_whitespace();
        let (Some(method), Some(url), None) = (words.next(), words.next(), words.next()) else {
            return Err(wrong("these are not two words"));
        };
        let method = Method::from_bytes(method.as_bytes())
            .ok()
            .filter(|method| !method.as_str().contains(|c: char| c.is_ascii_lowercase()))
            .ok_or_else(|| wrong("the first word is not a method in capital letters"))?;
        let mut url =
            Url::parse(url).map_err(|error| wrong(&format!("the URL cannot be read ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("the URL is neither http nor https"));
        }
        url.set_fragment(None);
        let uri = url.as_str().parse();
        let uri = uri.map_err(|error| wrong(&format!("the URL cannot be sent ({error})")))?;
        Ok(Self { method, url, uri })
    }
}

/// What it would be charged to. Displayed as a paragraph.
#[derive(Serialize)]
pub(super) struct Charged {
    method: String,
    /// The name of the upstream; the origin if nobody configured one.
    upstream: String,
    configured: bool,
    /// What is spoken there, and whether its host tells so.
    dialect: Option<String>,
    #[serde(skip)]
    by_host: bool,
    gates: Vec<Gate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Found>,
    /// In requests, and in every unit by word.
    cost: u64,
    costs: BTreeMap<String, u64>,
    #[serde(skip)]
    spends: Cost,
    priority: &'static str,
    /// What tells who spends, by name.
    partition: Vec<String>,
}

#[derive(Serialize)]
struct Gate {
    name: String,
    limits: Vec<String>,
}

/// A gate on top of those, which is found while requests are under way.
#[derive(Serialize)]
struct Found {
    /// What the upstream's quotas go by.
    by: &'static str,
    /// The bucket that the request is taken to be in until a response says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    bucket: Option<String>,
    /// Its method and path, `*` for objects, which may be secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Object>,
}

/// An object with quotas of its own.
#[derive(Serialize)]
struct Object {
    /// The segment before it.
    after: String,
    /// The same for the same object; not its name, which may be secret.
    mark: String,
}

impl Charged {
    /// Routes the request as any request is routed, and looks where it came out.
    pub(super) fn new(head: &Head, config: &Config) -> Self {
        let paceline = Paceline::builder().config(config.clone()).build();
        let routed = paceline.route(&head.method, &head.uri, &HeaderMap::new());
        let gates = routed.pace.snapshot().gates;
        let port = head.url.port_or_known_default().unwrap_or(80);
        let host = head.url.host_str().unwrap_or_default();
        let configured = config.upstream_of(host, port);
        let others = Upstream::default();
        let upstream = configured.map_or(&others, |(_, upstream)| upstream);
        let named = upstream.dialect.clone();
        let by_host = named.is_none();
        let dialect = named.or_else(|| config.dialect_of(host, port));
        Self {
            dialect: dialect.map(|own| own.slug.to_string()),
            by_host,
            method: head.method.to_string(),
            upstream: routed.pace.name().into(),
            configured: configured.is_some(),
            gates: routed
                .want
                .gates
                .iter()
                .filter_map(|index| gates.get(index))
                .map(Gate::new)
                .collect(),
            found: Found::new(&routed, head),
            cost: routed.want.cost.of(&Unit::Requests),
            costs: costs(&routed.want.cost),
            spends: routed.want.cost,
            priority: routed.want.priority.code(),
            partition: upstream
                .partition
                .iter()
                .map(PartitionKey::to_string)
                .collect(),
        }
    }
}

impl Found {
    fn new(routed: &Routed, head: &Head) -> Option<Self> {
        let (route, gates) = (routed.want.route?, routed.pace.gates()?);
        let known = route
            .known
            .and_then(|known| gates.routes.get(usize::from(known)));
        let shape = gates.shape(&head.method, head.uri.path());
        Some(Self {
            by: gates.by.code(),
            bucket: known.and_then(|known| Some(known.bucket.as_deref()?.into())),
            route: shape.route,
            object: shape.object.map(|(after, object)| Object {
                after: after.into(),
                mark: mark(object),
            }),
        })
    }
}

/// Six digits that tell objects apart and do not say their names.
fn mark(object: &str) -> String {
    let mut hasher = DefaultHasher::new();
    object.hash(&mut hasher);
    format!("{:06x}", hasher.finish() >> 40)
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bucket {
            Some(bucket) => write!(
                f,
                "that of its bucket, {bucket} unless its response names another"
            )?,
            None if self.by == GatesBy::Bucket.code() => {
                f.write_str("one of its route's own, until its response names a bucket")?;
            }
            None if self.by == GatesBy::Endpoint.code() => {
                f.write_str("one of its endpoint's own")?
            }
            None => f.write_str("one of its object's own")?,
        }
        if let Some(route) = &self.route {
            write!(f, "\n             route {route}")?;
        }
        if let Some(Object { after, mark }) = &self.object {
            write!(
                f,
                "\n             object {mark} after /{after}/, by a mark that stands for its name"
            )?;
        }
        Ok(())
    }
}

impl Gate {
    fn new(gate: &GateSnapshot) -> Self {
        let limits = gate.limits.iter().map(|own| own.limit.to_string());
        Self {
            name: gate.name.to_string(),
            limits: limits.collect(),
        }
    }
}

impl fmt::Display for Charged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            method,
            upstream,
            spends,
            priority,
            ..
        } = self;
        writeln!(f, "This {method} request")?;
        match self.configured {
            true => writeln!(f, "  upstream   {upstream}")?,
            false => writeln!(
                f,
                "  upstream   {upstream}, an origin that is not configured"
            )?,
        }
        if let Some(dialect) = &self.dialect {
            let why = if self.by_host { ", by its host" } else { "" };
            writeln!(f, "  dialect    {dialect}{why}")?;
        }
        for gate in &self.gates {
            writeln!(f, "  gate       {}: {}", gate.name, limits(&gate.limits))?;
        }
        if let Some(found) = &self.found {
            writeln!(f, "  and gate   {found}")?;
        }
        writeln!(f, "  cost       {}", cost_in_words(spends))?;
        writeln!(f, "  priority   {priority}")?;
        writeln!(f, "  partition  {}", self.partition.join(", "))
    }
}
