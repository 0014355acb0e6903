//! One number out of several: a field may come in many lines or be a list, since proxies join what
//! they find, and whatever stands behind that, the answer must be safe for all of them.

use core::time::Duration;

use super::number::{self, Count, Decimal, trim};
use super::rate_limit;
use crate::Flags;

/// What the lines of one field add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Number {
    #[default]
    Unknown,
    /// Not a count; what it means depends on the fields beside it.
    Negative,
    Known(Decimal),
}

impl Number {
    /// The number, if there is one.
    pub(super) const fn known(self) -> Option<Decimal> {
        match self {
            Self::Known(number) => Some(number),
            _ => None,
        }
    }
}

/// What the numbers of one window mean together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) limit: Option<Decimal>,
    pub(super) remaining: Option<Decimal>,
    /// Negative numbers stand for "not tracked": zeros beside them mean as little.
    pub(super) untracked: bool,
}

impl Counts {
    /// Of what a window holds, what is left of it and what was used.
    pub(super) fn of(limit: Number, remaining: Number, used: Number, flags: &mut Flags) -> Self {
        let (whole, left) = (limit.known(), remaining.known());
        let is_overdrawn = remaining == Number::Negative && whole.is_some();
        let is_sentinel = limit == Number::Negative || remaining == Number::Negative;
        if is_overdrawn {
            flags.add("overdrawn");
        } else if is_sentinel {
            flags.add("sentinel");
        }
        let remaining = left
            .or_else(|| is_overdrawn.then(|| Decimal::whole(0)))
            .or_else(|| whole?.minus(used.known()?));
        Self {
            limit: whole,
            remaining,
            untracked: is_sentinel && remaining.is_none(),
        }
    }
}

/// Several counts, joined or in several lines, come from several limiters: the least is safe for
/// all of them.
pub(super) fn least(known: &mut Number, name: &str, value: &[u8], flags: &mut Flags) -> Option<()> {
    fold(known, name, value, flags, Decimal::min)
}

/// The most of several counts: of what was used, the safe one.
pub(super) fn most(known: &mut Number, name: &str, value: &[u8], flags: &mut Flags) -> Option<()> {
    fold(known, name, value, flags, Decimal::max)
}

/// Takes in one field line; `None` if a part of it is not a count.
fn fold(
    known: &mut Number,
    name: &str,
    value: &[u8],
    flags: &mut Flags,
    safer: impl Fn(Decimal, Decimal) -> Decimal,
) -> Option<()> {
    if let Some(number) = number::thousands(value) {
        flags.add(format!("thousands:{name}"));
        merge(
            known,
            Number::Known(Decimal::whole(number)),
            name,
            flags,
            &safer,
        );
        return Some(());
    }
    // Docker Hub sends `0;w=21600`; what follows a plain number is a comment since draft 04.
    if value.contains(&b';') {
        for quota in rate_limit::quotas(value)? {
            merge(
                known,
                Number::Known(Decimal::whole(quota.limit)),
                name,
                flags,
                &safer,
            );
        }
        return Some(());
    }
    let mut complete = Some(());
    for count in number::counts(value) {
        match count {
            Count::Known(number) => merge(known, Number::Known(number), name, flags, &safer),
            Count::Negative => merge(known, Number::Negative, name, flags, &safer),
            Count::Malformed => complete = None,
        }
    }
    complete
}

fn merge(
    known: &mut Number,
    next: Number,
    name: &str,
    flags: &mut Flags,
    safer: &impl Fn(Decimal, Decimal) -> Decimal,
) {
    if *known != Number::Unknown && *known != next {
        flags.add(format!("list:{name}"));
    }
    *known = match (*known, next) {
        (Number::Known(known), Number::Known(next)) => Number::Known(safer(known, next)),
        (Number::Unknown | Number::Negative, next) => next,
        (known, _) => known,
    };
}

/// One span or instant, or several numbers joined with commas; the longest counts.
pub(super) fn longest(
    known: &mut Option<Duration>,
    name: &str,
    value: &[u8],
    flags: &mut Flags,
    mut one: impl FnMut(&[u8], &mut Flags) -> Option<Duration>,
) -> Option<()> {
    let read = match one(value, flags) {
        Some(read) => read,
        None if number::counts(value).all(|count| matches!(count, Count::Known(_))) => {
            flags.add(format!("list:{name}"));
            let members = value.split(|&byte| byte == b',');
            members
                .filter_map(|member| one(trim(member), flags))
                .max()?
        }
        None => return None,
    };
    if known.is_some_and(|known| known != read) {
        flags.add(format!("list:{name}"));
    }
    *known = (*known).max(Some(read));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (Number, Vec<String>) {
        let mut flags = Flags::default();
        let mut number = Number::default();
        for line in lines {
            let _ = least(&mut number, "f", line.as_bytes(), &mut flags);
        }
        (number, flags.iter().map(str::to_owned).collect())
    }

    fn known(whole: u64) -> Number {
        Number::Known(Decimal::whole(whole))
    }

    #[test]
    fn lists_and_lines_are_the_same() {
        let list = vec!["list:f".to_owned()];
        assert_eq!(read(&["991, 98"]), (known(98), list.clone()));
        assert_eq!(read(&["991", "98"]), (known(98), list));
        assert_eq!(read(&["98", "98"]), (known(98), vec![]));
    }

    #[test]
    fn thousands_and_parameters_are_no_lists() {
        assert_eq!(
            read(&["5,000"]),
            (known(5000), vec!["thousands:f".to_owned()])
        );
        assert_eq!(read(&["0;w=21600"]), (known(0), vec![]));
    }

    #[test]
    fn a_number_beats_what_is_none() {
        assert_eq!(read(&["-1"]).0, Number::Negative);
        assert_eq!(read(&["-1", "x", "7"]).0, known(7));
        assert_eq!(read(&["x", ""]).0, Number::Unknown);
    }
}
