//! Other processes: this test's own binary, started again to play a role.
//!
//! A role is told by lines, and says lines that begin with `> ` on standard error, which the test harness leaves alone.

#![allow(dead_code, reason = "not every test file needs all of it")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const ROLE: &str = "PACELINE_TEST_ROLE";
const FOLDER: &str = "PACELINE_TEST_FOLDER";

/// A process that plays a role. It is killed when the test forgets it.
pub(crate) struct Actor {
    process: Child,
    says: BufReader<ChildStderr>,
    hears: Option<ChildStdin>,
}

impl Actor {
    pub(crate) fn start(role: &str, folder: &Path) -> Self {
        Self::by(&mut command(&[], role, folder))
    }

    pub(crate) fn by(command: &mut Command) -> Self {
        Self::try_by(command).unwrap()
    }

    pub(crate) fn try_by(command: &mut Command) -> std::io::Result<Self> {
        let mut process = command.spawn()?;
        Ok(Self {
            says: BufReader::new(process.stderr.take().unwrap()),
            hears: process.stdin.take(),
            process,
        })
    }

    /// The next line that it says; what it wrote instead, if it ended.
    pub(crate) fn says(&mut self) -> String {
        let mut rest = String::new();
        loop {
            let mut line = String::new();
            if self.says.read_line(&mut line).unwrap() == 0 {
                return format!("nothing more, after: {rest}");
            }
            match line.strip_prefix("> ") {
                Some(said) => return said.trim_end().to_owned(),
                None => rest.push_str(&line),
            }
        }
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.hears.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.process.id()).unwrap();
        kill(Pid::from_raw(id), signal).unwrap();
    }

    /// `kill -9`, and the operating system has buried it.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits until it ends by itself.
    pub(crate) fn ended(&mut self) -> std::process::ExitStatus {
        self.hears = None;
        self.process.wait().unwrap()
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// This binary in a role, run by `wrapper` if there is one.
pub(crate) fn command(wrapper: &[&str], role: &str, folder: &Path) -> Command {
    let binary = std::env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(&binary),
        [program, words @ ..] => {
            let mut command = Command::new(program);
            command.args(words).arg(&binary);
            command
        }
    };
    command
        .args(["--exact", "role", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        // What one actor breaks, it breaks for itself.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// In an actor: the role and its folder. `None` in the test itself.
pub(crate) fn cast() -> Option<(String, std::path::PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(FOLDER)?.into()))
}

/// In an actor: says a line.
pub(crate) fn say(line: impl core::fmt::Display) {
    // At once and alone: several threads may have something to say.
    let line = format!("> {line}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// In an actor: the next line it is told; `None` if nobody tells it any more.
pub(crate) fn told() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line).unwrap();
    (read > 0).then(|| line.trim_end().to_owned())
}

/// Says why a test did not ask its question.
pub(crate) fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Whether we are root, in which case modes do not bind us.
pub(crate) fn root() -> bool {
    rustix::process::geteuid().is_root()
}
