//! What it costs to save a gate and to load it: all of a record, of one gate and of a hundred more.
//!
//! Divide the difference by a hundred: the rest is what a record has besides gates.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use divan::Bencher;
use paceline_engine::{
    Attempts, Engine, GateSet, Joined, Observation, Owner, Sections, Timestamp, Verdict, Want,
};

fn main() {
    divan::main();
}

/// What is known of every gate.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    Limit,
    Sends,
    Belief,
}

const CASES: [(Known, u16); 8] = [
    (Known::Nothing, 1),
    (Known::Nothing, 101),
    (Known::Limit, 1),
    (Known::Limit, 101),
    (Known::Sends, 1),
    (Known::Sends, 101),
    (Known::Belief, 1),
    (Known::Belief, 101),
];

fn engine(known: Known, gates: u16) -> Engine {
    let mut engine = Engine::new(1000, 1);
    let now = Timestamp::ZERO;
    for gate in 0..gates {
        let limits = match known {
            Known::Nothing => Vec::new(),
            _ => vec!["1000/s burst 1000".parse().expect("a limit")],
        };
        engine.add_gate(now, &format!("gate {gate}"), limits);
    }
    engine.share(Owner::new(NonZeroU64::MIN));
    engine.enroll(now).finish();
    let (requests, refused) = match known {
        Known::Nothing | Known::Limit => (0, 1),
        Known::Sends => (40, 1000),
        Known::Belief => (200, 20),
    };
    let mut now = now;
    for n in 0..requests {
        for gate in 0..gates {
            now = now + Duration::from_secs(5);
            let want = Want::new(GateSet::one(gate));
            let joined = engine.join(now, &want, None, &Attempts::default(), now);
            let Joined::Admitted(mut sent) = joined else {
                panic!("it is not open");
            };
            let seen = if n % refused == refused - 1 {
                Observation::status(Verdict::RateLimited, 429)
            } else {
                Observation::status(Verdict::Ok, 200)
            };
            engine.settle(now, &mut sent, &seen).for_each(drop);
            engine.finish(now, sent).for_each(drop);
        }
    }
    engine
}

/// Takes whatever is put there.
struct Nowhere;

impl Sections for Nowhere {
    fn get(&self, _: u32) -> Option<&[u8]> {
        None
    }

    fn put(&mut self, _: u32, bytes: &[u8]) {
        divan::black_box(bytes);
    }
}

#[divan::bench(args = CASES)]
fn save(bencher: Bencher<'_, '_>, (known, gates): (Known, u16)) {
    let mut engine = engine(known, gates);
    let now = engine.latest();
    engine.save(now, 1, &mut Nowhere);
    bencher.bench_local(|| {
        // A record that cannot be read is written anew.
        engine.distrust(now);
        engine.save(now, 1, &mut Nowhere);
    });
}

#[divan::bench(args = CASES)]
fn load(bencher: Bencher<'_, '_>, (known, gates): (Known, u16)) {
    let mut engine = engine(known, gates);
    let mut record = BTreeMap::new();
    engine.save(engine.latest(), 1, &mut record);
    bencher.bench_local(|| engine.load_anew(&record));
}
