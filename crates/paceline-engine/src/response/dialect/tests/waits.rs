use core::time::Duration;

use super::super::{
    Amount, Applies, CostRule, Dialect, Effect, TimeUnit, WaitRule, When, WindowRule,
};
use super::{flags, place, read, seconds};
use crate::{Unit, Verdict};

fn wait(at: &str, unit: Option<TimeUnit>, applies: Applies) -> WaitRule {
    WaitRule {
        at: place(at),
        unit,
        applies,
    }
}

fn in_body(unit: Option<TimeUnit>) -> Dialect {
    Dialect {
        waits: vec![wait("body: w", unit, Applies::Refusals)],
        ..Dialect::default()
    }
}

#[test]
fn a_unit_is_as_named_or_as_size_and_form_tell() {
    let read = |unit, value: &str| {
        let seen = read(&in_body(unit), 429, &[], &format!("{{\"w\":{value}}}"));
        seconds(seen.wait)
    };
    for (unit, value, expected) in [
        (Some(TimeUnit::Seconds), "2.5", Some(2.5)),
        (Some(TimeUnit::Milliseconds), "\"2500\"", Some(2.5)),
        (Some(TimeUnit::Minutes), "2", Some(120.0)),
        (None, "\"52.5s\"", Some(52.5)),
        (None, "1746136938000", Some(60.0)),
        (None, "\"2025-05-01T22:02:18Z\"", Some(60.0)),
        (
            Some(TimeUnit::Seconds),
            "99999999999999999999",
            Some(2_147_483_648.0),
        ),
        (
            Some(TimeUnit::Minutes),
            "99999999999999999999",
            Some(2_147_483_648.0),
        ),
        (Some(TimeUnit::Seconds), "0", None),
        (Some(TimeUnit::Seconds), "-5", None),
        (Some(TimeUnit::Seconds), "\"soon\"", None),
        (Some(TimeUnit::Seconds), "null", None),
        (Some(TimeUnit::Seconds), "{}", None),
    ] {
        assert_eq!(read(unit, value), expected, "{unit:?} {value}");
    }
}

#[test]
fn what_cannot_be_read_is_named_and_what_is_not_there_is_not() {
    let own = in_body(Some(TimeUnit::Seconds));
    assert_eq!(
        flags(&read(&own, 429, &[], "{\"w\":\"soon\"}")),
        ["malformed:body"]
    );
    assert_eq!(flags(&read(&own, 429, &[], "{\"w\":null}")), [""; 0]);
    assert_eq!(flags(&read(&own, 429, &[], "<html>")), [""; 0]);
}

#[test]
fn the_longer_of_field_and_body_counts() {
    let own = in_body(Some(TimeUnit::Seconds));
    let both = |field, body: &str| {
        let seen = read(
            &own,
            429,
            &[("retry-after", field)],
            &format!("{{\"w\":{body}}}"),
        );
        (seconds(seen.retry_after), seconds(seen.wait))
    };
    assert_eq!(both("65", "64.57"), (Some(65.0), Some(65.0)));
    assert_eq!(both("3", "600"), (Some(3.0), Some(600.0)));
    assert_eq!(both("0", "4"), (Some(0.0), Some(4.0)));
    assert_eq!(both("x", "4"), (None, Some(4.0)));
}

#[test]
fn only_some_waits_are_for_whoever_was_served() {
    let waits = |applies| Dialect {
        waits: vec![wait("body: w", Some(TimeUnit::Seconds), applies)],
        ..Dialect::default()
    };
    let served = |applies| seconds(read(&waits(applies), 200, &[], "{\"w\":5}").wait);
    assert_eq!(served(Applies::Always), Some(5.0));
    assert_eq!(served(Applies::Refusals), None);
}

#[test]
fn the_least_pause_is_for_refusals_that_name_none() {
    let own = Dialect {
        pause: Some(Duration::from_secs(30)),
        when: vec![When {
            statuses: vec![409],
            at: None,
            test: super::super::Test::Present,
            then: Effect {
                class: Some(Verdict::RateLimited),
                pause: Some(Duration::from_secs(7)),
                ..Effect::default()
            },
        }],
        ..Dialect::default()
    };
    let seen = |status, fields: &[_]| {
        let seen = read(&own, status, fields, "");
        (seconds(seen.wait), seen.assumed)
    };
    assert_eq!(seen(429, &[]), (Some(30.0), true));
    assert_eq!(seen(409, &[]), (Some(7.0), true));
    assert_eq!(seen(429, &[("retry-after", "2")]), (Some(2.0), false));
    assert_eq!(seen(429, &[("retry-after", "0")]), (Some(30.0), true));
    assert_eq!(seen(200, &[]), (None, false));
}

#[test]
fn a_bucket_that_refills_is_waited_for_unless_it_never_holds_so_much() {
    let own = Dialect {
        windows: vec![WindowRule {
            unit: Unit::Other("points".into()),
            limit: Some(Amount::At(place("body: whole"))),
            remaining: Some(place("body: left")),
            refill: Some(Amount::At(place("body: rate"))),
            ..WindowRule::default()
        }],
        costs: vec![CostRule {
            unit: Unit::Other("points".into()),
            requested: Some(place("body: cost")),
            actual: vec![],
        }],
        ..Dialect::default()
    };
    let seen = |whole: u64, left: i64, rate: &str, cost: u64| {
        let body = format!(r#"{{"whole":{whole},"left":{left},"rate":{rate},"cost":{cost}}}"#);
        let seen = read(&own, 429, &[], &body);
        (seconds(seen.wait), seen.retry)
    };
    assert_eq!(seen(1000, 89, "50", 502), (Some(8.26), None));
    assert_eq!(seen(1000, -20, "50.0", 100), (Some(2.0), None));
    assert_eq!(seen(1000, 89, "0", 502), (None, None));
    assert_eq!(seen(1000, 89, "1e-9", 502), (Some(2_147_483_648.0), None));
    assert_eq!(seen(1000, 600, "50", 502), (None, None));
    assert_eq!(seen(1000, 89, "50", 1001), (None, Some(false)));
}
