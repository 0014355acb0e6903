//! Gates that are found from responses: what they hold back, who moves to them, and how many there are.

mod any;
mod many;
mod moves;
mod scope;

use super::*;

const MESSAGES: u64 = 1;
const REACTIONS: u64 = 2;
const MEMBERS: u64 = 3;

/// One upstream without limits whose responses name buckets.
fn buckets(cold_start: Option<u64>) -> Driver {
    finding(GatesBy::Bucket, cold_start, &[])
}

fn finding(by: GatesBy, cold_start: Option<u64>, known: &[&str]) -> Driver {
    let mut driver = Driver::new(&[&[]]);
    driver.engine.find_gates(FindGates {
        by,
        cold_start,
        known: known.iter().map(|name| (*name).into()).collect(),
    });
    driver
}

fn route(path: u64) -> Want {
    Want::new(GateSet::one(API)).route(Some(key(path, None)))
}

fn about(path: u64, object: u64) -> Want {
    Want::new(GateSet::one(API)).route(Some(key(path, Some(object))))
}

fn key(path: u64, resource: Option<u64>) -> RouteKey {
    RouteKey {
        path,
        resource,
        known: None,
    }
}

/// Served, so much left of this bucket until then.
fn left(bucket: &str, remaining: u64, reset: u64) -> Observation {
    let mut seen = ok();
    seen.bucket = Some(bucket.into());
    seen.windows.push(window(remaining, ms(reset)));
    seen
}

fn spent(bucket: &str, reset: u64) -> Observation {
    let mut seen = refused_for(ms(reset));
    seen.bucket = Some(bucket.into());
    seen.windows.push(window(0, ms(reset)));
    seen
}

fn globally_for(wait: u64) -> Observation {
    let mut seen = refused_for(ms(wait));
    seen.scope = Scope::Global;
    seen
}

/// Not before the reset, and a hundredth later at most: others may wait for it, too.
fn is_reset(deadline: Deadline, reset: u64) -> bool {
    let (first, last) = (at(reset), at(reset + reset / 100));
    deadline.reason == Reason::Window && (first..=last).contains(&deadline.at)
}

fn names(driver: &Driver) -> Vec<String> {
    let gates = driver.engine.snapshot(driver.now).gates;
    gates.iter().map(|gate| gate.name.to_string()).collect()
}
