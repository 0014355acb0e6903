//! Progress for a person: how far, how fast, what is waited for and until when.

use core::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use paceline::{Paceline, Reason};

use super::summary::Summary;
use crate::output::Output;

/// A progress line on a terminal; nothing elsewhere.
pub(super) struct Progress {
    bar: ProgressBar,
    lines: Option<u64>,
}

/// How often it is drawn anew: a person sees no more.
pub(super) const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// For this many lines, if that is known.
    pub(super) fn new(lines: impl FnOnce() -> Option<u64>) -> Self {
        if !Output::is_watched() {
            return Self {
                bar: ProgressBar::hidden(),
                lines: None,
            };
        }
        let lines = lines();
        let bar = ProgressBar::with_draw_target(lines, ProgressDrawTarget::stderr_with_hz(5));
        let template = match lines {
            Some(_) => "{bar:20} {pos}/{len} {msg}",
            None => "{spinner} {pos} {msg}",
        };
        // No colours: the line says it all, and NO_COLOR needs no second form.
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, lines }
    }

    /// For what is printed meanwhile.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    pub(super) fn show(
        &self,
        lines: u64,
        summary: &Summary,
        elapsed: Duration,
        paceline: &Paceline,
    ) {
        if self.bar.is_hidden() {
            return;
        }
        let left = self.lines.map(|all| all.saturating_sub(lines));
        self.bar.set_position(lines);
        self.bar.set_message(message(
            left,
            lines,
            summary,
            elapsed,
            waiting(paceline).as_deref(),
        ));
        self.bar.tick();
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn message(
    left: Option<u64>,
    lines: u64,
    summary: &Summary,
    elapsed: Duration,
    waiting: Option<&str>,
) -> String {
    let rate = summary.requests as f64 / elapsed.as_secs_f64().max(0.001);
    let mut message = format!("{rate:.1}/s");
    for (count, what) in [(summary.failed, "failed"), (summary.refused, "refused")] {
        if count > 0 {
            message += &format!(" · {count} {what}");
        }
    }
    if let Some(left) = left.filter(|left| *left > 0 && lines > 0) {
        let eta = elapsed.mul_f64(left as f64 / lines as f64);
        message += &format!(" · {} to go", rough(eta));
    }
    if let Some(waiting) = waiting {
        message += &format!(" · {waiting}");
    }
    message
}

/// The longest wait in force, in words.
fn waiting(paceline: &Paceline) -> Option<String> {
    let snapshots = paceline.snapshots();
    let held = snapshots
        .iter()
        .filter(|(_, snapshot)| snapshot.waiting > 0);
    let waits = held.flat_map(|(upstream, snapshot)| {
        snapshot
            .gates
            .iter()
            .enumerate()
            .filter(|(_, gate)| gate.waiting > 0)
            .filter_map(move |(index, gate)| {
                // The first gate is the upstream's own; the others are named after their routes.
                let name = if index == 0 { upstream } else { &gate.name };
                let left = gate.throttled_until.map(|until| until.since(snapshot.at));
                Some((left, gate.reason?, name))
            })
    });
    let (left, reason, name) = waits.max_by_key(|(left, ..)| *left)?;
    Some(wait(name, reason, left))
}

fn wait(name: &str, reason: Reason, left: Option<Duration>) -> String {
    match left {
        Some(left) => format!("{name}: {reason}, {} more", rough(left)),
        None => format!("{name}: {reason}"),
    }
}

/// `0.4 s`, `12 s`, `3m10s`, `2h5m`.
fn rough(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{}m{}s", seconds / 60, seconds % 60),
        seconds => format!("{}h{}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_far_how_fast_and_until_when() {
        let summary = Summary {
            requests: 10,
            refused: 2,
            ..Summary::default()
        };
        let waiting = wait("http://a:80", Reason::Pause, Some(Duration::from_secs(59)));
        let message = message(
            Some(30),
            10,
            &summary,
            Duration::from_secs(5),
            Some(&waiting),
        );
        assert_eq!(
            message,
            "2.0/s · 2 refused · 15 s to go · \
             http://a:80: the upstream asked for a pause, 59 s more"
        );
        assert_eq!(rough(Duration::from_millis(440)), "0.4 s");
        assert_eq!(rough(Duration::from_secs(190)), "3m10s");
        assert_eq!(rough(Duration::from_secs(7500)), "2h5m");
    }
}
