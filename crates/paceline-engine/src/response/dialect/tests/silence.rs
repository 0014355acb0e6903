use core::time::Duration;

use http::StatusCode;

use super::super::{
    Amount, Applies, CostRule, Dialect, Effect, Label, Test, TimeUnit, WaitRule, When, WindowRule,
};
use super::{NOW, headers, place};
use crate::{Scope, Unit, Verdict};

fn when(statuses: &[u16], at: Option<&str>, test: Test) -> Dialect {
    let then = Effect {
        class: Some(Verdict::RateLimited),
        ..Effect::default()
    };
    Dialect {
        when: vec![When {
            statuses: statuses.to_vec(),
            at: at.map(place),
            test,
            then,
        }],
        ..Dialect::PLAIN
    }
}

/// One that looks at a field of its own for each thing that there is to find.
fn dialects() -> Vec<Dialect> {
    let share = WindowRule {
        name: Some(Label::Text("share".into())),
        used_share: Some(place("x-own")),
        limit: Some(Amount::At(place("x-other"))),
        ..WindowRule::default()
    };
    let each = WindowRule {
        each: Some(place("x-own-*")),
        remaining: Some(place(".")),
        ..WindowRule::default()
    };
    let windows = [share, each].map(|rule| Dialect {
        windows: vec![rule],
        ..Dialect::PLAIN
    });
    let wait = WaitRule {
        at: place("x-own"),
        unit: Some(TimeUnit::Seconds),
        applies: Applies::Always,
    };
    let cost = |requested: Option<&str>, actual: &[&str]| CostRule {
        unit: Unit::Requests,
        requested: requested.map(place),
        actual: actual.iter().map(|at| place(at)).collect(),
    };
    let costs = [
        cost(Some("x-own"), &[]),
        cost(None, &["body: cost", "x-own"]),
    ];
    let costs = costs.map(|rule| Dialect {
        costs: vec![rule],
        ..Dialect::PLAIN
    });
    let others = [
        when(&[], Some("x-own"), Test::Present),
        when(&[], Some("x-own"), Test::Missing),
        when(&[200], Some("body: error"), Test::Missing),
        when(&[200], None, Test::Present),
        when(&[403], None, Test::Present),
        Dialect {
            waits: vec![wait],
            ..Dialect::PLAIN
        },
        Dialect {
            bucket: Some(place("x-own")),
            ..Dialect::PLAIN
        },
        Dialect {
            bucket: Some(place("x-ratelimit-own")),
            ..Dialect::PLAIN
        },
        Dialect {
            scope: Scope::User,
            ..Dialect::PLAIN
        },
        Dialect {
            pause: Some(Duration::from_secs(5)),
            ..Dialect::PLAIN
        },
    ];
    windows.into_iter().chain(costs).chain(others).collect()
}

/// Rules are asked where there is a body, be it an empty one, and need not be where nothing can be found.
#[test]
fn what_is_passed_over_says_nothing() {
    let fields: [&[(&str, &str)]; 8] = [
        &[],
        &[("x-request-id", "7")],
        &[("x-own", "7")],
        &[("x-own-left", "0")],
        &[("x-other", "9")],
        &[("x-ratelimit-own", "7")],
        &[("age", "9")],
        &[("retry-after", "9")],
    ];
    for dialect in dialects() {
        for (status, fields) in [200, 302, 403, 404, 429, 500, 503]
            .into_iter()
            .flat_map(|status| fields.map(|fields| (status, fields)))
        {
            let (code, headers) = (StatusCode::from_u16(status), headers(fields));
            let code = code.expect("a status");
            let read = |body| dialect.read(code, &headers, body, NOW);
            assert_eq!(
                read(None),
                read(Some(b"")),
                "{status} {fields:?} {dialect:?}"
            );
        }
    }
}

#[test]
fn most_responses_are_passed_over() {
    let silent = headers(&[
        ("date", "Thu, 01 May 2025 22:01:18 GMT"),
        ("x-request-id", "7"),
    ]);
    let passed = dialects()
        .into_iter()
        .filter(|own| own.finds_nothing(StatusCode::OK, &silent));
    // All but those of which a rule fits where there is nothing.
    assert_eq!(passed.count(), dialects().len() - 3);
    assert!(dialects().iter().all(|own| !own.is_plain()));
    assert!(Dialect::PLAIN.is_plain());
}

#[test]
fn a_share_that_is_not_told_makes_no_window() {
    let [share, ..] = &dialects()[..] else {
        unreachable!("it is the first");
    };
    let seen = share.read(StatusCode::OK, &headers(&[("x-other", "9")]), None, NOW);
    assert_eq!(seen.windows, []);
}
