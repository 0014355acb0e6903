//! `RateLimit` and `RateLimit-Policy`: the structured fields of
//! draft-ietf-httpapi-ratelimit-headers.
//!
//! All of its generations are in production. Draft 07 has one dictionary, `limit=100, remaining=50,
//! reset=5`, drafts 08 to 10 have lists of named items, `"default";r=50;t=30`. Policies were
//! quotas, `100;w=60`, and are named items since 08, `"default";q=100;w=60`. A field that breaks
//! its own grammar is ignored whole, as the drafts demand.

use core::time::Duration;
use std::borrow::Cow;

use http::HeaderMap;
use http::header::HeaderName;
use sfv::{BareItem, Dictionary, Item, List, ListEntry, Parameters, Parser};

use super::number::trim;
use super::{span, windows};
use crate::{Flags, Unit, Window};

/// A quota by itself, as drafts before 08 write policies: how much, in which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) limit: u64,
    pub(super) length: Option<u64>,
}

/// Reads `RateLimit`: the windows, each with what is left of it.
pub(super) fn windows(headers: &HeaderMap, flags: &mut Flags) -> Vec<Window> {
    let value = joined(headers, &RATE_LIMIT);
    let read = if is_dictionary(&value) {
        dictionary(&value, flags)
    } else {
        list(&value, flags)
    };
    read.unwrap_or_else(|| {
        flags.add("malformed:ratelimit");
        Vec::new()
    })
}

/// Reads `RateLimit-Policy`: adds named policies to the windows of that name, and returns the
/// nameless ones.
pub(super) fn policies(
    headers: &HeaderMap,
    windows: &mut Vec<Window>,
    flags: &mut Flags,
) -> Vec<Quota> {
    let read = parsed::<List>(&joined(headers, &RATE_LIMIT_POLICY)).and_then(|list| {
        let policies = list.iter().map(policy).collect::<Option<Vec<_>>>()?;
        Some(policies)
    });
    let Some(policies) = read else {
        flags.add("malformed:ratelimit-policy");
        return Vec::new();
    };
    let mut nameless = Vec::new();
    for policy in policies.into_iter().take(windows::MOST) {
        match policy {
            Policy::Nameless(quota) => nameless.push(quota),
            Policy::Named(policy) => join(windows, policy, flags),
        }
    }
    nameless
}

/// `10, 10;w=1, 50;w=60`: the list that `RateLimit-Limit` was before draft 04; some call the
/// parameter `window`.
pub(super) fn quotas(value: &[u8]) -> Option<Vec<Quota>> {
    let list = parsed::<List>(value)?;
    list.iter()
        .take(windows::MOST)
        .map(|entry| {
            let item = item(entry)?;
            let BareItem::Integer(limit) = item.bare_item else {
                return None;
            };
            let length = match natural(&item.params, "w")? {
                None => natural(&item.params, "window")?,
                length => length,
            };
            let length = length.filter(|&length| length > 0);
            Some(Quota {
                limit: u64::try_from(i64::from(limit)).ok()?,
                length,
            })
        })
        .collect()
}

enum Policy {
    Nameless(Quota),
    Named(Window),
}

fn policy(entry: &ListEntry) -> Option<Policy> {
    let item = item(entry)?;
    let length = natural(&item.params, "w")?;
    // The draft excludes windows of no length: nobody could divide by them.
    (length != Some(0)).then_some(())?;
    if let BareItem::Integer(limit) = item.bare_item {
        let limit = u64::try_from(i64::from(limit)).ok()?;
        return Some(Policy::Nameless(Quota { limit, length }));
    }
    Some(Policy::Named(Window {
        name: Some(name(item)?),
        unit: unit(&item.params)?,
        limit_milli: Some(u128::from(natural(&item.params, "q")??) * 1000),
        length: length.map(Duration::from_secs),
        ..Window::unknown()
    }))
}

/// A policy completes the windows of its name, or is a window of which nothing else is known.
fn join(windows: &mut Vec<Window>, policy: Window, flags: &mut Flags) {
    let length = policy
        .length
        .map(|length| span::bounded(length.as_nanos(), &mut Flags::default()));
    let mut known = false;
    for window in windows
        .iter_mut()
        .filter(|window| window.name == policy.name)
    {
        window.unit.clone_from(&policy.unit);
        window.limit_milli = policy.limit_milli;
        window.length = length;
        known = true;
    }
    if !known {
        windows::push(windows, Window { length, ..policy }, flags);
    }
}

/// Draft 07: `limit` and `reset` are required, `remaining` is not.
fn dictionary(value: &[u8], flags: &mut Flags) -> Option<Vec<Window>> {
    let fields = parsed::<Dictionary>(value)?;
    let number = |key: &str| match fields.get(key) {
        None => Some(None),
        Some(entry) => integer(&item(entry)?.bare_item).map(Some),
    };
    let (limit, reset) = (number("limit")??, number("reset")??);
    Some(vec![Window {
        name: Some("ratelimit".into()),
        limit_milli: Some(u128::from(limit) * 1000),
        remaining: number("remaining")?,
        reset: Some(seconds(reset, flags)),
        ..Window::unknown()
    }])
}

/// Drafts 08 and later: `r` is required.
fn list(value: &[u8], flags: &mut Flags) -> Option<Vec<Window>> {
    let list = parsed::<List>(value)?;
    let mut windows = Vec::new();
    for entry in &list {
        let item = item(entry)?;
        let window = Window {
            name: Some(name(item)?),
            unit: unit(&item.params)?,
            limit_milli: natural(&item.params, "q")?.map(|limit| u128::from(limit) * 1000),
            remaining: Some(natural(&item.params, "r")??),
            reset: natural(&item.params, "t")?.map(|reset| seconds(reset, flags)),
            ..Window::unknown()
        };
        windows::push(&mut windows, window, flags);
    }
    Some(windows)
}

fn seconds(seconds: u64, flags: &mut Flags) -> Duration {
    span::bounded(u128::from(seconds) * u128::from(span::SECOND), flags)
}

/// Several field lines are one list (RFC 9651 section 4.2).
fn joined<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Cow<'a, [u8]> {
    let mut lines = headers
        .get_all(name)
        .iter()
        .map(|value| trim(value.as_bytes()));
    let mut value = Cow::Borrowed(lines.next().unwrap_or_default());
    for line in lines {
        let value = value.to_mut();
        value.extend_from_slice(b", ");
        value.extend_from_slice(line);
    }
    value
}

/// A dictionary starts with a key and `=`; an item has its parameters after `;`.
fn is_dictionary(value: &[u8]) -> bool {
    let key = value
        .iter()
        .find(|byte| matches!(byte, b'=' | b';' | b',' | b'"'));
    key == Some(&b'=')
}

fn parsed<T: sfv::FieldType>(value: &[u8]) -> Option<T> {
    Parser::new(value).parse().ok()
}

fn item(entry: &ListEntry) -> Option<&Item> {
    match entry {
        ListEntry::Item(item) => Some(item),
        ListEntry::InnerList(_) => None,
    }
}

fn name(item: &Item) -> Option<Box<str>> {
    match &item.bare_item {
        BareItem::String(name) => Some(name.as_str().into()),
        BareItem::Token(name) => Some(name.as_str().into()),
        _ => None,
    }
}

/// The registry of draft 10 says `request` where its prose says `requests`.
fn unit(params: &Parameters) -> Option<Unit> {
    match params.get("qu") {
        None => Some(Unit::Requests),
        Some(BareItem::String(unit)) => Some(Unit::from_word(unit.as_str())),
        Some(BareItem::Token(unit)) => Some(Unit::from_word(unit.as_str())),
        Some(_) => None,
    }
}

/// `Some(None)` where the parameter is absent, `None` where it is not a whole number of at least
/// zero.
fn natural(params: &Parameters, key: &str) -> Option<Option<u64>> {
    match params.get(key) {
        None => Some(None),
        Some(value) => integer(value).map(Some),
    }
}

fn integer(value: &BareItem) -> Option<u64> {
    match value {
        BareItem::Integer(number) => u64::try_from(i64::from(*number)).ok(),
        _ => None,
    }
}

static RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
static RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(value: &str) -> (Vec<Window>, Vec<String>) {
        let mut headers = HeaderMap::new();
        headers.insert(
            RATE_LIMIT.clone(),
            HeaderValue::from_str(value).expect("a field value"),
        );
        let mut flags = Flags::default();
        let windows = windows(&headers, &mut flags);
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
        let mut headers = HeaderMap::new();
        let policy = HeaderValue::from_static("\"a\";q=10;w=60;qu=\"tokens\", \"b\";q=5, 100;w=10");
        headers.insert(RATE_LIMIT_POLICY.clone(), policy);
        let mut windows = read("\"a\";r=1").0;
        let nameless = policies(&headers, &mut windows, &mut Flags::default());
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
            let mut headers = HeaderMap::new();
            let policy = HeaderValue::from_str(value).expect("a field value");
            headers.insert(RATE_LIMIT_POLICY.clone(), policy);
            let (mut windows, mut flags) = (Vec::new(), Flags::default());
            assert_eq!(policies(&headers, &mut windows, &mut flags), []);
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
