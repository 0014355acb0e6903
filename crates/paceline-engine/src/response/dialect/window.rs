//! Windows that stand in fields or bodies of one upstream's own.

use core::time::Duration;

use super::super::instant::Clocks;
use super::super::number::{Decimal, trim};
use super::super::several::{self, Counts, Number};
use super::super::{span, windows};
use super::place::{Place, Sources};
use super::reading::{Reading, TimeUnit};
use super::{Dialect, content};
use crate::{Flags, Unit, Window};

/// Where the numbers of a window stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain settings, made by whoever reads a dialect's file"
)]
pub struct WindowRule {
    /// What it is called; the name of what `each` finds, or of its field, if there is none.
    pub name: Option<Label>,
    /// What it counts.
    pub unit: Unit,
    /// One window for each value at this place; the other places may be parts of it.
    pub each: Option<Place>,
    /// How much it holds.
    pub limit: Option<Amount>,
    /// What is left.
    pub remaining: Option<Place>,
    /// What was spent.
    pub used: Option<Place>,
    /// Which share was spent, from 0 to 1; the window is one of percent then.
    pub used_share: Option<Place>,
    /// What was spent and what it holds: `32/40`.
    pub usage: Option<Place>,
    /// When it starts anew.
    pub reset: Option<Place>,
    /// The unit of `reset`; told by its size and form if there is none.
    pub reset_in: Option<TimeUnit>,
    /// How long it is.
    pub length: Option<Span>,
    /// It starts anew when the clock (UTC) shows a multiple of its length.
    pub aligned: bool,
    /// What was spent comes back steadily: all of it in one length, or what is missing until `reset` if there is no length.
    pub steady: bool,
    /// How much comes back in `refill_every` (one second if there is none).
    pub refill: Option<Amount>,
    /// The time in which `refill` comes back.
    pub refill_every: Option<Span>,
}

/// What something is called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a name is given or found")]
pub enum Label {
    /// By the dialect.
    Text(Box<str>),
    /// By the response.
    At(Place),
}

/// How much.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a number is given or found")]
pub enum Amount {
    /// As published.
    Fixed(u64),
    /// As the response says.
    At(Place),
}

/// How long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a span is given or found")]
pub enum Span {
    /// As published.
    Fixed(Duration),
    /// As the response says, in this unit.
    At(Place, TimeUnit),
}

impl Dialect {
    /// Adds the windows that stand at this dialect's places.
    pub(in super::super) fn add_windows(
        &self,
        windows: &mut Vec<Window>,
        sources: &Sources<'_>,
        clocks: &mut Clocks<'_>,
        flags: &mut Flags,
    ) {
        for rule in &self.windows {
            let of = match &rule.each {
                Some(each) => each.find(sources, None).into_iter().map(Some).collect(),
                None => vec![None],
            };
            for here in of {
                let here = here.as_ref();
                let window = rule.window(&mut Reading {
                    sources,
                    here,
                    clocks,
                    flags,
                });
                if let Some(window) = window {
                    windows::push(windows, window, flags);
                }
            }
        }
    }
}

impl WindowRule {
    fn window(&self, reading: &mut Reading<'_, '_>) -> Option<Window> {
        let (used, limit) = self.spent(reading);
        let left = match &self.remaining {
            Some(place) => reading.count(place, several::least),
            None => Number::Unknown,
        };
        let counts = Counts::of(limit, left, used, reading.flags);
        if counts.untracked && limit == Number::Negative {
            return None;
        }
        let (limit, remaining) = (counts.limit, counts.remaining);
        let mut reset = self.reset(reading, remaining);
        // A limit that is only published is no news of a response that says nothing else, nor are a hundred percent.
        let published = self.used_share.is_some() || !matches!(self.limit, Some(Amount::At(_)));
        if remaining.is_none() && reset.is_none() && (published || limit.is_none()) {
            return None;
        }
        let length = self.length.as_ref().and_then(|length| reading.span(length));
        if self.aligned {
            reset =
                reset.or_else(|| Some(reading.clocks.until_multiple_of(length?, reading.flags)));
        }
        Some(Window {
            name: self.name(reading),
            unit: self.unit(),
            limit_milli: limit.map(Decimal::milli),
            remaining: remaining.map(|left| left.whole),
            remaining_milli: remaining
                .map_or(0, |left| u16::try_from(left.milli() % 1000).unwrap_or(0)),
            reset,
            length,
            refill: match (self.steady, length) {
                (true, Some(length)) => limit.and_then(|limit| per_unit(length, limit)),
                (true, None) => missing(limit, remaining).and_then(|some| per_unit(reset?, some)),
                (false, _) => self.refill(reading),
            },
        })
    }

    /// What was spent, and of how much.
    fn spent(&self, reading: &mut Reading<'_, '_>) -> (Number, Number) {
        if let Some((used, limit)) = self.usage.as_ref().and_then(|place| reading.usage(place)) {
            return (Number::Known(used), Number::Known(limit));
        }
        if let Some(place) = &self.used_share {
            let used = reading.count(place, several::most).known();
            let used = used.map_or(Number::Unknown, |share| Number::Known(share.times(100)));
            return (used, Number::Known(Decimal::whole(100)));
        }
        let used = match &self.used {
            Some(place) => reading.count(place, several::most),
            None => Number::Unknown,
        };
        let limit = match &self.limit {
            Some(amount) => reading.amount(amount),
            None => Number::Unknown,
        };
        (used, limit)
    }

    fn unit(&self) -> Unit {
        match (&self.unit, &self.used_share) {
            (Unit::Requests, Some(_)) => Unit::Other("percent".into()),
            (unit, _) => unit.clone(),
        }
    }

    /// A reset of nothing means something only where nothing is left.
    fn reset(&self, reading: &mut Reading<'_, '_>, left: Option<Decimal>) -> Option<Duration> {
        let mut longest = None;
        for found in self.reset.as_ref()?.find(reading.sources, reading.here) {
            let Some(text) = content::text(&found.value) else {
                continue;
            };
            let (clocks, flags) = (&mut *reading.clocks, &mut *reading.flags);
            let read = |value: &[u8], flags: &mut Flags| {
                TimeUnit::read(self.reset_in, value, clocks, flags)
            };
            let value = trim(text.as_bytes());
            if several::longest(&mut longest, found.from, value, flags, read).is_none() {
                flags.add(format!("malformed:{}", found.from));
            }
        }
        let is_spent = left.is_some_and(|left| left.whole == 0);
        longest.filter(|reset| is_spent || !reset.is_zero())
    }

    fn refill(&self, reading: &mut Reading<'_, '_>) -> Option<Duration> {
        let amount = reading.amount(self.refill.as_ref()?).known()?;
        let every = match &self.refill_every {
            Some(every) => reading.span(every)?,
            None => Duration::from_secs(1),
        };
        per_unit(every, amount)
    }

    fn name(&self, reading: &Reading<'_, '_>) -> Option<Box<str>> {
        match &self.name {
            Some(Label::Text(name)) => Some(name.clone()),
            Some(Label::At(place)) => place
                .text(reading.sources, reading.here)
                .map(String::into_boxed_str),
            None => {
                let name = reading.here.and_then(|here| here.name.as_deref());
                name.map(Into::into)
            }
        }
    }

    pub(super) fn reads_body(&self) -> bool {
        self.places().any(Place::is_body)
    }

    /// Whether one of its numbers stands in the field of this name.
    pub(super) fn names(&self, field: &str) -> bool {
        self.places().any(|place| place.is_in(field))
    }

    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        let amounts = [&self.limit, &self.refill].into_iter().flatten();
        let amounts = amounts.filter_map(|amount| match amount {
            Amount::At(place) => Some(place),
            Amount::Fixed(_) => None,
        });
        let spans = [&self.length, &self.refill_every].into_iter().flatten();
        let spans = spans.filter_map(|span| match span {
            Span::At(place, _) => Some(place),
            Span::Fixed(_) => None,
        });
        let places = [
            &self.each,
            &self.remaining,
            &self.used,
            &self.used_share,
            &self.usage,
            &self.reset,
        ];
        places.into_iter().flatten().chain(amounts).chain(spans)
    }
}

/// What is not there of the whole, in whole units.
fn missing(limit: Option<Decimal>, left: Option<Decimal>) -> Option<Decimal> {
    let missing = limit?.whole.saturating_sub(left?.whole);
    (missing > 0).then(|| Decimal::whole(missing))
}

/// The time for one unit; none where nothing ever comes back.
fn per_unit(every: Duration, amount: Decimal) -> Option<Duration> {
    let amount = amount.scaled(span::SECOND);
    let nanos = every.as_nanos().saturating_mul(u128::from(span::SECOND));
    let refill = nanos.checked_add(amount.checked_sub(1)?)? / amount;
    Some(span::bounded(refill, &mut Flags::default())).filter(|refill| !refill.is_zero())
}
