//! What the engine costs a response while its gate is throttled: `cargo bench -p paceline-engine --bench throttled`.
//!
//! Time is virtual. A server of ten a second without a burst has been learned for two hundred requests; from then on
//! each iteration is one request: it joins, waits for its turn, leaves, is answered, and has ended.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on says where"
)]

use core::time::Duration;

use divan::{Bencher, black_box};
use paceline_engine::{
    Attempts, Effect, Engine, GateSet, Joined, Observation, Sent, Timestamp, Verdict, Want,
};

fn main() {
    divan::main();
}

/// An engine and the server that it learned from.
struct World {
    engine: Engine,
    want: Want,
    now: Timestamp,
    served: Timestamp,
}

const EVERY: Duration = Duration::from_millis(100);

impl World {
    fn new() -> Self {
        let mut engine = Engine::new(100, 1);
        let gate = engine.add_gate(Timestamp::ZERO, "api", Vec::new()).unwrap();
        let now = Timestamp::ZERO + EVERY;
        Self {
            engine,
            want: Want::new(GateSet::one(gate)),
            now,
            served: Timestamp::ZERO,
        }
    }

    /// One that leaves as soon as it may.
    fn send(&mut self) -> Sent {
        let attempts = Attempts::default();
        let mut deadline = match self
            .engine
            .join(self.now, &self.want, None, &attempts, self.now)
        {
            Joined::Admitted(sent) => return sent,
            Joined::Waiting(_, effects) => effects.finish().unwrap().at,
            Joined::Refused(refusal) => panic!("{refusal:?}"),
        };
        loop {
            self.now = deadline;
            let mut effects = self.engine.handle_timeout(self.now);
            let admitted = effects.find_map(|effect| match effect {
                Effect::Admitted { sent, .. } => Some(sent),
                _ => None,
            });
            let next = effects.finish();
            match admitted {
                Some(sent) => return sent,
                None => deadline = next.unwrap().at,
            }
        }
    }

    fn one(&mut self) {
        let mut sent = self.send();
        let seen = if self.now.since(self.served) >= EVERY {
            self.served = self.now;
            Observation::status(Verdict::Ok, 200)
        } else {
            Observation::status(Verdict::RateLimited, 429)
        };
        let mut effects = self.engine.settle(self.now, &mut sent, black_box(&seen));
        effects.by_ref().for_each(drop);
        effects.finish();
        let mut effects = self.engine.finish(self.now, sent);
        effects.by_ref().for_each(drop);
        effects.finish();
    }
}

#[divan::bench(sample_size = 1000)]
fn request_while_throttled(bencher: Bencher<'_, '_>) {
    let mut world = World::new();
    for _ in 0..200 {
        world.one();
    }
    let snapshot = world.engine.snapshot(world.now);
    assert!(snapshot.gates[0].belief.interval.is_some(), "{snapshot:?}");
    bencher.bench_local(|| world.one());
}

#[divan::bench(sample_size = 1000)]
fn request_while_nothing_is_believed(bencher: Bencher<'_, '_>) {
    let mut world = World::new();
    bencher.bench_local(|| {
        world.now = world.now + EVERY;
        world.one();
    });
}
