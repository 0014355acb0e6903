use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use super::{Filled, MAP_SIZE, Store, StoreError};

fn open(folder: &Path) -> Store {
    let opened = Store::open(folder).unwrap();
    assert_eq!(opened.set_aside, None);
    opened.store
}

fn file(folder: &Path) -> std::path::PathBuf {
    folder.join("paces.mdb")
}

fn room(n: u64) -> [u8; 16] {
    let mut key = [0; 16];
    // Keys are hashes, so that neighbours are strangers.
    key[..8].copy_from_slice(&n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    key
}

#[test]
fn what_a_step_puts_the_next_one_gets() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path()).room(room(1));
    let two = open(folder.path()).room(room(2));
    one.step(|s| s.put(0, b"head")).unwrap();
    one.step(|s| s.put(u32::MAX, b"last")).unwrap();
    two.step(|s| s.put(0, b"other")).unwrap();
    let seen = one.step(|s| {
        (
            s.get(0).map(<[u8]>::to_vec),
            s.get(1).map(<[u8]>::len),
            s.get(u32::MAX).map(<[u8]>::len),
        )
    });
    assert_eq!(seen.unwrap(), (Some(b"head".to_vec()), None, Some(4)));
    one.step(|s| s.remove(0)).unwrap();
    assert!(one.step(|s| s.get(0).is_none()).unwrap());
    assert_eq!(
        (one.remove().unwrap(), one.remove().unwrap()),
        (true, false)
    );
    assert_eq!(two.step(|s| s.get(0).map(<[u8]>::len)).unwrap(), Some(5));
}

#[test]
fn a_section_may_be_empty_or_long() {
    let folder = tempfile::tempdir().unwrap();
    let room = open(folder.path()).room(room(1));
    for len in [0, 1, 2_000, 2_100, 4_080, 4_081, 100_000, 30] {
        room.step(|s| s.put(3, &vec![7; len])).unwrap();
        assert_eq!(
            room.step(|s| s.get(3).map(<[u8]>::to_vec)).unwrap(),
            Some(vec![7; len])
        );
        drop(open(folder.path()));
    }
    drop(room);
    assert_eq!(Store::check(&file(folder.path())).unwrap().unwrap().lost, 0);
}

#[test]
fn rooms_are_seen_once_each_with_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for n in 0..100 {
        store
            .room(room(n))
            .step(|s| [0, 1, 17].map(|i| s.put(i, &n.to_be_bytes())))
            .unwrap();
    }
    let mut seen = Vec::new();
    store
        .rooms(|key, look| {
            seen.push((key, look.get(17).map(<[u8]>::to_vec), look.get(2).is_some()))
        })
        .unwrap();
    let mut expected: Vec<_> = (0..100_u64)
        .map(|n| (room(n), Some(n.to_be_bytes().to_vec()), false))
        .collect();
    expected.sort_unstable();
    assert_eq!(seen, expected);
}

#[test]
fn a_step_within_a_step_is_an_error_and_not_a_wait_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (outer, inner) = (store.room(room(1)), store.room(room(2)));
    let error = outer
        .step(|_| inner.step(|s| s.put(0, b"x")))
        .unwrap()
        .unwrap_err();
    assert!(matches!(error, StoreError::Nested { .. }), "{error}");
    inner.step(|s| s.put(0, b"x")).unwrap();
}

#[test]
fn a_step_that_panics_keeps_nothing_and_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let room = open(folder.path()).room(room(1));
    let other = room.clone();
    let panicked = thread::spawn(move || {
        other.step(|s| {
            s.put(0, b"half");
            panic!("in the middle");
        })
    });
    assert!(panicked.join().is_err());
    assert!(room.step(|s| s.get(0).is_none()).unwrap());
}

#[test]
fn a_store_is_opened_once_in_a_process_and_again_after_its_last_handle() {
    let folder = tempfile::tempdir().unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let folder = folder.path().to_path_buf();
            thread::spawn(move || {
                for _ in 0..200 {
                    open(&folder).room(room(1)).step(|s| add(s, 0, 1)).unwrap();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert_eq!(
        open(folder.path())
            .room(room(1))
            .step(|s| read(s, 0))
            .unwrap(),
        800
    );
}

fn read(sections: &super::Sections<'_>, n: u32) -> u64 {
    sections
        .get(n)
        .map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().unwrap()))
}

fn add(sections: &mut super::Sections<'_>, n: u32, more: u64) {
    let sum = read(sections, n) + more;
    sections.put(n, &sum.to_be_bytes());
}

#[test]
fn files_are_for_their_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let _store = open(folder.path());
    for name in ["paces.mdb", "paces.mdb-lock", "open.lock", "turn.lock"] {
        assert_eq!(
            fs::metadata(folder.path().join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600,
            "{name}"
        );
    }
}

#[test]
fn ten_thousand_rooms_are_small_and_leave_their_pages_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let fill =
        || (0..10_000).for_each(|n| store.room(room(n)).step(|s| s.put(0, &[7; 300])).unwrap());
    fill();
    let full = store.size();
    assert!(full < 8 << 20, "{full}");
    (0..10_000).for_each(|n| assert!(store.room(room(n)).remove().unwrap()));
    fill();
    let again = store.size();
    assert!(again < full + full / 4, "{again} after {full}");
    drop(store);
    let sound = Store::check(&file(folder.path())).unwrap().unwrap();
    assert_eq!((sound.entries, sound.lost), (10_001, 0));
}

#[test]
fn a_full_store_says_so_and_goes_on_when_rooms_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut kept = 0;
    let error = loop {
        match store.room(room(kept)).step(|s| s.put(0, &vec![7; 1 << 20])) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(
            error,
            StoreError::Full {
                what: Filled::Store,
                ..
            }
        ),
        "{error}"
    );
    assert!((55..64).contains(&kept), "{kept}");
    assert!(store.room(room(kept)).step(|s| s.get(0).is_none()).unwrap());
    store.room(room(0)).remove().unwrap();
    store.room(room(1)).step(|s| s.put(0, b"small")).unwrap();
    drop(store);
    let sound = Store::check(&file(folder.path())).unwrap().unwrap();
    assert!(sound.pages <= (MAP_SIZE / 4096) as u64);
}

mod damage;
