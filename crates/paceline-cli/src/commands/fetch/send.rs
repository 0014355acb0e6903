//! One request at the pace of its upstream: the only part that knows the HTTP client.

use core::error::Error;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use paceline::{Failure, Next, Observation, Outcome, Paceline, Reason, Repeatable, Router};

use super::request::Request;
use crate::output::Stop;

/// Sends requests; clones share connections and paces.
#[derive(Clone)]
pub(super) struct Sender {
    client: reqwest::Client,
    paceline: Paceline,
    total: Option<Duration>,
    best_effort: bool,
    sent: Arc<AtomicU64>,
}

/// A response's head, and what the request has been through; the body is still to come.
pub(super) struct Answer {
    pub(super) response: reqwest::Response,
    pub(super) outcome: Outcome,
}

/// No response.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) reason: Reason,
    pub(super) error: String,
    pub(super) outcome: Outcome,
}

impl Sender {
    pub(super) fn new(
        paceline: Paceline,
        timeout: Duration,
        total: Option<Duration>,
        best_effort: bool,
    ) -> Result<Self, Stop> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("paceline/", env!("CARGO_PKG_VERSION")))
            .timeout(timeout)
            .build()
            .map_err(|error| Stop::open(describe(&error)))?;
        Ok(Self {
            client,
            paceline,
            total,
            best_effort,
            sent: Arc::default(),
        })
    }

    /// HTTP requests that left.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) async fn send(&self, request: &Request) -> Result<Answer, Unanswered> {
        let uri = request
            .url
            .as_str()
            .parse()
            .map_err(|error: http::uri::InvalidUri| Unanswered {
                reason: Reason::Final,
                error: error.to_string(),
                outcome: Outcome::default(),
            })?;
        let routed = self.paceline.route(&request.method, &uri, &request.headers);
        let mut want = routed.want;
        want.best_effort |= self.best_effort;
        let mut call = paceline::Call::new(&routed.pace, want)
            .policy(routed.policy)
            .repeatable(Repeatable::new(&request.method, false, true));
        if let Some(total) = self.total.or(routed.total) {
            call = call.total(total);
        }
        loop {
            let mut permit = call.acquire().await.map_err(|stopped| Unanswered {
                reason: stopped.reason,
                error: stopped.to_string(),
                outcome: stopped.outcome,
            })?;
            permit.sending();
            self.sent.fetch_add(1, Ordering::Relaxed);
            let mut builder = self
                .client
                .request(request.method.clone(), request.url.clone());
            builder = builder.headers(request.headers.clone());
            if let Some(body) = &request.body {
                builder = builder.body(body.clone());
            }
            let answer = builder.send().await;
            let seen = match &answer {
                Ok(response) => paceline::response::read(
                    response.status(),
                    response.headers(),
                    routed.pace.wall(),
                ),
                Err(error) if error.is_connect() => Observation::failure(Failure::Connect),
                Err(error) if error.is_timeout() => Observation::failure(Failure::Timeout),
                Err(_) => Observation::failure(Failure::Broken),
            };
            match (call.settle(&mut permit, &seen), answer) {
                (Next::Again, _) => {}
                (Next::Return(outcome), Ok(response)) => return Ok(Answer { response, outcome }),
                (Next::Return(outcome), Err(error)) => {
                    let reason = outcome.stopped.unwrap_or(Reason::Failure);
                    return Err(Unanswered {
                        reason,
                        error: describe(&error.without_url()),
                        outcome,
                    });
                }
            }
        }
    }
}

/// An error with its causes, each once.
pub(super) fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}
