//! What fuzzing found worth keeping, once more: `fuzz/corpus/`, with the checks of the fuzz targets, and what those began
//! with: the heads of the engine's vectors and the dialects that are built in.
//!
//! `CORPUS=write cargo test -p paceline --features config --test corpus` adds these seeds to the corpus.

#[path = "../../../fuzz/checks/config.rs"]
mod config;
#[path = "../../../fuzz/checks/dialect.rs"]
mod dialect;
#[path = "../../../fuzz/checks/head.rs"]
mod head;
#[path = "../../../fuzz/checks/limit.rs"]
mod limit;
#[path = "../../../fuzz/checks/scenario.rs"]
mod scenario;

use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
const DIALECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/dialects");
const VECTORS: [&str; 2] = [
    include_str!("../../paceline-engine/tests/vectors/headers.jsonl"),
    include_str!("../../paceline-engine/tests/vectors/others.jsonl"),
];

#[test]
fn any_response_is_read_within_bounds() {
    replay("head", head::check, heads());
}

#[test]
fn any_dialect_is_read_within_bounds() {
    replay("dialect", dialect::check, dialects());
}

#[test]
fn any_limit_is_written_as_it_is_read() {
    replay("limit", limit::check, vec![]);
}

#[test]
fn any_configuration_is_read_or_refused() {
    replay("config", config::check, vec![]);
}

#[test]
fn any_scenario_is_read_or_refused() {
    replay("scenario", scenario::check, vec![]);
}

/// Each input of a target, and its seeds by name.
fn replay(target: &str, check: fn(&[u8]), seeds: Vec<(String, String)>) {
    if env::var_os("CORPUS").is_some() {
        for (name, seed) in &seeds {
            fs::write(format!("{CORPUS}/{target}/{name}"), seed).expect("a seed");
        }
    }
    for (name, seed) in seeds {
        name_it(&name, || check(seed.as_bytes()));
    }
    let inputs = files(&format!("{CORPUS}/{target}"));
    assert!(inputs.len() > 20, "{} inputs for {target}", inputs.len());
    for path in inputs {
        let input = fs::read(&path).expect("an input");
        name_it(&path.display().to_string(), || check(&input));
    }
}

/// Says which input it was that failed.
fn name_it(name: &str, check: impl FnOnce() + std::panic::UnwindSafe) {
    if std::panic::catch_unwind(check).is_err() {
        panic!("{name} fails");
    }
}

/// In alphabetical order.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    paths
}

/// Each vector as the text that the target reads, at the time of most of them.
fn heads() -> Vec<(String, String)> {
    let cases = VECTORS.iter().flat_map(|text| text.lines());
    let heads = cases.map(|line| {
        let case: Value = serde_json::from_str(line).expect("one JSON object a line");
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let mut seed = format!("{} 1746136878 0", case["status"]);
        for field in case["headers"].as_array().expect("a list") {
            seed += &format!("\n{}: {}", text(&field[0]), text(&field[1]));
        }
        if let Some(body) = case["body"].as_str() {
            seed += &format!("\n\n{body}");
        }
        (text(&case["id"]), seed)
    });
    let many: Vec<_> = (0..100).map(|i| format!("\"w{i}\";r=1;t=9")).collect();
    let many = format!("200 1746136878 0\nratelimit: {}", many.join(", "));
    let old = "200 1746136878 0\nage: 9".to_owned();
    let more = [("many-windows", many), ("nothing-but-an-age", old)];
    heads
        .chain(more.map(|(name, seed)| (name.to_owned(), seed)))
        .collect()
}

/// Each dialect that is built in as one of a configuration's own.
fn dialects() -> Vec<(String, String)> {
    let dialects = files(DIALECTS).into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a dialect");
        let mut seed = "[dialect.own]".to_owned();
        for line in text.lines() {
            let table = line.trim_start_matches('[');
            let is_heading = table.starts_with(|first: char| first.is_ascii_lowercase());
            seed += match line.len() - table.len() {
                1 if is_heading => "\n[dialect.own.",
                2 if is_heading => "\n[[dialect.own.",
                _ => "\n",
            };
            seed += if is_heading { table } else { line };
        }
        let name = path.file_stem().expect("a name").display().to_string();
        (name, seed)
    });
    dialects.collect()
}
