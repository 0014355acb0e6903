//! One dialect of the file's own, as it was understood.

use core::fmt;

use paceline::dialect::Provider;
use serde::Serialize;

use super::summary::{RouteSummary, texts};

/// A dialect in words. Displayed as a paragraph.
#[derive(Serialize)]
pub(super) struct DialectSummary<'a> {
    name: &'a str,
    /// Where it is spoken without being named.
    hosts: Vec<String>,
    /// How many rules of each kind it has, those of the dialects that it builds on included.
    rules: Rules,
    /// Worked examples; all are read as they say.
    examples: usize,
    /// What quotas go by.
    gates: Option<&'static str>,
    limits: Vec<String>,
    routes: Vec<RouteSummary>,
}

#[derive(Serialize)]
struct Rules {
    when: usize,
    window: usize,
    wait: usize,
    cost: usize,
}

impl<'a> DialectSummary<'a> {
    pub(super) fn new(name: &'a str, own: &Provider) -> Self {
        let dialect = &own.dialect;
        Self {
            name,
            hosts: own.hosts.iter().map(ToString::to_string).collect(),
            rules: Rules {
                when: dialect.when.len(),
                window: dialect.windows.len(),
                wait: dialect.waits.len(),
                cost: dialect.costs.len(),
            },
            examples: own.examples.len(),
            gates: own.gates.as_ref().map(|gates| gates.by.code()),
            limits: texts(&own.limits),
            routes: own.routes.iter().map(RouteSummary::new).collect(),
        }
    }
}

impl fmt::Display for DialectSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "dialect {}", self.name)?;
        let mut line = |key: &str, value: &str| writeln!(f, "  {key:10} {value}");
        match self.hosts.is_empty() {
            true => line("hosts", "none, it is spoken where it is named")?,
            false => line("hosts", &self.hosts.join(", "))?,
        }
        let Rules {
            when,
            window,
            wait,
            cost,
        } = self.rules;
        let rules = [
            (when, "when"),
            (window, "window"),
            (wait, "wait"),
            (cost, "cost"),
        ];
        let rules = rules.iter().filter(|(count, _)| *count > 0);
        let rules: Vec<_> = rules.map(|(count, key)| format!("{count} {key}")).collect();
        if !rules.is_empty() {
            line("rules", &rules.join(", "))?;
        }
        if let Some(by) = self.gates {
            line("gates", &format!("by {by}"))?;
        }
        if !self.limits.is_empty() {
            line("limits", &self.limits.join(", "))?;
        }
        for route in &self.routes {
            line("route", &route.to_string())?;
        }
        match self.examples {
            0 => line("examples", "none"),
            count => line("examples", &format!("{count}, read as they say")),
        }
    }
}
