//! What holds for any estimates and real costs, told in any order, before the end or after it, with any of it cancelled.
//!
//! The oracle keeps a ledger without books: what every request was charged when it was sent, what its response gave back,
//! what it asked for later. A limit is kept if no stretch of time that ends with a start holds more than the limit grants.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// Of `AMOUNT` tokens in ten seconds, strict, or flowing in with a burst of as many.
const AMOUNT: u64 = 1000;
const PERIOD: Duration = Duration::from_secs(10);
const LIMITS: [&str; 2] = ["1000 tokens/10s", "1000 tokens/10s burst 1000"];

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask {
        tokens: u64,
        in_time: bool,
    },
    /// One of those under way tells its cost, or somebody else will.
    Tell(usize, u64),
    TakeReceipt(usize),
    TellLater(usize, u64),
    DropReceipt(usize),
    Finish(usize),
    Refund(usize),
    Leave(usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let tokens = || prop_oneof![Just(0), 1..100_u64, 100..=AMOUNT];
    let actual = || prop_oneof![Just(0), 1..400_u64, 400..2 * AMOUNT];
    prop_oneof![
        6 => (tokens(), any::<bool>()).prop_map(|(tokens, in_time)| Step::Ask { tokens, in_time }),
        4 => (any::<usize>(), actual()).prop_map(|(which, actual)| Step::Tell(which, actual)),
        2 => any::<usize>().prop_map(Step::TakeReceipt),
        2 => (any::<usize>(), actual()).prop_map(|(which, actual)| Step::TellLater(which, actual)),
        1 => any::<usize>().prop_map(Step::DropReceipt),
        3 => any::<usize>().prop_map(Step::Finish),
        1 => any::<usize>().prop_map(Step::Refund),
        1 => any::<usize>().prop_map(Step::Leave),
        4 => (0..4_000_u64).prop_map(Step::Pass),
    ]
}

/// What one request came to.
#[derive(Clone, Copy, Debug)]
struct Spent {
    at: Timestamp,
    /// What it was charged when it was sent, as far as it has not been given back.
    then: u64,
    /// What it was charged when its cost was known, and when.
    later: Option<(Timestamp, u64)>,
    /// It can tell its cost itself.
    can_tell: bool,
}

struct Job {
    driver: Driver,
    estimates: Vec<u64>,
    ledger: BTreeMap<Name, Spent>,
    receipts: BTreeMap<Name, Receipt>,
    left: usize,
}

fn nth<T: Copy>(all: impl ExactSizeIterator<Item = T>, which: usize) -> Option<T> {
    let (count, mut all) = (all.len(), all);
    (count > 0).then(|| all.nth(which % count).expect("counted"))
}

impl Job {
    fn new(limit: &str) -> Self {
        Self {
            driver: Driver::new(&[&[limit]]),
            estimates: Vec::new(),
            ledger: BTreeMap::new(),
            receipts: BTreeMap::new(),
            left: 0,
        }
    }

    fn take(&mut self, step: Step) {
        let under_way = |job: &Self, which| nth(job.driver.under_way.keys().copied(), which);
        let receipt = |job: &Self, which| nth(job.receipts.keys().copied(), which);
        match step {
            Step::Ask { tokens, in_time } => {
                let mut want = through(&[API]).cost(Cost::tokens(tokens));
                if in_time {
                    want = want.deadline(self.driver.now + ms(5000));
                }
                self.estimates.push(tokens);
                self.driver.ask(&want);
            }
            Step::Tell(which, actual) => {
                if let Some(name) = under_way(self, which) {
                    if self.ledger[&name].can_tell {
                        self.told(name, actual);
                    }
                    self.driver.settle_cost(name, &Cost::tokens(actual));
                }
            }
            Step::TakeReceipt(which) => {
                if let Some(name) = under_way(self, which) {
                    let receipt = self.driver.receipt(name);
                    self.receipts.extend(receipt.map(|receipt| (name, receipt)));
                    self.ledger.get_mut(&name).expect("charged").can_tell = false;
                }
            }
            Step::TellLater(which, actual) => {
                if let Some(name) = receipt(self, which) {
                    let receipt = self.receipts.remove(&name).expect("there");
                    self.told(name, actual);
                    let actual = Cost::tokens(actual);
                    self.driver
                        .input(|engine, now| engine.settle_receipt(now, receipt, &actual));
                }
            }
            Step::DropReceipt(which) => {
                if let Some(name) = receipt(self, which) {
                    let receipt = self.receipts.remove(&name).expect("there");
                    self.driver
                        .input(|engine, now| engine.drop_receipt(now, receipt));
                }
            }
            Step::Finish(which) => {
                if let Some(name) = under_way(self, which) {
                    self.driver.finish(name);
                }
            }
            Step::Refund(which) => {
                if let Some(name) = under_way(self, which) {
                    let spent = self.ledger.get_mut(&name).expect("charged");
                    if spent.can_tell {
                        spent.then = 0;
                    }
                    self.driver.refund(name);
                }
            }
            Step::Leave(which) => {
                if let Some(name) = nth(self.driver.tickets.values().copied(), which) {
                    self.left += 1;
                    self.driver.leave(name);
                }
            }
            Step::Pass(millis) => self.driver.pass(ms(millis)),
        }
    }

    /// Before the engine hears of it, so that whoever starts because of it finds the ledger right.
    fn told(&mut self, name: Name, actual: u64) {
        let (estimate, now) = (self.estimates[name], self.driver.now);
        let spent = self.ledger.get_mut(&name).expect("charged");
        spent.can_tell = false;
        spent.then = estimate.min(actual);
        spent.later = (actual > estimate).then(|| (now, actual - estimate));
    }

    fn charges(&self) -> Vec<(Timestamp, u64)> {
        let charges = self.ledger.values();
        let charges =
            charges.flat_map(|spent| [Some((spent.at, spent.then)), spent.later].into_iter());
        charges.flatten().collect()
    }

    /// Whether `tokens` more at `at` are more than a stretch of time grants that ends there.
    fn exceeds(&self, strict: bool, at: Timestamp, tokens: u64) -> bool {
        let charges = self.charges();
        let stretches = charges.iter().map(|(since, _)| *since).chain([at]);
        stretches.into_iter().any(|since| {
            let length = at.since(since);
            let spent = charges.iter().filter(|(own, _)| *own >= since);
            let spent = tokens + spent.map(|(_, spent)| spent).sum::<u64>();
            if strict {
                length < PERIOD && spent > AMOUNT
            } else {
                let beyond = u128::from(spent.saturating_sub(AMOUNT));
                beyond * PERIOD.as_nanos() > u128::from(AMOUNT) * length.as_nanos()
            }
        })
    }

    /// Enters those who have started since; whether one of them was too early.
    fn enter(&mut self, strict: bool) -> bool {
        let known = self.ledger.len();
        let started: Vec<_> = self.driver.starts[known..].to_vec();
        started.into_iter().fold(false, |early, start| {
            let then = self.estimates[start.name];
            let exceeds = then > 0 && self.exceeds(strict, start.at, then);
            let spent = Spent {
                at: start.at,
                then,
                later: None,
                can_tell: true,
            };
            self.ledger.insert(start.name, spent);
            early || exceeds
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Nobody starts before what is known to be spent allows it, and nobody waits for what has been given back.
    #[test]
    fn the_limit_holds_for_what_is_known_and_nothing_is_lost(
        steps in prop::collection::vec(step(), 1..60), strict: bool,
    ) {
        let mut job = Job::new(LIMITS[usize::from(!strict)]);
        for step in &steps {
            job.take(*step);
            prop_assert!(!job.enter(strict), "too early, at {:?}", job.driver.now);
            // A bucket remembers sixteen instants; beyond that it may give back too little.
            let first = job.driver.tickets.values().min().filter(|_| job.charges().len() <= 16);
            if let Some(first) = first {
                let tokens = job.estimates[*first];
                let waits = tokens > 0 && job.exceeds(strict, job.driver.now, tokens);
                prop_assert!(waits, "{first} waits for nothing, at {:?}", job.driver.now);
            }
        }
        while !(job.driver.under_way.is_empty() && job.driver.tickets.is_empty()) {
            job.driver.pass(ms(1_000_000));
            prop_assert!(!job.enter(strict), "too early");
            if let Some(name) = job.driver.under_way.keys().next().copied() {
                job.driver.finish(name);
                prop_assert!(!job.enter(strict), "too early");
            }
        }
        job.driver.pass(ms(1_000_000));
        prop_assert_eq!(job.driver.available(0), [AMOUNT]);
        prop_assert_eq!(job.ledger.len() + job.driver.refusals.len() + job.left, job.estimates.len());
    }

    #[test]
    fn the_books_hold_what_was_spent(steps in prop::collection::vec(step(), 1..60)) {
        let mut job = Job::new("1000000 tokens/366d");
        for step in &steps {
            job.take(*step);
            job.enter(true);
            let spent: u64 = job.charges().iter().map(|(_, spent)| spent).sum();
            prop_assert_eq!(job.driver.available(0), [1_000_000 - spent]);
        }
    }
}
