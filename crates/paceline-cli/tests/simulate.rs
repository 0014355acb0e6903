//! Scenarios played from the command line: what is printed, what is wrong, and with which exit code.

#[path = "support/folder.rs"]
mod folder;

use std::fs;

use folder::{Folder, Said};
use serde_json::Value;

const TREE: &str = r#"{"name": "tree", "shape": "tree", "requests": 60, "workers": 10, "latency": 0.05, "ideal": 19.35, "target": {"elapsed": 900, "refused": 900, "failed": 0}, "server": {"kind": "token-bucket", "rate": 3, "burst": 3, "retry_after": "zero"}}"#;
const ALWAYS: &str = r#"{"name": "always", "shape": "burst", "requests": 5, "workers": 5, "latency": 0, "seeds": 2, "server": {"kind": "always"}}"#;
const TOML: &str = r#"
name = "in TOML"
shape = "flat"
requests = 20
workers = 4
latency = 0.5
server = { kind = "fixed-window", limit = 10, window = 10 }
"#;

impl Folder {
    fn new(test: &str) -> Self {
        Self::of("simulate", test)
    }

    fn simulate(&self, arguments: &[&str]) -> Said {
        self.simulate_piped(arguments, "")
    }

    fn simulate_piped(&self, arguments: &[&str], input: &str) -> Said {
        self.run("simulate", arguments, input)
    }
}

impl Said {
    fn facts(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }
}

#[test]
fn one_line_for_each_scenario_policy_and_seed_with_exactly_these_keys() {
    let folder = Folder::new("rows").with("two.jsonl", format!("{TREE}\n\n{ALWAYS}\n"));
    let arguments = [
        "two.jsonl",
        "--json",
        "--policy",
        "oracle",
        "--policy",
        "paceline",
    ];
    let said = folder.simulate(&arguments);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    let facts = said.facts();
    let which: Vec<String> = facts
        .iter()
        .map(|fact| {
            format!("{} {} {}", fact["name"], fact["policy"], fact["seed"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        which,
        [
            "tree oracle 1",
            "tree paceline 1",
            "always oracle 1",
            "always oracle 2",
            "always paceline 1",
            "always paceline 2"
        ]
    );
    const KEYS: &str = r#"{"name","policy","seed","elapsed","ideal","ratio","ok","failed","sent","refused","slowest","peak_1s"}"#;
    for line in said.out.lines() {
        let mut place = 0;
        for key in KEYS.trim_matches(['{', '}']).split(',') {
            let found = line[place..].find(&format!("{key}:")).expect(key);
            place += found;
        }
        assert_eq!(line.matches("\":").count(), 12, "{line}");
    }
    let oracle = &facts[0];
    assert_eq!(oracle["ideal"], 19.35);
    assert_eq!(
        (&oracle["ok"], &oracle["failed"], &oracle["refused"]),
        (&61.into(), &0.into(), &0.into())
    );
    let ratio = oracle["elapsed"].as_f64().unwrap() / 19.35;
    assert!((oracle["ratio"].as_f64().unwrap() - ratio).abs() < 1e-5);
    // A failed request is a result, and where nothing is ever served there is no ideal.
    assert_eq!(
        (&facts[4]["failed"], &facts[4]["ideal"], &facts[4]["ratio"]),
        (&5.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(folder.simulate(&arguments).out, said.out, "a run replays");
}

#[test]
fn seconds_have_at_most_six_decimals() {
    let scenario = r#"{"name": "n", "shape": "flat", "requests": 9, "workers": 2, "latency": 0.123456789, "jitter": 0.1, "seeds": 5, "ideal": 1.23456789, "server": {"kind": "gcra", "rate": 7}}"#;
    let said = Folder::new("decimals").simulate_piped(&["--jsonl", "--json"], scenario);
    for fact in said.facts() {
        for key in ["elapsed", "ideal", "ratio", "slowest"] {
            let text = fact[key].to_string();
            let decimals = text
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len());
            assert!(decimals <= 6, "{key}: {text}");
        }
    }
}

#[test]
fn an_ideal_that_is_absent_is_computed() {
    let folder = Folder::new("ideal").with("s.toml", TOML);
    let facts = folder
        .simulate(&["s.toml", "--json", "--policy", "oracle"])
        .facts();
    assert_eq!(facts.len(), 1);
    assert_eq!(
        (&facts[0]["ideal"], &facts[0]["ratio"]),
        (&facts[0]["elapsed"], &1.0.into())
    );
}

#[test]
fn toml_json_and_lines_are_told_apart_by_name_or_by_what_they_begin_with() {
    let folder = Folder::new("formats")
        .with("s.toml", TOML)
        .with("s.json", format!("\u{feff}{}", TREE.replace(", ", ",\n")))
        .with("s.ndjson", format!("{TREE}\r\n{ALWAYS}\r\n"))
        .with("lines", format!("{TREE}\n{TREE}"))
        .with("other", TREE);
    let names = |arguments: &[&str], input: &str| {
        let said = folder.simulate_piped(arguments, input);
        assert_eq!(
            (said.code, said.talk.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
        let facts = said.facts();
        let names: Vec<&str> = facts
            .iter()
            .map(|fact| fact["name"].as_str().unwrap())
            .collect();
        names.join(" ")
    };
    let all = ["--json", "s.toml", "s.json", "s.ndjson", "other"];
    assert_eq!(names(&all, ""), "in TOML tree tree always always tree");
    assert_eq!(
        names(&["--json", "--jsonl", "lines", "-"], TREE),
        "tree tree tree"
    );
    assert_eq!(names(&["--json"], TREE), "tree");
    assert_eq!(names(&["--json", "-"], TOML), "in TOML");
    assert_eq!(names(&["--json", "--jsonl"], ""), "");
}

#[test]
fn a_bad_line_is_named_and_the_rest_goes_on() {
    let text = [
        TREE.as_bytes(),
        br#"{"name": "x", "shape": "flat", "requests": 1, "workers": 0, "latency": 0, "server": {"kind": "open"}}"#,
        b"{\"name\": \"\xff\"}",
        br#"{"name": "x", "shape": "flat", "requests": 1, "workers": 1, "latency": 0, "server": {"kind": "gcra", "rate": NaN}}"#,
        b"[1, 2",
        TREE.as_bytes(),
    ]
    .join(&b'\n');
    let folder = Folder::new("bad").with("bad.jsonl", text);
    let said = folder.simulate(&["bad.jsonl", "--json"]);
    assert_eq!(said.code, Some(2));
    let facts = said.facts();
    assert_eq!(facts.len(), 6);
    assert_eq!(
        (&facts[0]["name"], &facts[5]["name"]),
        (&"tree".into(), &"tree".into())
    );
    let told: Vec<String> = facts[1..5]
        .iter()
        .map(|fact| {
            format!(
                "{} {} {}",
                fact["line"],
                fact["field"],
                fact["error"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "2 \"workers\" must be a whole number from 1 to 1000000, not 0",
            "3 null is not UTF-8; must be UTF-8 text",
            "4 \"server.rate\" must be a finite number, not NaN",
            "5 \"[2]\" is not JSON at column 5: EOF while parsing a list; must be one JSON object",
        ]
    );
    assert!(
        said.talk
            .starts_with("error: bad.jsonl: line 2: workers: must be a whole number"),
        "{}",
        said.talk
    );
}

#[test]
fn a_line_that_is_much_too_long_is_named_and_the_rest_goes_on() {
    let long = "x".repeat((16 << 20) + 70_000);
    let said =
        Folder::new("long").simulate_piped(&["--jsonl", "--json"], &format!("{long}\n{ALWAYS}\n"));
    assert_eq!(said.code, Some(2));
    let lines: Vec<_> = said.talk.lines().collect();
    assert_eq!(
        lines,
        ["error: standard input: line 1: is longer than 16 MiB; must be shorter"]
    );
    let facts = said.facts();
    let named = facts.iter().filter(|fact| fact["name"] == "always");
    assert_eq!(named.count(), 2, "{facts:?}");
}

#[test]
fn people_see_a_table_and_whether_targets_are_met() {
    let hopeless = TREE
        .replace("900", "1")
        .replace("tree\"", "hopeless\"")
        .replace("\"hopeless\", \"req", "\"tree\", \"req");
    let folder = Folder::new("table").with("s.jsonl", format!("{TREE}\n{hopeless}\n{ALWAYS}"));
    let said = folder.simulate(&["s.jsonl", "--policy", "oracle"]);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].starts_with("scenario  policy "), "{}", said.out);
    assert!(
        lines[1].starts_with("tree ") && lines[1].ends_with("  met"),
        "{}",
        said.out
    );
    assert!(
        lines[2].contains("  missed: 19.") && lines[2].ends_with(" s of 1 s"),
        "{}",
        said.out
    );
    assert!(
        lines[3].starts_with("always ") && lines[3].contains(" - "),
        "{}",
        said.out
    );
    assert_eq!(lines.last(), Some(&"oracle meets 1 of 2 targets."));
}

#[test]
fn a_picture_of_the_first_scenario_is_written() {
    let folder = Folder::new("picture").with("s.jsonl", format!("nonsense\n{TREE}\n{ALWAYS}"));
    let arguments = [
        "s.jsonl",
        "--policy",
        "paceline",
        "--policy",
        "independent",
        "--policy",
        "paceline",
        "--plot",
        "out.svg",
    ];
    let said = folder.simulate(&arguments);
    assert_eq!(said.code, Some(2), "a line was bad");
    let picture = fs::read_to_string(folder.0.join("out.svg")).expect("a picture");
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    for once in [">tree<", ">paceline<", ">independent<"] {
        assert_eq!(picture.matches(once).count(), 1, "{once}");
    }
}

#[test]
fn what_cannot_be_read_or_written_is_said() {
    let folder = Folder::new("unreadable").with("s.toml", TOML);
    let said = folder.simulate(&["missing.toml", "s.toml", "--json"]);
    assert_eq!((said.code, said.facts().len()), (Some(2), 1));
    assert!(
        said.talk
            .starts_with("error: missing.toml: it cannot be read: "),
        "{}",
        said.talk
    );
    let said = folder.simulate(&["."]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let said = folder.simulate(&["s.toml", "--plot", "no/such/folder/out.svg"]);
    assert_eq!(said.code, Some(3));
    assert!(
        said.talk.starts_with("error: no/such/folder/out.svg: "),
        "{}",
        said.talk
    );
    let said = folder.simulate(&["missing.toml", "--plot", "out.svg"]);
    assert!(
        said.talk
            .ends_with("out.svg: not drawn, since no scenario ran\n"),
        "{}",
        said.talk
    );
}

#[test]
fn a_policy_that_is_none_is_bad_usage() {
    let said = Folder::new("policy").simulate(&["--policy", "greedy"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    for name in [
        "greedy",
        "paceline",
        "independent",
        "shared-spacing",
        "adaptive-cubic",
        "oracle",
    ] {
        assert!(said.talk.contains(name), "{}", said.talk);
    }
}

#[test]
fn the_example_in_the_help_runs() {
    let folder = Folder::new("help");
    let help = folder.simulate(&["--help"]);
    assert_eq!(help.code, Some(0));
    let (_, after) = help
        .out
        .split_once("A scenario in TOML, with the same keys as in JSON:\n")
        .expect("an example");
    let (example, _) = after.split_once("\n\n").expect("its end");
    let said = folder.simulate_piped(&["--json"], example);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    assert_eq!(said.facts()[0]["name"], "a tree of pages");
}
