//! One walk through the site.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use paceline::testing::LimitedServer;
use tokio::task::JoinSet;

use super::client::Client;
use super::site;

/// Pages that are fetched at the same time.
pub(super) const WORKERS: usize = 10;

/// How often the bar is drawn anew: a person sees no more.
const TICK: Duration = Duration::from_millis(200);

/// What a walk came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// From the first request to the end of the last page.
    pub(super) elapsed: Duration,
    /// HTTP requests that reached the site.
    pub(super) sent: u64,
    /// Those that it refused.
    pub(super) refused: u64,
    /// Pages that never arrived: those that were given up, and those that nobody learned of because
    /// of it.
    pub(super) failed: u64,
    /// The longest time that a worker spent on a page.
    pub(super) slowest: Duration,
}

/// Walks all pages, breadth first: a page is known once the page above it has arrived. Goes on
/// where one is lost.
pub(super) async fn walk(
    client: &Client,
    site: &LimitedServer,
    pages: u32,
    bar: &ProgressBar,
) -> Walk {
    let began = Instant::now();
    let mut known = VecDeque::from([site.url(site::ROOT)]);
    let mut under_way = JoinSet::new();
    let mut arrived = 0;
    let mut slowest = Duration::ZERO;
    let mut tick = tokio::time::interval(TICK);
    loop {
        while under_way.len() < WORKERS
            && let Some(url) = known.pop_front()
        {
            let client = client.clone();
            under_way.spawn(async move {
                let began = Instant::now();
                let page = client.page(&url).await;
                (page, began.elapsed())
            });
        }
        show(bar, arrived, site, began);
        let ended = tokio::select! {
            ended = under_way.join_next() => ended,
            _ = tick.tick() => continue,
        };
        let Some(ended) = ended else { break };
        let (page, took) = ended.expect("nobody aborts a page, and fetching does not panic");
        slowest = slowest.max(took);
        if let Some(page) = page {
            arrived += 1;
            known.extend(page.lines().map(|link| site.url(link)));
        }
    }
    let stats = site.stats();
    Walk {
        elapsed: began.elapsed(),
        sent: stats.received,
        refused: stats.refused,
        failed: u64::from(pages) - arrived,
        slowest,
    }
}

fn show(bar: &ProgressBar, arrived: u64, site: &LimitedServer, began: Instant) {
    if bar.is_hidden() {
        return;
    }
    let refused = site.stats().refused;
    bar.set_message(format!(
        "{refused} refused  {:.1} s",
        began.elapsed().as_secs_f64()
    ));
    bar.set_position(arrived);
}
