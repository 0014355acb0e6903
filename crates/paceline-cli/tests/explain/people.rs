//! What people are told.

use crate::folder::Folder;
use crate::{NOW, explain};

#[test]
fn people_are_told_what_each_field_means_and_when_to_go_on() {
    let arguments = [
        "--status",
        "403",
        "--dialect",
        "github",
        "--now",
        NOW,
        "-H",
        "x-ratelimit-remaining: 0",
        "-H",
        "x-ratelimit-reset: 1746138678",
        "-H",
        "x-ratelimit-resource: core",
        "-H",
        "content-type: text/html",
    ];
    let said = explain("people", &arguments, "");
    assert_eq!(said.code, Some(0), "{}", said.talk);
    for line in [
        "403 Forbidden: refused because of a limit",
        "      0 requests are left of x-ratelimit",
        "      x-ratelimit starts anew in 1800 s (30 min); by its size it is an instant in seconds since 1970",
        "      the bucket is core",
        "  say nothing about limits: content-type",
        "The next request may go in 1800 s (30 min), at 2025-05-01T22:31:18Z.",
        "  Nothing is left of x-ratelimit until then.",
    ] {
        assert!(
            said.out.lines().any(|own| own == line),
            "{line}\n{}",
            said.out
        );
    }
}

/// What is said at the end about one response: when the next may go, and why then.
fn last_words(test: &str, dialect: &str, status: &str, fields: &[&str], body: &str) -> String {
    let folder = Folder::of("explain", test).with("body", body);
    let mut arguments = vec![
        "--status",
        status,
        "--now",
        NOW,
        "--dialect",
        dialect,
        "--body",
        "body",
    ];
    for field in fields {
        arguments.extend(["-H", field]);
    }
    let said = folder.run("explain", &arguments, "");
    assert_eq!(said.code, Some(0), "{}", said.talk);
    let last = said.out.trim_end().rsplit("\n\n").next();
    last.unwrap_or_default().to_owned()
}

#[test]
fn people_are_told_which_hint_won_and_why_others_did_not() {
    let discord = [
        "Retry-After: 3",
        "X-RateLimit-Remaining: 4",
        "X-RateLimit-Reset-After: 9",
    ];
    assert_eq!(
        last_words("won", "discord", "429", &discord, r#"{"retry_after":600}"#),
        "The next request may go in 600 s (10 min), at 2025-05-01T22:11:18Z.\n  \
         body: retry_after says so.\n  \
         Retry-After says 3 s, and the longer of two hints counts.\n  \
         x-ratelimit starts anew in 9 s, but something is left of it: it did not refuse."
    );
    let zero = [
        "Retry-After: 0",
        "X-RateLimit-Remaining: 0",
        "X-RateLimit-Reset: 20",
    ];
    assert_eq!(
        last_words("zero", "discord", "429", &zero, "{}"),
        "The next request may go in 20 s, at 2025-05-01T22:01:38Z.\n  \
         Nothing is left of x-ratelimit until then.\n  \
         Retry-After says 0 s, which is no hint after a refusal."
    );
    assert_eq!(
        last_words("least", "slack", "429", &[], ""),
        "The next request of the same route may go in 30 s, at 2025-05-01T22:01:48Z.\n  \
         Nothing is named: it is the dialect's least pause, and longer if that was not enough."
    );
    let conflict = [
        "Retry-After: 5",
        "X-RateLimit-Remaining: 0",
        "X-RateLimit-Reset: 20",
    ];
    assert_eq!(
        last_words("conflict", "mw-koa", "429", &conflict, ""),
        "The next request may go in 5 s, at 2025-05-01T22:01:23Z.\n  \
         Retry-After says so.\n  \
         x-ratelimit starts anew in 20 s, but a wait that is named goes first."
    );
    let refill = r#"{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":COST,"throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":89,"restoreRate":50}}}}"#;
    assert_eq!(
        last_words(
            "refill",
            "shopify-graphql",
            "200",
            &[],
            &refill.replace("COST", "502")
        ),
        "The next request may go in 8.26 s, at 2025-05-01T22:01:26.26Z.\n  \
         By then enough has come back for what was asked."
    );
    assert_eq!(
        last_words(
            "dear",
            "shopify-graphql",
            "200",
            &[],
            &refill.replace("COST", "1200")
        ),
        "This request will never be served: it asks for more than there ever is.\n  \
         This one is not worth sending again."
    );
    assert_eq!(
        last_words("own", "mw-koa", "404", &["Retry-After: 5"], ""),
        "The next request may go at once; this one again in 5 s.\n  \
         Retry-After says 5 s, which is no pause for others: the answer is no refusal."
    );
    let aged = [
        "Age: 30",
        "X-RateLimit-Remaining: 0",
        "X-RateLimit-Reset: 20",
    ];
    assert_eq!(
        last_words("aged", "mw-koa", "200", &aged, ""),
        "The next request may go at once."
    );
    assert_eq!(
        last_words("flight", "twilio", "429", &[], ""),
        "The next request may go when one that is under way has ended."
    );
    let bill = r#"{"error":{"code":"insufficient_quota"}}"#;
    assert_eq!(
        last_words("bill", "openai", "429", &[], bill),
        "The next request will not be served soon: waiting a little is pointless.\n  \
         This one is not worth sending again."
    );
}

#[test]
fn people_are_told_why_it_is_a_refusal() {
    let own = r#"
[dialect.zorb]
[[dialect.zorb.when]]
at = "body: outcome"
is = ["SLOWDOWN", "LATER"]
class = "rate_limited"
[[dialect.zorb.when]]
status = [477]
class = "rate_limited"
[[dialect.zorb.when]]
status = [409]
at = "x-busy"
class = "overloaded"
"#;
    let told = |test: &str, dialect: &str, status: &str, fields: &[&str], body: &str| {
        let folder = Folder::of("explain", test)
            .with("paceline.toml", own)
            .with("body", body);
        let mut arguments = vec!["--status", status, "--body", "body", "--dialect", dialect];
        arguments.extend(fields.iter().flat_map(|field| ["-H", field]));
        let said = folder.run("explain", &arguments, "");
        assert_eq!(said.code, Some(0), "{}", said.talk);
        let mut lines = said.out.lines();
        lines.find_map(|line| Some(line.strip_prefix("because ")?.to_owned()))
    };
    for (test, status, fields, body, because) in [
        (
            "by-body",
            "200",
            &[][..],
            r#"{"outcome":"LATER"}"#,
            Some("body: outcome says \"LATER\""),
        ),
        (
            "by-code",
            "477",
            &[],
            "",
            Some("that is what status 477 means in this dialect"),
        ),
        (
            "by-field",
            "409",
            &["X-Busy: yes"],
            "",
            Some("x-busy says \"yes\""),
        ),
        ("by-status", "429", &[], "", Some("status 429 says so")),
        (
            "by-wait",
            "403",
            &["Retry-After: 3"],
            "",
            Some("a wait stands beside status 403"),
        ),
        (
            "by-window",
            "403",
            &["X-RateLimit-Remaining: 0"],
            "",
            Some("nothing is left of x-ratelimit beside status 403"),
        ),
        ("by-none", "403", &[], "", None),
        ("by-served", "200", &[], r#"{"outcome":"FINE"}"#, None),
    ] {
        assert_eq!(
            told(test, "zorb", status, fields, body).as_deref(),
            because,
            "{test}"
        );
    }
}
