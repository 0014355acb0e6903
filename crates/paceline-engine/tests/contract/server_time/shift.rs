//! Workers who always have a next request, before a server that takes as long as it likes.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;

/// When a request began and ended.
pub(super) type Job = (Timestamp, Timestamp);

pub(super) struct Shift {
    pub(super) driver: Driver,
    pub(super) jobs: Vec<Job>,
    ends: BTreeSet<(Timestamp, Name)>,
    scheduled: usize,
}

impl Shift {
    pub(super) fn new(limit: &str) -> Self {
        Self {
            driver: Driver::new(&[&[limit]]),
            jobs: Vec::new(),
            ends: BTreeSet::new(),
            scheduled: 0,
        }
    }

    /// Until then so many are waiting or under way at any time, and each takes what `takes` says of it.
    pub(super) fn work(
        &mut self,
        workers: usize,
        until: Timestamp,
        mut takes: impl FnMut(Name) -> Duration,
    ) {
        loop {
            while self.driver.tickets.len() + self.driver.under_way.len() < workers {
                self.driver.ask(&through(&[API]));
            }
            for start in &self.driver.starts[self.scheduled..] {
                self.ends.insert((start.at + takes(start.name), start.name));
            }
            self.scheduled = self.driver.starts.len();
            let end = self.ends.first().map(|(at, _)| *at);
            let wake = self.driver.wake.map(|wake| wake.at);
            let next = end
                .into_iter()
                .chain(wake)
                .min()
                .expect("something goes on");
            if next > until {
                return self.driver.pass_to(until);
            }
            self.driver.pass_to(next);
            while let Some((at, name)) = self.ends.first().copied().filter(|(at, _)| *at <= next) {
                self.ends.pop_first();
                let began = self.driver.under_way[&name].at();
                self.jobs.push((began, at));
                self.driver.answer(name, &ok());
            }
        }
    }

    /// What was worked between two times, in nanoseconds.
    pub(super) fn worked(&self, from: Timestamp, until: Timestamp) -> u128 {
        let under_way = self.driver.under_way.values();
        let all = self.jobs.iter().copied();
        let all = all.chain(under_way.map(|sent| (sent.at(), self.driver.now)));
        all.map(|(began, ended)| ended.min(until).since(began.max(from)).as_nanos())
            .sum()
    }

    /// The most in any such stretch, by what was going on in it.
    pub(super) fn most_going_on(&self, stretch: Duration) -> u128 {
        let edges = self.jobs.iter().flat_map(|(began, ended)| [*began, *ended]);
        edges
            .flat_map(|edge| [edge, edge + stretch])
            .map(|until| self.worked(until - stretch, until))
            .max()
            .unwrap_or(0)
    }

    /// The most in any such stretch, if the work of a request counts when it begins.
    pub(super) fn most_begun(&self, stretch: Duration) -> u128 {
        self.most_counted(stretch, |(began, _)| *began)
    }

    /// The same when it ends.
    pub(super) fn most_ended(&self, stretch: Duration) -> u128 {
        self.most_counted(stretch, |(_, ended)| *ended)
    }

    /// The most in any such stretch before a start, of those that were over by then: what is under way nobody can take back.
    pub(super) fn most_over_by_a_start(&self, stretch: Duration) -> u128 {
        let before = |start: Timestamp| {
            let over = self.jobs.iter().filter(|(_, ended)| *ended <= start);
            let from = start - stretch;
            over.map(|(began, ended)| ended.since(from.max(*began)).as_nanos())
                .sum::<u128>()
        };
        let starts = self.driver.starts.iter();
        starts.map(|start| before(start.at)).max().unwrap_or(0)
    }

    fn most_counted(&self, stretch: Duration, counts: impl Fn(&Job) -> Timestamp) -> u128 {
        let within = |until: Timestamp| {
            let jobs = self.jobs.iter().filter(|job| {
                let at = counts(job);
                at <= until && until.since(at) < stretch
            });
            let work = jobs.map(|(began, ended)| ended.since(*began).as_nanos());
            work.sum::<u128>()
        };
        let all = self.jobs.iter().map(|job| within(counts(job)));
        all.max().unwrap_or(0)
    }
}
