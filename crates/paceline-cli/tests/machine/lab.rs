//! Processes of the built command that share a folder, before a limited server on loopback.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use paceline::testing::{LimitedServer, LimitedService, ServerSpec, Stats};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::support::{Ended, Folder, end, fetch, lines, run};

pub(super) struct Lab {
    pub(super) folder: Folder,
    server: LimitedServer,
    _runtime: Runtime,
    /// Two at once would take each other's time, of which there is little.
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

/// What one process came to.
pub(super) struct Came {
    pub(super) results: Vec<Value>,
    pub(super) summary: Value,
    pub(super) said: String,
}

impl Lab {
    pub(super) fn new(spec: ServerSpec, latency: Duration) -> Self {
        Self::before(LimitedService::new(spec).unwrap().latency(latency))
    }

    pub(super) fn before(service: LimitedService) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(LimitedServer::serve(service)).unwrap();
        Self {
            folder: Folder::new(),
            server,
            _runtime: runtime,
            _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    pub(super) fn stats(&self) -> Stats {
        self.server.stats()
    }

    /// The command, with so many pages to fetch.
    pub(super) fn command(&self, pages: usize, args: &[&str]) -> (Command, String) {
        let mut all = vec!["--input", "-", "--share", "machine", "--json"];
        all.extend(args);
        let mut command = fetch(&self.folder, &all);
        command.env("PACELINE_STATE_DIR", self.folder.path().join("state"));
        let urls = (0..pages).map(|page| self.server.url(&format!("/{page}")) + "\n");
        (command, urls.collect())
    }

    pub(super) fn start(&self, pages: usize, args: &[&str]) -> Child {
        let (mut command, urls) = self.command(pages, args);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(urls.as_bytes())
            .unwrap();
        child
    }

    /// `paceline status`, at the same folder.
    pub(super) fn status(&self, args: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paceline"));
        command.arg("status").args(args);
        command.env("PACELINE_STATE_DIR", self.folder.path().join("state"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        run(command)
    }

    /// `paceline top`, at the same folder.
    pub(super) fn top(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paceline"));
        command.arg("top").args(args).env_remove("NO_COLOR");
        command.env("PACELINE_STATE_DIR", self.folder.path().join("state"));
        command
    }

    /// As if a newer version had written what there is.
    pub(super) fn becomes_newer(&self) {
        let state = self.folder.path().join("state");
        let store = paceline_machine::store::Store::open(&state).unwrap().store;
        let mut rooms = Vec::new();
        store.rooms(|room, _| rooms.push(room)).unwrap();
        // The head: an array whose third place is the format.
        let head = [0x88, 1, 1, 0x18, 99, 1, 0, 0, 0, 0x80];
        for room in rooms {
            store.room(room).step(|own| own.put(0, &head)).unwrap();
        }
    }

    /// What the server is called by whoever configures nothing.
    pub(super) fn origin(&self) -> String {
        self.server.url("/").trim_end_matches('/').to_owned()
    }

    /// So many processes at once.
    pub(super) fn run(&self, processes: usize, pages: usize, args: &[&str]) -> Vec<Came> {
        let started = (0..processes).map(|_| self.start(pages, args));
        let started: Vec<_> = started.collect();
        started.into_iter().map(came).collect()
    }

    /// Until as many requests have reached the server; gives up loudly.
    pub(super) fn wait_for(&self, received: u64) {
        let start = Instant::now();
        while self.stats().received < received {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "{:?}",
                self.stats()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

pub(super) fn came(child: Child) -> Came {
    let ended = end(child);
    let mut results = lines(&ended.stdout);
    let summary = results.pop().unwrap_or_default();
    Came {
        results,
        summary,
        said: ended.stderr,
    }
}

/// The sum of a number of all summaries.
pub(super) fn sum(came: &[Came], key: &str) -> u64 {
    let numbers = came
        .iter()
        .map(|own| own.summary[key].as_u64().unwrap_or_default());
    numbers.sum()
}
