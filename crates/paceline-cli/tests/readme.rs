//! The README shows what `paceline simulate` prints, and this is what it prints; and which keys a server has.
//!
//! ```text
//! README=write cargo test -p paceline-cli --test readme     # writes it into the README, for review
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

/// Two tests write into one page.
static PAGE: Mutex<()> = Mutex::new(());

const SECTION: &str = "## Try it on your own limit\n";

#[test]
fn the_readme_shows_what_simulate_prints() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = fs::read_to_string(&readme).expect("there is a README");
    let (before, section) = page.split_once(SECTION).expect("it has the section");
    let scenario = block(section, "toml");
    let command = block(section, "sh").replace("\\\n", " ");
    let shown = block(section, "text");

    let printed = run(&command, scenario);

    if env::var_os("README").is_some_and(|what| what == "write") {
        let (shown, printed) = (fenced(shown), fenced(&printed));
        let section = section.replacen(&shown, &printed, 1);
        fs::write(&readme, format!("{before}{SECTION}{section}")).expect("it can be written");
    } else {
        assert_eq!(shown, printed, "review what README=write makes of it");
    }
}

/// A provider is a data file; the table is made of them.
#[test]
fn the_readme_lists_the_providers_that_are_known() {
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = fs::read_to_string(&readme).expect("there is a README");
    let (before, rest) = page.split_once(PROVIDERS).expect("it has the table");
    let (shown, after) = rest
        .split_once("\n\n")
        .expect("something follows the table");
    let rows: Vec<String> = paceline::dialect::all()
        .iter()
        .map(|own| row(own))
        .collect();
    let made = rows.join("\n");
    if env::var_os("README").is_some_and(|what| what == "write") {
        fs::write(&readme, format!("{before}{PROVIDERS}{made}\n\n{after}"))
            .expect("it can be written");
    } else {
        assert_eq!(shown, made, "review what README=write makes of it");
    }
}

const PROVIDERS: &str =
    "| dialect | provider | refuses with | published limits | basis |\n|---|---|---|---|---|\n";

fn row(own: &paceline::dialect::Provider) -> String {
    let statuses: Vec<_> = own.statuses.iter().map(ToString::to_string).collect();
    let mut limits: Vec<_> = own.limits.iter().map(ToString::to_string).collect();
    for route in &own.routes {
        let of: Vec<_> = route.limits.iter().map(ToString::to_string).collect();
        limits.push(format!("`{}` {}", route.matcher, of.join(", ")));
    }
    format!(
        "| `{}` | {} | {} | {} | {} |",
        own.slug,
        own.name,
        statuses.join(", "),
        limits.join(", "),
        own.confidence
    )
}

/// With a key too many a scenario is told which there are.
#[test]
fn the_readme_lists_the_keys_of_every_server_and_wrap() {
    let page = include_str!("../../../README.md");
    let (_, section) = page.split_once(SECTION).expect("it has the section");
    let some =
        r#""rate": 1, "burst": 1, "limit": 1, "window": 1, "max": 1, "parts": [{"kind": "open"}]"#;
    let servers = keys(section, "| `kind` |");
    assert_eq!(servers.len(), 8, "{servers:?}");
    for (kind, listed) in servers {
        let server = format!(r#"{{"kind": "{kind}", {some}, "zzz": 1}}"#);
        let common = ["kind", "retry_after", "status", "wrap"];
        assert_eq!(known(&server), sorted(listed, &common), "{kind}");
    }
    let some = r#""p": 0.5, "windows": [[0, 1]], "nth": [1], "rate": 1"#;
    let wraps = keys(section, "| `kind` in `wrap` |");
    assert_eq!(wraps.len(), 5, "{wraps:?}");
    for (kind, listed) in wraps {
        let server =
            format!(r#"{{"kind": "open", "wrap": [{{"kind": "{kind}", {some}, "zzz": 1}}]}}"#);
        let common = ["kind", "retry_after", "status"];
        assert_eq!(known(&server), sorted(listed, &common), "{kind}");
    }
}

/// Of the table with that head: the word in the first column, and the words in code in the second that are keys.
fn keys<'a>(section: &'a str, head: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let rows = section.lines().skip_while(|line| !line.starts_with(head));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut columns = row.split('|').skip(1);
        let mut code = || {
            columns
                .next()
                .expect("a column")
                .split('`')
                .skip(1)
                .step_by(2)
        };
        let kind = code().next().expect("a kind");
        (kind, code().filter(|word| !word.starts_with('[')).collect())
    })
    .collect()
}

fn sorted(mut listed: Vec<&str>, common: &[&'static str]) -> Vec<String> {
    listed.extend(common);
    listed.sort_unstable();
    listed.into_iter().map(str::to_owned).collect()
}

/// The keys that the complaint about this server names.
fn known(server: &str) -> Vec<String> {
    let scenario = format!(
        r#"{{"name": "n", "shape": "flat", "requests": 1, "workers": 1, "latency": 0, "server": {server}}}"#
    );
    let error = paceline_sim::Scenario::from_json(&scenario).expect_err("a key too many");
    let (_, keys) = error
        .problem
        .split_once("must be one of ")
        .expect(&error.problem);
    keys.split(", ").map(str::to_owned).collect()
}

/// The text of the first code block in that language.
fn block<'a>(section: &'a str, language: &str) -> &'a str {
    let fence = format!("```{language}\n");
    let (_, rest) = section.split_once(&fence).expect(language);
    let (text, _) = rest.split_once("```").expect("it is closed");
    text
}

fn fenced(text: &str) -> String {
    format!("```text\n{text}```")
}

/// Standard output of a command line without quotes, in a folder that has the scenario.
fn run(command: &str, scenario: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("scenario.toml"), scenario).expect("a file");
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("paceline"));
    let ran = Command::new(env!("CARGO_BIN_EXE_paceline"))
        .current_dir(&folder)
        .args(words)
        .output()
        .expect("the binary runs");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let written = fs::read_to_string(folder.join("run.svg")).expect("a picture");
    assert!(written.starts_with("<svg"), "{written}");
    String::from_utf8(ran.stdout).expect("text")
}
