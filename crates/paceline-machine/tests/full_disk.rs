//! A file system without room: an error and a process that lives, never a signal. It is a tiny tmpfs, which needs root.

#![expect(clippy::unwrap_used, reason = "in a test this is what is expected")]

use std::fs;
use std::path::Path;
use std::process::Command;

use paceline_machine::store::{Filled, Store, StoreError};

struct Tiny(tempfile::TempDir);

impl Tiny {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size},mode=700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder.path())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            Some(Self(folder))
        } else {
            skipped();
            None
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        // Lazily: LMDB's file is open in whatever another test starts meanwhile.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skipped() {
    eprintln!("skipped: a tmpfs cannot be mounted here, it needs root");
}

fn is_full<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Full {
                what: Filled::Disk,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains(": the disk or the user's quota is full"),
        "{error}"
    );
}

#[test]
fn where_there_is_no_room_to_begin_with_opening_says_so() {
    for size in ["4k", "8k", "16k", "512k"] {
        let Some(tiny) = Tiny::mount(size) else {
            return;
        };
        is_full(Store::open(tiny.path()));
        is_full(Store::open(tiny.path()));
    }
}

#[test]
fn a_disk_that_becomes_full_fails_steps_that_need_more_of_it_and_no_others() {
    let Some(tiny) = Tiny::mount("8m") else {
        return;
    };
    let store = Store::open(tiny.path()).unwrap().store;
    let room = store.room([1; 16]);
    room.step(|s| s.put(0, b"kept")).unwrap();
    let rest = tiny.path().join("rest");
    let _ = fs::write(&rest, vec![1; 16 << 20]);

    // What is reserved is there: steps go on.
    for n in 0..2_000_u32 {
        room.step(|s| s.put(1, &n.to_be_bytes())).unwrap();
    }
    let mut kept = 0;
    let failed = loop {
        match store.room([2; 16]).step(|s| s.put(kept, &[7; 3_000])) {
            Ok(()) => kept += 1,
            failed => break failed,
        }
    };
    is_full(failed);
    assert!((50..400).contains(&kept), "{kept}");
    assert_eq!(
        room.step(|s| (s.get(0).map(<[u8]>::len), s.get(1).map(<[u8]>::len)))
            .unwrap(),
        (Some(4), Some(4))
    );
    is_full(room.step(|s| s.put(2, &[7; 500_000])));

    // Cut off, not removed: a `mount` that the other test is about to start may still have it open.
    drop(fs::File::create(&rest).unwrap());
    room.step(|s| s.put(2, &[7; 500_000])).unwrap();
    drop((room, store));
    assert_eq!(
        Store::check(&tiny.path().join("paces.mdb"))
            .unwrap()
            .unwrap()
            .lost,
        0
    );
}
