//! What is saved is all there is; what is loaded can be gone on with, whoever wrote it.

mod lab;
mod tree;
mod versions;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use lab::{Lab, Step};
use tree::Tree;

fn saved(gate: &Gate) -> Vec<u8> {
    let mut bytes = Vec::new();
    gate.save(&mut bytes);
    bytes
}

fn load(bytes: &[u8]) -> Result<Gate, Unreadable> {
    Gate::load(16, bytes)
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(any::<Step>(), 0..most)
}

/// What it was that could not be.
fn flaw(bytes: &[u8]) -> String {
    load(bytes).map_or_else(|error| error.to_string(), |_| "nothing".into())
}

/// Of each property.
const CASES: u32 = 300;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_gate_that_was_saved_and_loaded_is_the_same_gate(
        limits in lab::some_limits(), seed: u64, before in steps(300), after in steps(60),
    ) {
        let mut own = Lab::new(&limits, seed);
        before.iter().for_each(|step| own.step(*step));
        let bytes = saved(&own.gate);
        let mut other = own.with(load(&bytes).expect("it was saved just now"));
        prop_assert_eq!(saved(&other.gate), bytes);
        prop_assert_eq!(&other.gate, &own.gate);
        for step in after {
            own.step(step);
            other.step(step);
            prop_assert_eq!(other.seen(), own.seen());
        }
        prop_assert_eq!(saved(&other.gate), saved(&own.gate));
    }

    #[test]
    fn any_bytes_are_a_gate_that_can_go_on_or_none(bytes in vec(any::<u8>(), 0..600)) {
        if let Ok(gate) = load(&bytes) {
            Lab::new(&[], 1).with(gate).seen();
        }
    }

    /// One value or another is one that a program would not write.
    #[test]
    fn a_gate_with_wrong_values_can_go_on_or_is_none(
        limits in lab::some_limits(), seed: u64, before in steps(200),
        wrong in vec(any::<(usize, u8, u64)>(), 1..4), after in steps(100),
    ) {
        let mut lab = Lab::new(&limits, seed);
        before.iter().for_each(|step| lab.step(*step));
        let mut tree = Tree::of(&saved(&lab.gate));
        for (place, kind, value) in wrong {
            tree.spoil(place, kind, value);
        }
        if let Ok(gate) = load(&tree.bytes()) {
            let mut lab = lab.with(gate);
            for step in after {
                lab.step(step);
                lab.seen();
            }
        }
    }

    #[test]
    fn a_gate_with_wrong_bytes_can_go_on_or_is_none(
        limits in lab::some_limits(), seed: u64, before in steps(100),
        wrong in vec(any::<(usize, u8)>(), 1..5), cut in any::<Option<(usize, usize)>>(), after in steps(50),
    ) {
        let mut lab = Lab::new(&limits, seed);
        before.iter().for_each(|step| lab.step(*step));
        let mut bytes = saved(&lab.gate);
        for (place, byte) in wrong {
            let place = place % bytes.len();
            bytes[place] ^= byte;
        }
        if let Some((from, to)) = cut {
            let (from, to) = (from % bytes.len(), to % bytes.len());
            bytes.drain(from.min(to)..from.max(to));
        }
        if let Ok(gate) = load(&bytes) {
            let mut lab = lab.with(gate);
            for step in after {
                lab.step(step);
                lab.seen();
            }
        }
    }
}

#[test]
fn a_gate_with_one_limit_is_small_and_with_a_belief_a_few_kilobytes() {
    let lab = Lab::new(&["10/s burst 50"], 1);
    let idle = saved(&lab.gate).len();
    assert!(idle < 80, "{idle} bytes");

    let mut lab = Lab::new(&["10/s burst 50"], 1);
    (0..40).for_each(|_| lab.serve());
    let busy = saved(&lab.gate).len();
    assert!(busy < 900, "{busy} bytes");

    lab.refuse();
    let learned = saved(&lab.gate).len();
    assert!(learned < 7_500, "{learned} bytes");
}

#[test]
fn a_strict_window_with_more_than_is_kept_apart_can_be_read() {
    let mut lab = Lab::new(&["100000/d"], 1);
    (0..5_000).for_each(|_| lab.serve());
    let bytes = saved(&lab.gate);
    assert!(bytes.len() > 1024 * 10, "{} bytes", bytes.len());
    assert_eq!(load(&bytes).as_ref(), Ok(&lab.gate));
}

#[test]
fn a_length_that_nobody_could_keep_is_no_reason_to_make_room() {
    let bytes = saved(&Lab::new(&["10/s burst 50", "30/m"], 1).gate);
    let arrays = (0..bytes.len()).filter(|place| (0x80..0x98).contains(&bytes[*place]));
    for place in arrays {
        // An array of 2^60, or a string of as many bytes.
        for kind in [0x9b, 0x5b, 0x7b] {
            let long = [kind, 0x10, 0, 0, 0, 0, 0, 0, 0];
            let bytes = [&bytes[..place], &long, &bytes[place + 1..]].concat();
            assert!(load(&bytes).is_err(), "{place}");
        }
    }
}

#[test]
fn what_cannot_be_is_named() {
    let gate = |change: fn(&mut Gate)| {
        let mut lab = Lab::new(&["10/s burst 50"], 1);
        lab.refuse();
        change(&mut lab.gate);
        flaw(&saved(&lab.gate))
    };
    let section = |what| format!("section 16 of the record cannot be read: {what}");
    assert_eq!(gate(|_| {}), "nothing");
    let many = gate(|gate| gate.in_flight = u64::MAX);
    assert_eq!(many, section("more than anybody counted"));

    let mut paused = Lab::new(&[], 1);
    paused.pause(60);
    let mut tree = Tree::of(&saved(&paused.gate));
    // Since when.
    *tree.at(&[16, 0, 1]) = Tree::Other(vec![0x1b, 0x7f, 0, 0, 0, 0, 0, 0, 0]);
    let before = section("a stop that was over before it began");
    assert_eq!(flaw(&tree.bytes()), before);

    let mut lab = Lab::new(&["10/s burst 50"], 1);
    lab.refuse();
    let bytes = saved(&lab.gate);
    let spoilt = |places: &[usize], to: &[u8]| {
        let mut tree = Tree::of(&bytes);
        *tree.at(places) = Tree::Other(to.to_vec());
        flaw(&tree.bytes())
    };
    // The burst of the limit, and of its books.
    assert!(spoilt(&[1, 0, 0, 0, 1, 2], &[0]).ends_with("decoding a `NonZeroU64`"));
    let other = section("the books of another limit");
    assert_eq!(spoilt(&[1, 0, 1, 1, 0, 2], &[7]), other);
    assert!(spoilt(&[1, 0, 0, 0, 1, 1], &[0]).ends_with("no period of a limit"));
    // Until when the first refused one can have been overtaken.
    let none = [0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0];
    assert_eq!(spoilt(&[4, 0, 6], &none), section("a number that is none"));
}
