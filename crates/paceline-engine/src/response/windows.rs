//! Bringing together what the families of fields say about windows.

use core::time::Duration;

use super::rate_limit::Quota;
use crate::{Flags, Unit, Window};

/// More windows than any honest upstream reports; a hostile one cannot make us keep more.
pub(super) const MOST: usize = 64;

/// Adds a window. When there are too many, one that is exhausted takes the place of one that is
/// not.
pub(super) fn push(windows: &mut Vec<Window>, window: Window, flags: &mut Flags) {
    if windows.len() < MOST {
        windows.push(window);
        return;
    }
    flags.add("too_many_windows");
    if window.is_exhausted()
        && let Some(place) = windows.iter_mut().rfind(|own| !own.is_exhausted())
    {
        *place = window;
    }
}

/// Adds the windows of plain fields to those of structured fields.
///
/// A gateway and an origin may each speak in their own way. Where two families report the same
/// numbers it is one window said twice; where they differ there are two limiters.
pub(super) fn merge(
    windows: &mut Vec<Window>,
    plain: Vec<(&str, Window, Vec<Quota>)>,
    mut quotas: Vec<Quota>,
    flags: &mut Flags,
) {
    // The structured fields are a family of their own, even beside plain `RateLimit-Limit`.
    let mut families = Vec::new();
    if !plain.is_empty() {
        families.resize(windows.len(), "");
    }
    let mut twins = Vec::new();
    for (family, window, own_quotas) in plain {
        quotas.extend(own_quotas);
        // Two of one family are two limiters, also where both could be the twin of one.
        let is_twin = |(place, (own, other)): (usize, (&Window, &&str))| {
            *other != family && !twins.contains(&(place, family)) && say_the_same(own, &window)
        };
        let mut known = windows.iter().zip(&families).enumerate();
        if let Some(twin) = known.position(is_twin) {
            twins.push((twin, family));
            complete(&mut windows[twin], window);
        } else {
            families.push(family);
            push(windows, window, flags);
        }
    }
    if families.iter().any(|family| *family != families[0]) {
        flags.add("mixed_families");
        if contradict(windows, &families) {
            flags.add("conflict:remaining");
        }
    }
    for quota in quotas.into_iter().take(MOST) {
        apply(windows, quota, flags);
    }
}

fn say_the_same(one: &Window, other: &Window) -> bool {
    fn agree<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
        one.is_none() || other.is_none() || one == other
    }
    one.remaining.is_some()
        && one.remaining == other.remaining
        && one.unit == other.unit
        && agree(one.limit_milli, other.limit_milli)
        && agree(one.length, other.length)
        && match (one.reset, other.reset) {
            (Some(one), Some(other)) => one.abs_diff(other) <= SAME_RESET,
            _ => true,
        }
}

/// Whether two families name the same limit and disagree about what is left of it.
fn contradict(windows: &[Window], families: &[&str]) -> bool {
    let told = |window: &Window| Some((window.limit_milli?, window.remaining?));
    let known = windows.iter().zip(families);
    let known = known.filter_map(|(window, family)| Some((told(window)?, &window.unit, family)));
    let known: Vec<_> = known.collect();
    known.iter().any(|((limit, left), unit, family)| {
        let mut others = known.iter().filter(|(.., own)| own != family);
        others.any(|(other, own, _)| other.0 == *limit && own == unit && other.1 != *left)
    })
}

fn complete(window: &mut Window, twin: Window) {
    window.limit_milli = window.limit_milli.or(twin.limit_milli);
    window.length = window.length.or(twin.length);
    window.reset = window.reset.max(twin.reset);
}

/// A policy without a name belongs to the window that holds as much as it does, or is a window by
/// itself.
fn apply(windows: &mut Vec<Window>, quota: Quota, flags: &mut Flags) {
    let limit_milli = Some(u128::from(quota.limit) * 1000);
    let length = quota
        .length
        .map(|seconds| Duration::from_secs(seconds.min(super::span::LONGEST_SECONDS)));
    let fits = |window: &&mut Window| {
        window.unit == Unit::Requests
            && window.limit_milli == limit_milli
            && (window.length.is_none() || window.length == length)
    };
    if let Some(window) = windows.iter_mut().find(fits) {
        window.length = length;
        return;
    }
    let window = Window {
        limit_milli,
        length,
        ..Window::unknown()
    };
    push(windows, window, flags);
}

/// What a window counts whose fields have a name in theirs: `x-ratelimit-limit-tokens`.
pub(super) fn unit_of_name(name: &str) -> Unit {
    let word = name.rsplit('-').next().unwrap_or(name);
    match word {
        "complexity" | "cost" => Unit::Other("points".into()),
        "tokens" | "points" | "bytes" | "credits" => Unit::Other(word.into()),
        "concurrent" | "concurrency" => Unit::Concurrent,
        _ => Unit::Requests,
    }
}

/// How long a window is whose fields have its length in theirs: `x-ratelimit-limit-minute` (Kong).
pub(super) fn length_of_name(name: &str) -> Option<Duration> {
    let seconds = match name.rsplit('-').next().unwrap_or(name) {
        "second" => 1,
        "minute" => 60,
        "hour" => 3600,
        "day" => 86_400,
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}

/// One family rounds to whole seconds, the other counts from a `Date` that does too.
const SAME_RESET: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn window(limit: Option<u64>, remaining: u64, reset: u64) -> Window {
        Window {
            limit_milli: limit.map(|limit| u128::from(limit) * 1000),
            remaining: Some(remaining),
            reset: Some(Duration::from_secs(reset)),
            ..Window::unknown()
        }
    }

    #[test]
    fn equal_numbers_are_one_window_and_others_two() {
        let mut flags = Flags::default();
        let mut windows = vec![window(None, 5, 30)];
        let same = ("x-ratelimit", window(Some(10), 5, 31), vec![]);
        merge(&mut windows, vec![same], vec![], &mut flags);
        assert_eq!(windows, [window(Some(10), 5, 31)]);
        assert!(!flags.contains("mixed_families"));

        let other = ("x-ratelimit", window(Some(10), 4, 30), vec![]);
        merge(&mut windows, vec![other], vec![], &mut flags);
        assert_eq!(windows.len(), 2);
        assert!(flags.contains("mixed_families"));
    }

    #[test]
    fn a_window_is_said_once_by_each_family() {
        let mut windows = Vec::new();
        let said = [("x-ratelimit", 30), ("ratelimit", 30), ("ratelimit", 31)];
        let said = said.map(|(family, reset)| (family, window(None, 0, reset), vec![]));
        merge(&mut windows, said.into(), vec![], &mut Flags::default());
        assert_eq!(windows, [window(None, 0, 30), window(None, 0, 31)]);
    }

    #[test]
    fn nameless_policies_go_to_the_window_that_holds_as_much() {
        let mut windows = vec![window(Some(50), 5, 30)];
        let quota = |limit, length| Quota {
            limit,
            length: Some(length),
        };
        let policies = vec![quota(10, 1), quota(50, 60)];
        merge(&mut windows, vec![], policies, &mut Flags::default());
        assert_eq!(windows[0].length, Some(Duration::from_mins(1)));
        assert_eq!(
            (windows[1].limit(), windows[1].length),
            (Some(10), Some(Duration::from_secs(1)))
        );
    }

    #[test]
    fn there_are_never_too_many_and_an_exhausted_one_is_kept() {
        let mut flags = Flags::default();
        let mut windows = Vec::new();
        for _ in 0..1000 {
            push(&mut windows, window(None, 5, 30), &mut flags);
        }
        push(&mut windows, window(None, 0, 30), &mut flags);
        assert_eq!(windows.len(), MOST);
        assert!(windows.iter().any(Window::is_exhausted));
    }
}
