//! One upstream as it was understood.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use paceline::upstream::{Route, Upstream};
use paceline::{Cost, Limit, Unit};
use serde::Serialize;

/// An upstream in words: what is not said has its default. Displayed as a paragraph.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    name: &'a str,
    hosts: Vec<String>,
    url: Option<String>,
    dialect: Option<&'a str>,
    partition: Vec<String>,
    limits: Vec<String>,
    /// Whether the limits are those that its dialect has published.
    published: bool,
    share: String,
    queue: QueueSummary,
    routes: Vec<RouteSummary>,
    retry: RetrySummary,
}

#[derive(Serialize)]
struct QueueSummary {
    max: usize,
    wait_s: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct RouteSummary {
    r#match: String,
    limits: Vec<String>,
    /// In requests, and in every unit by word.
    cost: u64,
    costs: BTreeMap<String, u64>,
    #[serde(skip)]
    spends: Cost,
    priority: Option<&'static str>,
}

#[derive(Serialize)]
struct RetrySummary {
    attempts: u32,
    total_s: f64,
    resend_refused: bool,
    ignore_retry_after: bool,
    best_effort: bool,
}

impl<'a> Summary<'a> {
    /// An upstream as it is configured, and as it is kept to.
    pub(super) fn new(name: &'a str, own: &'a Upstream, upstream: &'a Upstream) -> Self {
        let retry = &upstream.retry;
        Self {
            name,
            hosts: upstream.hosts.iter().map(ToString::to_string).collect(),
            url: upstream.url.as_ref().map(ToString::to_string),
            dialect: upstream.dialect.as_deref().map(|own| &*own.slug),
            partition: upstream.partition.iter().map(ToString::to_string).collect(),
            limits: texts(&upstream.limits),
            published: own.published_by().is_some() && !upstream.limits.is_empty(),
            share: upstream.share.to_string(),
            queue: QueueSummary {
                max: upstream.queue.max,
                wait_s: upstream.queue.wait.map(seconds),
            },
            routes: upstream.routes.iter().map(RouteSummary::new).collect(),
            retry: RetrySummary {
                attempts: retry.attempts,
                total_s: seconds(retry.total),
                resend_refused: retry.resend_refused,
                ignore_retry_after: retry.ignore_retry_after,
                best_effort: retry.best_effort,
            },
        }
    }
}

impl RouteSummary {
    pub(super) fn new(route: &Route) -> Self {
        Self {
            r#match: route.matcher.to_string(),
            limits: texts(&route.limits),
            cost: route.cost.of(&Unit::Requests),
            costs: costs(&route.cost),
            spends: route.cost.clone(),
            priority: route.priority.map(|priority| priority.code()),
        }
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        let mut line = |key: &str, value: &str| writeln!(f, "  {key:10} {value}");
        line("hosts", &self.hosts.join(", "))?;
        if let Some(url) = &self.url {
            line("url", url)?;
        }
        if let Some(dialect) = self.dialect {
            line("dialect", dialect)?;
        }
        let source = if self.published { ", as published" } else { "" };
        line("limits", &format!("{}{source}", limits(&self.limits)))?;
        line("partition", &self.partition.join(", "))?;
        line("share", &self.share)?;
        let QueueSummary { max, wait_s } = self.queue;
        let wait = wait_s.map_or_else(String::new, |wait| format!(", {wait} s each"));
        line("queue", &format!("{max} at most{wait}"))?;
        line("retry", &self.retry.to_string())?;
        for route in &self.routes {
            line("route", &route.to_string())?;
        }
        Ok(())
    }
}

impl fmt::Display for RouteSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.r#match)?;
        if !self.limits.is_empty() {
            write!(f, "also {}, ", self.limits.join(", "))?;
        }
        write!(f, "cost {}", cost_in_words(&self.spends))?;
        self.priority.map_or(Ok(()), |word| write!(f, ", {word}"))
    }
}

impl fmt::Display for RetrySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            attempts, total_s, ..
        } = self;
        write!(f, "{attempts} attempts, {total_s} s in all")?;
        for (is_so, words) in [
            (self.resend_refused, "resends what was refused"),
            (self.ignore_retry_after, "ignores Retry-After"),
            (self.best_effort, "best effort"),
        ] {
            if is_so {
                write!(f, ", {words}")?;
            }
        }
        Ok(())
    }
}

/// Limits on one line.
pub(super) fn limits(texts: &[String]) -> String {
    match texts.is_empty() {
        true => "none, the pace is learned".into(),
        false => texts.join(", "),
    }
}

/// A cost by unit.
pub(super) fn costs(cost: &Cost) -> BTreeMap<String, u64> {
    let requests = ("requests".to_owned(), cost.of(&Unit::Requests));
    let others = cost
        .others()
        .map(|(word, amount)| (word.to_owned(), amount));
    others.chain([requests]).collect()
}

/// A number of requests, or all units.
pub(super) fn cost_in_words(cost: &Cost) -> String {
    match cost.others().next() {
        Some(_) => cost.to_string(),
        None => cost.of(&Unit::Requests).to_string(),
    }
}

pub(super) fn texts(limits: &[Limit]) -> Vec<String> {
    limits.iter().map(ToString::to_string).collect()
}

/// With at most six decimals.
fn seconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e6
}
