//! Workers: each takes a line, walks its pages, and tells what became of them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use paceline::Reason;
use tokio::sync::{Mutex, mpsc, watch};
use url::Url;

use super::bodies::{Bodies, BodyFile};
use super::input::Line;
use super::interrupt::Stage;
use super::link;
use super::request::{Request, shown};
use super::results::{NOT_WRITTEN, Record, Seconds, TOO_LARGE, TOO_MANY_PAGES};
use super::resume::{Begin, Resume};
use super::send::{Answer, Sender, Unanswered, describe};

/// What a worker tells.
#[derive(Debug)]
pub(super) enum Told {
    /// What became of a request.
    Record(Box<Record>),
    /// An earlier run had done the line.
    Skipped,
    /// Nothing is left to do for the line.
    LineDone,
    /// Something worth saying.
    Note(String),
}

/// What all workers share.
pub(super) struct Work {
    pub(super) sender: Sender,
    pub(super) bodies: Option<Bodies>,
    pub(super) resume: Resume,
    pub(super) paginate: bool,
    pub(super) max_body: u64,
}

/// More pages than this are a server that makes up links, as a rule.
const MOST_PAGES: u64 = 10_000;

/// Starts as many workers as were asked for. The receiver ends when they have.
pub(super) fn start(
    work: Work,
    concurrency: u32,
    lines: mpsc::Receiver<Line>,
    stage: &watch::Receiver<Stage>,
) -> mpsc::Receiver<Told> {
    let (told, receiver) = mpsc::channel(concurrency as usize);
    let (work, lines) = (Arc::new(work), Arc::new(Mutex::new(lines)));
    for _ in 0..concurrency {
        let worker = Worker {
            work: Arc::clone(&work),
            told: told.clone(),
            stage: stage.clone(),
        };
        tokio::spawn(worker.run(Arc::clone(&lines)));
    }
    receiver
}

struct Worker {
    work: Arc<Work>,
    told: mpsc::Sender<Told>,
    stage: watch::Receiver<Stage>,
}

/// Nobody listens any more: the run is over.
struct Over;

impl Worker {
    async fn run(mut self, lines: Arc<Mutex<mpsc::Receiver<Line>>>) {
        loop {
            let mut stage = self.stage.clone();
            let line = tokio::select! {
                biased;
                _ = stage.wait_for(|stage| *stage >= Stage::Finishing) => None,
                line = async { lines.lock().await.recv().await } => line,
            };
            let Some(line) = line else {
                return;
            };
            if self.line(line).await.is_err() {
                return;
            }
        }
    }

    async fn line(&mut self, line: Line) -> Result<(), Over> {
        let number = line.number;
        match line.request {
            Err(error) => self.record(Record::invalid(number, &error)).await?,
            Ok(request) => match self.work.resume.begin(number, request, self.work.paginate) {
                Begin::Nowhere => return self.tell(Told::Skipped).await,
                Begin::At(request, page) => self.pages(number, *request, page).await?,
            },
        }
        self.tell(Told::LineDone).await
    }

    async fn pages(&mut self, line: u64, mut request: Request, mut page: u64) -> Result<(), Over> {
        let mut seen = HashSet::new();
        loop {
            seen.insert(shown(&request.url));
            let (record, next) = self.fetch(line, page, &request).await;
            self.record(record).await?;
            let Some(next) = next else {
                return Ok(());
            };
            if seen.contains(&shown(&next)) {
                let note = format!(
                    "line {line}: {} names a next page that was fetched before; the walk ends there",
                    shown(&request.url)
                );
                return self.tell(Told::Note(note)).await;
            }
            if *self.stage.borrow() >= Stage::Finishing {
                return Ok(());
            }
            request = request.page(next);
            page += 1;
            if seen.len() as u64 >= MOST_PAGES {
                let mut record = Record {
                    line,
                    url: Some(shown(&request.url)),
                    ..Record::default()
                };
                record.failed(TOO_MANY_PAGES, format!("line {line}: {MOST_PAGES} pages were fetched and there are more; --resume goes on"));
                return self.record(record).await;
            }
        }
    }

    /// One request from its turn to the end of its body, and the page that follows.
    async fn fetch(&mut self, line: u64, page: u64, request: &Request) -> (Record, Option<Url>) {
        let started = Instant::now();
        let mut record = Record {
            line,
            url: Some(shown(&request.url)),
            next: self.work.paginate.then_some(None),
            ..Record::default()
        };
        let mut next = None;
        let work = Arc::clone(&self.work);
        tokio::select! {
            biased;
            _ = self.stage.wait_for(|stage| *stage == Stage::Cancelled) => {
                record.failed(Reason::Cancelled.code(), "interrupted");
            }
            found = work.exchange(line, page, request, &mut record) => next = found,
        }
        if *self.stage.borrow() >= Stage::Finishing
            && record.reason == Some(Reason::Shutdown.code())
        {
            // The line of those who wait is shut down by an interruption alone.
            record.failed(Reason::Cancelled.code(), "interrupted");
        }
        record.elapsed_s = Seconds(started.elapsed());
        (record, next)
    }

    async fn record(&self, record: Record) -> Result<(), Over> {
        self.tell(Told::Record(Box::new(record))).await
    }

    async fn tell(&self, told: Told) -> Result<(), Over> {
        self.told.send(told).await.map_err(|_| Over)
    }
}

impl Work {
    async fn exchange(
        &self,
        line: u64,
        page: u64,
        request: &Request,
        record: &mut Record,
    ) -> Option<Url> {
        let Answer {
            mut response,
            outcome,
        } = match self.sender.send(request).await {
            Ok(answer) => answer,
            Err(Unanswered {
                status,
                reason,
                error,
                outcome,
            }) => {
                record.status = status;
                record.went_through(&outcome);
                record.failed(reason.code(), error);
                return None;
            }
        };
        record.went_through(&outcome);
        let status = response.status();
        record.status = Some(status.as_u16());
        record.bytes = Some(0);
        let ok = status.as_u16() < 400;
        if let Err((reason, error)) = self.body(line, page, &mut response, ok, record).await {
            record.failed(reason, error);
            return None;
        }
        if !ok {
            let reason = outcome.stopped.unwrap_or(Reason::Final);
            let asked = outcome
                .asked
                .map(|asked| format!("; the upstream asked for {} s", asked.as_secs_f64()));
            record.failed(
                reason.code(),
                format!("{status}: {reason}{}", asked.unwrap_or_default()),
            );
            return None;
        }
        record.ok = true;
        let next = self
            .paginate
            .then(|| link::next_page(response.headers(), response.url()))
            .flatten();
        if let Some(next) = &next {
            record.next = Some(Some(shown(next)));
        }
        next
    }

    /// Reads the body to its end, and keeps it if it is ok and there is a place for it.
    async fn body(
        &self,
        line: u64,
        page: u64,
        response: &mut reqwest::Response,
        ok: bool,
        record: &mut Record,
    ) -> Result<(), (&'static str, String)> {
        let written =
            |error: std::io::Error| (NOT_WRITTEN, format!("the body cannot be written: {error}"));
        let too_large = || {
            (
                TOO_LARGE,
                format!(
                    "the body is larger than {} bytes (--max-body)",
                    self.max_body
                ),
            )
        };
        // A length that is named is not waited for.
        if response
            .content_length()
            .is_some_and(|length| length > self.max_body)
        {
            return Err(too_large());
        }
        let mut file: Option<BodyFile> = match &self.bodies {
            Some(bodies) if ok => {
                let url = record.url.as_deref().and_then(|url| Url::parse(url).ok());
                let url = url.as_ref().unwrap_or_else(|| response.url());
                Some(bodies.create(line, page, url).await.map_err(written)?)
            }
            _ => None,
        };
        let mut bytes = 0_u64;
        loop {
            let part = match response.chunk().await {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(error) => {
                    let error = describe(&error.without_url());
                    return Err((
                        Reason::Failure.code(),
                        format!("the body broke off after {bytes} bytes: {error}"),
                    ));
                }
            };
            bytes += part.len() as u64;
            if bytes > self.max_body {
                return Err(too_large());
            }
            record.bytes = Some(bytes);
            if let Some(file) = &mut file {
                file.write(&part).await.map_err(written)?;
            }
        }
        if let Some(file) = file {
            record.file = Some(
                file.finish()
                    .await
                    .map_err(written)?
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        Ok(())
    }
}
