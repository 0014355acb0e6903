//! A folder that one test has for itself, and what the built command says in it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

/// Named for the test, empty at first.
pub(crate) struct Folder(pub(crate) PathBuf);

/// How a run of the command ended.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) talk: String,
}

impl Folder {
    pub(crate) fn of(area: &str, test: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(area)
            .join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn with(self, file: &str, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.join(file), text).expect("a file");
        self
    }

    /// Runs a command of the binary with this on its standard input.
    pub(crate) fn run(&self, command: &str, arguments: &[&str], input: &str) -> Said {
        let mut child = Command::new(env!("CARGO_BIN_EXE_paceline"))
            .current_dir(&self.0)
            .arg(command)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        // Written beside the reading: a pipe holds little, and whoever answers while it is told waits to be heard.
        let run = thread::scope(|scope| {
            scope.spawn(move || {
                // Whoever does not read it is not to blame.
                let _ = stdin.write_all(input.as_bytes());
            });
            child.wait_with_output().expect("it ends")
        });
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Said {
            code: run.status.code(),
            out: text(run.stdout),
            talk: text(run.stderr),
        }
    }
}
