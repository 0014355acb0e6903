//! The same step four ways: read one section of 100 bytes, write two.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithoutTls};
use paceline_machine::store::{Room, Store};

pub const ALL: [&str; 5] = ["store", "store-look", "lmdb", "sqlite", "json"];
pub type Step = Box<dyn FnMut()>;

pub fn open(way: &str, folder: &Path) -> Step {
    match way {
        "store" => store(folder),
        "store-look" => look(folder),
        "lmdb" => lmdb(folder),
        "sqlite" => sqlite(folder),
        "json" => json(folder),
        other => panic!("no way is called {other}"),
    }
}

fn room(folder: &Path) -> Room {
    Store::open(folder).unwrap().store.room([7; 16])
}

fn store(folder: &Path) -> Step {
    let room = room(folder);
    Box::new(move || {
        room.step(|s| {
            let next = next(s.get(0));
            s.put(0, &next);
            s.put(1, &next);
        })
        .unwrap();
    })
}

/// A step that finds nothing to change.
fn look(folder: &Path) -> Step {
    let room = room(folder);
    Box::new(move || {
        room.step(|s| std::hint::black_box(next(s.get(0)))).unwrap();
    })
}

fn next(before: Option<&[u8]>) -> [u8; 100] {
    let mut next: [u8; 100] = before.map_or([0; 100], |bytes| bytes.try_into().unwrap());
    next[0] = next[0].wrapping_add(1);
    next
}

fn lmdb(folder: &Path) -> Step {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(64 << 20);
    let env: Env<WithoutTls> = unsafe {
        options.flags(EnvFlags::NO_SUB_DIR | EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP);
        options.open(folder.join("bare.mdb")).unwrap()
    };
    let txn = env.write_txn().unwrap();
    let made = env.create_databases_and_commit(txn, |open, txn| {
        open.create_database(txn, None)
            .map(CommitOrAbort::<_, ()>::Commit)
    });
    let data: Database<'static, Bytes, Bytes> = made.unwrap().unwrap_commit();
    let (zero, one) = ([0; 20], [1; 20]);
    Box::new(move || {
        let mut txn = env.write_txn().unwrap();
        let next = next(data.get(&txn, &zero).unwrap());
        data.put(&mut txn, &zero, &next).unwrap();
        data.put(&mut txn, &one, &next).unwrap();
        txn.commit().unwrap();
    })
}

fn sqlite(folder: &Path) -> Step {
    let db = rusqlite::Connection::open(folder.join("paces.sqlite")).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "synchronous", "OFF").unwrap();
    db.execute(
        "CREATE TABLE IF NOT EXISTS s (k INTEGER PRIMARY KEY, v BLOB) WITHOUT ROWID",
        (),
    )
    .unwrap();
    Box::new(move || {
        db.prepare_cached("BEGIN IMMEDIATE")
            .unwrap()
            .execute(())
            .unwrap();
        let before = db
            .prepare_cached("SELECT v FROM s WHERE k = 0")
            .unwrap()
            .query_row((), |row| row.get::<_, Vec<u8>>(0));
        let next = next(before.ok().as_deref());
        let mut put = db
            .prepare_cached("INSERT OR REPLACE INTO s VALUES (?, ?)")
            .unwrap();
        put.execute((0, &next[..])).unwrap();
        put.execute((1, &next[..])).unwrap();
        db.prepare_cached("COMMIT").unwrap().execute(()).unwrap();
    })
}

fn json(folder: &Path) -> Step {
    let lock = File::create(folder.join("json.lock")).unwrap();
    let (path, new): (PathBuf, PathBuf) = (
        folder.join("paces.json"),
        folder.join(format!("new.{}", std::process::id())),
    );
    Box::new(move || {
        lock.lock().unwrap();
        let text = fs::read(&path).unwrap_or_else(|_| b"{}".to_vec());
        let mut all: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&text).unwrap();
        let before = all.get("0").map(|v| {
            v.as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_u64().unwrap() as u8)
                .collect::<Vec<_>>()
        });
        let next = next(before.as_deref());
        all.insert("0".into(), next.to_vec().into());
        all.insert("1".into(), next.to_vec().into());
        fs::write(&new, serde_json::to_vec(&all).unwrap()).unwrap();
        fs::rename(&new, &path).unwrap();
        lock.unlock().unwrap();
    })
}
