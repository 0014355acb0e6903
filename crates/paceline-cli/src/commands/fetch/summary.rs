//! What a run comes to.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use serde::Serialize;

use super::results::{Record, Seconds};

/// The sum of all results.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Summary {
    /// Lines of input, pages included: `ok` + `failed`.
    pub(super) requests: u64,
    pub(super) ok: u64,
    pub(super) failed: u64,
    /// HTTP requests that left: retries and redirects included.
    pub(super) sent: u64,
    /// Answers classed `rate_limited` or `overloaded`.
    pub(super) refused: u64,
    pub(super) elapsed_s: Seconds,
    /// The sum of what all requests waited.
    pub(super) waited_s: Seconds,
    pub(super) slowest_s: Seconds,
    /// Failures by reason; their sum is `failed`.
    pub(super) reasons: BTreeMap<&'static str, u64>,
    /// Lines that an earlier run had done.
    pub(super) skipped: u64,
    /// Whether an interruption ended it.
    pub(super) interrupted: bool,
}

impl Summary {
    pub(super) fn add(&mut self, record: &Record) {
        self.requests += 1;
        self.refused += u64::from(record.refused);
        self.waited_s.0 += record.waited_s.0;
        self.slowest_s = self.slowest_s.max(record.elapsed_s);
        match record.ok {
            true => self.ok += 1,
            false => {
                self.failed += 1;
                *self
                    .reasons
                    .entry(record.reason.unwrap_or("final"))
                    .or_default() += 1;
            }
        }
    }

    pub(super) fn end(&mut self, elapsed: Duration, sent: u64) {
        self.elapsed_s = Seconds(elapsed);
        self.sent = sent;
    }
}

/// For people.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ok,
            failed,
            sent,
            refused,
            skipped,
            ..
        } = self;
        let seconds = |seconds: Seconds| seconds.0.as_secs_f64();
        if self.interrupted {
            f.write_str("interrupted: ")?;
        }
        write!(
            f,
            "{ok} ok, {failed} failed in {:.1} s",
            seconds(self.elapsed_s)
        )?;
        write!(
            f,
            "; {sent} sent, {refused} refused; waited {:.1} s",
            seconds(self.waited_s)
        )?;
        write!(
            f,
            " in all, the slowest took {:.1} s",
            seconds(self.slowest_s)
        )?;
        if *skipped > 0 {
            write!(f, "; {skipped} lines were done before")?;
        }
        for (reason, failures) in &self.reasons {
            write!(f, "\n  {failures} failed: {}", explained(reason))?;
        }
        Ok(())
    }
}

fn explained(code: &str) -> String {
    use super::results::{INVALID, NOT_WRITTEN, TOO_LARGE, TOO_MANY_PAGES};
    let own = [
        (INVALID, "the line is not a request"),
        (TOO_LARGE, "the body is larger than --max-body allows"),
        (NOT_WRITTEN, "the body could not be written to its file"),
        (TOO_MANY_PAGES, "there are too many pages"),
    ];
    let engines = paceline::Reason::ALL
        .iter()
        .map(|reason| (reason.code(), reason.explanation()));
    let mut all = own.into_iter().chain(engines);
    all.find(|(own, _)| *own == code)
        .map_or_else(|| code.to_owned(), |(_, says)| format!("{says} ({code})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_add_up() {
        let mut summary = Summary::default();
        let second = Seconds(Duration::from_secs(1));
        summary.add(&Record {
            ok: true,
            refused: 2,
            waited_s: second,
            elapsed_s: second,
            ..Record::default()
        });
        summary.add(&Record::invalid(2, "no"));
        summary.add(&Record {
            reason: Some("deadline"),
            waited_s: second,
            ..Record::default()
        });
        summary.end(second.0, 3);
        let expected = r#"{"requests":3,"ok":1,"failed":2,"sent":3,"refused":2,"elapsed_s":1.0,"waited_s":2.0,"slowest_s":1.0,"reasons":{"deadline":1,"invalid":1},"skipped":0,"interrupted":false}"#;
        assert_eq!(serde_json::to_string(&summary).unwrap(), expected);
        let text = summary.to_string();
        assert!(
            text.starts_with("1 ok, 2 failed in 1.0 s; 3 sent, 2 refused; waited 2.0 s in all"),
            "{text}"
        );
        assert!(
            text.contains("1 failed: its time would end before its turn came (deadline)"),
            "{text}"
        );
    }
}
