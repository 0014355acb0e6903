//! A terminal with one program in it: its keys, its screen, and whether it is as it was.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on is red")]
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OutputModes, Winsize, tcgetattr, tcsetwinsize};

pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    /// The program's side of it.
    device: OwnedFd,
    modes: (LocalModes, OutputModes),
    shown: Arc<Shown>,
}

struct Shown {
    parser: Mutex<vt100::Parser>,
    changed: Condvar,
}

/// Whoever waits for longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(30);

impl Terminal {
    pub(crate) fn run(command: &mut Command, columns: u16, rows: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let device = rustix::fs::open(&*name, flags, Mode::empty()).unwrap();
        resize(&ours, columns, rows);
        let end = || device.try_clone().unwrap();
        command.env("TERM", "xterm-256color");
        command.stdin(end()).stdout(end()).stderr(end());
        let modes = modes(&device);
        let child = command.spawn().unwrap();
        // The command keeps what it was given until it is told otherwise.
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        let shown = Arc::new(Shown {
            parser: Mutex::new(vt100::Parser::new(some(rows), some(columns), 0)),
            changed: Condvar::new(),
        });
        let keyboard = File::from(ours);
        let (read, show) = (keyboard.try_clone().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || show.read(read));
        Self {
            child,
            keyboard,
            device,
            modes,
            shown,
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// What is on the screen, lines without what is empty behind them.
    pub(crate) fn text(&self) -> String {
        self.shown.lock().screen().contents()
    }

    /// Until the screen says so; gives up loudly.
    pub(crate) fn wait_for(&self, words: &str) {
        self.wait(words, |screen| screen.contents().contains(words));
    }

    pub(crate) fn wait(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        let began = Instant::now();
        let mut parser = self.shown.lock();
        while !is_so(parser.screen()) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let screen = parser.screen().contents();
            assert!(!left.is_zero(), "waited for {what}, saw\n{screen}");
            let waited = self.shown.changed.wait_timeout(parser, left);
            parser = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Some of what is on the screen has a colour.
    pub(crate) fn has_colours(&self) -> bool {
        let parser = self.shown.lock();
        let (rows, columns) = parser.screen().size();
        let (rows, columns) = (rows.get(), columns.get());
        let mut places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        places.any(|(row, column)| {
            let cell = parser.screen().cell(row, column).unwrap();
            (cell.fgcolor(), cell.bgcolor()) != (vt100::Color::Default, vt100::Color::Default)
        })
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (high, wide) = (some(rows), some(columns));
        self.shown.lock().screen_mut().set_size(high, wide);
        resize(&self.keyboard, columns, rows);
        self.signal(Signal::WINCH);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// The program has ended: its code. One that hangs is killed, and the test is red.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            if began.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("it hangs:\n{}", self.text());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Until the program has stopped itself; gives up loudly.
    pub(crate) fn is_stopped(&self) {
        let began = Instant::now();
        let id = WaitId::Pid(Pid::from_child(&self.child));
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        while waitid(id.clone(), options).unwrap().is_none() {
            assert!(began.elapsed() < PATIENCE, "it goes on:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Keys come by lines and are seen, and what lay under the program's drawing is there, with a cursor. Ask once it has
    /// ended.
    pub(crate) fn is_as_before(&self) -> bool {
        self.wait("the cursor", |screen| !screen.hide_cursor());
        let is_away = !self.shown.lock().screen().alternate_screen();
        is_away && modes(&self.device) == self.modes
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shown {
    fn lock(&self) -> MutexGuard<'_, vt100::Parser> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut from: File) {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            self.lock().process(&bytes[..count]);
            self.changed.notify_all();
        }
    }
}

fn some(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

fn modes(device: &OwnedFd) -> (LocalModes, OutputModes) {
    let all = tcgetattr(device).unwrap();
    (all.local_modes, all.output_modes)
}

fn resize(terminal: impl std::os::fd::AsFd, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).unwrap();
}
