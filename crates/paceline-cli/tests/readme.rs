//! The README shows what `paceline simulate` prints, and this is what it prints.
//!
//! ```text
//! README=write cargo test -p paceline-cli --test readme     # writes it into the README, for review
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SECTION: &str = "## Try it on your own limit\n";

#[test]
fn the_readme_shows_what_simulate_prints() {
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
