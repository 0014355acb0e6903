//! What is asked for: arguments, lists, standard input.

use super::*;

#[test]
fn bad_lines_are_named_and_the_others_are_done() {
    let (folder, server) = (Folder::new(), echo());
    let url = &server.url;
    let input = format!(
        "# a list\n{url}/1\n\nexample.com\n{{\"url\":\"{url}/2\",\
         \"headers\":{{\"X-A\":\"b\"}},\"body\":\"data\"}}\n{{\"url\":7}}\nftp://a/\n{url}/3"
    );
    folder.write("urls.txt", input);
    let ended = run(fetch(&folder, &["--input", "urls.txt", "--json"]));
    assert_eq!(ended.code, Some(1));
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_sums(summary, results);
    assert_eq!(summary["reasons"], json!({"invalid": 3}));
    let failed: Vec<_> = results
        .iter()
        .filter(|result| result["ok"] == false)
        .collect();
    for (result, line) in failed.iter().zip([4, 6, 7]) {
        assert_eq!(
            (&result["line"], &result["attempts"], &result["url"]),
            (&json!(line), &json!(0), &Value::Null)
        );
        assert!(
            result["error"]
                .as_str()
                .unwrap()
                .starts_with(&format!("line {line}: ")),
            "{result}"
        );
    }
    let posted = server
        .seen()
        .into_iter()
        .find(|seen| seen.line == "POST /2")
        .unwrap();
    assert_eq!(posted.body, "data");
    assert!(posted.headers.contains(&"x-a: b".into()));
}

#[test]
fn what_is_typed_wrong_says_what_would_be_right_before_anything_is_sent() {
    let (folder, server) = (Folder::new(), echo());
    folder.write(
        "paceline.toml",
        "[upstream.a]\nhosts = [\"a.example\"]\nlimits = [\"10/0s\"]\n",
    );
    folder.write("good.toml", "");
    folder.write("file", "");
    folder.write("urls", server.url.as_str());
    folder.write("notes", "precious\nnotes");
    folder.write("headers", "# mine\nX-A: b\nX-B: \u{7}\n");
    let url = server.url.as_str();
    let wrong: &[(&[&str], i32, &str)] = &[
        (
            &[url],
            2,
            "paceline.toml:3:11: upstream.a.limits[0]: \"10/0s\" is not a limit",
        ),
        (&["--config", "good.toml"], 2, "nothing to fetch"),
        (
            &["--config", "none.toml", url],
            2,
            "none.toml: it cannot be read",
        ),
        (
            &["--config", "good.toml", "--input", "none.txt"],
            2,
            "none.txt cannot be read: No such file",
        ),
        (
            &["--config", "good.toml", "--input", "."],
            2,
            ". cannot be read: is a directory",
        ),
        (
            &["--config", "good.toml", "--limit", "-1/s", url],
            2,
            "the amount is negative",
        ),
        (
            &["--config", "good.toml", "--limit", "10/0s", url],
            2,
            "the period is zero",
        ),
        (
            &["--config", "good.toml", "--total", "10", url],
            2,
            "\"10\" has no unit",
        ),
        (
            &["--config", "good.toml", "--total", "-3s", url],
            2,
            "invalid value '-3s' for '--total <TIME>': \"-3s\" is not a duration",
        ),
        (
            &["--config", "good.toml", "--concurrency", "-3", url],
            2,
            "-3 is not in 1..=10000",
        ),
        (
            &["--config", "good.toml", "--concurrency", "many", url],
            2,
            "it is no whole number; expected one from 1 to 10000",
        ),
        (
            &["--config", "good.toml", "--timeout", "0s", url],
            2,
            "expected more than 0s",
        ),
        (
            &["--config", "good.toml", "--concurrency", "0", url],
            2,
            "0 is not in 1..=10000",
        ),
        (&["--config", "good.toml", "--resume", url], 2, "--results"),
        (
            &["--config", "good.toml", "--share", "redis://:secret@h", url],
            2,
            "redis://…@h",
        ),
        (
            &["--config", "good.toml", "--dialect", "githab", url],
            2,
            "there is no dialect \"githab\"; expected github?",
        ),
        (
            &["--config", "good.toml", "--plot", "o.svg", url],
            2,
            "draws no charts yet",
        ),
        (
            &["--config", "good.toml", "-H", "secret", url],
            2,
            "expected 'Name: value'",
        ),
        (
            &["--config", "good.toml", "-H", "@headers", url],
            2,
            "headers:3: the value of x-b",
        ),
        (
            &["--config", "good.toml", "--method", "G T", url],
            2,
            "\"G T\" is not a method",
        ),
        (
            &["--config", "good.toml", "--data", "@none", url],
            2,
            "none cannot be read",
        ),
        (
            &["--config", "good.toml", "--out", "file", url],
            3,
            "--out: file cannot be written to",
        ),
        (
            &["--config", "good.toml", "--results", "none/r", url],
            3,
            "--results: none/r cannot be opened",
        ),
        (
            &[
                "--config",
                "good.toml",
                "--input",
                "urls",
                "--results",
                "./urls",
            ],
            2,
            "--results: ./urls is read by --input and would be written over",
        ),
        (
            &[
                "--config",
                "good.toml",
                "--results",
                "notes",
                "--resume",
                url,
            ],
            3,
            "its last line is not a result",
        ),
        (
            &["--config", "good.toml", "--metrics", "192.0.2.1:1", url],
            3,
            "--metrics: 192.0.2.1:1 cannot be served",
        ),
    ];
    for (args, code, says) in wrong {
        let ended = run(fetch(&folder, args));
        assert_eq!(ended.code, Some(*code), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
        assert!(
            !ended.stderr.contains("secret"),
            "{args:?}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    assert_eq!(server.seen().len(), 0);
    assert_eq!(folder.read("urls"), server.url);
    assert_eq!(folder.read("notes"), "precious\nnotes");
}

#[test]
fn standard_input_is_read_as_it_comes() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &["--input", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        // The next line is written when the one before has its result: nothing is held back.
        writeln!(stdin, "{}/{n}x", server.url).unwrap();
        let mut result = String::new();
        stdout.read_line(&mut result).unwrap();
        assert_eq!(lines(&result)[0]["line"], n + 1);
    }
    drop(stdin);
    let ended = end(child);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("3 ok, 0 failed"), "{}", ended.stderr);
}

#[test]
fn who_stops_reading_ends_it_without_a_fuss() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &["--input", "-", "--concurrency", "1"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    // It ends although its input does not.
    writeln!(stdin, "{}/1x", server.url).unwrap();
    let ended = end(child);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}
