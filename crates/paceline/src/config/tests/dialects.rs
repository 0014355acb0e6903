//! What is read of dialects that are right.

use super::*;

#[test]
fn a_dialect_may_build_on_others_wherever_they_stand() {
    let text = r#"
        [dialect.a]
        also = ["b", "c"]
        [dialect.b]
        also = ["c"]
        pause = "2s"
        [dialect.c]
        pause = "3s"
        cost = [{ actual = ["x-cost"] }]
        [dialect.slack]
        also = ["slack"]
        pause = "4s"
    "#;
    let config = Config::parse(text, "own.toml").unwrap();
    let dialect = |name: &str| config.dialect(name).unwrap().dialect.clone();
    assert_eq!(dialect("a").pause, Some(Duration::from_secs(2)));
    // It is the same cost, whichever way it came.
    assert_eq!(dialect("a").costs.len(), 1);
    // On the built-in one whose place it takes.
    assert_eq!(dialect("slack").pause, Some(Duration::from_secs(4)));
    assert_eq!(
        dialect("slack").when,
        dialect::named("slack").unwrap().dialect.when
    );
}

#[test]
fn dialects_that_build_on_each_other_in_a_long_row_are_an_error() {
    let row = |length: usize| -> String {
        let links = (1..length).map(|i| format!("[dialect.d{i}]\nalso = ['d{}']\n", i + 1));
        links
            .chain([format!("[dialect.d{length}]\npause = '1s'")])
            .collect()
    };
    assert!(Config::parse(&row(16), "own.toml").is_ok());
    let errors = Config::parse(&row(20_000), "own.toml")
        .unwrap_err()
        .to_string();
    let wrong = "own.toml:32:9: dialect.d16.also[0]: more than 16 dialects build on each other in a row; expected a dialect that names";
    assert!(errors.contains(wrong), "{errors}");
}

#[test]
fn statuses_that_refuse_by_themselves_or_by_a_rule_are_fine() {
    for text in [
        "statuses = [403, 418, 420, 429, 500, 503, 529]",
        "statuses = [477]\nwhen = [{ status = [477], class = 'overloaded' }]",
        "statuses = [200]\nwhen = [{ at = 'body: e', is = ['slow'], class = 'rate_limited' }]",
        "statuses = [200]\nalso = ['slack']",
    ] {
        let text = format!("[dialect.a]\npause = '1s'\n{text}");
        let config = Config::parse(&text, "own.toml");
        assert!(config.is_ok(), "{text}: {config:?}");
    }
}
