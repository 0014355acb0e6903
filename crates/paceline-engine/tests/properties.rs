//! What holds for any limits, arrivals and answers. The harness checks after every input that nobody waits for nothing, that
//! deadlines lie ahead, that timers which fire early or twice change nothing, and that nobody is admitted twice.

mod support;

/// All of an engine's state is its own.
const SHARED: bool = false;

use std::collections::BTreeSet;
use std::time::Duration;

use paceline_engine::*;
use proptest::prelude::*;
use support::*;

/// A limit as its definition has it, without any books.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Bucket {
        amount: u64,
        period: u64,
        burst: u64,
    },
    Strict {
        amount: u64,
        period: u64,
    },
}

impl Rule {
    /// Periods are in nanoseconds.
    fn text(self) -> String {
        let secs = |nanos: u64| format!("{}.{:09}s", nanos / 1_000_000_000, nanos % 1_000_000_000);
        match self {
            Self::Bucket {
                amount,
                period,
                burst,
            } => format!("{amount}/{} burst {burst}", secs(period)),
            Self::Strict { amount, period } => format!("{amount}/{}", secs(period)),
        }
    }

    /// The earliest nanosecond at which `cost` may go after these starts and costs, by the definition: in every stretch that
    /// ends there, a bucket grants its burst and what flows in, a strict window its amount.
    fn earliest(self, cost: u64, before: &[(u64, u64)]) -> u64 {
        let mut sum = u128::from(cost);
        let bounds = before.iter().rev().map(|&(at, spent)| {
            sum += u128::from(spent);
            let wait = match self {
                Self::Strict { amount, period } if sum > u128::from(amount) => u128::from(period),
                Self::Strict { .. } => return 0,
                Self::Bucket {
                    amount,
                    period,
                    burst,
                } => {
                    let missing = sum.saturating_sub(u128::from(burst)) * u128::from(period);
                    missing.div_ceil(u128::from(amount))
                }
            };
            at + u64::try_from(wait).expect("less than 584 years")
        });
        bounds.max().unwrap_or(0)
    }
}

fn rule() -> impl Strategy<Value = Rule> {
    let period = prop_oneof![1..5_000_000_000_u64, Just(1_000_000_000), 1..1_000_u64];
    (any::<bool>(), 1..20_u64, period, 1..20_u64).prop_map(|(strict, amount, period, burst)| {
        if strict {
            Rule::Strict { amount, period }
        } else {
            Rule::Bucket {
                amount,
                period,
                burst,
            }
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The oracle knows only the definitions. It and the engine agree to the nanosecond, and the harness fires each timer a
    /// nanosecond early first: never more than the limits say, and never later than they allow.
    #[test]
    fn everybody_starts_exactly_when_all_limits_allow(
        rules in prop::collection::vec(rule(), 1..4),
        arrivals in prop::collection::vec((0..2_000_000_000_u64, 1..4_u64), 1..60),
    ) {
        let texts: Vec<_> = rules.iter().map(|rule| rule.text()).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let mut driver = Driver::new(&[&texts]);
        let most = rules.iter().map(|rule| match rule {
            Rule::Bucket { burst, .. } => *burst,
            Rule::Strict { amount, .. } => *amount,
        });
        let most = most.min().expect("a rule");
        let mut expected: Vec<(u64, u64)> = Vec::new();
        for (gap, cost) in arrivals {
            // Half of them come at once.
            driver.pass(Duration::from_nanos(gap.saturating_sub(1_000_000_000)));
            let cost = cost.min(most);
            let promised = driver.engine.next_start(driver.now, &through(&[0]).cost(Cost::requests(cost)));
            driver.ask(&through(&[0]).cost(Cost::requests(cost)));
            let last = expected.last().map_or(0, |(at, _)| *at);
            let start = rules.iter().map(|rule| rule.earliest(cost, &expected)).max().expect("a rule");
            let start = start.max(last).max(driver.now.as_nanos());
            if driver.engine.waiting() == 1 {
                prop_assert_eq!(promised.map(|promised| promised.at.as_nanos()), Some(start));
                prop_assert_eq!(driver.wake, promised);
            }
            expected.push((start, cost));
        }
        driver.pass(Duration::from_secs(10_000_000));
        let starts: Vec<_> = driver.starts.iter().map(|start| start.at.as_nanos()).collect();
        let expected: Vec<_> = expected.into_iter().map(|(at, _)| at).collect();
        prop_assert_eq!(starts, expected);
    }
}

/// Something that a user or an upstream does.
#[derive(Clone, Debug)]
enum Step {
    Ask { want: u8, delay: u64 },
    Leave(usize),
    Settle(usize, Observation),
    Finish(usize),
    Refund(usize),
    Pass(Duration),
    Early,
    Change(u16, u8),
}

const LIMITS: [&[&str]; 6] = [
    &[],
    &["20/s"],
    &["10/s burst 3", "4 in flight"],
    &["1/2s burst 1"],
    &["30/m"],
    &["2 in flight"],
];

fn wanted(choice: u8, now: Timestamp) -> Want {
    let gates: &[u16] = [&[0_u16][..], &[0, 1], &[0, 2], &[0, 1, 2], &[1]][usize::from(choice % 5)];
    let want = through(gates).cost(Cost::requests([1, 1, 1, 3, 0][usize::from(choice / 5 % 5)]));
    match choice / 25 % 4 {
        0 => want.deadline(now + Duration::from_secs(u64::from(choice % 7))),
        1 => want.priority(Priority::Interactive),
        2 if choice.is_multiple_of(3) => want.best_effort(),
        _ => want,
    }
}

fn step(answer: BoxedStrategy<Observation>) -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<u8>(), prop_oneof![3 => Just(0), 1 => 0..3_000_u64])
            .prop_map(|(want, delay)| Step::Ask { want, delay }),
        1 => any::<usize>().prop_map(Step::Leave),
        4 => (any::<usize>(), answer).prop_map(|(which, seen)| Step::Settle(which, seen)),
        3 => any::<usize>().prop_map(Step::Finish),
        1 => any::<usize>().prop_map(Step::Refund),
        3 => (0..2_000_u64).prop_map(|millis| Step::Pass(ms(millis))),
        1 => Just(Step::Early),
        1 => (0..3_u16, any::<u8>()).prop_map(|(gate, limits)| Step::Change(gate, limits)),
    ]
}

/// Does it; says who left, if somebody did.
fn take(driver: &mut Driver, step: &Step, settled: &mut BTreeSet<Name>) -> Option<Name> {
    let under_way = |driver: &Driver, which: usize| {
        let count = driver.under_way.len();
        (count > 0).then(|| *driver.under_way.keys().nth(which % count).expect("counted"))
    };
    match step {
        Step::Ask { want, delay } => {
            let not_before = driver.now + ms(*delay);
            let want = wanted(*want, driver.now);
            driver.ask_again(&want, None, &Attempts::default(), not_before);
        }
        Step::Leave(which) => {
            let count = driver.tickets.len();
            let mut tickets = driver.tickets.values();
            let name = (count > 0).then(|| *tickets.nth(which % count).expect("counted"))?;
            driver.leave(name);
            return Some(name);
        }
        Step::Settle(which, seen) => {
            if let Some(name) = under_way(driver, *which) {
                driver.settle(name, seen);
                settled.insert(name);
            }
        }
        Step::Finish(which) => {
            if let Some(name) = under_way(driver, *which) {
                driver.finish(name);
            }
        }
        Step::Refund(which) => {
            if let Some(name) = under_way(driver, *which).filter(|name| !settled.contains(name)) {
                driver.refund(name);
            }
        }
        Step::Pass(duration) => driver.pass(*duration),
        Step::Early => driver.input(|engine, now| engine.handle_timeout(now)),
        Step::Change(gate, limits) => {
            driver.change_limits(*gate, LIMITS[usize::from(*limits) % LIMITS.len()]);
        }
    }
    None
}

/// Answers that real servers give.
fn sane() -> BoxedStrategy<Observation> {
    prop_oneof![
        5 => Just(ok()),
        2 => Just(refused()),
        1 => (0..5_000_u64).prop_map(|millis| refused_for(ms(millis))),
        1 => Just(Observation::status(Verdict::Overloaded, 503)),
        1 => Just(Observation::failure(Failure::Timeout)),
        1 => (0..5_u64, 0..5_000_u64).prop_map(|(remaining, reset)| {
            let mut seen = ok();
            seen.windows.push(window(remaining, ms(reset)));
            seen
        }),
    ]
    .boxed()
}

fn gates() -> [&'static [&'static str]; 3] {
    [LIMITS[2], LIMITS[1], LIMITS[5]]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_is_lost(steps in prop::collection::vec(step(sane()), 1..120), seed: u64) {
        let mut driver = Driver::with(seed, 30, &gates());
        let (mut left, mut settled) = (0, BTreeSet::new());
        for step in &steps {
            left += usize::from(take(&mut driver, step, &mut settled).is_some());
        }
        // What is under way ends, and whoever waits is served in time.
        let mut rounds = 0;
        while !(driver.under_way.is_empty() && driver.tickets.is_empty()) {
            match driver.under_way.keys().next().copied() {
                Some(name) => driver.answer(name, &ok()),
                None => drop(driver.wait()),
            }
            rounds += 1;
            prop_assert!(rounds < 1_000, "{} wait", driver.tickets.len());
        }
        prop_assert!((0..3).all(|gate| driver.in_flight(gate) == 0));
        prop_assert_eq!(driver.engine.waiting(), 0);
        let mut told: Vec<_> = driver.order();
        told.extend(driver.refusals.iter().map(|(name, _)| *name));
        prop_assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "told twice");
        prop_assert_eq!(told.len() + left, driver.asked);
    }

    /// Equal priority, the same gates and cost: whatever happens, first come is first served.
    #[test]
    fn equals_are_served_in_the_order_of_their_arrival(
        steps in prop::collection::vec(step(sane()), 1..120), seed: u64,
    ) {
        let mut driver = Driver::with(seed, 1_000, &gates());
        let (mut lanes, mut settled) = (Vec::new(), BTreeSet::new());
        for step in steps {
            match step {
                Step::Ask { want, .. } => {
                    let gates: &[u16] = [&[0_u16][..], &[0, 1], &[0, 2], &[1, 2]][usize::from(want % 4)];
                    driver.ask(&through(gates));
                    lanes.push(want % 4);
                }
                other => {
                    take(&mut driver, &other, &mut settled);
                }
            }
        }
        let order = driver.order();
        for lane in 0..4 {
            let own: Vec<_> = order.iter().filter(|name| lanes[**name] == lane).collect();
            prop_assert!(own.is_sorted(), "{own:?}");
        }
    }
}

/// Answers that no server should give.
fn insane() -> BoxedStrategy<Observation> {
    let verdict = prop::sample::select(vec![
        Verdict::Ok,
        Verdict::RateLimited,
        Verdict::Overloaded,
        Verdict::Redirect,
        Verdict::Other,
    ]);
    let number = || prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 0..100_u64];
    let duration = move || {
        (number(), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos))
    };
    let name = || prop::option::of("[a-c]".prop_map(String::into_boxed_str));
    let window = move || {
        (
            name(),
            prop::option::of(number()),
            prop::option::of(duration()),
            number(),
        )
            .prop_map(|(name, remaining, reset, limit)| {
                let mut window = Window::unknown();
                window.name = name;
                window.remaining = remaining;
                window.reset = reset;
                window.limit_milli = Some(u128::from(limit) * u128::from(limit));
                window
            })
    };
    let windows = prop::collection::vec(window(), 0..12);
    let whole = any::<bool>();
    (
        verdict,
        any::<u16>(),
        prop::option::of(duration()),
        windows,
        whole,
    )
        .prop_map(|(verdict, status, wait, windows, whole)| {
            let mut seen = Observation::status(verdict, status);
            seen.wait = wait;
            seen.retry_after = wait;
            seen.windows = windows;
            seen.scope = if whole { Scope::Gate } else { Scope::Request };
            seen
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The harness sees to it that whoever waits has something to wait for.
    #[test]
    fn no_answer_is_too_strange(
        steps in prop::collection::vec(step(insane()), 1..100), seed: u64, start in 0..(u64::MAX / 4),
    ) {
        let mut driver = Driver::with(seed, 30, &gates());
        driver.pass_to(Timestamp::from_nanos(start));
        let mut settled = BTreeSet::new();
        let mut attempts = Attempts::default();
        for step in steps {
            take(&mut driver, &step, &mut settled);
            if let Step::Settle(_, seen) = &step {
                let want = wanted(3, driver.now);
                let policy = RetryPolicy::default();
                let decision =
                    driver.engine.decide(driver.now, &want, &policy, &mut attempts, Repeatable::YES, seen);
                if let Decision::Again { not_before } = decision {
                    prop_assert!(not_before > driver.now, "a retry without a delay");
                }
            }
            driver.engine.snapshot(driver.now);
        }
    }

    #[test]
    fn no_cost_is_too_large(
        costs in prop::collection::vec(prop_oneof![Just(u64::MAX), any::<u64>(), 0..10_u64], 1..40),
        amount in prop_oneof![Just(u64::MAX), any::<u64>(), 1..100_u64],
    ) {
        let amount = amount.max(1);
        let texts = [format!("{amount}/366d"), format!("{amount}/s"), format!("{amount}/366d burst {amount}")];
        for text in &texts {
            let mut driver = Driver::new(&[&[text]]);
            for cost in &costs {
                let want = through(&[0]).cost(Cost::requests(*cost).and("requests", *cost).and("requests", *cost));
                driver.ask(&want);
                driver.input(|engine, now| engine.spend(now, want.gates, want.cost.clone()));
                driver.pass(Duration::from_millis(1));
            }
            driver.engine.snapshot(driver.now);
            driver.change_limits(0, &["1/s burst 1"]);
        }
    }
}
