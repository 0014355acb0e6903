use core::time::Duration;

use super::super::{Amount, Dialect, Label, Span, TimeUnit, WindowRule};
use super::{flags, place, read, seconds};
use crate::{Observation, Unit, Window};

fn seen(rule: WindowRule, fields: &[(&str, &str)], body: &str) -> Observation {
    let own = Dialect {
        windows: vec![rule],
        ..Dialect::default()
    };
    read(&own, 200, fields, body)
}

fn plain() -> WindowRule {
    WindowRule {
        name: Some(Label::Text("own".into())),
        limit: Some(Amount::At(place("x-ratelimit-limit"))),
        remaining: Some(place("x-ratelimit-remaining")),
        reset: Some(place("x-ratelimit-reset")),
        reset_in: Some(TimeUnit::Milliseconds),
        ..WindowRule::default()
    }
}

type Numbers = (Option<u64>, Option<u64>, Option<f64>);

fn numbers(seen: &Observation) -> Vec<Numbers> {
    let own = seen.windows.iter();
    own.map(|own: &Window| (own.limit(), own.remaining, seconds(own.reset)))
        .collect()
}

/// The fields of a dialect mean no less than those that all upstreams send.
#[test]
fn several_values_are_read_to_the_safe_side() {
    let fields = [
        ("x-ratelimit-limit", "1,000"),
        ("x-ratelimit-remaining", "991, 98"),
        ("x-ratelimit-remaining", "200"),
        ("x-ratelimit-reset", "5000, 9000"),
    ];
    let seen = seen(plain(), &fields, "");
    assert_eq!(numbers(&seen), [(Some(1000), Some(98), Some(9.0))]);
    assert_eq!(
        flags(&seen),
        [
            "thousands:x-ratelimit-limit",
            "list:x-ratelimit-remaining",
            "list:x-ratelimit-reset"
        ]
    );
}

#[test]
fn negative_numbers_mean_overdrawn_or_not_known() {
    let three = |limit, remaining, reset| {
        let fields = [
            ("x-ratelimit-limit", limit),
            ("x-ratelimit-remaining", remaining),
            ("x-ratelimit-reset", reset),
        ];
        let seen = seen(plain(), &fields, "");
        let flags = seen.flags.iter().map(str::to_owned).collect::<Vec<_>>();
        (numbers(&seen), flags)
    };
    let own = |flag: &str| vec![flag.to_owned()];
    let overdrawn = vec![(Some(10), Some(0), Some(1.0))];
    assert_eq!(three("10", "-3", "1000"), (overdrawn, own("overdrawn")));
    assert_eq!(three("-1", "-1", "0"), (vec![], own("sentinel")));
    assert_eq!(three("-1", "-1", "1000"), (vec![], own("sentinel")));
    assert_eq!(
        three("-1", "7", "0"),
        (vec![(None, Some(7), None)], own("sentinel"))
    );
}

#[test]
fn what_cannot_be_read_is_named_and_hides_nothing_else() {
    let fields = [
        ("x-ratelimit-limit", "10"),
        ("x-ratelimit-remaining", "some"),
        ("x-ratelimit-reset", "-1"),
    ];
    let seen = seen(plain(), &fields, "");
    assert_eq!(numbers(&seen), [(Some(10), None, None)]);
    assert_eq!(
        flags(&seen),
        [
            "malformed:x-ratelimit-remaining",
            "malformed:x-ratelimit-reset"
        ]
    );
}

#[test]
fn a_field_of_its_own_is_not_read_twice_and_a_cache_not_at_all() {
    let fields = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "9000"),
    ];
    let fresh = seen(plain(), &fields, "");
    assert_eq!(fresh.windows.len(), 1);
    assert_eq!(fresh.windows[0].name.as_deref(), Some("own"));
    assert_eq!(seconds(fresh.wait), Some(9.0));
    let cached = [fields[0], fields[1], ("age", "7")];
    assert_eq!(seen(plain(), &cached, "").windows, []);
}

#[test]
fn what_was_used_counts_up() {
    let rule = |used, share, usage| WindowRule {
        limit: Some(Amount::Fixed(100)),
        used,
        used_share: share,
        usage,
        ..WindowRule::default()
    };
    let at = || Some(place("x-used"));
    let left = |rule: WindowRule, value| {
        let seen = seen(rule, &[("x-used", value)], "");
        let window = seen.windows.first().cloned()?;
        Some((
            window.remaining?,
            window.remaining_milli,
            window.is_exhausted(),
            window.unit,
        ))
    };
    let percent = || Unit::Other("percent".into());
    let requests = Unit::Requests;
    assert_eq!(
        left(rule(at(), None, None), "30.5"),
        Some((69, 500, false, requests.clone()))
    );
    assert_eq!(
        left(rule(at(), None, None), "130"),
        Some((0, 0, true, requests.clone()))
    );
    assert_eq!(
        left(rule(None, at(), None), "0.31"),
        Some((69, 0, false, percent()))
    );
    assert_eq!(
        left(rule(None, at(), None), "0.995"),
        Some((0, 500, false, percent()))
    );
    assert_eq!(
        left(rule(None, at(), None), "1.0"),
        Some((0, 0, true, percent()))
    );
    assert_eq!(
        left(rule(None, None, at()), "32/40"),
        Some((8, 0, false, requests.clone()))
    );
    assert_eq!(
        left(rule(None, None, at()), "43 / 40 (x)"),
        Some((0, 0, true, requests))
    );
    assert_eq!(left(rule(None, None, at()), "32"), None);
    let two = [("x-used", "1/40"), ("x-used", "9/10")];
    assert_eq!(
        numbers(&seen(rule(None, None, at()), &two, "")),
        [(Some(10), Some(1), None)]
    );
}

#[test]
fn a_published_limit_alone_is_no_news() {
    let rule = || WindowRule {
        limit: Some(Amount::Fixed(180)),
        remaining: Some(place("x-left")),
        length: Some(Span::Fixed(Duration::from_mins(1))),
        aligned: true,
        ..WindowRule::default()
    };
    assert_eq!(seen(rule(), &[], "").windows, []);
    let told = seen(rule(), &[("x-left", "7")], "");
    assert_eq!(numbers(&told), [(Some(180), Some(7), Some(42.0))]);
}

#[test]
fn one_window_for_each_is_named_as_it_is_found() {
    let rule = WindowRule {
        each: Some(place("body: limits.*")),
        limit: Some(Amount::At(place(".max"))),
        remaining: Some(place(".left")),
        ..WindowRule::default()
    };
    let body = r#"{"limits":{"read":{"max":9,"left":8},"write":{"max":5,"left":"x"},"no":7}}"#;
    let seen = seen(rule, &[], body);
    let names: Vec<_> = seen.windows.iter().map(|own| own.name.as_deref()).collect();
    assert_eq!(names, [Some("read"), Some("write")]);
    assert_eq!(
        numbers(&seen),
        [(Some(9), Some(8), None), (Some(5), None, None)]
    );
    assert_eq!(flags(&seen), ["malformed:body"]);
}

#[test]
fn what_comes_back_steadily_is_precise_for_small_rates() {
    let rule = WindowRule {
        limit: Some(Amount::At(place("x-rate"))),
        length: Some(Span::Fixed(Duration::from_secs(1))),
        steady: true,
        ..WindowRule::default()
    };
    let refill = |rate| {
        let seen = seen(rule.clone(), &[("x-rate", rate)], "");
        seen.windows.first().and_then(|own| own.refill)
    };
    let precise = refill("0.0167").map(|refill| refill.as_millis());
    assert_eq!(precise, Some(59_880));
    assert_eq!(refill("0.5"), Some(Duration::from_secs(2)));
    assert_eq!(refill("0"), None);
}
