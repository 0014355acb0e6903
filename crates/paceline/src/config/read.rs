//! From a TOML document to a configuration.

use core::time::Duration;
use std::collections::BTreeMap;

use http::Uri;
use paceline_engine::Priority;
use toml::de::DeTable;

use super::Config;
use super::cost::cost;
use super::dialects::{Dialects, dialects};
use super::document::{Document, Node, Table};
use super::error::ConfigErrors;
use crate::dialect;
use crate::upstream::text::quote;
use crate::upstream::{
    HostPattern, PartitionKey, Queue, Retry, Route, Share, TextError, Upstream, parse_duration,
    partition, share,
};

const UPSTREAM_KEYS: [&str; 9] = [
    "hosts",
    "url",
    "dialect",
    "partition",
    "limits",
    "share",
    "queue",
    "route",
    "retry",
];
const ROUTE_KEYS: [&str; 4] = ["match", "limits", "cost", "priority"];
const QUEUE_KEYS: [&str; 2] = ["max", "wait"];
const RETRY_KEYS: [&str; 5] = [
    "attempts",
    "total",
    "resend_refused",
    "ignore_retry_after",
    "best_effort",
];

const HOSTS: &str = r#"an array of hosts, such as ["api.github.com"]"#;
const HOST: &str = r#"a host, such as "api.github.com""#;
const URL: &str =
    r#"an http or https URL without credentials and query, such as "https://api.github.com""#;
const LIMITS: &str = r#"an array of limits, such as ["10/s burst 50", "100 in flight"]"#;
const LIMIT: &str = r#"a limit, such as "10/s burst 50""#;
const PARTITIONS: &str = r#"an array such as ["header:authorization"], or ["none"]"#;
const DURATION: &str = r#"a duration, such as "2m""#;
const ROUTE: &str = r#"a method and a path, such as match = "GET /search/**""#;

/// More tickets than fit in memory: whoever means "any number" can say so.
const MOST_WAITING: u64 = 1_000_000_000;

/// Which host patterns are taken, and by whom.
type Claims = BTreeMap<HostPattern, String>;

pub(super) fn config(text: &str, file: &str) -> Result<Config, ConfigErrors> {
    let document = Document::new(file, text);
    // One slip makes a parser that goes on stumble over what follows, so only the first place is
    // told.
    let root = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let key = match error.message() {
            DUPLICATE => key_in(text, span.end, true),
            _ => key_in(text, span.start, false),
        };
        document.error(span.start, &key, syntax(error.message()))
    })?;
    let mut config = Config::default();
    let root = Table::root(&document, root.get_ref());
    root.refuse_unknown(&["upstream", "dialect"]);
    config.dialects = dialects(&root);
    let upstreams = root
        .entry("upstream")
        .and_then(|node| node.any_table("a table for each upstream, such as [upstream.github]"));
    let mut claims = Claims::new();
    for (name, node) in upstreams.iter().flat_map(Table::entries) {
        check_name(name, &node);
        if let Some(upstream) = upstream(name, &node, &mut claims, &config.dialects) {
            config.upstreams.insert(name.to_owned(), upstream);
        }
    }
    document.finish().map_or(Ok(config), Err)
}

/// The TOML parser's word for it.
const DUPLICATE: &str = "duplicate key";

/// What the TOML parser says, in our form.
pub(crate) fn syntax(message: &str) -> TextError {
    match message.split_once(", expected ") {
        Some((problem, _)) if problem.starts_with("string values must be quoted") => {
            TextError::new(
                "text needs quotation marks",
                r#"quotation marks around it, as in share = "machine""#,
            )
        }
        Some((problem, expected)) => TextError::new(problem, expected),
        None if message == DUPLICATE => TextError::new("the key is there already", "each key once"),
        None => TextError::new(message, "TOML (https://toml.io)"),
    }
}

/// The key on whose line the text stops being TOML at `end`, as far as that line and the last
/// header tell. Only a line that has come to its value has a key, unless `ends` says that the key
/// itself ends there.
fn key_in(text: &str, end: usize, ends: bool) -> String {
    let before = text.get(..end).unwrap_or(text);
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    if let Some(header) = line.trim_start().strip_prefix('[') {
        let name = header.trim_start_matches('[').trim();
        return if ends { name.into() } else { String::new() };
    }
    let key = match line.split_once('=') {
        Some((key, _)) => key,
        None if ends => line,
        None => return String::new(),
    };
    let header = above
        .lines()
        .rev()
        .find_map(|line| line.trim_start().strip_prefix('['));
    let table = header.and_then(|rest| rest.trim_start_matches('[').split(']').next());
    match table.map(str::trim) {
        Some(table) if !table.is_empty() => format!("{table}.{}", key.trim()),
        _ => key.trim().into(),
    }
}

/// Names are a part of paths (`/NAME/…`), metrics and messages, and `/-/` is the administrator's.
fn check_name(name: &str, node: &Node<'_>) {
    if !is_plain(name) {
        node.fail(
            format!("{} cannot name an upstream", quote(name)),
            format!("{NAME}, such as [upstream.github]"),
        );
    }
}

pub(super) const NAME: &str = "letters, digits, hyphens, underscores and dots";

pub(super) fn is_plain(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    name.bytes().all(plain) && name.bytes().any(|b| b.is_ascii_alphanumeric())
}

fn upstream(
    name: &str,
    node: &Node<'_>,
    claims: &mut Claims,
    dialects: &Dialects,
) -> Option<Upstream> {
    let table = node.table(&UPSTREAM_KEYS, "a table, such as [upstream.github]")?;
    let mut upstream = Upstream::default();
    for host in table
        .entry("hosts")
        .iter()
        .flat_map(|node| node.elements(HOSTS))
    {
        if let Some(pattern) = host.read(HOST) {
            claim(pattern, name, &host, claims, &mut upstream.hosts);
        }
    }
    if let Some(node) = table.entry("url")
        && let Some((url, pattern)) = node.read_with(URL, url)
    {
        if !covered(&url, &upstream.hosts) {
            claim(pattern, name, &node, claims, &mut upstream.hosts);
        }
        upstream.url = Some(url);
    }
    let named = |key| table.entry(key).is_some_and(|node| !node.is_empty_array());
    if !named("hosts") && !named("url") {
        table.fail(
            "it has neither hosts nor url",
            r#"hosts = ["api.github.com"] or url = "https://api.github.com""#,
        );
    }
    if let Some(node) = table.entry("dialect") {
        let read = |name: &str| dialect::find(name, dialects);
        upstream.dialect = node.read_with(r#"a dialect's name, such as "github""#, read);
    }
    if let Some(node) = table.entry("partition") {
        upstream.partition = partition_keys(&node);
    }
    upstream.limits = limits(&table);
    let none = |node: Node<'_>| node.is_empty_array();
    upstream.published = !table.entry("limits").is_some_and(none);
    if let Some(node) = table.entry("share") {
        upstream.share = node.read::<Share>(share::FORM).unwrap_or_default();
    }
    upstream.queue = queue(&table);
    upstream.routes = routes(&table);
    upstream.retry = retry(&table);
    Some(upstream)
}

fn claim(
    pattern: HostPattern,
    name: &str,
    node: &Node<'_>,
    claims: &mut Claims,
    hosts: &mut Vec<HostPattern>,
) {
    if let Some(owner) = claims.get(&pattern) {
        let problem = match owner == name {
            true => format!("{pattern} is named twice"),
            false => format!("{pattern} belongs to upstream {} already", quote(owner)),
        };
        return node.fail(problem, "each host once, in one upstream");
    }
    claims.insert(pattern.clone(), name.to_owned());
    hosts.push(pattern);
}

fn covered(url: &Uri, hosts: &[HostPattern]) -> bool {
    let default = if url.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    let port = url.port_u16().unwrap_or(default);
    url.host()
        .is_some_and(|host| hosts.iter().any(|own| own.matches(host, port)))
}

fn url(text: &str) -> Result<(Uri, HostPattern), TextError> {
    let wrong =
        |what: &str| TextError::new(format!("{} is not such a URL: {what}", quote(text)), URL);
    // The `Uri` type drops fragments in silence.
    if text.contains(['?', '#']) {
        return Err(wrong("it has a query or a fragment"));
    }
    let uri: Uri = text
        .parse()
        .map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("it does not begin with http:// or https://"));
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        return Err(wrong(
            "it holds credentials, which requests carry themselves",
        ));
    }
    let pattern: HostPattern = authority
        .parse()
        .map_err(|error: TextError| wrong(&error.problem))?;
    if authority.contains('*') {
        return Err(wrong("* is not one host"));
    }
    Ok((uri, pattern))
}

fn partition_keys(node: &Node<'_>) -> Vec<PartitionKey> {
    let elements = node.elements(PARTITIONS);
    if node.is_empty_array() {
        node.fail("it is empty", PARTITIONS);
    }
    let alone = elements.len() == 1;
    let mut keys = Vec::new();
    for element in elements {
        let Some(key) = element.read::<PartitionKey>(partition::FORM) else {
            continue;
        };
        if key == PartitionKey::None && !alone {
            element.fail(
                "none stands beside others",
                "none alone, or only the others",
            );
        } else if keys.contains(&key) {
            element.fail(format!("{key} is named twice"), "each of them once");
        }
        keys.push(key);
    }
    keys
}

pub(crate) fn limits(table: &Table<'_>) -> Vec<paceline_engine::Limit> {
    let node = table.entry("limits");
    node.iter()
        .flat_map(|node| node.elements(LIMITS))
        .filter_map(|element| element.read(LIMIT))
        .collect()
}

fn queue(table: &Table<'_>) -> Queue {
    let mut queue = Queue::default();
    let Some(node) = table.entry("queue") else {
        return queue;
    };
    let form = r#"a table, such as { max = 10000, wait = "2m" }"#;
    let Some(table) = node.table(&QUEUE_KEYS, form) else {
        return queue;
    };
    if let Some(max) = table
        .entry("max")
        .and_then(|node| node.whole(0..=MOST_WAITING))
    {
        queue.max = max;
    }
    queue.wait = table
        .entry("wait")
        .and_then(|node| node.read_with(DURATION, parse_duration));
    queue
}

pub(crate) fn routes(table: &Table<'_>) -> Vec<Route> {
    let routes = table.entry("route");
    routes
        .iter()
        .flat_map(|node| node.elements("tables such as [[upstream.github.route]]"))
        .filter_map(|node| route(&node))
        .collect()
}

fn route(node: &Node<'_>) -> Option<Route> {
    let table = node.table(&ROUTE_KEYS, "a table, such as [[upstream.github.route]]")?;
    let limits = limits(&table);
    let cost = table
        .entry("cost")
        .and_then(|node| cost(&node))
        .unwrap_or_default();
    let priority = table
        .entry("priority")
        .and_then(|node| node.read_with(PRIORITY, priority));
    let Some(matcher) = table.entry("match") else {
        table.fail("it has no match", ROUTE);
        return None;
    };
    Some(Route {
        matcher: matcher.read(ROUTE)?,
        limits,
        cost,
        priority,
    })
}

const PRIORITY: &str = "background, normal or interactive";

fn priority(text: &str) -> Result<Priority, TextError> {
    Priority::parse(text)
        .ok_or_else(|| TextError::new(format!("{} is not a priority", quote(text)), PRIORITY))
}

fn retry(table: &Table<'_>) -> Retry {
    let mut retry = Retry::default();
    let Some(node) = table.entry("retry") else {
        return retry;
    };
    let form = r#"a table, such as { attempts = 4, total = "2m" }"#;
    let Some(table) = node.table(&RETRY_KEYS, form) else {
        return retry;
    };
    if let Some(attempts) = table
        .entry("attempts")
        .and_then(|node| node.whole(1..=u32::MAX.into()))
    {
        retry.attempts = attempts;
    }
    let total = table.entry("total");
    if let Some(total) = total.and_then(|node| node.read_with(DURATION, some_time)) {
        retry.total = total;
    }
    let flag = |key| {
        table
            .entry(key)
            .and_then(|node| node.boolean())
            .unwrap_or(false)
    };
    retry.resend_refused = flag("resend_refused");
    retry.ignore_retry_after = flag("ignore_retry_after");
    retry.best_effort = flag("best_effort");
    retry
}

/// A duration that is longer than nothing.
pub(crate) fn some_time(text: &str) -> Result<Duration, TextError> {
    match parse_duration(text)? {
        Duration::ZERO => Err(TextError::new(
            format!("{} is no time at all", quote(text)),
            r#"a duration above zero, such as "2m""#,
        )),
        time => Ok(time),
    }
}
