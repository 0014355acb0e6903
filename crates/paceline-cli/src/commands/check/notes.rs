//! What is right and will not do what it says.

use paceline::config::Config;
use paceline::dialect;
use paceline::upstream::{Route, Upstream};
use paceline::{Limit, Unit};

use crate::settings;

/// In the order of the file, after what this version cannot do yet.
pub(super) fn notes(config: &Config) -> Vec<String> {
    let mut notes = settings::not_yet(config);
    for name in config.dialects.keys() {
        if dialect::named(name).is_some() {
            notes.push(format!(
                "dialect.{name}: it takes the place of the built-in dialect of that name, also at its hosts"
            ));
        }
    }
    for (name, upstream) in &config.upstreams {
        for (place, limit) in all_limits(upstream) {
            let Unit::Other(word) = &limit.unit else {
                continue;
            };
            let told = |route: &Route| route.cost.named(&limit.unit).is_some();
            if !upstream.routes.iter().any(told) && !reports(upstream, word) {
                notes.push(format!(
                    "upstream.{name}.{place}limits: {limit}: nothing in this file says how many \
                     {word} a request spends, so only programs that say it for each request are \
                     held to it"
                ));
            }
        }
        for (i, route) in upstream.routes.iter().enumerate() {
            let place = format!("upstream.{name}.route[{i}].cost");
            let kept = upstream.clone().with_published();
            for (word, amount) in route.cost.others() {
                if !all_limits(&kept).any(|(_, limit)| counts(&limit.unit, word))
                    && !reports(upstream, word)
                {
                    notes.push(format!(
                        "{place}: {amount} {word}: no limit of this upstream counts {word}, so \
                         they cost nothing"
                    ));
                }
            }
            let mut limits = kept.limits.iter().chain(&route.limits);
            if let Some(why) = limits.find_map(|limit| limit.too_costly(&route.cost)) {
                notes.push(format!("{place}: {why}, so no such request is ever sent"));
            }
        }
    }
    notes
}

/// The limits of an upstream, and where below it they stand.
fn all_limits(upstream: &Upstream) -> impl Iterator<Item = (String, &Limit)> {
    let own = upstream.limits.iter().map(|limit| (String::new(), limit));
    let routes = upstream.routes.iter().enumerate();
    own.chain(routes.flat_map(|(i, route)| {
        let limits = route.limits.iter();
        limits.map(move |limit| (format!("route[{i}]."), limit))
    }))
}

/// Whether its dialect reads what requests cost in this unit, or what is left of it.
fn reports(upstream: &Upstream, word: &str) -> bool {
    upstream.dialect.as_ref().is_some_and(|provider| {
        let (windows, costs) = (&provider.dialect.windows, &provider.dialect.costs);
        windows.iter().any(|own| counts(&own.unit, word))
            || costs.iter().any(|own| counts(&own.unit, word))
    })
}

fn counts(unit: &Unit, word: &str) -> bool {
    matches!(unit, Unit::Other(own) if **own == *word)
}
