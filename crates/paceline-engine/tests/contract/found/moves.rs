//! Who goes where before and after a bucket is named, and with which place.

use super::*;

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

/// Gates that nobody goes to any more are not shown, and the others stay where they are.
#[test]
fn a_gate_behind_one_that_was_left_is_paused_and_reset_by_its_place() {
    let mut driver = buckets(None);
    let named = [(MESSAGES, "b1"), (REACTIONS, "b1"), (MEMBERS, "b3")];
    let asked = named.map(|(path, bucket)| (driver.ask(&route(path)), bucket));
    for (name, bucket) in asked {
        driver.answer(name, &left(bucket, 500, 600_000));
    }
    let gates = driver.engine.snapshot(driver.now).gates;
    let places: Vec<_> = gates.iter().map(|gate| gate.place).collect();
    assert_eq!(places, [0, 1, 3], "{:?}", names(&driver));
    let place = gates[2].place;
    driver.input(|engine, now| engine.pause(now, place, ms(60_000)));
    let free = driver.ask(&route(REACTIONS));
    let held = driver.ask(&route(MEMBERS));
    assert_eq!(driver.order().last(), Some(&free));
    let wake = driver.wake.expect("an end");
    assert_eq!((wake.at, wake.reason), (at(60_000), Reason::ByHand));
    driver.input(|engine, now| engine.reset(now, place));
    assert_eq!(driver.order().last(), Some(&held));
}
