//! `paceline fetch`: many requests, as fast as their upstreams allow, and nothing lost.
//!
//! Lines come from `input` and become requests by `template`. Workers (`run`) send them
//! (`exchange`, `send`) and keep `bodies`. This page hears from the workers: it writes `results`,
//! sums up, shows `progress` and minds `interrupt`ions.

mod bodies;
mod exchange;
mod headers;
mod input;
mod interrupt;
mod link;
mod metrics;
mod plan;
mod progress;
mod request;
mod results;
mod resume;
mod run;
mod send;
mod summary;
mod template;

use std::time::Instant;

use tokio::sync::mpsc;

use crate::args::FetchArgs;
use crate::output::{Exit, Output, Stop};
use bodies::Bodies;
use exchange::Work;
use interrupt::{GRACE, Interrupts, Stage};
use paceline::Paceline;
use progress::Progress;
use results::Results;
use run::Told;
use send::Sender;
use summary::Summary;
use template::Template;

pub(crate) fn run(args: &FetchArgs, output: &Output) -> Result<Exit, Stop> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Stop::open(format!("the runtime cannot start: {error}")))?;
    let ended = runtime.block_on(fetch(args, output));
    // A name that is being looked up cannot be interrupted; it is not waited for either.
    runtime.shutdown_background();
    ended
}

async fn fetch(args: &FetchArgs, output: &Output) -> Result<Exit, Stop> {
    let template = Template::new(args)?;
    let paceline = plan::paceline(args, output)?;
    let source = input::open(args)?;
    if let (Some(results), Some(input)) = (&args.results, &args.input) {
        Results::keep_off(results, ("--input", input))?;
    }
    let bodies = args.out.as_deref().map(Bodies::open).transpose()?;
    if let Some(address) = args.metrics {
        let bound = metrics::serve(address).await?;
        output.talk(format_args!("metrics: http://{bound}/metrics"));
    }
    let (results, resume) = Results::open(args.results.as_deref(), args.resume)?;
    let sender = Sender::new(
        paceline.clone(),
        args.timeout,
        args.total,
        args.best_effort,
        output,
    )?;
    let interrupts = Interrupts::listen()
        .map_err(|error| Stop::open(format!("interruptions cannot be listened for: {error}")))?;
    let progress = Progress::new(|| match &args.input {
        Some(path) => input::count(path),
        None => Some(args.urls.len() as u64),
    });
    let started = Instant::now();
    let work = Work {
        sender: sender.clone(),
        bodies,
        resume,
        paginate: args.paginate,
        max_body: args.max_body,
    };
    let told = run::start(
        work,
        args.concurrency,
        source.read(template),
        &interrupts.stage(),
    );
    let hearing = Hearing {
        results,
        summary: Summary::default(),
        lines: 0,
        output: Output::with_bar(progress.bar()),
        progress,
        paceline,
        started,
    };
    let mut summary = hearing.hear(told, interrupts).await?;
    summary.end(started.elapsed(), sender.sent());
    match args.json {
        true => output.fact(&serde_json::to_string(&summary).map_err(Stop::open)?)?,
        false => output.talk(&summary),
    }
    Ok(match summary {
        Summary {
            interrupted: true, ..
        } => Exit::Interrupted,
        Summary { failed: 0, .. } => Exit::Good,
        _ => Exit::SomeFailed,
    })
}

struct Hearing {
    results: Results,
    summary: Summary,
    lines: u64,
    output: Output,
    progress: Progress,
    paceline: Paceline,
    started: Instant,
}

impl Hearing {
    /// Hears the workers out.
    async fn hear(
        mut self,
        mut told: mpsc::Receiver<Told>,
        mut interrupts: Interrupts,
    ) -> Result<Summary, Stop> {
        let mut tick = tokio::time::interval(progress::TICK);
        loop {
            tokio::select! {
                told = told.recv() => match told {
                    Some(told) => self.heard(told)?,
                    None => break,
                },
                stage = interrupts.next() => self.interrupted(stage),
                _ = tick.tick() => {
                    let elapsed = self.started.elapsed();
                    self.progress.show(self.lines, &self.summary, elapsed, &self.paceline);
                }
            }
        }
        self.progress.clear();
        Ok(self.summary)
    }

    fn heard(&mut self, told: Told) -> Result<(), Stop> {
        match told {
            Told::Record(record) => {
                self.summary.add(&record);
                self.results.write(&record, &self.output)?;
            }
            Told::Skipped => {
                self.summary.skipped += 1;
                self.lines += 1;
            }
            Told::LineDone => self.lines += 1,
            Told::Note(note) => self.output.talk(note),
        }
        Ok(())
    }

    fn interrupted(&mut self, stage: Stage) {
        self.summary.interrupted = true;
        if stage == Stage::Finishing {
            self.paceline.shut_down();
            self.output.talk(format_args!(
                "interrupted: what is under way may finish for {} s; once more to stop at once",
                GRACE.as_secs()
            ));
        }
    }
}
