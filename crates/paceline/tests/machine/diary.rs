//! What happened when, in all processes, and what must never have happened.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use paceline::Pace;

/// What somebody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// Gave back what it held, or no longer waits.
    Leaves,
    /// Will be killed in a moment.
    Dies,
    Wants,
    Holds,
}

const ALL: [What; 4] = [What::Leaves, What::Dies, What::Wants, What::Holds];

pub(crate) struct Diary(File);

impl Diary {
    pub(crate) fn open(folder: &Path) -> Self {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("diary"));
        Self(file.unwrap())
    }

    /// One write, so that lines of several processes do not mix.
    pub(crate) fn note(&mut self, pace: &Pace, who: u32, what: What) {
        let line = format!("{} {who} {}\n", pace.now().as_nanos(), what as usize);
        self.0.write_all(line.as_bytes()).unwrap();
    }
}

/// Everything, in order of time.
pub(crate) struct Story {
    events: Vec<(u64, What, u32)>,
}

impl Story {
    pub(crate) fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("diary")).unwrap();
        let mut events: Vec<_> = text.lines().filter_map(event).collect();
        events.sort_unstable();
        Self { events }
    }

    pub(crate) fn count(&self, what: What) -> usize {
        self.events.iter().filter(|own| own.1 == what).count()
    }

    /// When each started.
    pub(crate) fn starts(&self) -> Vec<u64> {
        let starts = self.events.iter().filter(|own| own.1 == What::Holds);
        starts.map(|own| own.0).collect()
    }

    /// The most that held something at one time.
    pub(crate) fn most_held(&self) -> usize {
        let mut most = 0;
        self.walk(|_, held, _| most = most.max(held));
        most
    }

    /// The longest stretch in which somebody waited although fewer than `limit` held something.
    pub(crate) fn longest_idle(&self, limit: usize) -> Duration {
        let (mut longest, mut idle_since) = (0, None);
        self.walk(|at, held, waiting| {
            let since = idle_since.take();
            if let Some(since) = since {
                longest = longest.max(at - since);
            }
            if waiting > 0 && held < limit {
                idle_since = Some(since.unwrap_or(at));
            }
        });
        Duration::from_nanos(longest)
    }

    /// How long each wait took, of those that began after `from`.
    pub(crate) fn waits(&self, from: u64) -> Vec<Duration> {
        let (mut wanted, mut waits) = (BTreeMap::new(), Vec::new());
        for (at, what, who) in &self.events {
            match what {
                What::Wants => drop(wanted.insert(who, at)),
                What::Holds => {
                    if let Some(since) = wanted.remove(who).filter(|since| **since >= from) {
                        waits.push(Duration::from_nanos(at - since));
                    }
                }
                What::Leaves | What::Dies => {}
            }
        }
        waits
    }

    /// After each event: when, how many hold something, how many wait. The dead do neither.
    fn walk(&self, mut each: impl FnMut(u64, usize, usize)) {
        let mut now = BTreeMap::new();
        let mut dead = std::collections::BTreeSet::new();
        for (at, what, who) in &self.events {
            match what {
                _ if dead.contains(who) => continue,
                What::Dies => {
                    dead.insert(who);
                    now.remove(who);
                }
                What::Leaves => drop(now.remove(who)),
                What::Wants | What::Holds => drop(now.insert(who, *what)),
            }
            let held = now.values().filter(|what| **what == What::Holds).count();
            each(*at, held, now.len() - held);
        }
    }
}

/// Whoever was killed while it wrote has left half a line.
fn event(line: &str) -> Option<(u64, What, u32)> {
    let mut parts = line.split(' ');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let (at, who, what) = (next()?, next()?, next()?);
    Some((at, *ALL.get(what as usize)?, u32::try_from(who).ok()?))
}

#[test]
fn a_story_tells_who_held_and_who_waited_in_vain() {
    let second = 1_000_000_000;
    let events = vec![
        (0, What::Wants, 1),
        (1, What::Holds, 1),
        (2, What::Wants, 2),
        (3, What::Dies, 1),
        (4, What::Leaves, 1),
        (3 + second, What::Holds, 2),
        (4 + second, What::Wants, 3),
        (5 + second, What::Leaves, 2),
        (6 + second, What::Holds, 3),
    ];
    let story = Story { events };
    assert_eq!(story.most_held(), 1);
    assert_eq!(story.longest_idle(1), Duration::from_secs(1));
    assert_eq!(story.longest_idle(2), Duration::from_nanos(second + 1));
    assert_eq!(
        story.waits(2),
        [Duration::from_nanos(second + 1), Duration::from_nanos(2)]
    );
    assert_eq!(story.starts(), [1, 3 + second, 6 + second]);
}
