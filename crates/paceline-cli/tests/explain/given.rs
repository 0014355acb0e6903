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
            "letters",
            vec!["--status", "abc"],
            "invalid value 'abc' for '--status <STATUS>': it is no whole number; expected one from 100 to 999",
        ),
        (
            "below",
            vec!["--status", "-1"],
            "invalid value '-1' for '--status <STATUS>': -1 is not in 100..=999",
        ),
        (
            "end-of-time",
            vec!["--status", "429", "--now", "9999-12-31T23:59:59Z"],
            "--now: \"9999-12-31T23:59:59Z\" is no instant; expected an instant such as 2025-05-01T22:01:18Z (RFC 3339), before 9999-12-30T22:00:00Z",
        ),
        (
            "two-lines",
            vec!["--status", "429", "-H", "Retry-After: 5\r\nX-Left: 3"],
            "--header: an end of line is in it; expected each header for itself",
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

#[test]
fn a_line_of_a_piped_response_that_is_no_header_is_numbered() {
    let response = "HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n\nHTTP/1.1 200 OK\r\n";
    for (response, line) in [
        ("HTTP/1.1 429 X\r\nRetry-After 5\r\n\r\n", 2),
        ("\n\nHTTP/1.1 429 X\nA: b\n c\nRetry-After 5\n and on\n", 6),
        ("HTTP/1.1 429 X\r\na b: c", 2),
        (
            &response
                .replacen("\n\nHTTP", "\nHTTP", 1)
                .replace("200 OK", "200 OK\r\nnothing"),
            5,
        ),
    ] {
        let said = explain("numbered", &[], response);
        assert_eq!(said.code, Some(2), "{response}");
        let words = format!("error: standard input: line {line}: ");
        assert!(said.talk.starts_with(&words), "{response}\n{}", said.talk);
    }
}

#[test]
#[cfg(unix)]
fn an_argument_that_is_no_text_is_told_by_its_place_and_not_repeated() {
    use std::os::unix::ffi::OsStrExt;
    let not_text = std::ffi::OsStr::from_bytes(b"X: SECRET\xff");
    let glued = std::ffi::OsStr::from_bytes(b"--header=X: SECRET\xff");
    let folder = Folder::of("explain", "not-text");
    let command = |arguments: &[&std::ffi::OsStr]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_paceline"));
        command
            .current_dir(&folder.0)
            .arg("explain")
            .args(arguments);
        let ended = command.output().expect("the binary runs");
        let talk = String::from_utf8(ended.stderr).expect("text");
        (ended.status.code(), talk)
    };
    for (arguments, place) in [
        (&["-H".as_ref(), not_text][..], "3, after -H"),
        (&["--status".as_ref(), "429".as_ref(), glued], "4, --header"),
    ] {
        let (code, talk) = command(arguments);
        let told = format!("error: argument {place}: it is not UTF-8; expected UTF-8 text\n");
        assert_eq!((code, talk), (Some(2), told));
    }
}

#[test]
fn slips_in_a_line_are_told_and_other_keys_are_left_alone() {
    let lines = [
        r#"{"status":429,"bdy":"x"}"#,
        r#"{"status":-4}"#,
        r#"{"status":1e9}"#,
        r#"{"status":429.5}"#,
        r#"{"status":"429"}"#,
        r#"{"headers":[]}"#,
        r#"{"status":429,"headers":[["A","b\nRetry-After: 5"]]}"#,
        r#"{"status":429,"headers":{"A":"b\r"}}"#,
        r#"{"status":429.0,"trace":7,"headers":[["Retry-After","5\u0000"]]}"#,
    ];
    let said = explain("slips", &["--jsonl"], &lines.join("\n"));
    assert_eq!(said.code, Some(2));
    let facts = facts(&said);
    let no_status = "that is no status; expected a whole number from 100 to 999";
    let errors: Vec<_> = facts.iter().map(|fact| fact["error"].as_str()).collect();
    assert_eq!(
        errors,
        [
            Some("\"bdy\" is not a key; expected body?"),
            Some(no_status),
            Some(no_status),
            Some(no_status),
            Some("status is no number; expected one such as 429"),
            Some("there is no status; expected one such as 429"),
            Some("headers[0]: an end of line is in it; expected each header for itself"),
            Some("headers.A: an end of line is in it; expected each header for itself"),
            None,
        ]
    );
    assert_eq!(facts[8]["class"], json!("rate_limited"));
}
