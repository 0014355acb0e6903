//! Several engines with one line, as processes of a machine have.

mod any;
mod lab;

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use lab::Lab;

#[test]
fn all_of_them_keep_one_limit() {
    let mut lab = Lab::new(10, &["10/s burst 50"]);
    for round in 0..8 {
        for who in 0..10 {
            lab.ask((who + round) % 10);
        }
    }
    lab.answer_all();
    assert_eq!(lab.starts.len(), 50);
    lab.pass_to(at(2_999));
    assert_eq!(lab.starts.len(), 79);
    lab.pass_to(at(3_000));
    assert_eq!(lab.starts.len(), 80);
}

#[test]
fn first_come_first_served_whoever_it_is() {
    let mut lab = Lab::new(3, &["1/s"]);
    for who in [0, 2, 1, 1, 0, 2, 2, 0, 1] {
        lab.ask(who);
    }
    lab.pass_to(at(20_000));
    assert_eq!(lab.order(), (0..9).collect::<Vec<_>>());
    assert_eq!(lab.now, at(20_000));
}

#[test]
fn a_newcomer_never_goes_before_those_who_wait() {
    let mut lab = Lab::new(2, &["1/s"]);
    lab.ask(0);
    let waits = lab.ask(0);
    lab.deaf = true;
    lab.now = at(1_000);
    let late = lab.ask(1);
    assert_eq!(lab.order(), [0], "its owner has not looked yet");
    lab.deaf = false;
    lab.pass_to(at(3_000));
    assert_eq!(lab.order(), [0, waits, late]);
}

#[test]
fn what_matters_more_goes_first_across_processes() {
    let mut lab = Lab::new(2, &["1/s"]);
    lab.ask(0);
    let want = through(&[API]);
    let batch = lab.ask_for(0, &want.clone().priority(Priority::Background));
    let person = lab.ask_for(1, &want.priority(Priority::Interactive));
    lab.pass_to(at(5_000));
    assert_eq!(lab.order(), [0, person, batch]);
}

#[test]
fn a_place_in_flight_goes_to_the_next_whoever_holds_it() {
    let mut lab = Lab::new(3, &["1 in flight"]);
    for who in 0..3 {
        lab.ask(who);
    }
    assert_eq!(lab.order(), [0]);
    lab.answer(0, &ok());
    assert_eq!(lab.order(), [0, 1]);
    lab.answer(1, &ok());
    assert_eq!(lab.order(), [0, 1, 2]);
}

#[test]
fn server_time_is_that_of_all_of_them() {
    let mut lab = Lab::new(4, &["20s server time / 10s"]);
    for name in 0..100 {
        lab.ask(name % 4);
        lab.pass(ms(500));
        lab.answer(name, &ok());
    }
    lab.pass(ms(10_000));
    for who in 0..50 {
        lab.ask(who % 4);
    }
    assert_eq!(lab.starts.len(), 140, "half a second each");
    lab.pass(ms(500));
    (100..140).for_each(|name| lab.answer(name, &ok()));
    lab.pass(ms(9_999));
    assert_eq!(lab.starts.len(), 140);
    lab.pass(ms(1));
    assert_eq!(lab.starts.len(), 150);
}

/// What it had under way was sent: it counts as what was reserved for it, or as long as it was under way.
#[test]
fn server_time_of_the_dead_counts() {
    let mut lab = Lab::new(2, &["2s server time / 10s"]);
    let first = lab.ask(0);
    lab.pass(ms(1_000));
    lab.answer(first, &ok());
    lab.pass(ms(10_000));
    let lost = lab.ask(0);
    let waits = lab.ask(1);
    lab.dies(0);
    lab.pass(ms(1_900));
    lab.looks_around(1);
    assert_eq!(lab.order(), [first, lost]);
    lab.pass(ms(9_999));
    assert_eq!(lab.order(), [first, lost]);
    lab.pass(ms(1));
    assert_eq!(lab.order(), [first, lost, waits]);
}

#[test]
fn a_pause_that_one_is_told_holds_all() {
    let mut lab = Lab::new(2, &[]);
    let first = lab.ask(0);
    lab.answer(first, &refused_for(ms(30_000)));
    let held = lab.ask(1);
    let hurried = lab.ask_for(1, &through(&[API]).deadline(lab.now + ms(100)));
    let refusal = &lab.refusals[&hurried];
    assert_eq!(
        (refusal.reason, refusal.asked),
        (Reason::Deadline, Some(ms(30_000)))
    );
    lab.pass_to(at(29_999));
    assert_eq!(lab.order(), [first]);
    lab.pass_to(at(40_000));
    assert_eq!(lab.order(), [first, held]);
}

#[test]
fn a_pause_that_one_is_told_ends_the_wait_of_whoever_cannot_outlast_it() {
    let mut lab = Lab::new(2, &["1 in flight"]);
    let first = lab.ask(0);
    let hurried = lab.ask_for(1, &through(&[API]).deadline(at(10_000)));
    lab.pass_to(at(1_000));
    lab.settle(first, &refused_for(ms(30_000)));
    let refusal = &lab.refusals[&hurried];
    assert_eq!(refusal.waiting_for, Some(Reason::Pause));
}

/// Whoever only looks on says so in a record that it takes no part in.
#[test]
fn a_pause_by_hand_holds_all_and_ends_the_wait_of_whoever_cannot_outlast_it() {
    let mut lab = Lab::new(2, &["1 in flight"]);
    let first = lab.ask(0);
    let patient = lab.ask(0);
    let hurried = lab.ask_for(1, &through(&[API]).deadline(at(10_000)));
    let onlooker = lab.comes(&[]);
    lab.pass_to(at(1_000));
    lab.step(onlooker, |engine, now| engine.pause(now, 0, ms(30_000)));
    lab.answer_calls();
    let refusal = &lab.refusals[&hurried];
    assert_eq!(refusal.waiting_for, Some(Reason::ByHand));
    lab.answer(first, &ok());
    lab.pass_to(at(30_999));
    assert_eq!(lab.order(), [first]);
    lab.pass_to(at(40_000));
    assert_eq!(lab.order(), [first, patient]);
}

#[test]
fn what_one_learned_is_known_to_the_next() {
    let mut lab = Lab::new(1, &[]);
    for n in 0..40 {
        let name = lab.ask(0);
        lab.pass(ms(50));
        if lab.under_way.contains_key(&name) {
            let seen = if n % 3 == 2 { refused() } else { ok() };
            lab.answer(name, &seen);
        }
    }
    let known = lab.snapshot(0).gates[0].clone();
    assert!(known.belief.interval.is_some(), "{known:?}");
    let who = lab.comes(&[("api", &[])]);
    assert_eq!(lab.snapshot(who).gates[0], known);
}

#[test]
fn a_neighbour_who_goes_away_lets_the_next_one_up() {
    let mut lab = Lab::new(2, &["1/s", "100 tokens/m"]);
    lab.ask(0);
    let dear = lab.ask_for(0, &through(&[API]).cost(Cost::tokens(100)));
    lab.pass_to(at(1_000));
    let second = lab.ask_for(0, &through(&[API]).cost(Cost::tokens(50)));
    let next = lab.ask(1);
    lab.pass_to(at(1_500));
    assert_eq!(lab.order(), [0, dear]);
    lab.leave(second);
    lab.pass_to(at(2_000));
    assert_eq!(lab.order(), [0, dear, next]);
}

#[test]
fn a_call_that_nobody_hears_delays_and_nothing_else() {
    let mut lab = Lab::new(2, &["1 in flight"]);
    lab.ask(0);
    lab.ask(1);
    lab.deaf = true;
    lab.answer(0, &ok());
    assert_eq!(lab.order(), [0]);
    let late = lab.ask(0);
    assert_eq!(lab.order(), [0], "nobody goes before it");
    lab.looks_around(1);
    assert_eq!(lab.order(), [0, 1]);
    lab.deaf = false;
    lab.answer(1, &ok());
    assert_eq!(lab.order(), [0, 1, late]);
}

#[test]
fn whoever_dies_in_line_is_passed_over() {
    let mut lab = Lab::new(3, &["1/s"]);
    for who in 0..3 {
        lab.ask(who);
    }
    lab.dies(1);
    lab.pass_to(at(1_000));
    assert_eq!(lab.order(), [0], "its turn has come, and it does not look");
    lab.looks_around(2);
    assert_eq!(lab.order(), [0, 2]);
    assert_eq!(lab.members[2].engine.owners().len(), 2);
}

#[test]
fn what_the_dead_had_under_way_is_free_again_but_counts_as_sent() {
    let mut lab = Lab::new(2, &["2 in flight", "3/m"]);
    lab.ask(0);
    lab.ask(0);
    let waits = lab.ask(1);
    lab.settle(0, &ok());
    lab.dies(0);
    lab.looks_around(1);
    assert_eq!(lab.order(), [0, 1, waits]);
    assert_eq!(lab.snapshot(1).gates[0].in_flight, 1);
    lab.answer(waits, &ok());
    lab.ask(1);
    assert_eq!(lab.order().len(), 3, "three in a minute were sent");
    lab.pass_to(at(60_000));
    assert_eq!(lab.order().len(), 4);
}

#[test]
fn one_that_was_taken_for_dead_takes_nothing_back_twice() {
    let mut lab = Lab::new(2, &["2 in flight"]);
    let slow = lab.ask(0);
    lab.ask(1);
    lab.members[0].alive = false;
    lab.looks_around(1);
    assert_eq!(lab.snapshot(1).gates[0].in_flight, 1);
    lab.members[0].alive = true;
    lab.answer(slow, &ok());
    assert_eq!(lab.snapshot(1).gates[0].in_flight, 1);
}

#[test]
fn a_receipt_of_the_dead_gives_nothing_back() {
    let mut lab = Lab::new(2, &["100 tokens/m"]);
    let first = lab.ask_for(0, &through(&[API]).cost(Cost::tokens(60)));
    let (_, sent) = lab.under_way.get_mut(&first).expect("under way");
    let receipt = sent.receipt();
    lab.answer(first, &ok());
    assert!(receipt.is_some());
    let waits = lab.ask_for(1, &through(&[API]).cost(Cost::tokens(60)));
    lab.dies(0);
    lab.looks_around(1);
    assert_eq!(lab.order(), [first]);
    lab.pass_to(at(60_000));
    assert_eq!(lab.order(), [first, waits]);
}

#[test]
fn programs_with_other_gates_share_those_that_have_one_name() {
    let mut lab = Lab::default();
    let one = lab.comes(&[("api", &["10/s"]), ("search", &["1/s"])]);
    let other = lab.comes(&[
        ("api", &["10/s"]),
        ("upload", &["1/s"]),
        ("search", &["1/s"]),
    ]);
    lab.ask_for(one, &through(&[API, 1]));
    let search = lab.ask_for(other, &through(&[API, 2]));
    let upload = lab.ask_for(other, &through(&[API, 1]));
    assert_eq!(lab.order(), [0, upload], "each has its own second");
    lab.pass_to(at(1_000));
    assert_eq!(lab.order(), [0, upload, search]);
    let names: Vec<_> = lab
        .snapshot(one)
        .gates
        .into_iter()
        .map(|gate| gate.name)
        .collect();
    assert_eq!(
        names.iter().map(|name| &**name).collect::<Vec<_>>(),
        ["api", "search", "upload"]
    );
}

#[test]
fn the_limits_of_all_who_are_there_hold() {
    let mut lab = Lab::new(1, &["100/s"]);
    let strict = lab.comes(&[("api", &["1/s"])]);
    lab.ask(0);
    let waits = lab.ask(0);
    assert_eq!(lab.order(), [0]);
    lab.dies(strict);
    lab.looks_around(0);
    assert_eq!(lab.order(), [0, waits]);
}

#[test]
fn whoever_comes_after_all_are_gone_has_its_own_limits_and_what_was_spent() {
    let mut lab = Lab::new(1, &["10/m"]);
    for _ in 0..10 {
        lab.ask(0);
    }
    lab.dies(0);
    let next = lab.comes(&[("api", &["20/m"])]);
    for _ in 0..11 {
        lab.ask(next);
    }
    assert_eq!(lab.order().len(), 20);
}

#[test]
fn a_record_that_is_lost_is_written_again_by_whoever_knows_it() {
    let mut lab = Lab::new(2, &["1/m"]);
    lab.ask(0);
    let waits = lab.ask(1);
    lab.record.clear();
    lab.looks_around(0);
    lab.ask(1);
    assert_eq!(lab.order(), [0], "no fresh quota");
    lab.pass_to(at(60_000));
    assert_eq!(lab.order(), [0, waits]);
}

#[test]
fn a_record_that_a_newcomer_began_anew_gives_way_to_what_was_known() {
    let mut lab = Lab::new(2, &["1/m"]);
    lab.ask(0);
    let waits = lab.ask(1);
    lab.record.clear();
    let newcomer = lab.comes(&[("api", &["1/m"])]);
    let early = lab.ask(newcomer);
    let late = lab.ask(newcomer);
    assert_eq!(lab.order(), [0, early], "it could not know");
    lab.looks_around(1);
    lab.looks_around(newcomer);
    lab.answer_all();
    lab.pass_to(at(59_999));
    assert_eq!(lab.order(), [0, early]);
    lab.pass_to(at(120_000));
    assert_eq!(lab.order(), [0, early, waits, late]);
    assert_eq!(lab.snapshot(0).gates[0].in_flight, 2, "the last two");
    assert_eq!(lab.members[0].engine.owners().len(), 3);
}

#[test]
fn whoever_knew_more_of_a_lost_record_takes_part_in_the_new_one() {
    let mut lab = Lab::new(2, &["1/m"]);
    lab.ask(0);
    lab.ask(1);
    lab.record.clear();
    lab.step(0, |engine, now| engine.handle_timeout(now));
    assert_eq!(lab.snapshot(0).waiting, 0, "it did not know");
    lab.step(1, |engine, now| engine.handle_timeout(now));
    assert_eq!(lab.snapshot(0).waiting, 1);
}

#[test]
fn one_of_another_lane_does_not_take_what_the_first_needs() {
    let gates: [(&str, &[&str]); 2] = [("api", &["1/s"]), ("search", &[])];
    let mut lab = Lab::default();
    lab.comes(&gates);
    lab.comes(&gates);
    lab.ask(0);
    let first = lab.ask(0);
    let second = lab.ask_for(1, &through(&[API, ROUTE]));
    lab.deaf = true;
    lab.now = at(1_000);
    lab.step(1, |engine, now| engine.handle_timeout(now));
    assert_eq!(lab.order(), [0], "the first has not looked yet");
    lab.deaf = false;
    lab.pass_to(at(3_000));
    assert_eq!(lab.order(), [0, first, second]);
}

#[test]
fn each_is_called_once_for_one_thing() {
    let mut lab = Lab::new(50, &["1 in flight"]);
    for who in 0..50 {
        lab.ask(who);
    }
    lab.calls = 0;
    lab.answer(0, &ok());
    assert_eq!(lab.calls, 1, "the next one, and nobody else");
    lab.deaf = true;
    lab.answer(1, &ok());
    for who in 10..50 {
        lab.step(who, |engine, now| engine.handle_timeout(now));
    }
    assert_eq!(lab.calls, 2);
}

#[test]
fn whoever_finds_garbage_takes_its_limits_for_used_up() {
    let mut lab = Lab::new(1, &["10/s burst 50"]);
    lab.ask(0);
    lab.dies(0);
    lab.record.insert(0, b"garbage".to_vec());
    let now = lab.now;
    let mut engine = Engine::new(10, 1);
    engine.add_gate(now, "api", limits(&["10/s burst 50"]));
    engine.share(Owner::new(std::num::NonZeroU64::MAX));
    engine.load(&lab.record).expect_err("it cannot be read");
    engine.distrust(now);
    engine.enroll(now).finish();
    assert_eq!(engine.snapshot(now).gates[0].limits[0].available, 0);
}

#[test]
fn a_record_of_a_newer_format_is_said_to_be_one() {
    let mut lab = Lab::new(1, &[]);
    let head = lab.record[&0].clone();
    let place = head.iter().rposition(|byte| *byte == 1).expect("a format");
    let formats: Vec<_> = (0..head.len()).filter(|at| head[*at] == 1).collect();
    assert!(!formats.is_empty() && place < head.len());
    let newer = formats.into_iter().any(|at| {
        let mut head = head.clone();
        head[at] = 2;
        lab.record.insert(0, head);
        let loaded = lab.members[0].engine.load_anew(&lab.record);
        loaded.is_err_and(|error| error.is_newer())
    });
    assert!(newer);
}

#[test]
fn garbage_is_an_error_and_changes_nothing() {
    let mut lab = Lab::new(2, &["1/s"]);
    lab.ask(0);
    let good = lab.record.clone();
    lab.ask(1);
    for section in good.keys() {
        for bytes in [&[][..], &[0xff; 40], &[0x9b; 9]] {
            let mut bad = lab.record.clone();
            bad.insert(*section, bytes.to_vec());
            let engine = &mut lab.members[0].engine;
            assert!(engine.load_anew(&bad).is_err(), "section {section}");
            assert_eq!(engine.load_anew(&lab.record), Ok(true));
        }
    }
}

#[test]
fn a_refill_is_held_for_all_until_somebody_has_arrived() {
    let mut lab = Lab::default();
    for _ in 0..8 {
        lab.comes_holding(&[("api", &["10/s burst 50"])]);
    }
    for n in 0..80 {
        lab.now = at(100 + n);
        lab.ask(n as usize % 8);
    }
    lab.pass_to(at(500));
    assert_eq!(lab.order().len(), 50);
    // Asked within 79 ms, and the last of them travelled 351 ms: the first one can have arrived 49 ms after it left,
    // and one for good measure.
    lab.answer_all();
    assert_eq!(lab.order().len(), 53);
    lab.pass_to(at(549));
    assert_eq!(lab.order().len(), 53);
    lab.pass_to(at(550));
    assert_eq!(lab.order().len(), 54);
}
