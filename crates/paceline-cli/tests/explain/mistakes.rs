//! What a dialect of one's own may not say.

use crate::folder::Folder;

/// Each with its place, its key and what would be right; all of a file at once.
#[test]
fn rules_that_can_do_nothing_are_mistakes() {
    let own = r#"
[[dialect.d.when]]
status = [429]
[[dialect.d.when]]
class = "rate_limited"
[[dialect.d.when]]
at = "body: a"
is = []
contains = ["x"]
class = "rate_limited"
[[dialect.d.when]]
at = ".a"
class = "ok"
[[dialect.d.window]]
name = "nowhere"
[[dialect.d.window]]
used = "x-used"
reset_in = "seconds"
aligned = true
[[dialect.d.window]]
remaining = ".left"
[[dialect.d.wait]]
unit = "weeks"
[[dialect.d.cost]]
unit = "points"
"#;
    let folder = Folder::of("explain", "nothing").with("paceline.toml", own);
    let said = folder.run("explain", &["--dialects"], "");
    assert_eq!(said.code, Some(2));
    for error in [
        "2:1: dialect.d.when[0]: nothing follows from it; expected class = \"rate_limited\", or one of kind, scope",
        "4:1: dialect.d.when[1]: it fits every response; expected status = [429], or at = \"body: error.code\"",
        "8:6: dialect.d.when[2].is: it is empty, so that anything would fit; expected an array of texts",
        "9:12: dialect.d.when[2].contains: there is another test beside it; expected one of is, contains, code",
        "12:6: dialect.d.when[3].at: \".a\" is a part of what `each` finds, and there is no `each`; expected a place",
        "14:1: dialect.d.window[0]: it does not say where any number of it stands; expected remaining = ",
        "17:8: dialect.d.window[1].used: it says nothing by itself; expected limit beside it",
        "18:12: dialect.d.window[1].reset_in: it says nothing by itself; expected reset beside it",
        "19:11: dialect.d.window[1].aligned: it says nothing by itself; expected length beside it",
        "21:13: dialect.d.window[2].remaining: \".left\" is a part of what `each` finds",
        "22:1: dialect.d.wait[0]: it does not say where; expected at = \"body: error.retry_after\"",
        "23:8: dialect.d.wait[0].unit: \"weeks\" is not one of them; expected one of: seconds, milliseconds, minutes",
        "24:1: dialect.d.cost[0]: it does not say where a cost stands; expected actual = ",
    ] {
        let error = format!("paceline.toml:{error}");
        assert!(said.talk.contains(&error), "{error}\n{}", said.talk);
    }
}

#[test]
fn examples_have_to_be_read_as_they_say() {
    let own = r#"
[dialect.d]
pause = "3s"
[[dialect.d.example]]
status = 429
expect = { class = "rate_limited", wait_seconds = 3 }
[[dialect.d.example]]
status = 429
headers = [["Retry-After", "5"]]
expect = { class = "rate_limited", wait_seconds = 6 }
"#;
    let folder = Folder::of("explain", "examples").with("paceline.toml", own);
    let said = folder.run("explain", &["--dialects"], "");
    assert_eq!(said.code, Some(2));
    for error in [
        "7:1: dialect.d.example[1]: retry_after_seconds is read as 5, and `expect` does not name it; expected expect = ",
        "10:51: dialect.d.example[1].expect.wait_seconds: it is read as 5; expected 5, or a dialect that reads this",
    ] {
        assert!(said.talk.contains(error), "{error}\n{}", said.talk);
    }
    assert_eq!(said.talk.matches("error:").count(), 2, "{}", said.talk);
}

#[test]
fn every_key_with_a_value_of_the_wrong_type_is_told() {
    let keys = [
        (
            "",
            "name hosts source date confidence fields period shared_by notes also limits route cold_start pause scope \
             bucket units when window wait cost example statuses",
        ),
        (
            "when",
            "status at missing is contains code class kind scope pause retry",
        ),
        (
            "window",
            "name unit each limit remaining used used_share usage reset reset_in length length_in aligned steady refill \
             refill_every refill_every_in",
        ),
        ("wait", "at unit always"),
        ("cost", "unit requested actual"),
        ("example", "now status headers body expect"),
    ];
    for (table, keys) in keys {
        let (head, path) = match table {
            "" => ("[dialect.d]".to_owned(), "dialect.d".to_owned()),
            table => (
                format!("[[dialect.d.{table}]]"),
                format!("dialect.d.{table}[0]"),
            ),
        };
        let mut own = format!("{head}\nnonsense = 1\n");
        for key in keys.split_ascii_whitespace() {
            own += &format!("{key} = 1.5\n");
        }
        let folder = Folder::of("explain", "types").with("paceline.toml", own);
        let said = folder.run("explain", &["--dialects"], "");
        let unknown = format!(
            "paceline.toml:2:1: {path}.nonsense: \"nonsense\" is not a key; expected one of: "
        );
        assert!(said.talk.contains(&unknown), "{unknown}\n{}", said.talk);
        for (line, key) in (3..).zip(keys.split_ascii_whitespace()) {
            let column = key.len() + 4;
            let error = format!(
                "paceline.toml:{line}:{column}: {path}.{key}: a float does not belong here; expected "
            );
            assert!(said.talk.contains(&error), "{error}\n{}", said.talk);
        }
    }
}
