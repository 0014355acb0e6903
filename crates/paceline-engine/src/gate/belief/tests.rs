//! Lab protocol: one request at a time against a server whose answers the test decides, each answered at once.

use super::bucket::Buckets;
use super::run::Run;
use super::window::Window;
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
            Evidence::Refused {
                asked: 0.0,
                chance: 0.0,
            }
        };
        self.belief.sent(now, self.order);
        self.belief.observe(
            now,
            Sighting {
                sent: now,
                order: self.order,
                next_order: self.order + 1,
                under_way: 1,
                quickest: None,
                seen,
            },
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

#[test]
fn who_leaves_when_it_was_told_to_risks_nothing_however_instants_are_rounded() {
    let mut lab = Lab::settled();
    let mut careful = 0;
    for _ in 0..60 {
        let learned = lab.learned();
        let rate = learned.buckets.spread().middle;
        let early = learned.is_wide() || learned.tests.is_due(learned.dear(rate));
        let at = lab.opens();
        lab.belief.sent(timestamp(at), lab.order + 1);
        let risked = lab.learned().risked;
        lab.belief.unsent(lab.order + 1);
        if !early && lab.learned().run.length == 0 {
            assert_eq!(risked, None, "at {at}");
            careful += 1;
        }
        lab.send(at, true);
    }
    assert!(careful > 40, "{careful}");
}

/// Refused at zero and up to `length` seconds later in one run, then served.
fn after_a_run(length: f64) -> Lab {
    let mut lab = Lab::settled();
    let down = lab.now;
    while lab.now < down + length {
        lab.send(lab.opens(), false);
    }
    while !lab.send(lab.opens(), true) {}
    lab
}

#[test]
fn a_probe_waits_no_longer_than_was_ever_enough() {
    let lab = after_a_run(0.3);
    let enough = lab.learned().enough;
    assert!((0.3..1.0).contains(&enough), "{enough}");
    let mut slow = lab.belief.clone();
    let learned = slow.learned.as_mut().expect("it was refused");
    learned.buckets = Buckets::wide(lab.now, 0.01, 0.02, 0.0, &Burst::default());
    learned.trial = None;
    learned.run.refused(lab.now, lab.order + 1, lab.order + 2);
    learned.last_sent = lab.now;
    let waits = learned.start(0).at - lab.now;
    assert!(waits <= enough + 1e-9, "{waits} of {enough}");
}

#[test]
fn where_a_wait_is_named_the_next_probe_does_not_wait_for_the_believed_interval_as_well() {
    let mut named = Lab::settled().belief;
    let learned = named.learned.as_mut().expect("it was refused");
    let now = learned.last_sent;
    learned.buckets = Buckets::wide(now, 0.01, 0.02, 0.0, &Burst::default());
    learned.enough = 0.0;
    learned.run.refused(now, 1000, 1001);
    let believed = learned.start(0).at - now;
    learned.asked_last = 0.05;
    let named = learned.start(0).at - now;
    assert!(
        believed > 1.0 && named <= 0.05 + 1e-9,
        "{believed} {named}: the pause is kept by the gate"
    );
}

#[test]
fn the_acceptance_that_ends_a_run_took_the_only_token_of_a_bucket_of_one() {
    let lab = after_a_run(30.0);
    let trial = lab.learned().trial.as_ref().expect("both are heard");
    let opens = trial.buckets.opens(0.9, 1.0, 0.0, lab.now) - lab.now;
    assert!((opens / INTERVAL - 1.0).abs() < 0.1, "{opens}");
}

#[test]
fn what_failed_before_the_first_refusal_is_no_part_of_what_a_bucket_holds() {
    for (failed, capacity) in [(0, 9.0), (7, 2.0)] {
        let mut belief = Belief::default();
        let now = timestamp(1.0);
        for order in 1..=10 {
            belief.sent(now, order);
        }
        for order in 1..=failed {
            belief.failed(order);
        }
        let seen = Evidence::Refused {
            asked: 0.0,
            chance: 0.0,
        };
        belief.observe(
            now,
            Sighting {
                sent: now,
                order: 10,
                next_order: 11,
                under_way: 10 - failed,
                quickest: None,
                seen,
            },
        );
        let learned = belief.learned.as_ref().expect("it was refused");
        assert_eq!(learned.buckets.capacity[0], capacity, "{failed} failed");
    }
}

#[test]
fn a_probe_is_not_much_further_off_than_what_has_passed() {
    let mut belief = Lab::new().belief;
    let now = timestamp(1.0);
    belief.sent(now, 1);
    let seen = Evidence::Refused {
        asked: 0.0,
        chance: 0.0,
    };
    let sighting = |order| Sighting {
        sent: now,
        order,
        next_order: order + 1,
        under_way: 1,
        quickest: None,
        seen,
    };
    belief.observe(now, sighting(1));
    let learned = belief.learned.as_mut().expect("it was refused");
    learned.buckets = Buckets::wide(1.0, 0.01, 0.02, 0.0, &Burst::default());
    learned.run.refused(1.4, 2, 3);
    let waits = learned.start(0).at - 1.4;
    assert!((0.4..=4.0 * 0.4 + 1e-9).contains(&waits), "{waits}");
}

/// Twenty in ten seconds, and they are used up.
fn followed() -> Window {
    let mut window = Window::after(20, 0.0, 1);
    window.refused(1, 0.0, true);
    window.opened(9.5, 2, 10.0, false);
    for order in 2..22 {
        window.accepted(order, 10.0);
    }
    window.refused(22, 10.1, true);
    window.opened(19.5, 23, 20.0, false);
    for order in 23..43 {
        window.accepted(order, 20.0);
    }
    assert!(window.known().is_some());
    window
}

#[test]
fn whoever_walks_a_run_that_is_longer_than_its_window_risks_as_much_as_at_first() {
    let mut lab = Lab::new();
    lab.send(0.0, true);
    lab.send(0.0, false);
    let at_first = lab.belief.risk();
    let learned = lab.belief.learned.as_mut().expect("it was refused");
    learned.window = followed();
    learned.run = Run::default();
    lab.order = 100;
    let in_peace = lab.belief.risk();
    lab.send(25.0, false);
    assert_eq!(lab.belief.risk(), in_peace, "a window that is used up");
    lab.send(30.5, false);
    assert_eq!(lab.belief.risk(), at_first);
    assert!(in_peace < at_first, "{in_peace} {at_first}");
}

#[test]
fn a_gate_tells_what_failed_and_what_was_overloaded_before_the_first_refusal() {
    use crate::gate::{Answered, Gate};
    use crate::{Cost, Observation, Verdict};

    let now = timestamp(1.0);
    let mut gate = Gate::new("api", now, Vec::new());
    for order in 1..=10 {
        gate.take(now, order, &Cost::default());
    }
    let mut dice = fastrand::Rng::with_seed(1);
    let mut answer = |order, seen: &Observation| {
        let answered = Answered {
            sent: now,
            order,
            next_order: 11,
            alone: false,
            cost: &Cost::default(),
            named: false,
            seen,
        };
        gate.observe(now, answered, &mut dice, |_| {});
    };
    answer(1, &Observation::status(Verdict::Ok, 200));
    for order in 2..=3 {
        answer(order, &Observation::status(Verdict::Overloaded, 503));
    }
    answer(6, &Observation::status(Verdict::RateLimited, 429));
    let learned = gate.belief.learned.as_ref().expect("it was refused");
    assert_eq!(learned.buckets.capacity[0], 3.0, "1, 4 and 5");
}
