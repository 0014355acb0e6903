//! Processes that work beside each other, until they are killed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use paceline::Pace;

use crate::diary::{Diary, Story, What};
use crate::worker::{FOLDER, NUMBER, WORK, Work, pace};

pub(crate) struct Crew {
    folder: tempfile::TempDir,
    work: usize,
    workers: Vec<(u32, Child)>,
    hired: u32,
    diary: Diary,
    /// Tells the time that all share; it asks for nothing before the end.
    pub(crate) pace: Pace,
}

impl Crew {
    pub(crate) fn new(work: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            pace: pace(folder.path(), &Work::ALL[work]),
            diary: Diary::open(folder.path()),
            folder,
            work,
            workers: Vec::new(),
            hired: 0,
        }
    }

    /// One more, which begins when its stdin is closed.
    pub(crate) fn hire(&mut self, stdin: Stdio) {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["worker::worker", "--exact", "--nocapture"])
            .env(FOLDER, self.folder.path())
            .env(NUMBER, self.hired.to_string())
            .env(WORK, self.work.to_string())
            .stdin(stdin)
            .stdout(Stdio::null());
        self.workers.push((self.hired, command.spawn().unwrap()));
        self.hired += 1;
    }

    pub(crate) const fn size(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn begin(&mut self) {
        for (_, worker) in &mut self.workers {
            drop(worker.stdin.take());
        }
    }

    /// SIGKILL. That it still ran shows that nothing of its own had failed.
    pub(crate) fn kill(&mut self, index: usize) {
        let (who, mut worker) = self.workers.swap_remove(index);
        let ended = worker.try_wait().unwrap();
        assert_eq!(ended, None, "worker {who} ended by itself");
        self.diary.note(&self.pace, who, What::Dies);
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    pub(crate) fn kill_all(&mut self) {
        while !self.workers.is_empty() {
            self.kill(0);
        }
    }

    /// What the processors did for all of them so far.
    pub(crate) fn cpu(&self) -> Duration {
        let spent = |(_, worker): &(u32, Child)| {
            let path = PathBuf::from(format!("/proc/{}/task", worker.id()));
            let threads = std::fs::read_dir(path).unwrap();
            let nanos = threads.map(|thread| {
                let text = std::fs::read_to_string(thread.unwrap().path().join("schedstat"));
                let text = text.unwrap_or_default();
                text.split(' ')
                    .next()
                    .and_then(|own| own.parse().ok())
                    .unwrap_or(0)
            });
            Duration::from_nanos(nanos.sum())
        };
        self.workers.iter().map(spent).sum()
    }

    pub(crate) fn story(&self) -> Story {
        Story::read(self.folder())
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Crew {
    /// Also when a test ends badly.
    fn drop(&mut self) {
        for (_, worker) in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}
