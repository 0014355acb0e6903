//! Gates that are found from responses: what they hold back, who moves to them, and how many there are.

use super::*;

const MESSAGES: u64 = 1;
const REACTIONS: u64 = 2;
const MEMBERS: u64 = 3;

/// One upstream without limits whose responses name buckets.
fn buckets(cold_start: Option<u64>) -> Driver {
    finding(GatesBy::Bucket, cold_start, &[])
}

fn finding(by: GatesBy, cold_start: Option<u64>, known: &[&str]) -> Driver {
    let mut driver = Driver::new(&[&[]]);
    driver.engine.find_gates(FindGates {
        by,
        cold_start,
        known: known.iter().map(|name| (*name).into()).collect(),
    });
    driver
}

fn route(path: u64) -> Want {
    Want::new(GateSet::one(API)).route(Some(key(path, None)))
}

fn about(path: u64, object: u64) -> Want {
    Want::new(GateSet::one(API)).route(Some(key(path, Some(object))))
}

fn key(path: u64, resource: Option<u64>) -> RouteKey {
    RouteKey {
        path,
        resource,
        known: None,
    }
}

/// Served, so much left of this bucket until then.
fn left(bucket: &str, remaining: u64, reset: u64) -> Observation {
    let mut seen = ok();
    seen.bucket = Some(bucket.into());
    seen.windows.push(window(remaining, ms(reset)));
    seen
}

fn spent(bucket: &str, reset: u64) -> Observation {
    let mut seen = refused_for(ms(reset));
    seen.bucket = Some(bucket.into());
    seen.windows.push(window(0, ms(reset)));
    seen
}

fn globally_for(wait: u64) -> Observation {
    let mut seen = refused_for(ms(wait));
    seen.scope = Scope::Global;
    seen
}

/// Not before the reset, and a hundredth later at most: others may wait for it, too.
fn is_reset(deadline: Deadline, reset: u64) -> bool {
    let (first, last) = (at(reset), at(reset + reset / 100));
    deadline.reason == Reason::Window && (first..=last).contains(&deadline.at)
}

fn names(driver: &Driver) -> Vec<String> {
    let gates = driver.engine.snapshot(driver.now).gates;
    gates.iter().map(|gate| gate.name.to_string()).collect()
}

#[test]
fn a_route_whose_bucket_is_not_known_goes_alone_and_holds_no_other() {
    let mut driver = buckets(None);
    driver.ask_all(3, &route(MESSAGES));
    driver.ask_all(2, &route(MEMBERS));
    assert_eq!(driver.order(), [0, 3]);
    driver.answer(0, &left("b1", 5, 10_000));
    assert_eq!(driver.order(), [0, 3, 1, 2]);
    driver.answer(3, &ok());
    assert_eq!(driver.order(), [0, 3, 1, 2, 4]);
    assert_eq!(names(&driver), ["gate 0", "gate 0 b1 #1", "gate 0 #2"]);
}

#[test]
fn a_spent_window_holds_its_own_routes_and_nobody_else() {
    let mut driver = buckets(None);
    let first = driver.ask(&route(MESSAGES));
    driver.answer(first, &left("b1", 0, 10_000));
    let held = driver.ask(&route(MESSAGES));
    let other = driver.ask(&route(MEMBERS));
    driver.answer(other, &left("b2", 3, 10_000));
    driver.ask(&route(MEMBERS));
    let plain = driver.ask(&through(&[API]));
    assert_eq!(driver.order(), [first, other, plain - 1, plain]);
    assert!(is_reset(driver.wait(), 10_000));
    assert_eq!(driver.order().last(), Some(&held));
}

#[test]
fn two_routes_that_turn_out_to_be_one_bucket_share_it_and_nobody_loses_a_place() {
    let mut driver = buckets(None);
    let first = driver.ask(&route(MESSAGES));
    driver.answer(first, &left("b1", 1, 10_000));
    let last_of_window = driver.ask(&route(MESSAGES));
    let unknown = driver.ask(&route(REACTIONS));
    driver.now = at(1);
    // In turns, one route and the other: the second one's gate is not known to be the first one's.
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(driver.ask(&route(MESSAGES)));
        waiting.push(driver.ask(&route(REACTIONS)));
    }
    assert_eq!(driver.order(), [first, last_of_window, unknown]);
    driver.answer(unknown, &left("b1", 0, 9_999));
    driver.answer(last_of_window, &left("b1", 0, 9_999));
    assert_eq!(driver.order().len(), 3, "one window for both");
    driver.pass_to(at(10_100));
    // One finds out that the window has started anew; its answer lets the others go.
    assert_eq!(driver.order()[3..], waiting[..1]);
    driver.answer(waiting[0], &left("b1", 9, 9_999));
    assert_eq!(driver.order()[3..], waiting, "by first arrival");
    assert_eq!(names(&driver), ["gate 0", "gate 0 b1 #1"]);
}

/// The last of a window went twice: to one of its own, and to one of whom it was not known.
#[test]
fn a_window_keeps_something_back_for_those_who_may_turn_out_to_be_its_own() {
    let ends: [fn(&mut Driver, Name); 4] = [
        |driver, name| driver.answer(name, &left("b2", 5, 10_000)),
        |driver, name| driver.answer(name, &Observation::failure(Failure::Timeout)),
        Driver::finish,
        Driver::refund,
    ];
    for end in ends {
        let mut driver = buckets(None);
        let first = driver.ask(&route(MESSAGES));
        driver.answer(first, &left("b1", 2, 10_000));
        let unknown = driver.ask(&route(REACTIONS));
        driver.ask_all(3, &route(MESSAGES));
        assert_eq!(driver.order(), [0, 1, 2], "one of two");
        end(&mut driver, unknown);
        assert_eq!(driver.order(), [0, 1, 2, 3], "it was none");
    }
    let mut driver = buckets(None);
    let first = driver.ask(&about(MESSAGES, 1));
    driver.answer(first, &left("b1", 2, 10_000));
    driver.ask(&about(REACTIONS, 2));
    driver.ask_all(2, &about(MESSAGES, 1));
    assert_eq!(driver.order(), [0, 1, 2, 3], "about something else");
}

#[test]
fn what_is_under_way_when_its_route_moves_is_settled_where_it_was_charged() {
    let mut driver = buckets(Some(3));
    let known = driver.ask(&route(MESSAGES));
    driver.answer(known, &left("b1", 5, 10_000));
    driver.ask_all(5, &route(REACTIONS));
    assert_eq!(driver.order(), [0, 1, 2, 3]);
    assert_eq!((driver.in_flight(1), driver.in_flight(2)), (0, 3));
    driver.settle(1, &left("b1", 4, 10_000));
    // Two more went: the other two of the window may be those that left before their bucket was known.
    assert_eq!(driver.order(), [0, 1, 2, 3, 4, 5]);
    assert_eq!((driver.in_flight(1), driver.in_flight(2)), (2, 3));
    driver.answer(2, &left("b1", 0, 10_000));
    driver.refund(3);
    driver.finish(1);
    let late = driver.ask(&route(REACTIONS));
    assert_eq!((driver.in_flight(1), driver.in_flight(2)), (2, 0));
    driver.answer(4, &left("b1", 0, 10_000));
    driver.answer(5, &left("b1", 0, 10_000));
    assert!(is_reset(driver.wait(), 10_000));
    driver.answer(late, &ok());
    assert_eq!((driver.in_flight(0), driver.in_flight(1)), (0, 0));
}

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

/// What is known of other objects changes where nobody was yet, and nobody who waits.
#[test]
fn a_newcomer_goes_the_way_of_those_who_wait() {
    let mut driver = buckets(Some(1));
    for (want, remaining) in [(about(REACTIONS, 2), 1), (about(MESSAGES, 1), 5)] {
        let name = driver.ask(&want);
        driver.answer(name, &left("b1", remaining, 60_000));
    }
    let under_way = driver.ask(&about(MESSAGES, 2));
    let waits = driver.ask(&about(MESSAGES, 2));
    let one = driver.ask(&about(MESSAGES, 1));
    driver.answer(one, &left("b2", 5, 60_000));
    let newcomer = driver.ask(&about(MESSAGES, 2));
    assert_eq!(driver.order()[2..], [under_way, one]);
    driver.answer(under_way, &left("b1", 5, 120_000));
    assert_eq!(driver.order()[2..], [under_way, one, waits, newcomer]);
}

/// A bucket's name does not tell its objects apart.
#[test]
fn objects_with_quotas_of_their_own_have_gates_of_their_own() {
    let mut driver = buckets(Some(1));
    let first = driver.ask(&about(MESSAGES, 100));
    driver.answer(first, &left("b1", 0, 10_000));
    driver.ask(&about(MESSAGES, 100));
    let second = driver.ask(&about(MESSAGES, 200));
    assert_eq!(driver.order(), [first, second]);
    // Refused for its object, whoever asks: the gate is that of the object.
    let mut shared = refused_for(ms(600_000));
    shared.scope = Scope::Resource;
    driver.answer(second, &shared);
    driver.ask(&about(MESSAGES, 200));
    let third = driver.ask(&about(MESSAGES, 300));
    assert_eq!(driver.order(), [first, second, third]);
    driver.answer(third, &left("b1", 4, 10_000));
    // Another route, the same bucket and object.
    let other = driver.ask(&about(REACTIONS, 100));
    driver.answer(other, &left("b1", 0, 9_000));
    let held = driver.ask(&about(REACTIONS, 100));
    driver.pass_to(at(9_999));
    assert!(!driver.order().contains(&held));
    driver.pass_to(at(10_100));
    assert!(driver.order().contains(&held));
}

/// Served out of one bucket, refused by another one that is narrower.
#[test]
fn a_route_that_two_buckets_bound_waits_for_both() {
    let mut driver = buckets(None);
    let rename = route(MESSAGES);
    for _ in 0..2 {
        let served = driver.ask(&rename);
        driver.answer(served, &left("b1", 5, 60_000));
    }
    let refused = driver.ask(&rename);
    driver.answer(refused, &spent("b2", 600_000));
    let held = driver.ask(&rename);
    assert_eq!(driver.wait().reason, Reason::Pause);
    assert!(driver.now >= at(600_000));
    assert_eq!(driver.order().last(), Some(&held));
    // What serves it now does not make the other one forgotten.
    driver.answer(held, &left("b1", 5, 60_000));
    let again = driver.ask(&rename);
    driver.answer(again, &spent("b2", 600_000));
    driver.ask(&rename);
    assert_eq!(driver.order().last(), Some(&again));
}

#[test]
fn a_bucket_that_refused_a_route_does_not_free_it_of_the_other() {
    let mut driver = buckets(None);
    for path in [MESSAGES, MEMBERS] {
        let name = driver.ask(&route(path));
        driver.answer(name, &left("b1", 5, 60_000));
    }
    let refused = driver.ask(&route(MESSAGES));
    driver.answer(refused, &spent("b2", 1_000));
    let last = driver.ask(&route(MEMBERS));
    driver.answer(last, &left("b1", 0, 60_000));
    let held = driver.ask(&route(MESSAGES));
    driver.pass_to(at(59_999));
    assert!(!driver.order().contains(&held));
    driver.pass_to(at(60_000));
    assert!(driver.order().contains(&held));
}

#[test]
fn a_route_that_is_known_to_be_in_a_bucket_waits_for_it_unseen() {
    let mut driver = finding(GatesBy::Bucket, None, &["search", "core"]);
    let known = |path, known| {
        let key = RouteKey {
            known: Some(known),
            ..key(path, None)
        };
        Want::new(GateSet::one(API)).route(Some(key))
    };
    driver.ask_all(2, &known(1, 1));
    assert_eq!(driver.order(), [0, 1], "nothing has to be found out");
    driver.answer(0, &left("core", 0, 3_600_000));
    driver.answer(1, &left("core", 0, 3_600_000));
    let unseen = driver.ask(&known(2, 1));
    let search = driver.ask(&known(3, 0));
    assert_eq!(driver.order(), [0, 1, search]);
    // It is in another one than was thought, and whoever waits for it moves.
    driver.ask_all(2, &known(3, 0));
    driver.answer(search, &left("code_search", 1, 60_000));
    assert_eq!(driver.order(), [0, 1, search, search + 1, search + 2]);
    driver.leave(unseen);
    let names = names(&driver);
    let words: Vec<_> = names[1..].iter().map(String::as_str).collect();
    assert_eq!(
        words,
        [
            "gate 0 core #1",
            "gate 0 search #2",
            "gate 0 code_search #3"
        ]
    );
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

#[test]
fn there_are_at_most_512_and_idle_ones_are_used_again() {
    let mut driver = buckets(Some(1));
    let busy = driver.ask(&route(0));
    for path in 1..2_000 {
        let name = driver.ask(&route(path));
        driver.answer(name, &left(&format!("b{path}"), 5, 1_000));
        assert!(driver.engine.snapshot(driver.now).gates.len() <= 513);
    }
    assert_eq!(driver.in_flight(1), 1, "not the one that is busy");
    driver.answer(busy, &left("b0", 0, 1_000));
    // One whose gate was taken is found anew.
    let name = driver.ask(&route(1));
    driver.answer(name, &left("b1", 0, 1_000));
    let held = driver.ask(&route(1));
    assert!(is_reset(driver.wait(), 1_000));
    assert_eq!(driver.order().last(), Some(&held));
}

#[test]
fn whoever_comes_when_all_are_busy_shares_the_last() {
    let mut driver = buckets(Some(1));
    for path in 0..600 {
        driver.ask(&route(path));
    }
    // One each at 511 of them, and one at the last.
    assert_eq!(driver.order().len(), 512);
    assert_eq!(driver.waiting(512), 88);
    driver.answer(511, &left("b", 5, 1_000));
    assert_eq!(driver.order().len(), 512 + 5);
    let all: Vec<_> = driver.order();
    let mut next = 0;
    while next < driver.order().len() {
        let name = driver.order()[next];
        if driver.under_way.contains_key(&name) {
            driver.answer(name, &ok());
        }
        next += 1;
    }
    assert!(all.len() < 600);
    driver.pass(ms(1_000));
    assert_eq!(driver.order().len(), 600, "all of them in the end");
}

/// A permit that was taken before its request was known.
#[test]
fn whose_route_is_told_later_is_heard_by_the_gate_of_its_route() {
    let mut driver = buckets(None);
    let early = driver.ask(&through(&[API]));
    let mut sent = driver.under_way.remove(&early).expect("under way");
    sent.takes(route(MESSAGES).route);
    driver.under_way.insert(early, sent);
    driver.ask(&route(MESSAGES));
    driver.answer(1, &left("b1", 1, 10_000));
    driver.answer(early, &left("b1", 0, 10_000));
    driver.ask(&route(MESSAGES));
    driver.ask(&route(MEMBERS));
    assert_eq!(driver.order(), [0, 1, 3]);
}

#[test]
fn a_want_knows_when_it_could_start_at_the_gate_of_its_route() {
    let mut driver = buckets(None);
    let first = driver.ask(&route(MESSAGES));
    driver.answer(first, &left("b1", 0, 10_000));
    let next = |path| driver.engine.next_start(driver.now, &route(path));
    let window = next(MESSAGES).expect("a window");
    assert!(is_reset(window, 10_000));
    assert_eq!(next(MEMBERS), None);
    let hasty = driver.ask(&route(MESSAGES).deadline(at(5_000)));
    let refusal = driver.refusal(hasty);
    assert_eq!(refusal.reason, Reason::Deadline);
    assert_eq!(refusal.possible_at, Some(window.at));
}
