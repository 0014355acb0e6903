use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;

use super::super::{LAYOUT_KEY, Store, StoreError};
use super::{file, open, room};

fn bad(folder: &Path, why: &str) -> Store {
    let opened = Store::open(folder).unwrap();
    let aside = opened.set_aside.expect("it is set aside");
    assert!(aside.why.contains(why), "{aside}");
    assert!(fs::symlink_metadata(&aside.is).is_ok());
    opened
        .store
        .room(room(1))
        .step(|s| s.put(0, b"works"))
        .unwrap();
    opened.store
}

#[test]
fn what_cannot_be_trusted_is_set_aside_and_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path());
    let precious = folder.path().join("precious");
    fs::write(&precious, b"precious").unwrap();

    fs::write(&path, b"garbage").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    drop(bad(folder.path(), "cut off after 7 bytes"));
    fs::write(&path, vec![0; 1 << 20]).unwrap();
    drop(bad(folder.path(), "not one of LMDB"));
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(5_000)
        .unwrap();
    drop(bad(folder.path(), "cut off"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    drop(bad(folder.path(), "others can write it"));
    fs::remove_file(&path).unwrap();
    symlink(&precious, &path).unwrap();
    drop(bad(folder.path(), "symbolic link"));
    fs::remove_file(folder.path().join("paces.mdb-lock")).unwrap();
    symlink(&precious, folder.path().join("paces.mdb-lock")).unwrap();
    drop(bad(folder.path(), "symbolic link"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    drop(bad(folder.path(), "no regular file"));
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(4242), None).unwrap();
        drop(bad(folder.path(), "belongs to user 4242"));
    }
    for _ in 0..5 {
        fs::write(&path, b"garbage").unwrap();
        drop(bad(folder.path(), "cut off"));
    }
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    let kept = fs::read_dir(folder.path()).unwrap().filter(|e| {
        e.as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("bad")
    });
    assert!(kept.count() <= 16);
}

#[test]
fn a_lock_that_cannot_be_trusted_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("precious");
    symlink(&precious, folder.path().join("open.lock")).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("open.lock: it is a symbolic link; it must be a file of this user"),
        "{error}"
    );
    assert!(!precious.exists());
}

#[test]
fn a_newer_layout_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut txn = store.open.env().write_txn().unwrap();
    store
        .open
        .data()
        .put(&mut txn, LAYOUT_KEY, &2_u32.to_be_bytes())
        .unwrap();
    txn.commit().unwrap();
    drop(store);
    let error = Store::open(folder.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("paces.mdb has layout 2, this version knows 1: update this program"),
        "{error}"
    );
    assert!(matches!(
        Store::open(folder.path()),
        Err(StoreError::Newer { found: 2, .. })
    ));
}

#[test]
fn whatever_is_damaged_nothing_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for n in 0..300 {
        store
            .room(room(n))
            .step(|s| [0, 1, 2].map(|i| s.put(i, &[n as u8; 100])))
            .unwrap();
    }
    store
        .room(room(7))
        .step(|s| s.put(0, &[1; 20_000]))
        .unwrap();
    (0..50).for_each(|n| assert!(store.room(room(n)).remove().unwrap()));
    let used = store.size() as usize;
    drop(store);
    let sound = fs::read(file(folder.path())).unwrap()[..used].to_vec();
    let mut random = fastrand::Rng::with_seed(7);
    let (mut found, mut tries) = (0, 0);
    while tries < 600 {
        tries += 1;
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        let mut bytes = sound.clone();
        for _ in 0..random.usize(1..4) {
            // Half of them where every page has its head and places.
            let page = random.usize(0..used / 4096) * 4096;
            let at = page
                + if random.bool() {
                    random.usize(0..64)
                } else {
                    random.usize(0..4096)
                };
            match random.u8(0..3) {
                0 => bytes[at] ^= 1 << random.u8(0..8),
                1 => bytes[at] = random.u8(..),
                _ => bytes[page..page + 4096].fill_with(|| random.u8(..)),
            }
        }
        fs::write(&path, &bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let opened = match Store::open(folder.path()) {
            Ok(opened) => opened,
            Err(StoreError::Newer { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        found += u32::from(opened.set_aside.is_some());
        let mut rooms = Vec::new();
        opened.store.rooms(|key, _| rooms.push(key)).unwrap();
        rooms
            .iter()
            .for_each(|&key| assert!(opened.store.room(key).remove().unwrap()));
        (0..100).for_each(|n| {
            opened
                .store
                .room(room(n))
                .step(|s| s.put(1, &[3; 500]))
                .unwrap()
        });
        drop(opened);
        Store::check(&path).unwrap();
    }
    // The others hit what a section holds, or what is free.
    assert!(found > tries / 2, "{found}");
}

#[test]
fn damage_is_not_set_aside_while_others_have_the_store_open() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    // Another process, as far as locks go: a handle of its own.
    let other = File::open(folder.path().join("open.lock")).unwrap();
    other.lock_shared().unwrap();
    let path = file(folder.path());
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all_at(b"xxxx", 16)
        .unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("paces.mdb is damaged (head 0 is not one of LMDB)"),
        "{error}"
    );
    drop(other);
    drop(bad(folder.path(), "head 0 is not one of LMDB"));
}
