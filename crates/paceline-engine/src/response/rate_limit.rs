//! `RateLimit` and `RateLimit-Policy`: the structured fields of
//! draft-ietf-httpapi-ratelimit-headers.
//!
//! All of its generations are in production. Draft 07 has one dictionary, `limit=100, remaining=50,
//! reset=5`, drafts 08 to 10 have lists of named items, `"default";r=50;t=30`. Policies were
//! quotas, `100;w=60`, and are named items since 08, `"default";q=100;w=60`. A field that breaks
//! its own grammar is ignored whole, as the drafts demand.

use core::time::Duration;
use std::borrow::Cow;

use sfv::BareItemFromInput;

use super::number::trim;
use super::structured::{self, Member, natural, word};
use super::{span, windows};
use crate::{Flags, Unit, Window};

/// The lines of one field as one value (RFC 9651 section 4.2).
#[derive(Debug, Default)]
pub(super) struct Lines<'a>(Option<Cow<'a, [u8]>>);

impl<'a> Lines<'a> {
    /// Takes in one field line.
    pub(super) fn push(&mut self, line: &'a [u8]) {
        let line = trim(line);
        match &mut self.0 {
            None => self.0 = Some(Cow::Borrowed(line)),
            Some(value) => {
                let value = value.to_mut();
                value.extend_from_slice(b", ");
                value.extend_from_slice(line);
            }
        }
    }

    /// All of them, unless there was none.
    pub(super) fn value(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }
}

/// A quota by itself, as drafts before 08 write policies: how much, in which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) limit: u64,
    pub(super) length: Option<u64>,
}

/// Reads `RateLimit`: the windows, each with what is left of it.
pub(super) fn windows(value: &[u8], flags: &mut Flags) -> Vec<Window> {
    // What a field that is ignored whole has said is not worth a flag either.
    let mut own_flags = Flags::default();
    let read = if is_dictionary(value) {
        dictionary(value, &mut own_flags)
    } else {
        list(value, &mut own_flags)
    };
    if let Some(windows) = read {
        flags.extend(own_flags);
        return windows;
    }
    flags.add("malformed:ratelimit");
    Vec::new()
}

/// Reads `RateLimit-Policy`: adds named policies to the windows of that name, and returns the
/// nameless ones.
pub(super) fn policies(value: &[u8], windows: &mut Vec<Window>, flags: &mut Flags) -> Vec<Quota> {
    let mut named = Vec::new();
    let mut nameless = Vec::new();
    let read = structured::list(value, |member| {
        let is_kept = named.len() + nameless.len() < windows::MOST;
        match policy(member)? {
            Policy::Nameless(quota) if is_kept => nameless.push(quota),
            Policy::Named(policy) if is_kept => named.push(policy),
            _ => {}
        }
        Some(())
    });
    if read.is_none() {
        flags.add("malformed:ratelimit-policy");
        return Vec::new();
    }
    for policy in named {
        join(windows, policy, flags);
    }
    nameless
}

/// `10, 10;w=1, 50;w=60`: the list that `RateLimit-Limit` was before draft 04; some call the
/// parameter `window`.
pub(super) fn quotas(value: &[u8]) -> Option<Vec<Quota>> {
    let mut quotas = Vec::new();
    structured::list(value, |member| {
        let limit = natural(&member.item)?;
        let length = match member.w.optional()? {
            None => member.window.optional()?,
            length => length,
        };
        if quotas.len() < windows::MOST {
            let length = length.filter(|&length| length > 0);
            quotas.push(Quota { limit, length });
        }
        Some(())
    })?;
    Some(quotas)
}

enum Policy<'a> {
    Nameless(Quota),
    Named(Named<'a>),
}

/// A named policy. Most belong to a window that has the name already.
struct Named<'a> {
    name: BareItemFromInput<'a>,
    unit: Unit,
    quota: Quota,
}

fn policy(member: Member<'_>) -> Option<Policy<'_>> {
    let length = member.w.optional()?;
    // The draft excludes windows of no length: nobody could divide by them.
    (length != Some(0)).then_some(())?;
    if let BareItemFromInput::Integer(_) = member.item {
        let limit = natural(&member.item)?;
        return Some(Policy::Nameless(Quota { limit, length }));
    }
    word(&member.item)?;
    let unit = unit(&member)?;
    let limit = member.q.required()?;
    Some(Policy::Named(Named {
        name: member.item,
        unit,
        quota: Quota { limit, length },
    }))
}

/// A policy completes the windows of its name, or is a window of which nothing else is known.
fn join(windows: &mut Vec<Window>, policy: Named<'_>, flags: &mut Flags) {
    let Named { name, unit, quota } = policy;
    let limit_milli = Some(u128::from(quota.limit) * 1000);
    let length = quota
        .length
        .map(|length| seconds(length, &mut Flags::default()));
    let name = word(&name);
    let mut known = false;
    for window in windows
        .iter_mut()
        .filter(|window| window.name.as_deref() == name)
    {
        window.unit.clone_from(&unit);
        window.limit_milli = limit_milli;
        window.length = length;
        known = true;
    }
    if !known {
        let window = Window {
            name: name.map(Into::into),
            unit,
            limit_milli,
            length,
            ..Window::unknown()
        };
        windows::push(windows, window, flags);
    }
}

/// Draft 07: `limit` and `reset` are required, `remaining` is not.
fn dictionary(value: &[u8], flags: &mut Flags) -> Option<Vec<Window>> {
    let [limit, remaining, reset] = structured::dictionary(value, ["limit", "remaining", "reset"])?;
    Some(vec![Window {
        name: Some("ratelimit".into()),
        limit_milli: Some(u128::from(limit.required()?) * 1000),
        remaining: remaining.optional()?,
        reset: Some(seconds(reset.required()?, flags)),
        ..Window::unknown()
    }])
}

/// Drafts 08 and later: `r` is required.
fn list(value: &[u8], flags: &mut Flags) -> Option<Vec<Window>> {
    let mut windows = Vec::new();
    structured::list(value, |member| {
        let limit = member.q.optional()?;
        let window = Window {
            name: Some(word(&member.item)?.into()),
            unit: unit(&member)?,
            limit_milli: limit.map(|limit| u128::from(limit) * 1000),
            remaining: Some(member.r.required()?),
            reset: member.t.optional()?.map(|reset| seconds(reset, flags)),
            ..Window::unknown()
        };
        windows::push(&mut windows, window, flags);
        Some(())
    })?;
    Some(windows)
}

fn seconds(seconds: u64, flags: &mut Flags) -> Duration {
    span::bounded(u128::from(seconds) * u128::from(span::SECOND), flags)
}

/// A dictionary starts with a key and `=`; an item has its parameters after `;`.
fn is_dictionary(value: &[u8]) -> bool {
    let key = value
        .iter()
        .find(|byte| matches!(byte, b'=' | b';' | b',' | b'"'));
    key == Some(&b'=')
}

/// The registry of draft 10 says `request` where its prose says `requests`.
fn unit(member: &Member<'_>) -> Option<Unit> {
    match &member.qu {
        None => Some(Unit::Requests),
        Some(unit) => Some(Unit::from_word(word(unit)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> (Vec<Window>, Vec<String>) {
        let mut flags = Flags::default();
        let windows = windows(value.as_bytes(), &mut flags);
        (windows, flags.iter().map(str::to_owned).collect())
    }

    #[test]
    fn a_dictionary_and_a_list_say_the_same() {
        for value in [
            "limit=100, remaining=50, reset=5",
            "\"ratelimit\";q=100;r=50;t=5",
            "ratelimit;r=50;t=5;q=100",
        ] {
            let expected = Window {
                name: Some("ratelimit".into()),
                limit_milli: Some(100_000),
                remaining: Some(50),
                reset: Some(Duration::from_secs(5)),
                ..Window::unknown()
            };
            assert_eq!(read(value), (vec![expected], vec![]), "{value}");
        }
    }

    #[test]
    fn a_broken_field_is_ignored_whole() {
        for value in [
            "limit=100",
            "limit=1.5, reset=1",
            "\"a\";t=30",
            "\"a\";r=1, \"b\"",
            "\"a\";r=-1",
            "\"a\";r=1.0",
            "\"a;r=1",
            "\"a\";r=1,",
            "(\"a\");r=1",
            "100;w=1",
            "\"a\";r=1;t=999999, \"b\"",
        ] {
            assert_eq!(
                read(value),
                (vec![], vec!["malformed:ratelimit".to_owned()]),
                "{value}"
            );
        }
    }

    #[test]
    fn policies_complete_windows_by_name() {
        let policy = b"\"a\";q=10;w=60;qu=\"tokens\", \"b\";q=5, 100;w=10";
        let mut windows = read("\"a\";r=1").0;
        let nameless = policies(policy, &mut windows, &mut Flags::default());
        let expected = Quota {
            limit: 100,
            length: Some(10),
        };
        assert_eq!(nameless, [expected]);
        assert_eq!(windows[0].limit(), Some(10));
        assert_eq!(windows[0].length, Some(Duration::from_mins(1)));
        assert_eq!(windows[0].unit, Unit::Other("tokens".into()));
        assert_eq!((windows[1].limit(), windows[1].remaining), (Some(5), None));
    }

    #[test]
    fn a_policy_needs_a_quota_and_a_window_of_some_length() {
        for value in [
            "\"a\";q=10;w=0",
            "\"a\";w=60",
            "\"a\";q=1.5",
            "\"a\";q=1;qu=7",
        ] {
            let (mut windows, mut flags) = (Vec::new(), Flags::default());
            assert_eq!(policies(value.as_bytes(), &mut windows, &mut flags), []);
            assert_eq!(windows, [], "{value}");
            assert!(flags.contains("malformed:ratelimit-policy"), "{value}");
        }
    }

    #[test]
    fn old_limit_lists_may_call_their_parameter_window() {
        let read = quotas(b"100, 100;window=60, 10000;w=86400;comment=\"a, b\"").expect("a list");
        let pairs = read.iter().map(|quota| (quota.limit, quota.length));
        assert_eq!(
            pairs.collect::<Vec<_>>(),
            [(100, None), (100, Some(60)), (10_000, Some(86_400))]
        );
        assert_eq!(quotas(b"1000: 1000"), None);
    }
}
