use super::super::place::{Found, MOST_FOUND, Sources};
use super::super::{Place, PlaceError, content};
use super::{headers, place};

/// The texts at a place, in a head and a body that have one of each kind.
fn texts(at: &str) -> Vec<String> {
    let fields = headers(&[
        ("x-limits", "5, 7"),
        ("x-pair", "100:120"),
        ("x-one", "total=100; remaining=\"99\""),
        ("x-json", r#"{"a":{"b":1},"c":[2,3]}"#),
        ("lim-a", "1"),
        ("lim-b", "2"),
    ]);
    let body = br#"{"errors":[{"code":"x"},{"code":7},{"code":null}],"lone":{"code":true},"K":{"Ey":1.5}}"#;
    let sources = Sources::new(&fields, Some(body));
    let found = place(at).find(&sources, None);
    found
        .iter()
        .filter_map(|own| content::text(&own.value))
        .collect()
}

#[test]
fn every_form_of_a_place_finds_its_values() {
    for (at, expected) in [
        ("x-limits", vec!["5, 7"]),
        ("X-Limits: [1]", vec!["7"]),
        ("x-limits: []", vec!["5", "7"]),
        ("x-limits: [2]", vec![]),
        ("x-pair: [1]", vec!["120"]),
        ("x-one: remaining", vec!["99"]),
        ("x-one: REMAINING", vec!["99"]),
        ("x-one: *", vec!["99", "100"]),
        ("x-json: a.b", vec!["1"]),
        ("x-json: c[1]", vec!["3"]),
        ("x-json: *[]", vec!["2", "3"]),
        ("lim-*", vec!["1", "2"]),
        ("body: errors[].code", vec!["x", "7"]),
        ("body: errors[1].code", vec!["7"]),
        ("body: errors[9].code", vec![]),
        ("body: lone[].code", vec!["true"]),
        ("body: k.ey", vec!["1.5"]),
        ("Body: k.ey", vec!["1.5"]),
        ("body: errors", vec![]),
        ("body: <code>", vec![]),
        ("x-none", vec![]),
    ] {
        let mut found = texts(at);
        found.sort_by_key(String::len);
        assert_eq!(found, expected, "{at}");
    }
}

#[test]
fn the_element_at_the_same_place_belongs_to_the_value_that_is_looked_at() {
    let fields = headers(&[("x-rate", "20:1,100:120"), ("x-count", "3:1,4:120")]);
    let sources = Sources::new(&fields, None);
    let windows = place("x-rate: []").find(&sources, None);
    let count = |own: &Found<'_>| place("x-count: [#][0]").text(&sources, Some(own));
    let counts: Vec<_> = windows.iter().filter_map(count).collect();
    assert_eq!(counts, ["3", "4"]);
    assert_eq!(
        place(".[1]").text(&sources, windows.get(1)),
        Some("120".into())
    );
}

#[test]
fn no_more_is_found_than_an_honest_upstream_means() {
    let many: Vec<_> = (0..1000).map(|i| (format!("lim-{i}"), "1")).collect();
    let many: Vec<_> = many.iter().map(|(name, value)| (&**name, *value)).collect();
    let fields = headers(&many);
    let body = format!("{{\"a\":[{}]}}", vec!["1"; 100_000].join(","));
    let sources = Sources::new(&fields, Some(body.as_bytes()));
    for at in ["lim-*", "body: a[]"] {
        assert_eq!(place(at).find(&sources, None).len(), MOST_FOUND, "{at}");
    }
    let last = place("body: a[99999]").text(&sources, None);
    assert_eq!(last.as_deref(), Some("1"));
}

#[test]
fn a_place_is_written_as_it_is_read() {
    for text in [
        "x-limit",
        "x-limit-*",
        "x-limits: [0]",
        "x-limits: [#][1]",
        "x-usage: *[].eta",
        "body: errors[].extensions.code",
        "body: [].error",
        "body: <Code>",
        ".remaining",
        ".[0]",
    ] {
        assert_eq!(place(text).to_string(), text);
    }
    for (text, written) in [
        (" X-Limit :[0] ", "x-limit: [0]"),
        ("body:. errors [] . code ", "body: errors[].code"),
        ("body: * . a b", "body: *.a b"),
        ("body: < Code >", "body: <Code>"),
        (". remaining", ".remaining"),
    ] {
        assert_eq!(place(text).to_string(), written);
        assert_eq!(place(text), place(written));
    }
}

#[test]
fn what_is_no_place_says_what_would_be() {
    for (text, problem) in [
        ("", "that is not the name of a field"),
        ("*", "that is not the name of a field"),
        ("a b", "that is not the name of a field"),
        ("a**", "a name ends with one *"),
        ("body", "it does not say which part of the body"),
        ("BODY", "it does not say which part of the body"),
        ("body:", "it does not say which part of the body"),
        ("body: a..b", "a key is missing"),
        ("body: a. .b", "a key is missing"),
        ("body: a.", "a key is missing"),
        ("body: a[", "a [ has no ] after it"),
        (
            "body: a[x]",
            "between [ and ] stands a number, a # or nothing",
        ),
        (
            "body: a[-1]",
            "between [ and ] stands a number, a # or nothing",
        ),
        ("body: <Code", "a < has no > after it"),
    ] {
        let read = text.parse::<Place>();
        let problem_of = read.as_ref().map_err(PlaceError::problem);
        assert_eq!(problem_of.err(), Some(problem), "{text}");
    }
}
