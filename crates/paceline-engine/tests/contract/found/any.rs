//! Gates that are found from responses, whatever the responses name.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Ask { path: u64, object: Option<u64> },
    Answer { which: usize, seen: Seen },
    Refund { which: usize },
    Leave { which: usize },
    Pass { millis: u64 },
}

#[derive(Clone, Debug)]
struct Seen {
    bucket: Option<u8>,
    scope: Scope,
    class: u8,
    remaining: Option<u64>,
    millis: u64,
}

impl Seen {
    fn observation(&self) -> Observation {
        let mut seen = match self.class {
            0..=5 => ok(),
            6..=7 => refused_for(ms(self.millis)),
            8 => refused(),
            _ => Observation::status(Verdict::Overloaded, 503),
        };
        seen.scope = self.scope;
        seen.bucket = self.bucket.map(|bucket| format!("b{bucket}").into());
        if let Some(remaining) = self.remaining {
            seen.windows.push(window(remaining, ms(self.millis)));
        }
        seen
    }
}

fn seen() -> impl Strategy<Value = Seen> {
    let scope = prop::sample::select(Scope::ALL.to_vec());
    let parts = (
        prop::option::weighted(0.8, 0..4_u8),
        scope,
        0..10_u8,
        prop::option::of(0..4_u64),
        1..5_000_u64,
    );
    parts.prop_map(|(bucket, scope, class, remaining, millis)| Seen {
        bucket,
        scope,
        class,
        remaining,
        millis,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..100_usize;
    prop_oneof![
        5 => (0..6_u64, prop::option::of(0..2_u64)).prop_map(|(path, object)| Step::Ask { path, object }),
        5 => (which.clone(), seen()).prop_map(|(which, seen)| Step::Answer { which, seen }),
        1 => which.clone().prop_map(|which| Step::Refund { which }),
        1 => which.prop_map(|which| Step::Leave { which }),
        2 => (1..3_000_u64).prop_map(|millis| Step::Pass { millis }),
    ]
}

fn by() -> impl Strategy<Value = (GatesBy, Option<u64>)> {
    let by = prop::sample::select(GatesBy::ALL.to_vec());
    (by, prop::option::of(1..3_u64))
}

proptest! {
    /// Nobody is lost, nobody of a route goes before one who came earlier, and nothing stays under way.
    #[test]
    fn nobody_is_lost_and_no_route_is_out_of_order((by, cold_start) in by(), steps in prop::collection::vec(step(), 1..120)) {
        let mut driver = Driver::new(&[&["100 in flight"]]);
        let known = vec!["b0".into()];
        driver.engine.find_gates(FindGates { by, cold_start, known });
        let mut routes = Vec::new();
        for step in steps {
            match step {
                Step::Ask { path, object } => {
                    let known = (path == 5).then_some(0);
                    let key = RouteKey { path, resource: object, known };
                    routes.push(key);
                    driver.ask(&Want::new(GateSet::one(API)).route(Some(key)));
                }
                Step::Answer { which, seen } => {
                    let under_way: Vec<_> = driver.under_way.keys().copied().collect();
                    if let Some(name) = under_way.get(which % under_way.len().max(1)) {
                        driver.answer(*name, &seen.observation());
                    }
                }
                Step::Refund { which } => {
                    let under_way: Vec<_> = driver.under_way.keys().copied().collect();
                    if let Some(name) = under_way.get(which % under_way.len().max(1)) {
                        driver.refund(*name);
                    }
                }
                Step::Leave { which } => {
                    let waiting: Vec<_> = driver.tickets.values().copied().collect();
                    if let Some(name) = waiting.get(which % waiting.len().max(1)) {
                        driver.leave(*name);
                        routes[*name].path = u64::MAX;
                    }
                }
                Step::Pass { millis } => driver.pass(ms(millis)),
            }
        }
        // From here on everything is served.
        for _ in 0..10_000 {
            if let Some((&name, _)) = driver.under_way.first_key_value() {
                driver.answer(name, &ok());
            } else if driver.wake.is_some() {
                driver.wait();
            } else {
                break;
            }
        }
        prop_assert!(driver.tickets.is_empty());
        let gates = driver.engine.snapshot(driver.now).gates;
        prop_assert!(gates.iter().all(|gate| (gate.in_flight, gate.waiting) == (0, 0)));
        for route in &routes {
            let own = driver.order().into_iter().filter(|name| routes[*name] == *route);
            prop_assert!(own.is_sorted(), "{route:?}: {:?}", driver.order());
        }
    }
}
