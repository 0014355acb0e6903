//! Refusals that hide behind a status of success: what a body says counts, not the status.

use super::*;

const MINE: &str = r#"
[dialect.zorb]
[[dialect.zorb.when]]
at = "body: outcome"
is = ["SLOWDOWN"]
class = "rate_limited"
"#;

const JSON: &str = "content-type: application/json\r\n";

#[test]
fn a_refusal_in_a_body_that_is_final_is_no_page() {
    for (dialect, body) in [
        ("zorb", r#"{"outcome":"SLOWDOWN"}"#),
        ("slack", r#"{"ok":false,"error":"ratelimited"}"#),
        (
            "shopify-graphql",
            r#"{"errors":[{"extensions":{"code":"THROTTLED"}}]}"#,
        ),
        ("mediawiki", r#"{"error":{"code":"ratelimited"}}"#),
    ] {
        let server = Server::start(move |_| reply(200, JSON, body));
        let folder = Folder::new();
        folder.write("paceline.toml", MINE);
        let args = ["-X", "POST", "--out", "out", "--dialect", dialect, "--json"];
        let ended = run(fetch(&folder, &[&[&*server.url], &args[..]].concat()));
        assert_eq!(ended.code, Some(1), "{dialect}: {ended:?}");
        let facts = ended.facts();
        let [result, summary] = &facts[..] else {
            panic!("{facts:?}")
        };
        assert_sums(summary, &facts[..1]);
        assert_eq!(
            (&result["status"], &result["ok"], &result["reason"]),
            (&json!(200), &json!(false), &json!("not_idempotent")),
            "{dialect}"
        );
        let error = result["error"].as_str().unwrap();
        assert!(error.starts_with("200 OK, read as a refusal: "), "{error}");
        assert_eq!(result["file"], Value::Null);
        assert_eq!(folder.names("out"), [""; 0]);
        assert_eq!((&summary["refused"], server.seen().len()), (&json!(1), 1));
    }
}

#[test]
fn a_page_that_was_refused_to_the_end_of_its_time_is_fetched_by_the_next_run() {
    let fine = std::sync::Arc::new(AtomicU32::new(0));
    let recovered = fine.clone();
    let server = Server::start(move |_| match recovered.load(Ordering::Relaxed) {
        0 => reply(200, JSON, r#"{"outcome":"SLOWDOWN"}"#),
        _ => reply(200, JSON, r#"{"outcome":"FINE"}"#),
    });
    let folder = Folder::new();
    folder.write("paceline.toml", MINE);
    let args = [
        &*server.url,
        "--dialect",
        "zorb",
        "--total",
        "300ms",
        "--results",
        "results",
        "--resume",
        "--json",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(lines(&folder.read("results"))[0]["ok"], false);

    fine.store(1, Ordering::Relaxed);
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = &ended.facts()[0];
    assert_eq!(
        (&summary["ok"], &summary["skipped"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn the_next_page_that_a_refusal_names_is_not_followed() {
    let server = Server::start(|_| {
        let headers = format!("{JSON}link: </2>; rel=next\r\n");
        reply(200, &headers, r#"{"outcome":"SLOWDOWN"}"#)
    });
    let folder = Folder::new();
    folder.write("paceline.toml", MINE);
    let args = [
        &*server.url,
        "-X",
        "POST",
        "--dialect",
        "zorb",
        "--paginate",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.facts()[0]["next"], Value::Null);
    assert_eq!(server.seen().len(), 1);
}
