//! Lab protocol: the clients to compare play the arena's scenarios. Elsewhere they were measured; where no
//! dice are thrown and nothing is lost, both agree.

use paceline_sim::policy::{self, Kind};
use paceline_sim::{Baseline, Scenario, run};

#[test]
fn requests_that_retry_alone_need_what_was_measured() {
    agrees(Kind::Independent, |scenario| scenario.independent, &[]);
}

#[test]
fn a_shared_spacing_needs_what_was_measured() {
    // The measured client starts nine of ten requests that are refused in the same instant before it
    // knows; here the first refusal holds the other nine back.
    let one_instant = [
        "outage2s_429_500_flat",
        "sl 100/60s rejected-count RA=float/flat",
    ];
    // By these figures 385 requests were served in 42 s (`independent`, tree), where the window allows
    // 200 in 60 s: another server than the one in the file.
    let another_server = [
        "10/s b10 AND 200/60s RA=none L50/tree",
        "10/s b10 AND 200/60s RA=none L50/flat",
    ];
    let known = [one_instant, another_server].concat();
    agrees(
        Kind::SharedSpacing,
        |scenario| scenario.shared_spacing,
        &known,
    );
}

#[test]
fn an_oracle_needs_the_ideal_and_is_never_refused() {
    for scenario in without_dice() {
        let (Some(ideal), name) = (scenario.ideal, &scenario.name) else {
            continue;
        };
        let computed = policy::ideal(&scenario).expect("a valid server");
        let computed = computed.unwrap_or_else(|| panic!("{name} has an ideal"));
        assert!(
            is_near(computed, ideal, 0.02),
            "{name}: {computed} for {ideal}"
        );
        // What no waiting helps against refuses an oracle, too.
        if !has(&scenario, &["Nth", "Poison"]) {
            let figures = run(&scenario, &mut *Kind::Oracle.client(&scenario, 1), 1);
            let figures = figures.expect("a valid server");
            assert_eq!((figures.refused, figures.failed), (0, 0), "{name}");
            assert!(
                is_near(figures.elapsed.as_secs_f64(), ideal, 0.02),
                "{name}"
            );
        }
    }
}

#[test]
fn there_is_no_ideal_where_nothing_is_served() {
    for scenario in arena().filter(|scenario| scenario.ideal.is_none()) {
        assert_eq!(policy::ideal(&scenario), Ok(None), "{}", scenario.name);
    }
}

/// `known`: disagreements with a reason. One that agrees is no longer one.
#[track_caller]
fn agrees(policy: Kind, measured: impl Fn(&Scenario) -> Option<Baseline>, known: &[&str]) {
    let mut off = Vec::new();
    let mut compared = 0;
    for scenario in without_dice() {
        let Some(measured) = measured(&scenario).filter(|measured| measured.failed_runs == 0)
        else {
            continue;
        };
        let figures = run(&scenario, &mut *policy.client(&scenario, 1), 1).expect("a valid server");
        compared += 1;
        if figures.failed > 0 || !is_near(figures.elapsed.as_secs_f64(), measured.elapsed, 0.1) {
            off.push(scenario.name);
        }
    }
    assert!(compared > 50, "{compared}");
    let mut known: Vec<_> = known.iter().map(|name| (*name).to_owned()).collect();
    off.sort_unstable();
    known.sort_unstable();
    assert_eq!(off, known);
}

/// To the millisecond and within this part of it.
fn is_near(seconds: f64, expected: f64, part: f64) -> bool {
    (seconds - expected).abs() <= part * expected + 0.001
}

fn without_dice() -> impl Iterator<Item = Scenario> {
    let dice = ["Random", "poisson: true"];
    arena().filter(move |scenario| scenario.jitter.is_zero() && !has(scenario, &dice))
}

fn has(scenario: &Scenario, words: &[&str]) -> bool {
    let server = format!("{:?}", scenario.server);
    words.iter().any(|word| server.contains(word))
}

fn arena() -> impl Iterator<Item = Scenario> {
    let text = include_str!("../../../arena/scenarios.jsonl");
    Scenario::from_json_lines(text).map(|(_, scenario)| scenario.expect("a valid line"))
}
