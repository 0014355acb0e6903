//! What it costs to save and load what several share, beside the same requests unshared.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use divan::Bencher;
use paceline_engine::{
    Attempts, Engine, GateSet, Joined, Observation, Owner, Sent, Timestamp, Verdict, Want,
};

fn main() {
    divan::main();
}

/// One gate, so many of whose requests were refused before.
struct Lab {
    engine: Engine,
    now: Timestamp,
    record: Option<BTreeMap<u32, Vec<u8>>>,
}

impl Lab {
    fn new(limits: &[&str], shared: bool) -> Self {
        let mut engine = Engine::new(1000, 1);
        let limits = limits.iter().map(|text| text.parse().expect("a limit"));
        engine.add_gate(Timestamp::ZERO, "api", limits.collect());
        if shared {
            engine.share(Owner::new(NonZeroU64::MIN));
            engine.enroll(Timestamp::ZERO).finish();
        }
        let mut lab = Self {
            engine,
            now: Timestamp::ZERO,
            record: shared.then(BTreeMap::new),
        };
        lab.save();
        lab
    }

    fn load(&mut self) {
        if let Some(record) = &self.record {
            self.engine.load(record).expect("it can be read");
        }
    }

    fn save(&mut self) {
        if let Some(record) = &mut self.record {
            self.engine.save(self.now, 1, record);
        }
    }

    fn acquire(&mut self) -> Sent {
        self.now = self.now + Duration::from_millis(20);
        self.load();
        let want = Want::new(GateSet::one(0));
        let joined = self
            .engine
            .join(self.now, &want, None, &Attempts::default(), self.now);
        let Joined::Admitted(sent) = joined else {
            panic!("it is not open");
        };
        self.save();
        sent
    }

    fn settle(&mut self, mut sent: Sent, verdict: Verdict, status: u16) {
        self.load();
        let seen = Observation::status(verdict, status);
        self.engine.settle(self.now, &mut sent, &seen).finish();
        self.engine.finish(self.now, sent).finish();
        self.save();
    }

    /// Refused now and then, so that a pace is believed in.
    fn learn(&mut self) {
        for n in 0..200 {
            self.now = self.now + Duration::from_secs(2);
            let sent = self.acquire();
            if n % 20 == 7 {
                self.settle(sent, Verdict::RateLimited, 429);
            } else {
                self.settle(sent, Verdict::Ok, 200);
            }
        }
        self.now = self.now + Duration::from_secs(1_000);
    }
}

#[divan::bench(args = [false, true])]
fn one_bucket(bencher: Bencher<'_, '_>, shared: bool) {
    let mut lab = Lab::new(&["1000/s burst 1000"], shared);
    bencher.bench_local(|| {
        let sent = lab.acquire();
        lab.settle(sent, Verdict::Ok, 200);
    });
}

#[divan::bench(args = [false, true])]
fn a_belief(bencher: Bencher<'_, '_>, shared: bool) {
    let mut lab = Lab::new(&[], shared);
    lab.learn();
    bencher.bench_local(|| {
        lab.now = lab.now + Duration::from_secs(2);
        let sent = lab.acquire();
        lab.settle(sent, Verdict::Ok, 200);
    });
}

/// All of it is news, as for a program that starts.
#[divan::bench(args = [false, true])]
fn load_all(bencher: Bencher<'_, '_>, learned: bool) {
    let mut lab = Lab::new(&["1000/s burst 1000"], true);
    if learned {
        lab.learn();
    }
    bencher.bench_local(|| {
        let record = lab.record.as_ref().expect("it is shared");
        lab.engine.load_anew(record)
    });
}
