//! Which header fields speak about limits, told by the shape of their names.

use super::span::Scale;

/// A field that speaks about limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// A wait: `Retry-After` or a relative.
    RetryAfter(Scale),
    /// `RateLimit` (draft-ietf-httpapi-ratelimit-headers-07 and later).
    RateLimit,
    /// `RateLimit-Policy` (draft 04 and later).
    RateLimitPolicy,
    /// One number of a window: `X-RateLimit-Remaining-Minute` is `x-ratelimit`, `minute`,
    /// `Remaining`.
    Quota {
        family: &'a str,
        window: &'a str,
        measure: Measure,
    },
}

/// Which of a window's numbers a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Limit,
    Remaining,
    Used,
    Reset,
    /// A reset that is a span whatever its size.
    ResetAfter,
}

/// Whether [`classify`] is worth asking: almost every field of almost every response ends here,
/// after a comparison of its first and last four bytes.
///
/// Names that hold `ratelimit` in the middle are recognised only if their measure comes last
/// (`anthropic-ratelimit-tokens-reset`, `x-amzn-ratelimit-limit`).
// Measured: half of the time for a head of twelve fields was the call.
#[inline(always)]
pub(super) fn is_candidate(name: &str) -> bool {
    let name = name.as_bytes();
    if name.len() < SHORTEST {
        return false;
    }
    let (Some(start), Some(end)) = (name.first_chunk(), name.last_chunk()) else {
        return false;
    };
    let known_end = matches!(
        end,
        b"imit" | b"eset" | b"ning" | b"fter" | b"r-ms" | b"used"
    );
    match start {
        b"rate" | b"retr" => true,
        // The most common `x-` field of all is `x-request-id`.
        b"x-ra" | b"x-re" => name.get(4) == Some(&b't') || known_end,
        _ => known_end,
    }
}

/// What a field says about limits, if it does.
pub(super) fn classify(name: &str) -> Option<Field<'_>> {
    match name {
        "ratelimit" => return Some(Field::RateLimit),
        "ratelimit-policy" => return Some(Field::RateLimitPolicy),
        "retry-after" | "x-retry-after" => return Some(Field::RetryAfter(Scale::Seconds)),
        "retry-after-ms" | "x-retry-after-ms" | "x-ms-retry-after-ms" | "x-amz-retry-after" => {
            return Some(Field::RetryAfter(Scale::Millis));
        }
        // Zendesk: the limit has the bare name (2025).
        "x-rate-limit" | "x-ratelimit" => {
            return Some(Field::Quota {
                family: name,
                window: "",
                measure: Measure::Limit,
            });
        }
        _ => {}
    }
    // A limiter's name behind it (NestJS).
    if name.starts_with("retry-after-") {
        return Some(Field::RetryAfter(Scale::Seconds));
    }
    // Oracle's.
    if name.starts_with("requestlimit-") && name.ends_with("-retryafter") {
        return Some(Field::RetryAfter(Scale::Millis));
    }
    let (family, rest) = split_family(name)?;
    of_family(family, rest)
}

/// A number of a window, or a wait under an `X-RateLimit` name (bucket4j, MailerLite,
/// tower_governor).
fn of_family<'a>(family: &'a str, rest: &'a str) -> Option<Field<'a>> {
    match rest {
        "after" | "retry-after" | "retry-after-seconds" => {
            return Some(Field::RetryAfter(Scale::Seconds));
        }
        "retry-after-ms" => return Some(Field::RetryAfter(Scale::Millis)),
        _ => {}
    }
    let (window, measure) = split_measure(rest)?;
    Some(Field::Quota {
        family,
        window,
        measure,
    })
}

/// Splits `x-ratelimit-remaining` into `x-ratelimit` and `remaining`.
// Measured: a search for the words cost more than all the rest of reading three plain fields.
fn split_family(name: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    loop {
        for word in ["ratelimit-", "rate-limit-"] {
            if name[at..].starts_with(word) {
                let end = at + word.len();
                return Some((&name[..end - 1], &name[end..]));
            }
        }
        at += name[at..].find('-')? + 1;
    }
}

/// Splits `remaining-minute` or `tokens-reset` into the window's name and the measure.
fn split_measure(rest: &str) -> Option<(&str, Measure)> {
    MEASURES.iter().find_map(|&(word, measure)| {
        if rest == word {
            return Some(("", measure));
        }
        let before = rest
            .strip_suffix(word)
            .and_then(|rest| rest.strip_suffix('-'));
        let after = rest
            .strip_prefix(word)
            .and_then(|rest| rest.strip_prefix('-'));
        Some((after.or(before)?, measure))
    })
}

/// `ratelimit`. `date`, `etag`, `vary` and `server` are shorter.
const SHORTEST: usize = 9;

/// Longer words first, since `reset` is a part of `reset-after`.
const MEASURES: [(&str, Measure); 6] = [
    ("reset-after", Measure::ResetAfter),
    ("resettime", Measure::Reset),
    ("remaining", Measure::Remaining),
    ("limit", Measure::Limit),
    ("reset", Measure::Reset),
    ("used", Measure::Used),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_name_tells_family_window_and_measure() {
        for (name, family, window, measure) in [
            ("x-ratelimit-limit", "x-ratelimit", "", Measure::Limit),
            ("x-rate-limit-reset", "x-rate-limit", "", Measure::Reset),
            ("ratelimit-remaining", "ratelimit", "", Measure::Remaining),
            (
                "x-ratelimit-reset-after",
                "x-ratelimit",
                "",
                Measure::ResetAfter,
            ),
            (
                "x-ratelimit-limit-minute",
                "x-ratelimit",
                "minute",
                Measure::Limit,
            ),
            (
                "x-ratelimit-requests-reset",
                "x-ratelimit",
                "requests",
                Measure::Reset,
            ),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "anthropic-ratelimit",
                "input-tokens",
                Measure::Reset,
            ),
            (
                "x-amzn-ratelimit-limit",
                "x-amzn-ratelimit",
                "",
                Measure::Limit,
            ),
            ("x-rate-limit", "x-rate-limit", "", Measure::Limit),
        ] {
            assert!(is_candidate(name), "{name}");
            let expected = Field::Quota {
                family,
                window,
                measure,
            };
            assert_eq!(classify(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn waits_have_many_names() {
        for (name, scale) in [
            ("retry-after", Scale::Seconds),
            ("retry-after-short", Scale::Seconds),
            ("x-ratelimit-after", Scale::Seconds),
            ("x-rate-limit-retry-after-seconds", Scale::Seconds),
            ("retry-after-ms", Scale::Millis),
            ("x-ms-retry-after-ms", Scale::Millis),
            ("x-amz-retry-after", Scale::Millis),
            ("requestlimit-default-retryafter", Scale::Millis),
        ] {
            assert!(is_candidate(name), "{name}");
            assert_eq!(classify(name), Some(Field::RetryAfter(scale)), "{name}");
        }
    }

    #[test]
    fn everything_else_is_left_alone() {
        for name in [
            "content-type",
            "x-request-id",
            "referrer-policy",
            "x-ratelimit-resource",
            "x-ratelimit-bucket",
            "x-floodcontrol-remaining",
            "requestlimit-default-remaining",
            "corporate-limit-reset",
            "ratelimit-",
        ] {
            assert_eq!(classify(name), None, "{name}");
        }
    }
}
