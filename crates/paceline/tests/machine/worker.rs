//! What the processes do until they are killed: want, hold, give back, or give up.

use std::env;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use paceline::{Machine, Observation, Pace, Verdict};

use crate::diary::{Diary, What};

pub(crate) const FOLDER: &str = "PACELINE_TEST_FOLDER";
pub(crate) const NUMBER: &str = "PACELINE_TEST_NUMBER";
pub(crate) const WORK: &str = "PACELINE_TEST_WORK";

/// What a worker does, over and over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) limit: &'static str,
    /// It holds what it got for so long at most.
    pub(crate) holds: Duration,
    /// So many of a hundred are given up, after so long at most.
    pub(crate) given_up: u8,
}

impl Work {
    pub(crate) const ALL: [Self; 3] = [
        Self {
            limit: "4 in flight",
            holds: Duration::from_millis(10),
            given_up: 20,
        },
        Self {
            limit: "200/s burst 20",
            holds: Duration::ZERO,
            given_up: 0,
        },
        Self {
            limit: "50/s burst 5",
            holds: Duration::ZERO,
            given_up: 0,
        },
    ];
}

pub(crate) fn pace(folder: &Path, work: &Work) -> Pace {
    let machine = Machine::open_in(&folder.join("state")).unwrap();
    assert!(machine.notes().is_empty(), "{:?}", machine.notes());
    let pace = Pace::builder("shared").machine(&machine);
    pace.limit_text(work.limit).unwrap().build()
}

/// Not a test of its own: one of the processes.
#[test]
fn worker() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let number = |name: &str| env::var(name).unwrap().parse().unwrap();
    let (who, work): (u32, u32) = (number(NUMBER), number(WORK));
    let work = Work::ALL[work as usize];
    // Until everybody is there.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(works(Path::new(&folder), who, &work));
}

async fn works(folder: &Path, who: u32, work: &Work) {
    let (pace, mut diary) = (pace(folder, work), Diary::open(folder));
    let mut random = fastrand::Rng::with_seed(u64::from(who));
    let want = pace.want();
    let mut some = |most: Duration| most.mul_f64(random.f64());
    loop {
        diary.note(&pace, who, What::Wants);
        let patience = if some(Duration::from_secs(100)) < Duration::from_secs(work.given_up.into())
        {
            some(Duration::from_millis(10))
        } else {
            Duration::from_secs(3600)
        };
        let Ok(permit) = tokio::time::timeout(patience, pace.acquire(&want)).await else {
            diary.note(&pace, who, What::Leaves);
            continue;
        };
        let mut permit = permit.unwrap();
        permit.sending();
        diary.note(&pace, who, What::Holds);
        if !work.holds.is_zero() {
            tokio::time::sleep(some(work.holds)).await;
        }
        permit.settle(&Observation::status(Verdict::Ok, 200));
        diary.note(&pace, who, What::Leaves);
        drop(permit);
    }
}
