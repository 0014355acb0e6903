//! `paceline top`: a real terminal, real keys, real processes.

use super::*;
use rustix::process::Signal;
use terminal::Terminal;

fn open(lab: &Lab, columns: u16, rows: u16) -> Terminal {
    Terminal::run(&mut lab.top(&["--interval", "100ms"]), columns, rows)
}

fn leave(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
    assert!(terminal.is_as_before(), "{}", terminal.text());
}

#[test]
fn keys_pause_and_reset_a_gate_that_others_use() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    lab.run(1, 1, &["--limit", "50/s burst 9"]);
    let mut terminal = open(&lab, 120, 24);
    terminal.wait_for(&lab.origin());
    terminal.wait_for("50/s burst 9");
    terminal.wait_for("the next one at once");

    terminal.press("p");
    terminal.wait_for("for how long: 1m_");
    terminal.press("5m");
    terminal.wait_for("for how long: 5m_");
    terminal.press("\r");
    terminal.wait_for("paused for 300s: origin of ");
    terminal.wait_for("somebody paused it by hand");
    assert!(terminal.has_colours());

    let hurried = lab.run(1, 1, &["--total", "1s"]).remove(0);
    let line = &hurried.results[0];
    assert_eq!(line["reason"], "deadline");
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("somebody paused it by hand"), "{error}");
    let patient = lab.start(3, &["--total", "10m"]);
    terminal.wait_for("3 waiting");

    terminal.press("r");
    terminal.wait_for("reset?");
    terminal.press("n");
    terminal.wait("no question", |screen| {
        !screen.contents().contains("reset?")
    });
    terminal.wait_for("3 waiting");
    terminal.press("ry");
    terminal.wait_for("reset: origin of ");
    assert_eq!(came(patient).summary["ok"], 3);
    terminal.wait_for("0 waiting");
    terminal.wait_for("the next one at once");
    leave(terminal);
}

#[test]
fn without_colours_the_words_say_it() {
    let script = Script::status(429)
        .header("retry-after", "600")
        .then(200)
        .forever();
    let lab = Lab::before(LimitedService::scripted(script));
    lab.run(1, 1, &["--total", "1s"]);
    let plain = Terminal::run(lab.top(&[]).env("NO_COLOR", "1"), 120, 24);
    plain.wait_for("the upstream asked for a pause");
    assert!(!plain.has_colours());
    leave(plain);
    let coloured = open(&lab, 120, 24);
    coloured.wait_for("the upstream asked for a pause");
    assert!(coloured.has_colours());
    leave(coloured);
}

#[test]
fn an_empty_folder_is_said_and_a_pace_that_begins_is_seen() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    let terminal = open(&lab, 80, 10);
    terminal.wait_for("no pace is shared");
    lab.run(1, 1, &["--limit", "50/s"]);
    terminal.wait_for("1 gate, 0 waiting");
    leave(terminal);
}

#[test]
fn a_record_of_a_newer_version_is_named() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    lab.run(1, 1, &["--limit", "50/s"]);
    let terminal = open(&lab, 140, 10);
    terminal.wait_for("1 gate, 0 waiting");
    lab.becomes_newer();
    terminal.wait_for("a newer version wrote it; update this program");
    terminal.wait_for("0 gates, 0 waiting");
    leave(terminal);
}

#[test]
fn a_terminal_that_changes_its_size_is_filled() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    lab.run(1, 1, &["--limit", "50/s"]);
    let terminal = open(&lab, 120, 30);
    let last_line = |rows: u16| {
        move |screen: &vt100::Screen| {
            let line = screen.rows(0, 80).nth(usize::from(rows) - 1);
            line.is_some_and(|line| line.starts_with("q quit"))
        }
    };
    terminal.wait("keys below", last_line(30));
    for (columns, rows) in [(40, 10), (200, 50), (12, 6), (90, 24)] {
        terminal.resize(columns, rows);
        terminal.wait("keys below", last_line(rows));
    }
    terminal.resize(1, 1);
    terminal.resize(80, 24);
    terminal.wait("keys below", last_line(24));
    leave(terminal);
}

#[test]
fn whatever_ends_it_the_terminal_is_as_before() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let mut terminal = open(&lab, 80, 24);
        terminal.wait_for("no pace is shared");
        terminal.signal(signal);
        assert_eq!(terminal.ended(), Some(130), "{signal:?}");
        assert!(terminal.is_as_before(), "{signal:?}");
    }
    let mut terminal = open(&lab, 80, 24);
    terminal.wait_for("no pace is shared");
    terminal.press("?\x03");
    assert_eq!(terminal.ended(), Some(130), "Ctrl-C");
    assert!(terminal.is_as_before());
    let bells = lab.folder.names("state/bells");
    assert!(bells.is_empty(), "nobody is left: {bells:?}");
}

#[test]
fn where_there_is_no_terminal_it_says_what_would_be_right() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    let mut command = lab.top(&[]);
    command.stdin(std::process::Stdio::null());
    let ended = command.output().unwrap();
    assert_eq!((ended.status.code(), &*ended.stdout), (Some(2), &b""[..]));
    assert_eq!(
        String::from_utf8(ended.stderr).unwrap(),
        "error: paceline top draws on a terminal, and standard output is no terminal; \
         paceline status says the same once, paceline status --json for scripts\n"
    );
    let mut dumb = lab.top(&[]);
    dumb.args(["--interval", "1ms"]);
    let ended = dumb.output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let says = String::from_utf8(ended.stderr).unwrap();
    assert!(says.contains("expected 50ms or more"), "{says}");
}

#[test]
fn a_folder_that_cannot_be_used_is_said_before_anything_is_drawn() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    let state = lab.folder.path().join("state");
    std::os::unix::fs::symlink(lab.folder.path(), &state).unwrap();
    let mut terminal = open(&lab, 200, 24);
    assert_eq!(terminal.ended(), Some(3));
    terminal.wait_for("is a symbolic link");
    assert!(terminal.is_as_before());
}

#[test]
fn a_folder_that_is_removed_meanwhile_is_said() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    lab.run(1, 1, &["--limit", "50/s"]);
    let terminal = open(&lab, 200, 24);
    terminal.wait_for("1 gate, 0 waiting");
    let state = lab.folder.path().join("state");
    std::fs::remove_dir_all(&state).unwrap();
    terminal.wait_for("was removed while it was open; start paceline top again");
    // Whoever shares now makes another one.
    lab.run(1, 1, &["--limit", "50/s"]);
    terminal.wait_for("was removed while it was open");
    leave(terminal);
    let again = open(&lab, 200, 24);
    again.wait_for("1 gate, 0 waiting");
    leave(again);
}

#[test]
fn while_it_is_stopped_the_terminal_is_as_before() {
    let lab = Lab::new(ServerSpec::open(), ms(1));
    let mut terminal = open(&lab, 80, 24);
    terminal.wait_for("no pace is shared");
    for stops in ["a key", "a signal"] {
        match stops {
            "a key" => terminal.press("\x1a"),
            _ => terminal.signal(Signal::TSTP),
        }
        terminal.is_stopped();
        assert!(terminal.is_as_before(), "{stops}");
        assert!(!terminal.text().contains("no pace"), "{stops}");
        terminal.signal(Signal::CONT);
        terminal.wait_for("no pace is shared");
    }
    leave(terminal);
}
