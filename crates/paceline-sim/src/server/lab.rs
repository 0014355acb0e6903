//! The bench on which a model is tested: one line is one step of the protocol.

use core::time::Duration;

use paceline_engine::Timestamp;

use super::nanos;
use crate::{Decision, Model, ServerSpec};

pub(super) struct Lab {
    pub(super) model: Model,
    /// The number of the next request.
    pub(super) request: u64,
    now: Timestamp,
    refused: u64,
    last: Option<Decision>,
}

impl Lab {
    pub(super) fn new(spec: ServerSpec) -> Self {
        Self::seeded(spec, 1)
    }

    pub(super) fn seeded(spec: ServerSpec, seed: u64) -> Self {
        let model = spec.model(seed).expect("a valid specification");
        Self {
            model,
            request: 0,
            now: Timestamp::ZERO,
            refused: 0,
            last: None,
        }
    }

    pub(super) fn at(&mut self, since_origin: Duration) -> &mut Self {
        self.at_nanos(nanos(since_origin))
    }

    pub(super) fn at_nanos(&mut self, since_origin: u64) -> &mut Self {
        self.now = Timestamp::from_nanos(since_origin);
        self
    }

    pub(super) fn arrive(&mut self) -> Decision {
        let decision = self.model.arrive(self.now, self.request);
        self.request += 1;
        self.refused += u64::from(decision != Decision::Admit);
        self.last = Some(decision.clone());
        decision
    }

    #[track_caller]
    pub(super) fn admits(&mut self, count: u64) -> &mut Self {
        for n in 1..=count {
            assert_eq!(
                self.arrive(),
                Decision::Admit,
                "arrival {n} of {count} at {:?}",
                self.now
            );
        }
        self
    }

    #[track_caller]
    pub(super) fn refuses(&mut self, count: u64) -> &mut Self {
        for n in 1..=count {
            assert_ne!(
                self.arrive(),
                Decision::Admit,
                "arrival {n} of {count} at {:?}",
                self.now
            );
        }
        self
    }

    #[track_caller]
    pub(super) fn refuses_for(&mut self, wait: Duration) -> &mut Self {
        match self.arrive() {
            Decision::Refuse { exact_wait, .. } => {
                assert_eq!(exact_wait, wait, "at {:?}", self.now)
            }
            Decision::Admit => panic!("admitted at {:?}", self.now),
        }
        self
    }

    #[track_caller]
    pub(super) fn saying(&mut self, text: &str) -> &mut Self {
        assert_eq!(self.last_words().1.as_deref(), Some(text));
        self
    }

    #[track_caller]
    pub(super) fn silent(&mut self) -> &mut Self {
        assert_eq!(self.last_words().1, None);
        self
    }

    #[track_caller]
    pub(super) fn with_status(&mut self, expected: u16) -> &mut Self {
        assert_eq!(self.last_words().0, expected);
        self
    }

    pub(super) fn finishes(&mut self, count: u64) -> &mut Self {
        for _ in 0..count {
            self.model.finish(self.now);
        }
        self
    }

    /// How many were refused so far.
    pub(super) fn count(&self) -> u64 {
        self.refused
    }

    #[track_caller]
    fn last_words(&self) -> (u16, Option<String>) {
        match &self.last {
            Some(Decision::Refuse {
                status,
                retry_after,
                ..
            }) => (*status, retry_after.clone()),
            other => panic!("the last answer was no refusal but {other:?}"),
        }
    }
}

pub(super) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
