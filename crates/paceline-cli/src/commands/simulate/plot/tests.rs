//! What can be said about a picture without looking at it.

use super::*;

fn drawn(server: &str, policies: &[Kind]) -> String {
    let text = format!(
        r#"{{"name": "n</title>&", "shape": "flat", "requests": 60, "workers": 5, "latency": 0.1, "server": {server}}}"#
    );
    let scenario = Scenario::from_json(&text).unwrap();
    let histories = policies.iter().map(|kind| History::of(&scenario, *kind));
    picture(
        &scenario,
        &histories.collect::<Result<Vec<_>, _>>().unwrap(),
    )
}

fn count(picture: &str, part: &str) -> usize {
    picture.matches(part).count()
}

#[test]
fn every_start_is_in_the_picture_as_what_it_was() {
    let server = r#"{"kind": "gcra", "rate": 2, "retry_after": "ceil"}"#;
    let scenario = format!(
        r#"{{"name": "n", "shape": "flat", "requests": 60, "workers": 5, "latency": 0.1, "server": {server}}}"#
    );
    let scenario = Scenario::from_json(&scenario).unwrap();
    let history = History::of(&scenario, Kind::SharedSpacing).unwrap();
    assert!(history.figures.refused > 0);
    assert_eq!(history.served.len() as u64, history.figures.ok);
    assert_eq!(history.refused.len() as u64, history.figures.refused);
    let bars: f64 = history
        .bars()
        .map(|bar| bar.served * (bar.to - bar.from))
        .sum();
    assert!((bars - 60.0).abs() < 1e-6, "{bars}");
}

#[test]
fn policies_share_a_picture_and_the_name_cannot_break_it() {
    let server = r#"{"kind": "gcra", "rate": 2, "retry_after": "ceil"}"#;
    let picture = drawn(server, &[Kind::Paceline, Kind::Independent]);
    for once in [
        ">paceline<",
        ">independent<",
        ">n&lt;/title&gt;&amp;<",
        "prefers-color-scheme: dark",
    ] {
        assert_eq!(count(&picture, once), 1, "{once}");
    }
    // One each, and one in the legend.
    assert_eq!(count(&picture, "class=\"limit\""), 3);
    assert_eq!(count(&picture, "class=\"refused\""), 3);
    assert_eq!(count(&picture, "<svg "), 1);
    assert!(picture.ends_with("</svg>\n"));
}

#[test]
fn what_is_not_there_is_not_drawn_and_not_explained() {
    let picture = drawn(r#"{"kind": "open"}"#, &[Kind::Paceline]);
    for class in ["limit", "believed", "refused", "outage", "cut"] {
        assert_eq!(count(&picture, &format!("class=\"{class}\"")), 0, "{class}");
    }
}

#[test]
fn what_changes_and_what_is_down_is_drawn() {
    let server = r#"{"kind": "token-bucket", "rates": [[0, 10], [3, 2]], "burst": 1,
        "wrap": [{"kind": "outage", "windows": [[1, 2], [4, 5]]}]}"#;
    let picture = drawn(server, &[Kind::Oracle]);
    assert_eq!(count(&picture, "class=\"outage\""), 3);
    let line = picture
        .lines()
        .rfind(|line| line.contains("class=\"limit\""))
        .unwrap();
    assert_eq!((count(line, "H"), count(line, "V")), (2, 1), "{line}");
}

#[test]
fn a_picture_stays_small_and_has_no_number_that_is_none() {
    for server in [
        r#"{"kind": "open"}"#,
        r#"{"kind": "always"}"#,
        r#"{"kind": "concurrency", "max": 1}"#,
    ] {
        let picture = drawn(server, Kind::ALL);
        assert!(
            !picture.contains("NaN") && !picture.contains("inf"),
            "{server}"
        );
    }
    let text = r#"{"name": "n", "shape": "burst", "requests": 20000, "workers": 1, "latency": 0, "server": {"kind": "open"}}"#;
    let scenario = Scenario::from_json(text).unwrap();
    let at_once = History::of(&scenario, Kind::Paceline).unwrap();
    let small = picture(&scenario, &[at_once]);
    assert!(!small.contains("NaN"), "all of it happens in no time");
    let text = r#"{"name": "n", "shape": "flat", "requests": 20000, "workers": 50, "latency": 0.01,
        "server": {"kind": "gcra", "rate": 50}}"#;
    let scenario = Scenario::from_json(text).unwrap();
    let refused_often = History::of(&scenario, Kind::Independent).unwrap();
    assert!(refused_often.figures.refused > 10_000);
    let bytes = picture(&scenario, &[refused_often]).len();
    assert!(bytes < 60_000, "{bytes}");
}
