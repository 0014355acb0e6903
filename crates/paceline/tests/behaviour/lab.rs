//! The bench: a server in paused time, a client with the layer before it, and workloads.

use std::collections::VecDeque;
use std::time::Duration;

use http::{Request, StatusCode};
use paceline::testing::{LimitedService, ServerSpec};
use paceline::tower::{Error, Paced, PacelineLayer};
use paceline::{Outcome, Pace, PaceBuilder, RequestOptions, Router};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::{Layer, ServiceExt};

/// A client whose requests keep `pace` before a server that answers in tokio time.
#[derive(Clone)]
pub(crate) struct Lab<R = Pace> {
    pub(crate) client: Paced<LimitedService, R>,
    pub(crate) server: LimitedService,
    pub(crate) pace: R,
}

/// What came of one request.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) status: Option<StatusCode>,
    pub(crate) outcome: Outcome,
    pub(crate) error: Option<String>,
    pub(crate) took: Duration,
}

/// What came of a workload.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) reports: Vec<Report>,
    pub(crate) elapsed: Duration,
}

impl Run {
    pub(crate) fn failed(&self) -> usize {
        self.reports.iter().filter(|report| !report.ok()).count()
    }
}

impl Report {
    pub(crate) fn ok(&self) -> bool {
        self.status.is_some_and(|status| status.is_success())
    }
}

pub(crate) fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

/// A pace that knows nothing, with jitter that replays.
pub(crate) fn unconfigured() -> PaceBuilder {
    Pace::builder("lab").seed(1)
}

impl Lab {
    pub(crate) fn new(pace: PaceBuilder, spec: ServerSpec) -> Self {
        Self::with(pace, LimitedService::new(spec).expect("a server"))
    }

    pub(crate) fn with(pace: PaceBuilder, server: LimitedService) -> Self {
        Self::routed(pace.build(), server)
    }
}

impl<R: Router> Lab<R> {
    /// Requests go where `pace` routes them.
    pub(crate) fn routed(pace: R, server: LimitedService) -> Self {
        let client = PacelineLayer::new(pace.clone()).layer(server.clone());
        Self {
            client,
            server,
            pace,
        }
    }

    pub(crate) fn sent(&self) -> u64 {
        self.server.stats().received
    }

    pub(crate) fn refused(&self) -> u64 {
        self.server.stats().refused
    }

    /// One request, to its body's end.
    pub(crate) async fn send(&self, request: Request<()>) -> Report {
        let began = Instant::now();
        let answer = self.client.clone().oneshot(request).await;
        let took = began.elapsed();
        match answer {
            Ok(response) => Report {
                status: Some(response.status()),
                outcome: response
                    .extensions()
                    .get::<Outcome>()
                    .cloned()
                    .expect("an outcome"),
                error: None,
                took,
            },
            Err(error) => Report {
                status: None,
                outcome: error.outcome().clone(),
                error: Some(match error {
                    Error::Stopped(stopped) => stopped.to_string(),
                    other => other.to_string(),
                }),
                took,
            },
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Report {
        self.send(Request::get(path).body(()).expect("a request"))
            .await
    }

    /// The same with `total` for waits and sends.
    pub(crate) async fn get_within(&self, path: &str, total: Duration) -> Report {
        let options = RequestOptions::new().total(total);
        self.send(
            Request::get(path)
                .extension(options)
                .body(())
                .expect("a request"),
        )
        .await
    }

    /// All at once, each with `total` for itself.
    pub(crate) async fn burst(&self, requests: usize, total: Duration) -> Run {
        let began = Instant::now();
        let mut set = JoinSet::new();
        for number in 0..requests as u64 {
            let lab = self.clone();
            set.spawn(async move { lab.send(numbered(number, total)).await });
        }
        Run {
            reports: set.join_all().await,
            elapsed: began.elapsed(),
        }
    }

    /// `workers` take `requests` from a list.
    pub(crate) async fn flat(&self, requests: usize, workers: usize, total: Duration) -> Run {
        self.walk(Workload {
            roots: requests,
            pages: requests,
            fanout: 0,
            workers,
            total,
        })
        .await
    }

    /// A page and its descendants, `fanout` children a page, found when their parent arrives, breadth first; `pages` in all.
    pub(crate) async fn tree(&self, pages: usize, fanout: usize, workers: usize) -> Run {
        self.walk(Workload {
            roots: 1,
            pages,
            fanout,
            workers,
            total: secs(300.0),
        })
        .await
    }

    async fn walk(&self, work: Workload) -> Run {
        let began = Instant::now();
        let mut found: VecDeque<u64> = (0..work.roots as u64).collect();
        let mut next = work.roots as u64;
        let mut set = JoinSet::new();
        let mut reports = Vec::new();
        loop {
            while set.len() < work.workers
                && let Some(number) = found.pop_front()
            {
                let lab = self.clone();
                set.spawn(async move { lab.send(numbered(number, work.total)).await });
            }
            let Some(report) = set.join_next().await else {
                break;
            };
            let report = report.expect("no panic");
            for _ in 0..if report.ok() { work.fanout } else { 0 } {
                if next < work.pages as u64 {
                    found.push_back(next);
                    next += 1;
                }
            }
            reports.push(report);
        }
        Run {
            reports,
            elapsed: began.elapsed(),
        }
    }
}

#[derive(Clone, Copy)]
struct Workload {
    roots: usize,
    pages: usize,
    fanout: usize,
    workers: usize,
    total: Duration,
}

fn numbered(number: u64, total: Duration) -> Request<()> {
    Request::get("/")
        .extension(number)
        .extension(RequestOptions::new().total(total))
        .body(())
        .expect("a request")
}
