//! Many quotas in one folder: how large it is, and how large whoever keeps them all.

use std::path::Path;

use paceline::{Machine, Observation, Pace, Verdict};

use crate::{alone, report};

const QUOTAS: usize = 10_000;
const MIB: u64 = 1 << 20;

#[test]
#[ignore = "takes memory that tests beside it would count"]
fn ten_thousand_quotas_take_less_than_64_mib_of_the_disk() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::open_in(&folder.path().join("state")).unwrap();
    let before = resident();
    let refused = Observation::status(Verdict::RateLimited, 429);
    let all: Vec<_> = (0..QUOTAS)
        .map(|n| {
            let pace = Pace::builder(&format!("https://api-{n}.example"));
            let pace = pace.machine(&machine).limit_text("10/s burst 50");
            let pace = pace.unwrap().build();
            let mut permit = pace.acquire_blocking(&pace.want()).unwrap();
            permit.sending();
            // One in ten has learned something.
            if n % 10 == 0 {
                permit.settle(&refused);
            } else {
                permit.settle(&Observation::status(Verdict::Ok, 200));
            }
            drop(permit);
            pace
        })
        .collect();
    let kept = resident() - before;
    drop(all);
    let file = taken(&folder.path().join("state"));
    report(&format!(
        "{QUOTAS} quotas: {:.1} MiB on the disk; whoever keeps all of them has {:.1} MiB more",
        file as f64 / MIB as f64,
        kept as f64 / MIB as f64,
    ));
    assert!(file < 64 * MIB, "{file}");
}

/// What of this process is in memory, pages of mapped files included.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .unwrap();
    kib.parse::<u64>().unwrap() * 1024
}

fn taken(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().metadata().unwrap())
        .map(|meta| meta.blocks() * 512)
        .sum()
}
