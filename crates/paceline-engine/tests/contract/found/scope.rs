//! What an answer speaks of: its bucket, its endpoint, its object, everything.

use super::*;

#[test]
fn a_refusal_stops_its_bucket_and_teaches_nobody_else() {
    let mut driver = buckets(None);
    for want in [route(MESSAGES), route(MEMBERS)] {
        let name = driver.ask(&want);
        let bucket = if name == 0 { "b1" } else { "b2" };
        driver.answer(name, &left(bucket, 5, 1_000));
    }
    let refused = driver.ask(&route(MESSAGES));
    driver.answer(refused, &spent("b1", 30_000));
    let gates = driver.engine.snapshot(driver.now).gates;
    let refusals: Vec<_> = gates.iter().map(|gate| gate.belief.refusals).collect();
    assert_eq!(refusals, [0, 0, 0], "its window explains it");
    assert!(gates[1].throttled_until >= Some(at(30_000)));
    assert_eq!((gates[0].reason, gates[2].reason), (None, None));
    driver.ask_all(3, &route(MEMBERS));
    assert_eq!(driver.order().len(), 6);
}

/// Others are served beside it, later than the refused one left: they left before it came to that.
#[test]
fn what_is_said_to_be_global_holds_everybody() {
    for wait in [2_000, 65_000] {
        let mut driver = buckets(None);
        for (path, bucket) in [(MESSAGES, "b1"), (REACTIONS, "b2"), (MEMBERS, "b3")] {
            let name = driver.ask(&route(path));
            driver.answer(name, &left(bucket, 50, 1_000));
        }
        let refused = driver.ask(&route(MESSAGES));
        let served = driver.ask(&route(REACTIONS));
        let late = driver.ask(&route(MEMBERS));
        driver.answer(served, &left("b2", 49, 1_000));
        driver.answer(refused, &globally_for(wait));
        driver.answer(late, &left("b3", 49, 1_000));
        let held = driver.order().len();
        for want in [route(MESSAGES), route(REACTIONS), route(9), through(&[API])] {
            driver.ask(&want);
        }
        assert_eq!(driver.order().len(), held, "{wait}");
        let until = driver.wait();
        assert_eq!(until.reason, Reason::Pause);
        assert!(until.at >= at(wait) && until.at <= at(wait + 1_000));
        // A global limit is learned like any other.
        while driver.wake.is_some() {
            driver.wait();
            while let Some((&name, _)) = driver.under_way.first_key_value() {
                driver.answer(name, &ok());
            }
        }
        assert_eq!(driver.order().len(), held + 4);
        let gates = driver.engine.snapshot(driver.now).gates;
        let refusals: Vec<_> = gates.iter().map(|gate| gate.belief.refusals).collect();
        assert_eq!(refusals, [1, 0, 0, 0, 0], "{wait}");
    }
}

/// Its windows are those of the bucket beside which it was said.
#[test]
fn a_global_refusal_holds_everybody_no_longer_than_it_says() {
    let mut driver = buckets(None);
    for (path, bucket) in [(MESSAGES, "b1"), (MEMBERS, "b2")] {
        let name = driver.ask(&route(path));
        driver.answer(name, &left(bucket, 5, 60_000));
    }
    let refused = driver.ask(&route(MESSAGES));
    let mut global = globally_for(2_000);
    global.windows.push(window(0, ms(60_000)));
    driver.answer(refused, &global);
    let held = driver.ask(&route(MESSAGES));
    let free = driver.ask(&route(MEMBERS));
    driver.pass_to(at(5_000));
    assert_eq!(driver.order().last(), Some(&free));
    driver.answer(free, &left("b2", 4, 55_000));
    driver.pass_to(at(62_000));
    assert_eq!(driver.order().last(), Some(&held));
}

#[test]
fn a_refusal_of_the_user_is_about_the_bucket_that_it_names_and_else_about_everything() {
    for bucket in [Some("b1"), None] {
        let mut driver = buckets(None);
        for (path, bucket) in [(MESSAGES, "b1"), (MEMBERS, "b2")] {
            let name = driver.ask(&route(path));
            driver.answer(name, &left(bucket, 5, 60_000));
        }
        let refused = driver.ask(&route(MESSAGES));
        let mut seen = refused_for(ms(90_000));
        (seen.scope, seen.bucket) = (Scope::User, bucket.map(Into::into));
        driver.answer(refused, &seen);
        driver.ask(&route(MESSAGES));
        let other = driver.ask(&route(MEMBERS));
        let last = if bucket.is_some() { other } else { refused };
        assert_eq!(driver.order().last(), Some(&last));
    }
}

/// The first word of a long wait is not taken for that of a single request where the answer names whom it means.
#[test]
fn a_bucket_that_is_named_stops_at_the_first_word() {
    let mut driver = buckets(None);
    let served = driver.ask(&route(MESSAGES));
    driver.answer(served, &left("b1", 5, 60_000));
    let refused = driver.ask(&route(MESSAGES));
    let mut seen = refused_for(ms(90_000));
    seen.bucket = Some("b1".into());
    driver.answer(refused, &seen);
    driver.ask(&route(MESSAGES));
    assert_eq!(driver.wait().reason, Reason::Pause);
    assert!(driver.now >= at(90_000));
}

/// Refusals are about a pace, and its upstream is there for others.
#[test]
fn a_bucket_that_refuses_everything_is_neither_dead_nor_its_upstream() {
    let mut driver = finding(GatesBy::Endpoint, None, &[]);
    let served = driver.ask(&route(MEMBERS));
    driver.answer(served, &ok());
    let mut seen = refused();
    seen.scope = Scope::Endpoint;
    for _ in 0..12 {
        driver.ask(&route(MESSAGES));
        while let Some((&name, _)) = driver.under_way.first_key_value() {
            driver.answer(name, &seen);
        }
        driver.pass(ms(1_000));
    }
    assert_eq!((driver.circuit(0), driver.circuit(2)), ("closed", "closed"));
    assert!(driver.refusals.is_empty());
    // Nor where nothing was ever served.
    let mut driver = finding(GatesBy::Endpoint, None, &[]);
    for path in 0..12 {
        let name = driver.ask(&route(path));
        driver.answer(name, &seen);
    }
    assert_eq!(driver.circuit(0), "closed");
}

#[test]
fn an_overload_of_a_route_is_waited_out_where_its_upstream_has_served() {
    let mut driver = buckets(None);
    let served = driver.ask(&route(MEMBERS));
    driver.answer(served, &ok());
    driver.ask(&route(MESSAGES));
    let busy = Observation::status(Verdict::Overloaded, 503);
    let (policy, mut attempts) = (RetryPolicy::default(), Attempts::new());
    for _ in 0..6 {
        attempts.sent();
        let (want, now) = (route(MESSAGES), driver.now);
        let yes = Repeatable::YES;
        let decision = driver
            .engine
            .decide(now, &want, &policy, &mut attempts, yes, &busy);
        assert!(matches!(decision, Decision::Again { .. }), "{decision:?}");
    }
}

#[test]
fn where_each_endpoint_has_its_own_only_what_is_said_of_it_stops_it_alone() {
    let mut driver = finding(GatesBy::Endpoint, None, &[]);
    driver.ask_all(3, &route(MESSAGES));
    driver.ask_all(2, &route(MEMBERS));
    assert_eq!(driver.order().len(), 5, "nobody goes alone");
    let mut here = refused_for(ms(30_000));
    here.scope = Scope::Endpoint;
    driver.answer(3, &ok());
    driver.answer(4, &ok());
    for name in 0..3 {
        driver.answer(name, &here);
    }
    driver.ask(&route(MESSAGES));
    let free = driver.ask(&route(MEMBERS));
    assert_eq!(driver.order().last(), Some(&free));
    // Where nothing is said, everything is meant.
    driver.answer(free, &refused_for(ms(10_000)));
    let held = driver.ask(&route(REACTIONS));
    assert!(driver.wait().at >= at(10_000));
    assert_eq!(driver.order().last(), Some(&held));
}

#[test]
fn an_endpoint_that_fails_does_not_make_its_upstream_seem_dead() {
    let mut driver = finding(GatesBy::Endpoint, None, &[]);
    let broken = Observation::status(Verdict::Other, 500);
    for _ in 0..8 {
        let fails = driver.ask(&route(MESSAGES));
        if driver.under_way.contains_key(&fails) {
            driver.answer(fails, &broken);
        }
        let serves = driver.ask(&route(MEMBERS));
        driver.answer(serves, &ok());
    }
    assert_eq!(driver.circuit(0), "closed");
    assert_eq!((driver.circuit(1), driver.circuit(2)), ("open", "closed"));
    // And one that is down altogether is asked by one request, whatever its route.
    let mut driver = finding(GatesBy::Endpoint, None, &[]);
    for path in 0..8 {
        let fails = driver.ask(&route(path));
        if driver.under_way.contains_key(&fails) {
            driver.answer(fails, &broken);
        }
    }
    assert_eq!((driver.order().len(), driver.circuit(0)), (5, "open"));
}
