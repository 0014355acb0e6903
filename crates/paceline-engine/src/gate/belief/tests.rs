//! Lab protocol: one request at a time against a server whose answers the test decides, each answered at once.

use super::*;

struct Lab {
    belief: Belief,
    order: u64,
    now: f64,
    served: f64,
}

const INTERVAL: f64 = 0.1;

impl Lab {
    fn new() -> Self {
        Self {
            belief: Belief::default(),
            order: 0,
            now: 0.0,
            served: f64::NEG_INFINITY,
        }
    }

    /// One every tenth of a second is what the server allows, and it is known by now.
    fn settled() -> Self {
        let mut lab = Self::new();
        for _ in 0..80 {
            lab.send(lab.opens(), true);
        }
        let rate = lab.learned().buckets.spread().middle;
        assert!((rate * INTERVAL - 1.0).abs() < 0.1, "{rate}");
        lab
    }

    fn learned(&self) -> &Learned {
        self.belief.learned.as_ref().expect("it was refused")
    }

    fn opens(&self) -> f64 {
        let learned = self.belief.learned.as_ref();
        learned.map_or(self.now, |learned| learned.start(0).at.max(self.now))
    }

    /// A request at `at`, which a server that is `up` answers as its limit says.
    fn send(&mut self, at: f64, up: bool) -> bool {
        self.order += 1;
        self.now = at;
        let now = timestamp(at);
        let accepted = up && at - self.served >= INTERVAL;
        let seen = if accepted {
            self.served = at;
            Evidence::Accepted
        } else {
            Evidence::Refused { asked: 0.0 }
        };
        self.belief.sent(now, self.order);
        self.belief.observe(
            now,
            Sighting {
                sent: now,
                order: self.order,
                next_order: self.order + 1,
                under_way: 1,
                seen,
            },
            0.0,
        );
        accepted
    }
}

#[test]
fn after_an_outage_that_looked_like_another_limit_the_old_one_is_believed_again() {
    let mut lab = Lab::settled();
    let down = lab.now;
    while lab.now < down + 30.0 {
        let at = lab.opens();
        lab.send(at, false);
    }
    assert_eq!(lab.learned().accepted, 0, "a change was noticed");
    while !lab.send(lab.opens(), true) {}
    let trial = lab.learned().trial.as_ref().expect("both are heard");
    let rate = trial.buckets.spread().middle;
    assert!(
        trial.leads() && (rate * INTERVAL - 1.0).abs() < 0.1,
        "{rate}"
    );
}

#[test]
fn a_belief_counts_as_known_before_a_run_from_the_first_acceptance_on() {
    let mut lab = Lab::new();
    lab.send(0.0, true);
    lab.send(0.0, false);
    assert!(lab.learned().before.is_none(), "the first run");
    while !lab.send(lab.opens(), true) {}
    assert_eq!(lab.learned().accepted, 1);
    lab.send(lab.now, true);
    assert!(lab.learned().before.is_some(), "the second run");
}

#[test]
fn a_request_that_comes_late_spends_no_early_start() {
    let mut lab = Lab::settled();
    lab.belief
        .learned
        .as_mut()
        .expect("it was refused")
        .tests
        .hurry();
    lab.send(lab.now + 10.0, true);
    assert!(lab.learned().tests.is_due(1.0), "it tested nothing");
    lab.send(lab.opens(), true);
    assert!(!lab.learned().tests.is_due(1.0), "it left too early");
}
