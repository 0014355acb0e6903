//! The boot-time clock from several processes, and from a time namespace of its own.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::path::Path;

use common::{Actor, cast, command, say, skip};
use paceline_machine::{BootClock, BootId};

/// Not a test: what the other process does.
#[test]
#[ignore = "a role that other tests start"]
fn role() {
    if cast().is_some() {
        say(BootClock::new().unwrap().now());
        say(format_args!("{:?}", BootId::read().unwrap()));
    }
}

/// What another process reads must lie between two readings here.
fn agrees(mut other: Actor) {
    let clock = BootClock::new().unwrap();
    let there: u64 = other.says().parse().unwrap();
    let after = clock.now();
    assert!(there <= after, "{there} is after {after}");
    assert!(
        after - there < 10_000_000_000,
        "{there} is long before {after}"
    );
    assert_eq!(other.says(), format!("{:?}", BootId::read().unwrap()));
}

#[test]
fn all_processes_read_one_clock_and_one_boot() {
    let before = BootClock::new().unwrap().now();
    agrees(Actor::start("read", Path::new("")));
    assert!(before < BootClock::new().unwrap().now());
}

#[test]
fn a_container_in_its_own_time_reads_the_machines() {
    for offset in ["86400", "-5"] {
        let namespace = ["unshare", "--time", "--boottime", offset];
        let probe = std::process::Command::new(namespace[0])
            .args(&namespace[1..])
            .arg("true")
            .output();
        if !probe.is_ok_and(|output| output.status.success()) {
            return skip("time namespaces need root and unshare(1)");
        }
        agrees(Actor::by(&mut command(&namespace, "read", Path::new(""))));
    }
}
