//! The state folder and the key in it: made, put right, or refused in words that help.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Actor, cast, command, root, say, skip, told};
use paceline_machine::{Folder, place};
use tempfile::TempDir;

const NOBODY: u32 = 65534;

/// Not a test: what the other processes do.
#[test]
#[ignore = "a role that other tests start"]
fn role() {
    let Some((role, folder)) = cast() else { return };
    match role.as_str() {
        "open" => say(opened(&folder)),
        "open where little is left" => {
            mount(&["-t", "tmpfs", "-o", "size=64k", "none"], &folder);
            say(opened(&folder));
        }
        "open where files are few" => {
            mount(&["-t", "tmpfs", "-o", "nr_inodes=3", "none"], &folder);
            say(opened(&folder));
        }
        "open where nothing can be written" => {
            mount(&["--bind"], &folder);
            mount(&["-o", "remount,bind,ro"], &folder);
            say(opened(&folder));
        }
        "place" => {
            let place = place(|name| std::env::var_os(name));
            say(place.map_or_else(|error| error.to_string(), |path| path.display().to_string()));
        }
        "keys" => {
            let mut folder = Folder::open(&folder).unwrap();
            say("ready");
            told();
            let key = folder.key().unwrap();
            let remarks = folder.remarks().len();
            say(format_args!(
                "{:032x} {remarks}",
                u128::from_be_bytes(*key.as_bytes())
            ));
        }
        other => panic!("{other}?"),
    }
}

fn mount(words: &[&str], on: &Path) {
    let mut mount = Command::new("mount");
    mount.args(words);
    if words == ["--bind"] {
        mount.arg(on);
    }
    assert!(mount.arg(on).status().unwrap().success());
}

/// What came of opening it, in a line: the error, or the remarks.
fn opened(path: &Path) -> String {
    match Folder::open(path) {
        Ok(folder) => format!("fine {:?}", folder.remarks()),
        Err(error) => error.to_string(),
    }
}

/// A path where nothing is yet.
fn nowhere() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    (dir, path)
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A test's own mounts, in a namespace that ends with the actor; `None` if that is not allowed.
fn with_mounts(role: &str, folder: &Path) -> Option<String> {
    let namespace = ["unshare", "--mount"];
    let probe = Command::new(namespace[0])
        .args([namespace[1], "true"])
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        skip("mounts of our own need root and unshare(1)");
        return None;
    }
    Some(Actor::by(&mut command(&namespace, role, folder)).says())
}

#[test]
fn a_missing_folder_is_made_for_us_alone_with_all_above_it() {
    let (_dir, state) = nowhere();
    let deep = state.join("a/b");
    let folder = Folder::open(&deep).unwrap();
    assert_eq!(folder.remarks(), [""; 0]);
    assert_eq!(folder.path(), deep);
    for made in [&state, &deep, &deep.join("bells")] {
        assert_eq!(mode(made), 0o700, "{made:?}");
    }
    assert_eq!(opened(&deep), "fine []", "and is found again");
}

#[test]
fn a_folder_that_is_open_to_others_is_closed_with_a_word() {
    let (_dir, state) = nowhere();
    Folder::open(&state).unwrap();
    let bells = state.join("bells");
    set_mode(&state, 0o777);
    set_mode(&bells, 0o750);
    let folder = Folder::open(&state).unwrap();
    assert_eq!(
        folder.remarks(),
        [
            format!("{state:?} was open to others (mode 0777): now it is ours alone (0700)"),
            format!("{bells:?} was open to others (mode 0750): now it is ours alone (0700)"),
        ]
    );
    assert_eq!((mode(&state), mode(&bells)), (0o700, 0o700));
    assert_eq!(opened(&state), "fine []");
}

#[test]
fn a_link_is_refused_however_it_is_written() {
    let (dir, state) = nowhere();
    let real = dir.path().join("real");
    Folder::open(&real).unwrap();
    symlink(&real, &state).unwrap();
    let refused = format!(
        "{state:?} is a symbolic link, which may come to lead elsewhere: set PACELINE_STATE_DIR to the folder itself"
    );
    assert_eq!(opened(&state), refused);
    assert_eq!(opened(&state.join("")), refused, "with a slash at the end");

    let bells = real.join("bells");
    fs::remove_dir(&bells).unwrap();
    symlink(dir.path(), &bells).unwrap();
    let said = opened(&real);
    assert!(
        said.starts_with(&format!("{bells:?} is a symbolic link")),
        "{said}"
    );
}

#[test]
fn what_is_no_folder_is_called_what_it_is() {
    let (_dir, state) = nowhere();
    fs::write(&state, "").unwrap();
    assert_eq!(
        opened(&state),
        format!(
            "{state:?} is a file, not a folder: remove it, or set PACELINE_STATE_DIR to another path"
        )
    );
    let said = opened(&state.join("below"));
    assert!(said.contains("Not a directory"), "{said}");
    fs::remove_file(&state).unwrap();
    nix::unistd::mkfifo(&state, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let said = opened(&state);
    assert!(said.contains("is a named pipe, not a folder"), "{said}");
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    if !root() {
        return skip("only root can give a folder away");
    }
    let (_dir, state) = nowhere();
    Folder::open(&state).unwrap();
    let to = |path: &Path, user| std::os::unix::fs::chown(path, Some(user), None).unwrap();
    to(&state, NOBODY);
    set_mode(&state, 0o777);
    assert_eq!(
        opened(&state),
        format!(
            "{state:?} belongs to user 65534, we are user 0: set PACELINE_STATE_DIR to a folder of our own"
        )
    );
    assert_eq!(mode(&state), 0o777, "what is not ours is not changed");
    to(&state, 0);
    let bells = state.join("bells");
    to(&bells, NOBODY);
    let said = opened(&state);
    assert!(
        said.starts_with(&format!("{bells:?} belongs to user 65534")),
        "{said}"
    );
}

#[test]
fn a_folder_without_the_mode_to_write_is_refused() {
    let (dir, state) = nowhere();
    fs::create_dir(&state).unwrap();
    set_mode(&state, 0o500);
    let mut open = command(&[], "open", &state);
    if root() {
        // Root writes whatever the mode is, so somebody else has to try.
        set_mode(dir.path(), 0o755);
        std::os::unix::fs::chown(&state, Some(NOBODY), Some(NOBODY)).unwrap();
        open.uid(NOBODY).gid(NOBODY);
    }
    let Ok(mut actor) = Actor::try_by(&mut open) else {
        return skip("nobody else may run this test's binary");
    };
    assert_eq!(
        actor.says(),
        format!(
            "{state:?} cannot be written to (permission denied): give it mode 0700 on a file system that is \
             writable, or set PACELINE_STATE_DIR to another path"
        )
    );
}

#[test]
fn a_read_only_file_system_is_named_as_the_reason() {
    let (_dir, state) = nowhere();
    Folder::open(&state).unwrap();
    let Some(said) = with_mounts("open where nothing can be written", &state) else {
        return;
    };
    let expected = format!("{state:?} cannot be written to (read-only file");
    assert!(said.starts_with(&expected), "{said}");
}

#[test]
fn a_full_disk_is_named_as_the_reason() {
    let (_dir, state) = nowhere();
    Folder::open(&state).unwrap();
    let Some(said) = with_mounts("open where little is left", &state) else {
        return;
    };
    assert_eq!(
        said,
        format!(
            "{state:?} has no room (64 KiB left, 1 MiB needed): free some, or set PACELINE_STATE_DIR to another disk"
        )
    );
    let said = with_mounts("open where files are few", &state).unwrap();
    assert!(
        said.contains("has no room (2 files left, 8 files needed)"),
        "{said}"
    );
}

#[test]
fn the_place_is_what_is_named_else_the_users_folder_for_state() {
    let named = |value: &'static str| place(move |_| Some(value.into()));
    assert_eq!(named("/srv/pace").unwrap(), Path::new("/srv/pace"));
    assert_eq!(
        named("pace").unwrap_err().to_string(),
        "PACELINE_STATE_DIR is \"pace\": started elsewhere, a process would not share it; make it an absolute path"
    );
    let of = |variables: &[(&str, &str)]| {
        let mut place = command(&[], "place", Path::new(""));
        place
            .env_remove("PACELINE_STATE_DIR")
            .env_remove("XDG_STATE_HOME");
        place.envs(variables.iter().copied());
        Actor::by(&mut place).says()
    };
    if cfg!(target_os = "linux") {
        assert_eq!(of(&[("HOME", "/home/a")]), "/home/a/.local/state/paceline");
        let elsewhere = [("HOME", "/home/a"), ("XDG_STATE_HOME", "/var/a")];
        assert_eq!(of(&elsewhere), "/var/a/paceline");
        let nowhere = [("HOME", "/home/a"), ("XDG_STATE_HOME", "var")];
        assert_eq!(
            of(&nowhere),
            "/home/a/.local/state/paceline",
            "as the standard says"
        );
    }
    let empty = [("HOME", "/home/a"), ("PACELINE_STATE_DIR", "")];
    assert_ne!(of(&empty), "", "empty is not named");
    assert_eq!(of(&[("PACELINE_STATE_DIR", "/srv/pace")]), "/srv/pace");
    assert!(
        of(&[("HOME", "a")]).starts_with("no state folder"),
        "a home that is relative"
    );
}

#[test]
fn processes_that_make_the_key_at_one_instant_have_the_same() {
    for bad in [None, Some("short")] {
        for _ in 0..10 {
            let (_dir, state) = nowhere();
            Folder::open(&state).unwrap();
            if let Some(bytes) = bad {
                fs::write(state.join("key"), bytes).unwrap();
            }
            let mut all: Vec<_> = (0..8).map(|_| Actor::start("keys", &state)).collect();
            for actor in &mut all {
                assert_eq!(actor.says(), "ready");
            }
            for actor in &mut all {
                actor.tell("go");
            }
            let said: Vec<_> = all.iter_mut().map(Actor::says).collect();
            let key = |said: &str| said.split(' ').next().unwrap().to_owned();
            assert!(said.iter().all(|one| key(one) == key(&said[0])), "{said:?}");
            assert_eq!(key(&said[0]).len(), 32);
            let told = said.iter().filter(|one| one.ends_with(" 1")).count();
            assert_eq!(told, usize::from(bad.is_some()), "one says it: {said:?}");
            let mut left: Vec<_> = fs::read_dir(&state)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            left.sort();
            let bad: &[_] = if bad.is_some() { &["key.bad-1"] } else { &[] };
            assert_eq!(left, [&["bells", "key"], bad].concat());
        }
    }
}

#[test]
fn a_key_that_cannot_be_one_is_set_aside_and_made_anew() {
    let (_dir, state) = nowhere();
    let mut folder = Folder::open(&state).unwrap();
    let path = state.join("key");
    let first = folder.key().unwrap();
    assert_eq!(folder.key().unwrap(), first);
    assert_eq!((mode(&path), path.metadata().unwrap().len()), (0o600, 16));
    assert_eq!(folder.remarks(), [""; 0]);
    assert_eq!(format!("{first:?}"), "Key(…)");

    let said = |n: u32, why: &str| {
        let aside = state.join(format!("key.bad-{n}"));
        let mut folder = Folder::open(&state).unwrap();
        assert_ne!(folder.key().unwrap(), first);
        assert_eq!(
            folder.remarks(),
            [format!(
                "{path:?} {why}: set aside as {aside:?} and made anew; what was kept under the old key is not found"
            )]
        );
        assert_eq!(
            (mode(&path), path.symlink_metadata().unwrap().len()),
            (0o600, 16)
        );
    };
    fs::write(&path, [0; 15]).unwrap();
    said(1, "has 15 bytes instead of 16");
    fs::write(&path, [0; 17]).unwrap();
    said(2, "has 17 bytes instead of 16");
    fs::write(&path, "").unwrap();
    said(3, "has 0 bytes instead of 16");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    said(4, "is not a file");
    fs::remove_file(&path).unwrap();
    symlink("/etc/hostname", &path).unwrap();
    said(5, "is a symbolic link");
    if root() {
        std::os::unix::fs::chown(&path, Some(NOBODY), None).unwrap();
        said(6, "belongs to user 65534");
    }
    assert_eq!(
        fs::read(state.join("key.bad-2")).unwrap(),
        [0; 17],
        "nothing is lost"
    );
}

#[test]
fn a_key_that_is_open_to_others_is_closed_and_stays() {
    let (_dir, state) = nowhere();
    let key = Folder::open(&state).unwrap().key().unwrap();
    let path = state.join("key");
    set_mode(&path, 0o644);
    let mut folder = Folder::open(&state).unwrap();
    assert_eq!(folder.key().unwrap(), key);
    assert_eq!(
        folder.remarks(),
        [format!(
            "{path:?} was open to others (mode 0644): now it is ours alone (0600)"
        )]
    );
    assert_eq!(mode(&path), 0o600);
}
