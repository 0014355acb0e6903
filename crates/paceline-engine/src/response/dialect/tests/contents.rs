use http::HeaderMap;

use super::super::place::Sources;
use super::place;

fn text(at: &str, body: impl AsRef<[u8]>) -> Option<String> {
    let headers = HeaderMap::new();
    let sources = Sources::new(&headers, Some(body.as_ref()));
    place(at).text(&sources, None)
}

fn error_in(body: impl AsRef<[u8]>) -> Option<String> {
    text("body: error", body)
}

#[test]
fn bytes_that_are_no_utf_8_spoil_only_the_text_that_they_are_in() {
    assert_eq!(
        error_in(b"{\"error\":\"busy\",\"message\":\"caf\xE9\"}").as_deref(),
        Some("busy")
    );
    assert_eq!(
        error_in(b"\xEF\xBB\xBF{\"error\":\"busy\"}").as_deref(),
        Some("busy")
    );
    assert_eq!(error_in(b"\xFF\xFE\x00{"), None);
}

#[test]
fn a_body_that_is_no_json_has_no_parts() {
    for body in [
        "",
        "{\"error\":\"bus",
        "error=busy",
        "\"error=busy\"",
        "[]",
        "7",
        "null",
        "{\"error\":null}",
        "{\"error\":{}}",
        "{\"error\":1e999}",
        "<error>busy</error>",
    ] {
        assert_eq!(error_in(body), None, "{body}");
    }
}

#[test]
fn deep_and_wide_bodies_are_read_or_left_alone() {
    let deep = "{\"error\":".repeat(200_000);
    assert_eq!(error_in(&deep), None);
    let closed = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(error_in(&closed), None);
    let wide = format!(
        "{{\"l\":[{}],\"error\":\"busy\"}}",
        vec!["{}"; 300_000].join(",")
    );
    assert_eq!(error_in(&wide).as_deref(), Some("busy"));
}

#[test]
fn numbers_are_written_without_exponents() {
    for (number, expected) in [
        ("64.57", "64.57"),
        ("1e3", "1000"),
        ("99999999999999999999999", "100000000000000000000000"),
        ("1e-7", "0.0000001"),
        ("18446744073709551615", "18446744073709551615"),
        ("-5", "-5"),
    ] {
        let body = format!("{{\"error\":{number}}}");
        assert_eq!(error_in(body).as_deref(), Some(expected), "{number}");
    }
}

#[test]
fn the_first_element_of_a_name_is_found_in_xml() {
    let code = |body: &str| text("body: <Code>", body);
    for body in [
        "<Code>Slow</Code>",
        "<?xml version='1.0'?>\n<Error>\n<Code>\n Slow\n</Code></Error>",
        "<Code xml:space=\"preserve\">Slow</Code >",
        "<Codes>Fast</Codes><CodeX/><Code>Slow</Code><Code>Fast</Code>",
    ] {
        assert_eq!(code(body).as_deref(), Some("Slow"), "{body}");
    }
    for body in ["<Code>Slow", "<code>Slow</code>", "<Code/>", "Code", ""] {
        assert_eq!(code(body), None, "{body}");
    }
    assert_eq!(code(&"<Code>".repeat(200_000)), None);
    assert_eq!(code(&"<CodeX>".repeat(200_000)), None);
}
