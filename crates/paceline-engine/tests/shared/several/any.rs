//! Whatever several do, die of and miss: what always holds.

use super::*;

/// What was seen of one run.
struct Run {
    lab: Lab,
    rng: fastrand::Rng,
    gone: Vec<Name>,
}

const WINDOW: Duration = Duration::from_secs(10);
const IN_WINDOW: usize = 5;
const AT_ONCE: u64 = 3;

impl Run {
    fn new(seed: u64) -> Self {
        let mut lab = Lab::default();
        for _ in 0..4 {
            lab.comes(&GATES);
        }
        Self {
            lab,
            rng: fastrand::Rng::with_seed(seed),
            gone: Vec::new(),
        }
    }

    fn living(&mut self) -> Option<usize> {
        let members = self.lab.members.iter().enumerate();
        let living: Vec<_> = members.filter(|(_, member)| member.alive).collect();
        let chosen = self.rng.choice(&living)?;
        Some(chosen.0)
    }

    fn under_way(&mut self) -> Option<Name> {
        let names: Vec<_> = self.lab.under_way.keys().copied().collect();
        self.rng.choice(names)
    }

    fn act(&mut self) {
        let Some(who) = self.living() else {
            self.lab.comes(&GATES);
            return;
        };
        match self.rng.u32(0..20) {
            0..8 => drop(self.lab.ask(who)),
            8..12 => {
                if let Some(name) = self.under_way() {
                    self.lab.answer(name, &ok());
                }
            }
            12 => {
                let waiting = self.lab.waiting();
                if let Some(name) = self.rng.choice(waiting) {
                    self.lab.leave(name);
                    self.gone.push(name);
                }
            }
            13 => {
                self.gone.extend(self.lab.waiting_of(who));
                self.lab.dies(who);
            }
            14 => drop(self.lab.comes(&GATES)),
            15 => self.lab.deaf ^= true,
            _ => {
                let pause = ms(self.rng.u64(0..4_000));
                self.lab.pass(pause);
            }
        }
        self.check();
    }

    fn check(&self) {
        let starts = &self.lab.starts;
        for (n, begun) in starts.iter().enumerate() {
            let within = starts[n..].iter();
            let within = within.filter(|later| later.at.since(begun.at) < WINDOW);
            assert!(within.count() <= IN_WINDOW, "{starts:?}");
        }
        assert!(self.lab.under_way.len() as u64 <= AT_ONCE);
        let order = self.lab.order();
        assert!(
            order.is_sorted(),
            "nobody goes before who came first: {order:?}"
        );
    }

    /// Everybody looks around as often as those do who wait.
    fn end(mut self) {
        self.lab.deaf = false;
        if self.living().is_none() {
            self.lab.comes(&GATES);
        }
        let asked = self.lab.order().len() + self.lab.waiting().len() + self.gone.len();
        for _ in 0..1_000 {
            self.lab.answer_all();
            let living = self.lab.members.iter().enumerate();
            let living = living
                .filter(|(_, member)| member.alive)
                .map(|(who, _)| who);
            for who in living.collect::<Vec<_>>() {
                self.lab.looks_around(who);
            }
            self.check();
            if self.lab.waiting().is_empty() && self.lab.under_way.is_empty() {
                break;
            }
            self.lab.pass(ms(500));
        }
        let served = self.lab.order().len();
        assert_eq!(
            served + self.gone.len(),
            asked,
            "all who stayed were served"
        );
        let who = self.living().expect("one is alive");
        let snapshot = self.lab.snapshot(who);
        assert_eq!((snapshot.waiting, snapshot.gates[0].in_flight), (0, 0));
        let record: Vec<_> = self.lab.members[who].engine.owners().into_iter().collect();
        let alive = self.lab.members.iter().filter(|member| member.alive);
        assert_eq!(record.len(), alive.count(), "the dead are forgotten");
    }
}

const GATES: [(&str, &[&str]); 1] = [("api", &["5/10s", "3 in flight"])];

#[test]
fn whatever_happens_the_limits_hold_and_all_who_stay_are_served_in_order() {
    for seed in 0..300 {
        let mut run = Run::new(seed);
        for _ in 0..80 {
            run.act();
        }
        run.end();
    }
}
