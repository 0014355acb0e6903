//! What both walks came to, for people and for programs.

use core::fmt;
use core::time::Duration;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::rate::Rate;
use super::walk::{WORKERS, Walk};

/// Both walks. Displayed as a table and a sentence; serialised as the object that `--json` prints.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(super) pages: u32,
    pub(super) limit: Rate,
    pub(super) independent: Walk,
    pub(super) paceline: Walk,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pages,
            limit,
            independent,
            paceline,
        } = self;
        let burst = limit.burst();
        writeln!(
            f,
            "{pages} pages, {WORKERS} workers, a site that allows {limit} ({burst} at once) \
             and does not say so:\n"
        )?;
        writeln!(
            f,
            "{:12} {:>9} {:>10} {:>9} {:>12} {:>14}",
            "", "time", "requests", "refused", "pages lost", "slowest page"
        )?;
        row(f, "independent", independent)?;
        row(f, "paceline", paceline)?;
        write!(f, "\n{}", self.explanation())
    }
}

impl Report {
    /// One sentence; each half is true of its walk.
    fn explanation(&self) -> String {
        let Walk {
            sent,
            refused,
            failed,
            ..
        } = self.independent;
        let alone = match (refused, failed) {
            (0, 0) => "This limit refused nobody, so there was nothing to learn".to_owned(),
            _ => format!(
                "Alone, every request runs into the same limit again and again \
                 ({refused} of {sent} refused, {failed} pages lost)"
            ),
        };
        let together = match (self.paceline.refused, self.paceline.failed) {
            (0, 0) => "with Paceline nobody was refused either".to_owned(),
            (_, 0) => "with Paceline each refusal teaches all of them the pace, \
                       and each waits for its turn"
                .to_owned(),
            (_, failed) => format!("with Paceline {failed} pages were lost all the same"),
        };
        format!("{alone}; {together}.")
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, walk: &Walk) -> fmt::Result {
    let Walk {
        elapsed,
        sent,
        refused,
        failed,
        slowest,
    } = walk;
    let (elapsed, slowest) = (elapsed.as_secs_f64(), slowest.as_secs_f64());
    writeln!(
        f,
        "{name:12} {elapsed:>7.1} s {sent:>10} {refused:>9} {failed:>12} {slowest:>12.1} s"
    )
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Report", 4)?;
        object.serialize_field("pages", &self.pages)?;
        object.serialize_field("limit", &self.limit.to_string())?;
        object.serialize_field("independent", &self.independent)?;
        object.serialize_field("paceline", &self.paceline)?;
        object.end()
    }
}

impl Serialize for Walk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Walk", 5)?;
        object.serialize_field("elapsed_s", &seconds(self.elapsed))?;
        object.serialize_field("sent", &self.sent)?;
        object.serialize_field("refused", &self.refused)?;
        object.serialize_field("failed", &self.failed)?;
        object.serialize_field("slowest_s", &seconds(self.slowest))?;
        object.end()
    }
}

/// With at most six decimals.
fn seconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e6
}
