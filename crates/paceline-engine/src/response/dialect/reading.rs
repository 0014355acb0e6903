//! Numbers at places: counts, usages and spans of time, read as safely as those of fields that all upstreams send.

use core::time::Duration;

use super::super::instant::{self, Clocks};
use super::super::number::{self, Decimal, trim};
use super::super::several::{self, Number};
use super::super::span::{self, Scale};
use super::content;
use super::place::{Found, Place, Sources};
use super::window::{Amount, Span};
use crate::Flags;

/// Where a rule looks, and what it looks at.
pub(super) struct Reading<'a, 'b> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) here: Option<&'a Found<'a>>,
    pub(super) clocks: &'a mut Clocks<'b>,
    pub(super) flags: &'a mut Flags,
}

impl Reading<'_, '_> {
    /// Several values come from several limiters; `fold` takes the safe one.
    pub(super) fn count(
        &mut self,
        place: &Place,
        fold: impl Fn(&mut Number, &str, &[u8], &mut Flags) -> Option<()>,
    ) -> Number {
        let mut count = Number::Unknown;
        for found in place.find(self.sources, self.here) {
            let Some(text) = content::text(&found.value) else {
                continue;
            };
            let value = trim(text.as_bytes());
            if fold(&mut count, found.from, value, self.flags).is_none() {
                self.flags.add(format!("malformed:{}", found.from));
            }
        }
        count
    }

    pub(super) fn amount(&mut self, amount: &Amount) -> Number {
        match amount {
            Amount::Fixed(number) => Number::Known(Decimal::whole(*number)),
            Amount::At(place) => self.count(place, several::least),
        }
    }

    /// `used/limit`, perhaps with a remark in parentheses; of several the one of which least is left.
    pub(super) fn usage(&mut self, place: &Place) -> Option<(Decimal, Decimal)> {
        let mut tightest: Option<(Option<Decimal>, Decimal, Decimal)> = None;
        for found in place.find(self.sources, self.here) {
            let Some(text) = content::text(&found.value) else {
                continue;
            };
            match usage(&text) {
                None => self.flags.add(format!("malformed:{}", found.from)),
                Some((used, limit)) => {
                    let left = limit.minus(used);
                    if tightest.is_none_or(|(least, ..)| left < least) {
                        tightest = Some((left, used, limit));
                    }
                }
            }
        }
        tightest.map(|(_, used, limit)| (used, limit))
    }

    pub(super) fn span(&mut self, span: &Span) -> Option<Duration> {
        match span {
            Span::Fixed(span) => Some(*span),
            Span::At(place, unit) => {
                let text = place.text(self.sources, self.here)?;
                let span = TimeUnit::read(Some(*unit), text.as_bytes(), self.clocks, self.flags);
                span.filter(|span| !span.is_zero())
            }
        }
    }
}

fn usage(text: &str) -> Option<(Decimal, Decimal)> {
    let plain = text.split_once('(').map_or(text, |(plain, _)| plain);
    let (used, limit) = plain.split_once('/')?;
    let read = |text: &str| number::decimal(trim(text.as_bytes()));
    Some((read(used)?, read(limit)?))
}

/// What a number of time counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeUnit {
    /// Seconds from receipt.
    #[default]
    Seconds,
    /// Milliseconds from receipt.
    Milliseconds,
    /// Minutes from receipt.
    Minutes,
}

impl TimeUnit {
    /// A span in this unit; without one, a span or an instant as its size and form tell.
    pub(super) fn read(
        unit: Option<Self>,
        value: &[u8],
        clocks: &mut Clocks<'_>,
        flags: &mut Flags,
    ) -> Option<Duration> {
        let value = trim(value);
        let Some(unit) = unit else {
            return instant::reset(value, clocks, flags);
        };
        let number = number::decimal(value)?;
        Some(match unit {
            Self::Seconds => span::from_number(number, Scale::Seconds, flags),
            Self::Milliseconds => span::from_number(number, Scale::Millis, flags),
            Self::Minutes => span::bounded(number.scaled(span::SECOND).saturating_mul(60), flags),
        })
    }
}
