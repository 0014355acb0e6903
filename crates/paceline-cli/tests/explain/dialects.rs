//! Dialects that are built in and of one's own.

use serde_json::json;

use crate::facts;
use crate::folder::Folder;

#[test]
fn bodies_are_read_by_the_dialect_that_knows_them() {
    let folder =
        Folder::of("explain", "body").with("denied.json", r#"{"error":{"code":"maxlag"}}"#);
    let arguments = [
        "--status",
        "200",
        "--body",
        "denied.json",
        "--dialect",
        "mediawiki",
        "--json",
    ];
    let said = folder.run("explain", &arguments, "");
    let fact = &facts(&said)[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("overloaded"), &json!(5))
    );
}

/// A dialect of one's own has the form of those that are built in, and may build on them.
#[test]
fn a_configuration_brings_dialects_of_its_own() {
    let own = r#"
[dialect.shop]
also = ["shopify-rest"]
pause = "7s"
[[dialect.shop.when]]
status = [409]
at = "body: error"
is = ["busy"]
class = "rate_limited"
"#;
    let folder = Folder::of("explain", "own")
        .with("paceline.toml", own)
        .with("b.json", r#"{"error":"busy"}"#);
    let arguments = [
        "--dialect",
        "shop",
        "--status",
        "409",
        "--body",
        "b.json",
        "-H",
        "X-Shopify-Shop-Api-Call-Limit: 39/40",
        "--json",
    ];
    let fact = &facts(&folder.run("explain", &arguments, ""))[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("rate_limited"), &json!(7))
    );
    assert_eq!(fact["remaining"], json!(1));
}

#[test]
fn what_is_wrong_with_a_dialect_is_told_with_its_place() {
    let own = "[dialect.mine]\npause = 3\nalso = [\"gitub\"]\n[[dialect.mine.when]]\nis = [\"a\"]\nclass = \"ok-ish\"\n";
    let folder = Folder::of("explain", "wrong").with("paceline.toml", own);
    let said = folder.run("explain", &["--dialects"], "");
    assert_eq!(said.code, Some(2));
    for error in [
        "paceline.toml:2:9: dialect.mine.pause: an integer does not belong here; expected a duration, such as \"60s\"",
        "paceline.toml:3:9: dialect.mine.also[0]: there is no dialect \"gitub\"; expected github?",
        "paceline.toml:4:1: dialect.mine.when[0]: it does not say where to look; expected at = \"body: error.code\"",
        "paceline.toml:6:9: dialect.mine.when[0].class: \"ok-ish\" is not one of them; expected one of: ok, rate_limited",
    ] {
        assert!(said.talk.contains(error), "{error}\n{}", said.talk);
    }
}

#[test]
fn a_built_in_one_is_printed_as_a_template() {
    let said = Folder::of("explain", "print").run("explain", &["--dialects", "slack"], "");
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    assert!(
        said.out
            .starts_with("[dialect.slack]\nname = \"Slack Web API\"\n")
    );
    assert!(
        said.out
            .contains("\n[[dialect.slack.when]]\nat = \"body: error\"\n")
    );

    let own = said.out + "\n[dialect.mine]\nalso = [\"slack\"]\n";
    let folder = Folder::of("explain", "printed").with("paceline.toml", own);
    let said = folder.run("explain", &["--dialects", "slack", "--json"], "");
    assert_eq!(
        (said.code, facts(&said).len()),
        (Some(0), 1),
        "{}",
        said.talk
    );
    assert_eq!(facts(&said)[0]["dialect"], json!("slack"));
    for (name, wrong) in [
        (
            "mine",
            "--dialects: mine is your own and stands in your configuration",
        ),
        (
            "slak",
            "--dialects: there is no dialect \"slak\"; expected slack?",
        ),
    ] {
        let said = folder.run("explain", &["--dialects", name], "");
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
        assert!(said.talk.contains(wrong), "{}", said.talk);
    }
}

/// A cost in a field, a refusal by a field, the server's clock: whatever was read is not said to say nothing.
#[test]
fn what_a_dialect_of_ones_own_reads_is_told_field_by_field() {
    let own = r#"
[dialect.zorb]
name = "Zorb"
[[dialect.zorb.cost]]
unit = "points"
requested = "x-asked"
actual = ["x-cost"]
[[dialect.zorb.when]]
at = "x-why"
is = ["slow"]
class = "rate_limited"
kind = "concurrency"
"#;
    let folder = Folder::of("explain", "fields").with("paceline.toml", own);
    let arguments = [
        "--dialect",
        "zorb",
        "--status",
        "200",
        "-H",
        "x-cost: 3",
        "-H",
        "x-asked: 5",
        "-H",
        "x-why: slow",
        "-H",
        "date: Thu, 01 May 2025 22:01:18 GMT",
        "-H",
        "x-other: 1",
    ];
    let said = folder.run("explain", &arguments, "");
    for line in [
        "as Zorb speaks (unverified, it names no source)",
        "      it did cost 3 points",
        "      it asked for 5 points",
        "      by x-why the response is rate_limited; the limit is of the kind: concurrency; it is about how much is under way at once: fewer help, slower does not",
        "      when it was sent: dates beside it are understood by this clock",
        "  say nothing about limits: x-other",
    ] {
        let mut lines = said.out.lines();
        assert!(lines.any(|own| own == line), "{line}\n{}", said.out);
    }
    let fact = &facts(&folder.run("explain", &[&arguments[..], &["--json"]].concat(), ""))[0];
    assert_eq!(
        (&fact["kind"], &fact["costs"]),
        (
            &json!("concurrency"),
            &json!([{"unit": "points", "requested": 5, "actual": 3}])
        )
    );
}

#[test]
fn the_servers_clock_is_said_to_be_gone_by_where_it_is() {
    for (date, meaning) in [
        ("Thu, 01 May 2025 22:01:18 GMT", "when it was sent"),
        ("Thu, 01 May 2025 21:59:18 GMT", "when it was sent"),
        (
            "Thu, 01 May 1975 22:01:18 GMT",
            "it is too far from the dates beside it",
        ),
        ("yesterday", "it cannot be read; our clock is gone by"),
    ] {
        let field = format!("date: {date}");
        let reset = "x-ratelimit-reset: 1746136938";
        let arguments = [
            "--status",
            "429",
            "-H",
            &field,
            "-H",
            reset,
            "--now",
            crate::NOW,
        ];
        let said = crate::explain("clock", &arguments, "");
        let mut lines = said.out.lines();
        let told = lines.any(|line| line.trim_start().starts_with(meaning));
        assert!(told, "{date}\n{}", said.out);
    }
}
