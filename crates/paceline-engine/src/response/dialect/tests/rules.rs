use super::super::{Dialect, Effect, Test, When};
use super::{flags, headers, place, read};
use crate::{Kind, Scope, Verdict};

fn rule(statuses: &[u16], at: &str, test: Test, then: Effect) -> When {
    When {
        statuses: statuses.to_vec(),
        at: (!at.is_empty()).then(|| place(at)),
        test,
        then,
    }
}

fn words(words: &[&str]) -> Vec<Box<str>> {
    words.iter().map(|&word| word.into()).collect()
}

fn refused() -> Effect {
    Effect {
        class: Some(Verdict::RateLimited),
        ..Effect::default()
    }
}

fn dialect(when: Vec<When>) -> Dialect {
    Dialect {
        when,
        ..Dialect::default()
    }
}

#[test]
fn each_test_holds_where_it_should() {
    let holds = |test: Test, body: &str| {
        let own = dialect(vec![rule(&[], "body: e", test, refused())]);
        read(&own, 200, &[], body).verdict == Verdict::RateLimited
    };
    let is = || Test::Is(words(&["busy", "7"]));
    assert!(holds(is(), r#"{"e":"BUSY"}"#) && holds(is(), r#"{"e":7}"#));
    assert!(!holds(is(), r#"{"e":"busybody"}"#) && !holds(is(), r#"{"f":"busy"}"#));
    let contains = || Test::Contains(words(&["Too Fast"]));
    assert!(holds(contains(), r#"{"e":"You are too fast."}"#));
    assert!(!holds(contains(), r#"{"e":"Too slow"}"#));
    let code = || Test::Code(words(&["Throttling"]));
    for text in [
        "Throttling",
        "a.b#Throttling",
        "Throttling:http://x/",
        "a#throttling:b",
    ] {
        assert!(holds(code(), &format!("{{\"e\":\"{text}\"}}")), "{text}");
    }
    for text in [
        "NotThrottling",
        "a#Throttling2",
        "b:Throttling",
        "Throttling.x",
    ] {
        assert!(!holds(code(), &format!("{{\"e\":\"{text}\"}}")), "{text}");
    }
    assert!(holds(Test::Present, r#"{"e":{}}"#) && !holds(Test::Present, r#"{"e":null}"#));
    assert!(holds(Test::Missing, r#"{"e":null}"#) && holds(Test::Missing, "<html>"));
    assert!(!holds(Test::Missing, r#"{"e":0}"#));
}

#[test]
fn all_rules_that_fit_apply_and_the_first_word_counts() {
    let own = dialect(vec![
        rule(
            &[403],
            "x-why",
            Test::Is(words(&["quota"])),
            Effect {
                kind: Some(Kind::Quota),
                scope: Some(Scope::User),
                ..Effect::default()
            },
        ),
        rule(
            &[403, 429],
            "",
            Test::Present,
            Effect {
                scope: Some(Scope::Endpoint),
                retry: Some(false),
                ..refused()
            },
        ),
    ]);
    let seen = read(&own, 403, &[("x-why", "Quota")], "");
    assert_eq!(seen.verdict, Verdict::RateLimited);
    assert_eq!(
        (seen.kind, seen.scope, seen.retry),
        (Kind::Quota, Scope::User, Some(false))
    );
    assert_eq!(flags(&seen), ["quota_not_rate"]);
    let seen = read(&own, 429, &[("x-why", "quota")], "");
    assert_eq!((seen.kind, seen.scope), (Kind::Rate, Scope::Endpoint));
    let seen = read(&own, 404, &[("x-why", "quota")], "");
    assert_eq!((seen.verdict, seen.scope), (Verdict::Other, Scope::Gate));
}

#[test]
fn the_rule_that_decided_is_told_with_what_stands_at_its_place() {
    let own = dialect(vec![
        rule(
            &[],
            "body: e",
            Test::Is(words(&["slow"])),
            Effect {
                kind: Some(Kind::Quota),
                ..Effect::default()
            },
        ),
        rule(
            &[],
            "body: all[].e",
            Test::Contains(words(&["slow"])),
            refused(),
        ),
        rule(&[], "body: e", Test::Is(words(&["slow"])), refused()),
        rule(&[477], "", Test::Present, refused()),
        rule(
            &[200],
            "x-fine",
            Test::Missing,
            Effect {
                class: Some(Verdict::Other),
                ..Effect::default()
            },
        ),
    ]);
    let decided = |status: u16, fields: &[(&str, &str)], body: &str| {
        let (seen, fields) = (read(&own, status, fields, body), headers(fields));
        let status = http::StatusCode::from_u16(status).expect("a status");
        let decided = own.decided_by(status, &fields, Some(body.as_bytes()))?;
        assert_eq!(decided.class, seen.verdict);
        let at = own.when.iter().position(|rule| rule == decided.rule);
        Some((at.expect("one of them"), decided.found))
    };
    let found = |text: &str| Some(text.to_owned());
    assert_eq!(
        decided(403, &[], r#"{"e":"slow"}"#),
        Some((2, found("slow")))
    );
    let several = r#"{"e":"slow","all":[{"e":"fine"},{"e":"too slow"}]}"#;
    assert_eq!(decided(403, &[], several), Some((1, found("too slow"))));
    assert_eq!(decided(477, &[], "{}"), Some((3, None)));
    assert_eq!(decided(200, &[], "{}"), Some((4, None)));
    assert_eq!(decided(200, &[("x-fine", "1")], "{}"), None);
    assert_eq!(decided(429, &[], "{}"), None);
}

/// What is found in a body may hold for any status, what is asked of a status only for that.
#[test]
fn a_body_is_wanted_where_it_could_say_something() {
    let wants = |own: &Dialect, status: u16| {
        own.wants_body(http::StatusCode::from_u16(status).expect("a status"))
    };
    let some = dialect(vec![rule(&[403], "body: e", Test::Present, refused())]);
    assert!(wants(&some, 403) && !wants(&some, 200));
    let head = dialect(vec![rule(&[], "x-e", Test::Present, refused())]);
    assert!(!wants(&head, 403) && !wants(&Dialect::default(), 429));
}
