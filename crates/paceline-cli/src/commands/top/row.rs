//! One gate as a line of the table.

use core::time::Duration;

use paceline::{GateKey, GateSnapshot, Limit, LimitKind, Survey, Timestamp, Unit};

use crate::commands::status;

/// One gate, and when it was looked at.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) key: GateKey,
    pub(super) upstream: String,
    /// How many take part in its upstream's line.
    pub(super) owners: usize,
    pub(super) gate: GateSnapshot,
    pub(super) at: Timestamp,
}

/// What one look at the folder showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    pub(super) rows: Vec<Row>,
    /// Each request once, through however many gates it goes.
    pub(super) waiting: u64,
    /// What there is besides and cannot be read, a line each.
    pub(super) left_out: Vec<String>,
}

impl From<&Survey> for Looked {
    fn from(survey: &Survey) -> Self {
        let mut rows = Vec::new();
        for shared in &survey.shared {
            rows.extend(shared.snapshot.gates.iter().map(|gate| Row {
                key: shared.key(gate),
                upstream: shared.name.clone(),
                owners: shared.owners,
                gate: gate.clone(),
                at: shared.snapshot.at,
            }));
        }
        let waiting = survey.shared.iter().map(|own| own.snapshot.waiting);
        let left_out = survey.left_out.iter().map(ToString::to_string);
        Self {
            rows,
            waiting: waiting.sum(),
            left_out: left_out.collect(),
        }
    }
}

impl Row {
    /// What people call it.
    pub(super) fn title(&self) -> String {
        format!("{} of {}", self.gate.name, self.upstream)
    }

    /// The pace that is believed in, else what is configured; how many at once only where nothing else is.
    pub(super) fn pace(&self) -> String {
        match self.gate.pace_per_s() {
            Some(pace) => format!("{pace:.2}/s believed"),
            None => {
                let limits = self.gate.limits.iter().map(|own| &own.limit);
                let is_rate = |limit: &&Limit| !matches!(limit.kind, LimitKind::InFlight { .. });
                let (rates, others): (Vec<_>, Vec<_>) = limits.partition(is_rate);
                let shown = if rates.is_empty() { others } else { rates };
                let shown: Vec<_> = shown.iter().map(ToString::to_string).collect();
                shown.join(", ")
            }
        }
    }

    /// The same as requests a second, to compare; `None` where nothing is known.
    pub(super) fn per_s(&self) -> Option<f64> {
        let limits = self.gate.limits.iter();
        let configured = limits.filter_map(|own| per_s(&own.limit));
        self.gate
            .pace_per_s()
            .or_else(|| configured.reduce(f64::min))
    }

    /// When the next one may go, and why not before.
    pub(super) fn when(&self) -> String {
        status::when(&self.gate, self.at)
    }

    /// For how long time alone holds everybody.
    pub(super) fn held_for(&self) -> Duration {
        let until = self.gate.throttled_until;
        until.map_or(Duration::ZERO, |until| until.since(self.at))
    }
}

fn per_s(limit: &Limit) -> Option<f64> {
    match limit.kind {
        LimitKind::Bucket { amount, period, .. } | LimitKind::Strict { amount, period }
            if limit.unit == Unit::Requests =>
        {
            Some(amount.get() as f64 / period.as_secs_f64())
        }
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use paceline::{Attempts, Effects, Engine, GateSet, Joined, Observation, Verdict, Want};

    use super::*;

    pub(crate) fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn drain(mut effects: Effects<'_>) {
        effects.by_ref().for_each(drop);
        effects.finish();
    }

    /// A real gate with so many requests at once, the last of them told to come back after `wait`.
    pub(crate) fn row(number: u8, gate: &str, limits: &[&str], asked: u8, wait: Duration) -> Row {
        let now = Timestamp::ZERO;
        let mut engine = Engine::new(100, 1);
        let limits = limits.iter().map(|text| text.parse().unwrap()).collect();
        engine.add_gate(now, gate, limits).unwrap();
        let want = Want::new(GateSet::one(0));
        for _ in 0..asked {
            match engine.join(now, &want, None, &Attempts::default(), now) {
                Joined::Admitted(mut sent) if !wait.is_zero() => {
                    let mut seen = Observation::status(Verdict::RateLimited, 429);
                    seen.wait = Some(wait);
                    drain(engine.settle(now, &mut sent, &seen));
                    drain(engine.finish(now, sent));
                }
                Joined::Waiting(_, effects) => drain(effects),
                Joined::Admitted(_) | Joined::Refused(_) => {}
            }
        }
        Row {
            key: GateKey {
                room: [number; 16],
                place: 0,
                name: gate.into(),
            },
            upstream: format!("https://api-{number}.example.com"),
            owners: usize::from(number),
            gate: engine.snapshot(now).gates.remove(0),
            at: now,
        }
    }

    #[test]
    fn a_pace_is_what_is_believed_else_what_is_configured() {
        let free = row(1, "origin", &[], 0, ms(0));
        assert_eq!((free.pace().as_str(), free.per_s()), ("", None));
        let limits = ["4 in flight", "10/s burst 50", "120/m", "90000 tokens/m"];
        let told = row(1, "origin", &limits, 0, ms(0));
        assert_eq!(told.pace(), "10/s burst 50, 120/m, 90000 tokens/m");
        let crowd = row(1, "origin", &["4 in flight"], 0, ms(0));
        assert_eq!(
            (crowd.pace().as_str(), crowd.per_s()),
            ("4 in flight", None)
        );
        assert_eq!(told.per_s(), Some(2.0), "tokens are no requests");
        let learned = row(1, "origin", &["10/s burst 50"], 1, ms(3_000));
        let pace = learned.pace();
        assert!(pace.ends_with("/s believed"), "{pace}");
        assert_eq!(learned.per_s(), learned.gate.pace_per_s());
    }

    #[test]
    fn a_pause_says_how_long_and_why() {
        let paused = row(1, "origin", &[], 2, ms(58_000));
        let when = paused.when();
        assert!(when.starts_with("in 5"), "{when}");
        assert!(when.ends_with("the upstream asked for a pause"), "{when}");
        assert!(paused.held_for() >= ms(58_000));
        let free = row(1, "origin", &[], 0, ms(0));
        assert_eq!((free.when().as_str(), free.held_for()), ("at once", ms(0)));
    }
}
