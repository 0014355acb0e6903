use super::*;
use crate::{ServerSpec, Shape, Wrap};
use core::time::Duration;

fn scenario(name: &str, group: &str, server: ServerSpec, target: f64) -> Scenario {
    let latency = Duration::from_millis(100);
    Scenario {
        group: Some(group.to_owned()),
        ideal: Some(0.4),
        target: Some(Target {
            elapsed: target,
            refused: 0,
            failed: 0,
        }),
        ..Scenario::new(name, Shape::Flat, 20, 5, latency, server)
    }
}

#[test]
fn a_section_counts_averages_and_names_what_is_missed() {
    let once = ServerSpec::open().wrap(Wrap::nth([1]));
    let scenarios = [
        scenario("easy", "open", ServerSpec::open(), 0.5),
        scenario("too much to ask", "open", ServerSpec::open(), 0.3),
        scenario("refused once", "noise", once, 9.0),
    ];
    let matches = play(&scenarios, &[Kind::Independent]).expect("valid servers");
    let page = section("Title", "Intro.", &matches);
    let expected = "\
## Title

Intro.

| group | policy | met | of | mean | worst | refused | failed |
|---|---|---:|---:|---:|---:|---:|---:|
| **all** | independent | 1 | 3 | 1.442 | 3.00 | 1 | 0 |
| open | independent | 1 | 2 | 1.000 | 1.00 | 0 | 0 |
| noise | independent | 0 | 1 | 3.000 | 3.00 | 1 | 0 |

Paceline misses no target.

";
    assert_eq!(page, expected);
    let ours = play(&scenarios[1..2], &[Kind::Paceline]).expect("valid servers");
    let page = section("Title", "Intro.", &ours);
    assert!(
        page.contains("| too much to ask | **0.40** | 0.30 | 0 | 0 | 0 | 0 |"),
        "{page}"
    );
}

#[test]
fn the_order_is_that_of_scenarios_then_policies_however_many_cores() {
    let scenarios: Vec<_> = (0..40)
        .map(|n| scenario(&n.to_string(), "", ServerSpec::open(), 1.0))
        .collect();
    let policies = [Kind::Oracle, Kind::Independent];
    let matches = play(&scenarios, &policies).expect("valid servers");
    let order: Vec<_> = matches
        .iter()
        .map(|played| (played.name.clone(), played.policy))
        .collect();
    let expected: Vec<_> = (0..40)
        .flat_map(|n| policies.map(|policy| (n.to_string(), policy)))
        .collect();
    assert_eq!(order, expected);
}
