//! Lets every policy play the arena and writes what comes of it to `arena/RESULTS.md`.
//!
//! ```text
//! cargo run --release -p paceline-sim --example arena                     # writes
//! cargo run --release -p paceline-sim --example arena -- --check          # compares; exit 1 if it differs
//! cargo run --release -p paceline-sim --example arena -- --draw 7 100     # shows 100 others, drawn from seed 7
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use paceline_sim::arena::{drawn, play, section};
use paceline_sim::policy::Kind;
use paceline_sim::{Scenario, ScenarioError};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arena");
    let file = folder.join("RESULTS.md");
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => {
            fs::write(&file, page(&folder)?)?;
            Ok(ExitCode::SUCCESS)
        }
        ["--check"] => {
            let (is, was) = (page(&folder)?, fs::read_to_string(&file)?);
            Ok(ExitCode::from(u8::from(differs(&was, &is))))
        }
        ["--draw", seed, count] => {
            let scenarios = drawn(seed.parse()?, count.parse()?);
            let matches = play(&scenarios, Kind::ALL)?;
            let title = format!("{count} drawn from seed {seed}");
            print!("{}", section(&title, INTRO_DRAWN, &matches));
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("usage: arena [--check | --draw SEED COUNT]".into()),
    }
}

fn page(folder: &Path) -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(folder.join("scenarios.jsonl"))?;
    let given = Scenario::from_json_lines(&text).map(|(_, scenario)| scenario);
    let given: Vec<Scenario> = given.collect::<Result<_, ScenarioError>>()?;
    let others = drawn(SEED, COUNT);
    let given = section(
        "The given scenarios",
        INTRO_GIVEN,
        &play(&given, Kind::ALL)?,
    );
    let others = section("Drawn scenarios", INTRO_DRAWN, &play(&others, Kind::ALL)?);
    Ok(format!("{HEAD}\n{given}{}\n", others.trim_end()))
}

/// Shows the lines that only one of them has.
fn differs(was: &str, is: &str) -> bool {
    let (was, is): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
    let gone = was.iter().filter(|line| !is.contains(line));
    let new = is.iter().filter(|line| !was.contains(line));
    let gone = gone.map(|line| format!("- {line}"));
    let changes: Vec<String> = gone.chain(new.map(|line| format!("+ {line}"))).collect();
    if was == is {
        return false;
    }
    eprintln!("arena/RESULTS.md is not what comes out now; run without --check and review:");
    eprintln!("{}", changes.join("\n"));
    true
}

const HEAD: &str = "\
# Arena results

Made by `cargo run --release -p paceline-sim --example arena`, and reviewed: a change of behaviour shows here as a diff.
Virtual time, so it says the same on every machine.

- met, of: scenarios whose target is met, of those that have one. The median of the seeds counts, the upper of two, and no
  run may fail more requests than the target allows.
- mean, worst: time to the ideal of an oracle, where that is above zero and no run lost a request; geometric mean.
- refused: answers that are not a success, the median of each scenario's seeds, in all.
- failed: requests given up, of each scenario's worst seed, in all. The first page that fails ends a tree.
";

const INTRO_GIVEN: &str = "`scenarios.jsonl`.";

const INTRO_DRAWN: &str = "\
The same kinds with other numbers, drawn from a seed (`paceline_sim::arena::drawn`); the ideal is the oracle's, the target \
follows from it by the rule of the given ones.";

const SEED: u64 = 1;
const COUNT: usize = 200;
