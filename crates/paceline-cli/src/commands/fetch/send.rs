//! One request at the pace of its upstream: the only part that knows the HTTP client.

use core::error::Error;
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use http::Extensions;
use paceline::reqwest::Middleware;
use paceline::{Outcome, Paceline, Reason, RequestOptions};
use reqwest_middleware::{ClientWithMiddleware, Next};

use super::request::Request;
use crate::output::{Output, Stop};

/// Sends requests; clones share connections and paces.
#[derive(Clone)]
pub(super) struct Sender {
    client: ClientWithMiddleware,
    options: RequestOptions,
    sent: Sent,
}

/// A response's head, and what the request has been through; the body is still to come.
pub(super) struct Answer {
    pub(super) response: reqwest::Response,
    pub(super) outcome: Outcome,
}

/// No response that could be used.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) status: Option<u16>,
    pub(super) reason: Reason,
    pub(super) error: String,
    pub(super) outcome: Outcome,
}

/// As many redirects as are followed; the next one comes back as it is.
const REDIRECTS: usize = 10;

impl Sender {
    /// `timeout` bounds each attempt with its body; `total`, if it is given, all waits and attempts of a request.
    pub(super) fn new(
        paceline: Paceline,
        timeout: Duration,
        total: Option<Duration>,
        best_effort: bool,
        output: &Output,
    ) -> Result<Self, Stop> {
        let sent = Sent::default();
        let builder = || {
            reqwest::Client::builder()
                .user_agent(concat!("paceline/", env!("CARGO_PKG_VERSION")))
                .timeout(timeout)
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
        };
        let client = builder().build().or_else(|error| {
            // A machine without certificates fetches http all the same.
            let client = builder().tls_certs_only([]).build()?;
            let why = describe(&error);
            output.talk(format_args!("https will not work here: {why}"));
            Ok(client)
        });
        let client = client.map_err(|error: reqwest::Error| {
            Stop::open(format!(
                "the HTTP client cannot start: {}",
                describe(&error)
            ))
        })?;
        let client = reqwest_middleware::ClientBuilder::new(client)
            .with(Middleware::new(paceline).follow_redirects(REDIRECTS))
            .with(sent.clone())
            .build();
        let mut options = RequestOptions::new();
        if let Some(total) = total {
            options = options.total(total);
        }
        if best_effort {
            options = options.best_effort();
        }
        Ok(Self {
            client,
            options,
            sent,
        })
    }

    /// HTTP requests that left so far: retries and redirects included.
    pub(super) fn sent(&self) -> u64 {
        self.sent.0.load(Ordering::Relaxed)
    }

    pub(super) async fn send(&self, request: &Request) -> Result<Answer, Unanswered> {
        let mut builder = self
            .client
            .request(request.method.clone(), request.url.clone())
            .headers(request.headers.clone())
            .with_extension(self.options.clone());
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        let result = builder.send().await;
        let outcome = paceline::reqwest::outcome(&result)
            .cloned()
            .unwrap_or_default();
        match result {
            Ok(response) => Ok(Answer { response, outcome }),
            Err(error) => {
                let failed = paceline::reqwest::Error::of(&error);
                Err(Unanswered {
                    status: failed
                        .and_then(|failed| failed.status())
                        .map(|status| status.as_u16()),
                    reason: outcome.stopped.unwrap_or(Reason::Failure),
                    error: describe(&error),
                    outcome,
                })
            }
        }
    }
}

/// Counts what leaves, below the middleware that decides about it.
#[derive(Clone, Default)]
struct Sent(Arc<AtomicU64>);

impl reqwest_middleware::Middleware for Sent {
    // What `#[async_trait]` makes of `async fn handle`.
    fn handle<'a, 'b, 'c, 'async_trait>(
        &'a self,
        request: reqwest::Request,
        extensions: &'b mut Extensions,
        next: Next<'c>,
    ) -> Pin<
        Box<
            dyn Future<Output = reqwest_middleware::Result<reqwest::Response>>
                + Send
                + 'async_trait,
        >,
    >
    where
        'a: 'async_trait,
        'b: 'async_trait,
        'c: 'async_trait,
        Self: 'async_trait,
    {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(next.run(request, extensions))
    }
}

/// An error with its causes, each once; reqwest's own words only where they have no cause, because they repeat the URL.
pub(super) fn describe(error: &(dyn Error + 'static)) -> String {
    let mut words = Vec::<String>::new();
    let mut cause = Some(error);
    while let Some(inner) = cause {
        cause = inner.source();
        if inner.is::<reqwest::Error>() && cause.is_some() {
            continue;
        }
        let own = inner.to_string();
        if words.iter().all(|word| !word.contains(&own)) {
            words.push(own);
        }
    }
    words.join(": ")
}
