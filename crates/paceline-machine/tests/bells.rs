//! Bells between real processes: who is woken, who is alive, who is dead, and from when on.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use common::{Actor, cast, command, root, say, skip, told};
use nix::sys::signal::{SigSet, Signal};
use paceline_machine::{Bell, Bells, Folder, Rung, sweep};
use tempfile::TempDir;

/// Not a test: what the other processes do.
#[test]
#[ignore = "a role that other tests start"]
fn role() {
    let Some((role, folder)) = cast() else { return };
    match role.as_str() {
        "hang" => {
            let bell = Bell::hang(&folder, || say("rung")).unwrap();
            say(bell.number());
            while told().is_some_and(|line| line != "drop") {}
            drop(bell);
        }
        "ring" => {
            let mut bells = Bells::new(&folder);
            while let Some(number) = told() {
                say(format_args!("{:?}", bells.ring(number.parse().unwrap())));
            }
        }
        "ring as a C program does" => {
            default_sigpipe();
            let mut bells = Bells::new(&folder);
            while let Some(number) = told() {
                say(format_args!("{:?}", bells.ring(number.parse().unwrap())));
                let blocked = SigSet::thread_get_mask().unwrap().contains(Signal::SIGPIPE);
                say(if blocked { "blocked" } else { "as it was" });
            }
        }
        "ring without files" => {
            let number = told().unwrap().parse().unwrap();
            use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
            let none = Rlimit {
                current: Some(0),
                ..getrlimit(Resource::Nofile)
            };
            setrlimit(Resource::Nofile, none).unwrap();
            let rung = Bells::new(&folder).ring(number);
            say(rung.map_or_else(|error| error.to_string(), |rung| format!("{rung:?}")));
        }
        "fork" => {
            let bell = Bell::hang(&folder, || say("rung")).unwrap();
            let number = bell.number();
            if fork_and_wait(|| drop(bell)) {
                say(format_args!("{:?}", Bells::new(&folder).ring(number)));
            }
            told();
        }
        other => panic!("{other}?"),
    }
}

#[expect(
    unsafe_code,
    reason = "signal dispositions and forks are unsafe by nature"
)]
mod raw {
    use nix::sys::signal::{SigHandler, Signal, signal};
    use nix::sys::wait::waitpid;
    use nix::unistd::{ForkResult, fork};

    pub(super) fn default_sigpipe() {
        // SAFETY: no handler is involved.
        unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.unwrap();
    }

    /// A child that does one thing and ends at once. `true`, in the parent, when it is over.
    pub(super) fn fork_and_wait(child: impl FnOnce()) -> bool {
        // What the child drops, the parent must keep.
        let child = std::mem::ManuallyDrop::new(child);
        // SAFETY: the child drops a bell, which takes no lock that another thread may hold.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => {
                std::mem::ManuallyDrop::into_inner(child)();
                std::process::abort();
            }
            ForkResult::Parent { child } => waitpid(child, None).is_ok(),
        }
    }
}
use raw::{default_sigpipe, fork_and_wait};

fn folder() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    Folder::open(&path).unwrap();
    (dir, path)
}

fn hung(folder: &Path) -> (Actor, u64) {
    let mut actor = Actor::start("hang", folder);
    let number = actor.says().parse().unwrap();
    (actor, number)
}

fn file(folder: &Path, number: u64) -> PathBuf {
    folder.join("bells").join(format!("{number:012x}"))
}

/// Waits for what another thread or the kernel is about to do.
fn soon(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !is() {
        assert!(Instant::now() < until, "{what}: not within 10 s");
        std::thread::yield_now();
    }
}

#[test]
fn a_ring_wakes_another_process() {
    let (_dir, folder) = folder();
    let (mut other, number) = hung(&folder);
    let mut bells = Bells::new(&folder);
    for _ in 0..3 {
        assert_eq!(bells.ring(number).unwrap(), Rung::Heard);
        assert_eq!(other.says(), "rung");
    }
    assert_eq!(number >> 48, 0, "there is room for 16 bits below it");
    let mode = file(&folder, number).metadata().unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[test]
fn who_is_killed_is_dead_at_once_however_the_bell_was_known() {
    let (_dir, folder) = folder();
    let (mut other, number) = hung(&folder);
    let mut known = Bells::new(&folder);
    let mut asked = Bells::new(&folder);
    assert_eq!(known.ring(number).unwrap(), Rung::Heard);
    assert_eq!(asked.ring(number).unwrap(), Rung::Heard);
    assert!(asked.is_alive(number).unwrap());

    other.kill();
    assert_eq!(known.ring(number).unwrap(), Rung::Dead, "its end is open");
    assert_eq!(known.ring(number).unwrap(), Rung::Dead, "and not any more");
    assert!(!asked.is_alive(number).unwrap(), "its end is open");
    let mut new = Bells::new(&folder);
    assert_eq!(new.ring(number).unwrap(), Rung::Dead);
    assert!(!new.is_alive(number).unwrap());
    assert!(!new.is_alive(1).unwrap(), "nobody ever had this one");
}

#[test]
fn who_is_stopped_is_alive_and_hears_of_it_later() {
    let (_dir, folder) = folder();
    let (mut other, number) = hung(&folder);
    other.signal(Signal::SIGSTOP);
    let mut bells = Bells::new(&folder);
    for _ in 0..10_000 {
        assert_eq!(bells.ring(number).unwrap(), Rung::Heard, "a full pipe too");
    }
    assert!(bells.is_alive(number).unwrap());
    assert_eq!(sweep(&folder).unwrap(), 0);
    other.signal(Signal::SIGCONT);
    assert_eq!(other.says(), "rung");
}

#[test]
fn rings_that_come_while_one_is_heard_are_heard_together() {
    let (_dir, folder) = folder();
    let (entered, enters) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let bell = Bell::hang(&folder, move || {
        entered.send(()).unwrap();
        released.recv().unwrap();
    })
    .unwrap();
    let mut bells = Bells::new(&folder);
    bells.ring(bell.number()).unwrap();
    enters.recv().unwrap();
    for _ in 0..1000 {
        bells.ring(bell.number()).unwrap();
    }
    release.send(()).unwrap();
    enters.recv().unwrap();

    let pipe = fs::File::options()
        .write(true)
        .open(file(&folder, bell.number()))
        .unwrap();
    assert_eq!(rustix::io::ioctl_fionread(&pipe).unwrap(), 0, "left in it");
    release.send(()).unwrap();
}

#[test]
fn two_hundred_bells_and_the_dead_are_those_who_died() {
    let (_dir, folder) = folder();
    let mut hung: Vec<_> = (0..200).map(|_| hung(&folder)).collect();
    let mut bells = Bells::new(&folder);
    for (other, number) in &mut hung {
        assert_eq!(bells.ring(*number).unwrap(), Rung::Heard);
        assert_eq!(other.says(), "rung");
    }
    for (other, _) in hung.iter_mut().step_by(2) {
        other.kill();
    }
    for (n, (_, number)) in hung.iter().enumerate() {
        assert_eq!(bells.is_alive(*number).unwrap(), n % 2 == 1, "{n}");
    }
    assert_eq!(sweep(&folder).unwrap(), 100);
    for (n, (_, number)) in hung.iter().enumerate() {
        assert_eq!(file(&folder, *number).exists(), n % 2 == 1, "{n}");
    }
}

#[test]
fn a_bell_that_is_taken_down_leaves_nothing() {
    let (_dir, folder) = folder();
    let bell = Bell::hang(&folder, || {}).unwrap();
    let number = bell.number();
    let (mut known, mut new) = (Bells::new(&folder), Bells::new(&folder));
    assert_eq!(known.ring(number).unwrap(), Rung::Heard);
    drop(bell);
    assert_eq!(new.ring(number).unwrap(), Rung::Dead);
    assert!(!file(&folder, number).exists());
    soon("its thread ends", || {
        known.ring(number).unwrap() == Rung::Dead
    });
}

#[test]
fn a_bell_may_be_taken_down_by_its_own_ring() {
    let (_dir, folder) = folder();
    let own = Arc::new(Mutex::new(None::<Bell>));
    let (done, is_done) = mpsc::channel();
    let theirs = Arc::clone(&own);
    let bell = Bell::hang(&folder, move || {
        drop(theirs.lock().unwrap().take());
        done.send(()).unwrap();
    })
    .unwrap();
    let number = bell.number();
    *own.lock().unwrap() = Some(bell);
    Bells::new(&folder).ring(number).unwrap();
    let patience = Duration::from_secs(10);
    is_done.recv_timeout(patience).unwrap();
    assert_eq!(
        is_done.recv_timeout(patience),
        Err(mpsc::RecvTimeoutError::Disconnected),
        "the thread has ended, and its closure with it"
    );
}

#[test]
fn a_panic_does_not_make_a_living_process_look_dead() {
    let (_dir, folder) = folder();
    let (rang, rings) = mpsc::channel();
    let bell = Bell::hang(&folder, move || {
        rang.send(()).unwrap();
        panic!("on purpose");
    })
    .unwrap();
    let mut bells = Bells::new(&folder);
    for _ in 0..2 {
        assert_eq!(bells.ring(bell.number()).unwrap(), Rung::Heard);
        rings.recv_timeout(Duration::from_secs(10)).unwrap();
    }
}

#[test]
fn sweeping_takes_nothing_but_dead_bells_of_ours() {
    let (_dir, folder) = folder();
    let bells = folder.join("bells");
    let (_alive, number) = hung(&folder);
    let (mut other, dead) = hung(&folder);
    other.kill();
    fs::write(bells.join("00000000000a"), "a file").unwrap();
    fs::create_dir(bells.join("00000000000b")).unwrap();
    std::os::unix::fs::symlink(file(&folder, dead), bells.join("00000000000c")).unwrap();
    let fifo = |name: &str| {
        let path = bells.join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        path
    };
    fifo("a-pipe");
    fifo("00000000000D");
    fifo("00000000000e.old");
    fifo("00000000000f.new"); // Somebody is about to hang it.
    let left = fifo("0000000000ff.new"); // Somebody died before he had hung it.
    let mut open = fs::File::options();
    let left = open.read(true).write(true).open(left).unwrap();
    left.set_modified(SystemTime::now() - Duration::from_secs(61))
        .unwrap();
    drop(left);
    let mut kept = 8;
    if root() {
        let theirs = fifo("000000000010");
        std::os::unix::fs::chown(theirs, Some(65534), None).unwrap();
        kept += 1;
    }

    assert_eq!(sweep(&folder).unwrap(), 2);
    assert_eq!(fs::read_dir(&bells).unwrap().count(), kept);
    assert!(!file(&folder, dead).exists() && !bells.join("0000000000ff.new").exists());
    let mut ring = Bells::new(&folder);
    assert_eq!(ring.ring(number).unwrap(), Rung::Heard);
    for not_a_bell in 0xa..=0xc {
        assert_eq!(ring.ring(not_a_bell).unwrap(), Rung::Dead, "{not_a_bell:x}");
    }
    assert_eq!(fs::read(bells.join("00000000000a")).unwrap(), b"a file");
}

#[test]
fn no_bell_is_swept_while_it_is_being_hung() {
    let (_dir, folder) = folder();
    std::thread::scope(|scope| {
        let (stop, stopped) = mpsc::channel::<()>();
        let sweeping = &folder;
        scope.spawn(move || {
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                sweep(sweeping).unwrap();
            }
        });
        let mut bells = Bells::new(&folder);
        for _ in 0..2000 {
            let bell = Bell::hang(&folder, || {}).unwrap();
            assert_eq!(bells.ring(bell.number()).unwrap(), Rung::Heard);
        }
        drop(stop);
    });
    assert_eq!(fs::read_dir(folder.join("bells")).unwrap().count(), 0);
}

#[test]
fn a_bell_that_is_taken_for_one_left_behind_is_hung_again() {
    let (_dir, folder) = folder();
    let bells = folder.join("bells");
    std::thread::scope(|scope| {
        for _ in 0..200 {
            // Somebody whose clock was stepped removes the first that is being hung.
            let (ready, is_ready) = mpsc::channel();
            let (stop, stopped) = mpsc::channel::<()>();
            let bells = &bells;
            scope.spawn(move || {
                ready.send(()).unwrap();
                while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                    for entry in fs::read_dir(bells).unwrap() {
                        let path = entry.unwrap().path();
                        if path.extension().is_some() && fs::remove_file(path).is_ok() {
                            return;
                        }
                    }
                }
            });
            is_ready.recv().unwrap();
            let bell = Bell::hang(&folder, || {}).unwrap();
            assert_eq!(
                Bells::new(&folder).ring(bell.number()).unwrap(),
                Rung::Heard
            );
            drop(stop);
        }
    });
}

#[test]
fn containers_that_share_the_folder_hear_each_other_and_see_who_is_dead() {
    let (_dir, folder) = folder();
    let namespace = ["unshare", "--pid", "--fork", "--kill-child"];
    let probe = std::process::Command::new(namespace[0])
        .args(&namespace[1..])
        .arg("true")
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return skip("PID namespaces need root and unshare(1)");
    }
    // Both have process id 1 where they are.
    let mut first = Actor::by(&mut command(&namespace, "hang", &folder));
    let mut second = Actor::by(&mut command(&namespace, "hang", &folder));
    let mut ringer = Actor::by(&mut command(&namespace, "ring", &folder));
    let numbers = [first.says(), second.says()];
    for (other, number) in [&mut first, &mut second].into_iter().zip(&numbers) {
        ringer.tell(number);
        assert_eq!(ringer.says(), "Ok(Heard)");
        assert_eq!(other.says(), "rung");
    }

    first.kill();
    assert!(
        first.says().starts_with("nothing more"),
        "the inner process has ended too"
    );
    ringer.tell(&numbers[0]);
    assert_eq!(ringer.says(), "Ok(Dead)");
    ringer.tell(&numbers[1]);
    assert_eq!(ringer.says(), "Ok(Heard)");
}

#[test]
fn ringing_the_dead_kills_no_program_that_minds_broken_pipes() {
    let (_dir, folder) = folder();
    let (mut other, number) = hung(&folder);
    let mut ringer = Actor::start("ring as a C program does", &folder);
    ringer.tell(&number.to_string());
    assert_eq!([ringer.says(), ringer.says()], ["Ok(Heard)", "as it was"]);
    other.kill();
    ringer.tell(&number.to_string());
    assert_eq!([ringer.says(), ringer.says()], ["Ok(Dead)", "as it was"]);
    assert!(ringer.ended().success());
}

#[test]
fn too_many_open_files_is_not_somebodys_death() {
    let (_dir, folder) = folder();
    let (_other, number) = hung(&folder);
    let mut ringer = Actor::start("ring without files", &folder);
    ringer.tell(&number.to_string());
    let said = ringer.says();
    assert!(said.contains("open files"), "{said}");
}

#[test]
fn a_forked_child_does_not_take_the_bell_with_it() {
    let (_dir, folder) = folder();
    let mut other = Actor::start("fork", &folder);
    let said = [other.says(), other.says()];
    assert!(said.contains(&"Ok(Heard)".to_owned()), "{said:?}");
    assert!(said.contains(&"rung".to_owned()), "{said:?}");
}
