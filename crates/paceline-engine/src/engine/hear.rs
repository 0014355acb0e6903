//! Which of a request's gates hears what of its answer, where gates were found.
//!
//! One found gate is what an answer speaks of: its windows, and its waits and refusals unless those are said to be about
//! something else. The others hear that something was served or failed, which is what circuits go by. What is said to be
//! about everything is heard by the upstream's own gates.

use super::Engine;
use crate::gate::{Answered, Change};
use crate::ticket::Sent;
use crate::{GatesBy, Observation, Scope, Timestamp, Verdict};

/// What a wait or a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// Everything that the upstream does for us.
    All,
    /// The gate that was found. `named`: the answer itself says so.
    Found { named: bool },
    /// Nothing but its request.
    Itself,
}

impl Engine {
    /// Tells all gates of a request what came back.
    pub(super) fn hear(&mut self, now: Timestamp, sent: &Sent, alone: bool, seen: &Observation) {
        let route = sent.route;
        let Some(found) = route.and_then(|route| self.told(now, route, seen)) else {
            for index in sent.gates().iter() {
                self.tell(now, index, sent, (alone, false), seen);
            }
            return;
        };
        let found = usize::from(found);
        let about = self.about(sent, seen);
        for index in sent.gates().iter() {
            if index == found {
                self.tell_found(now, index, sent, (alone, about), seen);
            } else if about == About::All && !self.is_found(index) {
                let mut rest = seen.clone();
                rest.windows.clear();
                self.tell(now, index, sent, (alone, true), &rest);
            } else {
                self.tell_rest(now, index, sent, seen);
            }
        }
        if !sent.gates().contains(found) {
            let answer = self.answered(sent, (alone, about == About::Found { named: true }), seen);
            self.at_gate(found, |gate, rng, told| match about {
                About::Found { .. } => gate.overhear(now, answer, rng, told),
                _ => gate.report(now, answer, rng),
            });
        }
    }

    fn about(&self, sent: &Sent, seen: &Observation) -> About {
        let by = self.found.as_ref().map(|found| found.rule.by);
        let by_bucket = by == Some(GatesBy::Bucket);
        let named = by_bucket && seen.bucket.is_some();
        let has_resource = sent.route.is_some_and(|route| route.resource.is_some());
        match seen.scope {
            Scope::Global => About::All,
            // Where a bucket is named, it is the caller's share of that.
            Scope::User if !named => About::All,
            Scope::Resource if has_resource => About::Found { named: true },
            Scope::Resource | Scope::Request => About::Itself,
            Scope::Gate if by == Some(GatesBy::Endpoint) && seen.verdict.is_refusal() => About::All,
            _ => About::Found { named },
        }
    }

    fn tell_found(
        &mut self,
        now: Timestamp,
        index: usize,
        sent: &Sent,
        (alone, about): (bool, About),
        seen: &Observation,
    ) {
        match about {
            About::All if seen.verdict == Verdict::RateLimited => {
                let answer = self.answered(sent, (alone, false), seen);
                self.at_gate(index, |gate, rng, _| gate.hear_windows(now, answer, rng));
            }
            About::All => self.tell(now, index, sent, (alone, false), &seen.without_hints()),
            // Its object has this gate.
            About::Found { named } if seen.scope == Scope::Resource => {
                let mut seen = seen.clone();
                seen.scope = Scope::Gate;
                self.tell(now, index, sent, (alone, named), &seen);
            }
            About::Found { named } => self.tell(now, index, sent, (alone, named), seen),
            About::Itself => self.tell(now, index, sent, (alone, false), seen),
        }
    }

    /// Only whether it was served or failed: a refusal is news for the gate that it is about, unless everybody waits for
    /// this very answer.
    fn tell_rest(&mut self, now: Timestamp, index: usize, sent: &Sent, seen: &Observation) {
        let closed = self
            .gates
            .get(index)
            .is_some_and(crate::gate::Gate::circuit_is_closed);
        if seen.verdict == Verdict::RateLimited && closed {
            return self.at_gate(index, |gate, _, _| gate.abandoned(now, &sent.charge));
        }
        let verdict = match seen.verdict {
            refused if refused.is_refusal() => Verdict::Other,
            other => other,
        };
        let plain = Observation {
            answer: match seen.verdict {
                // Whoever probes was not served.
                Verdict::RateLimited => crate::Answer::Failure(crate::Failure::Broken),
                _ => seen.answer,
            },
            ..Observation::status(verdict, 0)
        };
        self.tell(now, index, sent, (false, false), &plain);
    }

    /// Tells one gate. `named`: the answer says that it means this one.
    pub(super) fn tell(
        &mut self,
        now: Timestamp,
        index: usize,
        sent: &Sent,
        (alone, named): (bool, bool),
        seen: &Observation,
    ) {
        let answer = self.answered(sent, (alone, named), seen);
        self.at_gate(index, |gate, rng, told| {
            gate.observe(now, answer, rng, told)
        });
    }

    fn answered<'a>(
        &self,
        sent: &'a Sent,
        (alone, named): (bool, bool),
        seen: &'a Observation,
    ) -> Answered<'a> {
        Answered {
            sent: sent.at(),
            order: sent.order(),
            next_order: self.next_order,
            alone,
            named,
            cost: sent.cost(),
            seen,
        }
    }

    fn at_gate(
        &mut self,
        index: usize,
        tell: impl FnOnce(&mut crate::gate::Gate, &mut fastrand::Rng, &mut dyn FnMut(Change)),
    ) {
        let Self {
            gates,
            rng,
            effects,
            ..
        } = self;
        if let Some(gate) = gates.get_mut(index) {
            tell(gate, rng, &mut |change| {
                let event = super::event(index, change);
                effects.push_back(crate::effects::Effect::Event(event));
            });
        }
    }
}
