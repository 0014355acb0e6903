//! The demonstration as programs see it: one object with these keys, whose numbers belong together.

use std::process::{Command, Output};

use serde_json::Value;

fn demo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_paceline"))
        .arg("demo")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn keys(object: &Value) -> Vec<&str> {
    let object = object.as_object().expect("an object");
    let mut keys: Vec<_> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn eight_pages_are_walked_twice_and_paceline_loses_none() {
    let run = demo(&["--pages", "8", "--limit", "20/s", "--json"]);
    assert_eq!(run.status.code(), Some(0));
    assert!(run.stderr.is_empty(), "programs are not talked to");
    let report: Value = serde_json::from_slice(&run.stdout).expect("one object");
    assert_eq!(keys(&report), ["independent", "limit", "paceline", "pages"]);
    assert_eq!(
        (&report["pages"], &report["limit"]),
        (&8.into(), &"20/s".into())
    );
    for walk in [&report["independent"], &report["paceline"]] {
        assert_eq!(
            keys(walk),
            ["elapsed_s", "failed", "refused", "sent", "slowest_s"]
        );
        let count = |key: &str| walk[key].as_u64().expect("a whole number");
        let time = |key: &str| walk[key].as_f64().expect("a number");
        // Every request that was not refused brought a page, and every page came or is lost.
        assert_eq!(
            count("sent") - count("refused"),
            8 - count("failed"),
            "{walk}"
        );
        assert!(
            0.0 < time("slowest_s") && time("slowest_s") <= time("elapsed_s"),
            "{walk}"
        );
        for key in ["elapsed_s", "slowest_s"] {
            let decimals = walk[key].to_string();
            assert!(
                decimals.split_once('.').is_none_or(|(_, d)| d.len() <= 6),
                "{walk}"
            );
        }
    }
    assert_eq!(report["paceline"]["failed"], 0);
}

#[test]
fn people_see_a_table_and_a_sentence() {
    let run = demo(&["--pages", "2", "--limit", "50/s"]);
    assert_eq!(run.status.code(), Some(0));
    let text = String::from_utf8(run.stdout).expect("text");
    let lines: Vec<_> = text.trim().lines().collect();
    assert_eq!(
        lines[0],
        "2 pages, 10 workers, a site that allows 50/s (50 at once) and does not say so:"
    );
    assert!(
        lines[3].starts_with("independent ") && lines[4].starts_with("paceline "),
        "{text}"
    );
    assert_eq!(
        lines[6],
        "This limit refused nobody, so there was nothing to learn; with Paceline nobody was refused either."
    );
}

#[test]
fn what_is_no_rate_is_bad_usage_and_shows_the_grammar() {
    for (limit, wrong) in [
        (
            "10/0s",
            "\"10/0s\" is not a limit: the period is zero (character 4)",
        ),
        (
            "-1/s",
            "\"-1/s\" is not a limit: the amount is negative (character 1)",
        ),
        ("", "\"\" is not a limit: it is empty (character 1)"),
        (
            "3 in flight",
            "\"3 in flight\" is not a rate: it bounds requests in flight",
        ),
        (
            "3 tokens/s",
            "\"3 tokens/s\" is not a rate: it counts tokens, and the site counts requests",
        ),
    ] {
        let run = demo(&["--limit", limit]);
        assert_eq!(run.status.code(), Some(2), "{limit}");
        assert!(run.stdout.is_empty());
        let said = String::from_utf8(run.stderr).expect("text");
        assert!(
            said.contains(wrong) && said.contains("[limits are: N/s, N/m"),
            "{said}"
        );
    }
}

#[test]
fn a_site_has_at_least_one_page() {
    let run = demo(&["--pages", "0"]);
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8(run.stderr).expect("text");
    assert!(
        said.starts_with("error: invalid value '0' for '--pages <N>': 0 is not in 1..=10000"),
        "{said}"
    );
}
