//! Responses as they are typed and piped in.

use serde_json::json;

use crate::folder::Folder;
use crate::{explain, facts};

#[test]
fn a_response_may_be_piped_in_as_curl_prints_it() {
    let response = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\n\r\n{\"ok\":false}";
    let said = explain("piped", &["--json"], response);
    let fact = &facts(&said)[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("rate_limited"), &json!(5))
    );
    let said = explain("empty", &[], "");
    assert_eq!(said.code, Some(2));
    assert!(said.talk.contains("curl -si URL"), "{}", said.talk);
}

#[test]
fn of_several_heads_the_last_counts() {
    let heads = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /x\r\n\
                 Retry-After: 99\r\n\r\nHTTP/2 429\r\nretry-after:\r\n 7\r\n\r\nHTTP/1.1 is no status line";
    let fact = &facts(&explain("heads", &["--json"], heads))[0];
    assert_eq!(
        (&fact["class"], &fact["wait_seconds"]),
        (&json!("rate_limited"), &json!(7))
    );
    let unix = "\nHTTP/1.1 429 Too Many Requests\nRetry-After: 7";
    let fact = &facts(&explain("unix", &["--json"], unix))[0];
    assert_eq!(fact["wait_seconds"], json!(7));
}

#[test]
fn of_a_long_body_a_part_is_read_and_that_is_said() {
    let long = format!("<Code>SlowDown</Code>{}", " ".repeat(3 << 20));
    let folder = Folder::of("explain", "long").with("b", long);
    let said = folder.run(
        "explain",
        &["--status", "503", "--dialect", "s3", "--body", "b"],
        "",
    );
    assert!(
        said.out
            .starts_with("503 Service Unavailable: refused because of a limit")
    );
    assert!(
        said.out.contains("the body is longer than 1 MiB"),
        "{}",
        said.out
    );
}

#[test]
fn options_that_are_wrong_are_named() {
    for (test, arguments, words) in [
        (
            "noon",
            vec!["--status", "429", "--now", "noon"],
            "--now: \"noon\" is no instant; expected an instant such as",
        ),
        ("status", vec!["--status", "99"], "99 is not in 100..=999"),
        (
            "missing",
            vec!["--status", "429", "--body", "none.json"],
            "--body: none.json cannot be read",
        ),
        (
            "colon",
            vec!["--status", "429", "-H", "Retry-After"],
            "--header: there is no colon in it; expected 'Name: value'",
        ),
        (
            "name",
            vec!["--status", "429", "--dialect", "gihub"],
            "--dialect: there is no dialect \"gihub\"; expected github?",
        ),
    ] {
        let said = explain(test, &arguments, "");
        assert_eq!(said.code, Some(2), "{test}");
        assert!(said.talk.contains(words), "{test}: {}", said.talk);
    }
}
