//! Words for what was noticed, and numbers as people read them.

use core::time::Duration;

pub(super) fn note(flag: &str) -> String {
    if let Some((_, meaning)) = EXPLAINED.iter().find(|(own, _)| *own == flag) {
        return (*meaning).to_owned();
    }
    match flag.split_once(':') {
        Some(("malformed", "body")) => "a part of the body cannot be read, and is ignored".into(),
        Some(("conflict", "retry-after")) => "two waits contradict each other; the longer is taken".into(),
        Some(("conflict", "retry-after-vs-reset")) => {
            "Retry-After and the reset of the exhausted window contradict each other; Retry-After goes first".into()
        }
        Some(("conflict", "remaining")) => {
            "two families of fields disagree about what is left of one limit; the smaller counts".into()
        }
        Some(("malformed", field)) => format!("{field} cannot be read, and is ignored"),
        Some(("list", field)) => format!("{field} holds several values; the safe one is taken"),
        Some(("thousands", field)) => {
            format!("{field} is one number with commas between its thousands")
        }
        Some(("conflict", what)) => format!("there is a contradiction: {what}"),
        _ => flag.to_owned(),
    }
}

pub(super) const EXPLAINED: [(&str, &str); 23] = [
    (
        "saturated",
        "it does not fit: the longest wait there is, 68 years, is taken",
    ),
    ("huge", "it is more than a day"),
    ("past", "it is over already"),
    ("zero_hint", "a wait of nothing is no hint"),
    (
        "skew",
        "the server's clock differs from ours; its own Date is gone by",
    ),
    (
        "date_distrusted",
        "the response's Date makes no sense; our clock is gone by",
    ),
    (
        "epoch_s",
        "by its size it is an instant in seconds since 1970",
    ),
    (
        "epoch_ms",
        "by its size it is an instant in milliseconds since 1970",
    ),
    (
        "epoch_us",
        "by its size it is an instant in microseconds since 1970",
    ),
    (
        "epoch_ns",
        "by its size it is an instant in nanoseconds since 1970",
    ),
    (
        "epoch_in_retry_after",
        "by its size it is an instant, although it should be a span",
    ),
    (
        "duration_in_retry_after",
        "it is a span with units, which Retry-After does not have",
    ),
    ("naive_datetime", "it names no time zone; UTC is taken"),
    (
        "mixed_families",
        "two families of fields tell of different windows",
    ),
    (
        "sentinel",
        "a negative number: overdrawn under a limit, otherwise not known",
    ),
    ("overdrawn", "less than nothing is left"),
    (
        "too_many_windows",
        "it tells of more windows than any honest upstream has; some are left out",
    ),
    (
        "too_dear",
        "it asks for more than the bucket ever holds: no wait makes that possible",
    ),
    (
        "cached",
        "it comes out of a cache (Age): what it says of quotas is old, and ignored",
    ),
    (
        "request_scoped_hint",
        "the wait concerns this request alone",
    ),
    ("ra_on_success", "a Retry-After on a success is no pause"),
    (
        "quota_not_rate",
        "a quota or a bill, not a rate: waiting a little is pointless",
    ),
    (
        "concurrency",
        "it is about how much is under way at once: fewer help, slower does not",
    ),
];

pub(super) fn thousandths(milli: u128) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        rest => format!("{}.{rest:03}", milli / 1000)
            .trim_end_matches('0')
            .to_owned(),
    }
}

pub(super) fn span(span: Duration) -> String {
    let text = format!("{:.3}", span.as_secs_f64());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if span < Duration::from_mins(2) {
        return format!("{text} s");
    }
    let whole = span.as_secs();
    let (days, hours, minutes, seconds) = (
        whole / 86_400,
        whole / 3600 % 24,
        whole / 60 % 60,
        whole % 60,
    );
    let units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")];
    let units = units.iter().filter(|(number, _)| *number > 0).take(2);
    let words: Vec<_> = units
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    format!("{text} s ({})", words.join(" "))
}
