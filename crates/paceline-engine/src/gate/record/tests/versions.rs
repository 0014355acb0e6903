//! Programs of other versions: what they know more of is left out, what they know less of is as at the beginning.

use core::time::Duration;

use super::*;
use crate::{Kind, Observation, Unit, Verdict, Window};

/// A gate with something in every part that has places.
fn learned() -> Gate {
    let mut lab = Lab::new(&["10/s burst 50", "20s server time / 10s"], 1);
    (0..40).for_each(|_| lab.serve());
    let mut refused = Observation::status(Verdict::RateLimited, 429);
    lab.told(&refused);
    refused.kind = Kind::Concurrency;
    refused.wait = Some(Duration::from_secs(20));
    refused.windows.push(Window {
        unit: Unit::Other("tokens".into()),
        remaining: Some(5),
        reset: refused.wait,
        ..Window::unknown()
    });
    lab.told(&refused);
    lab.pause(60);
    lab.gate
}

#[test]
fn what_a_newer_one_says_more_of_is_left_out() {
    let own = learned();
    let bytes = saved(&own);
    // Where a new place comes next.
    let all: [(&[usize], usize); 25] = [
        (&[], 17),
        (&[1, 0], 4),
        (&[1, 0, 0], 2),
        (&[1, 0, 1, 1, 0], 8),
        (&[1, 1], 4),
        (&[1, 1, 1, 1, 0], 5),
        (&[1, 1, 1, 1, 0, 2], 3),
        (&[1, 1, 1, 1, 0, 4], 3),
        (&[2], 3),
        (&[3], 3),
        (&[3, 0, 0], 12),
        (&[3, 2], 2),
        (&[3, 2, 0], 3),
        (&[4], 2),
        (&[4, 0], 7),
        (&[4, 1], 21),
        (&[4, 1, 0], 1),
        (&[4, 1, 1], 2),
        (&[4, 1, 2], 9),
        (&[4, 1, 6], 4),
        (&[4, 1, 7], 5),
        (&[6], 3),
        (&[7], 3),
        (&[16], 1),
        (&[16, 0], 2),
    ];
    let mut newer = Tree::of(&bytes);
    // The innermost first, so that the places stay where they are.
    for (places, next) in all.iter().rev() {
        let all = newer.at(places).array();
        // What is nothing at the end is left out.
        all.resize(*next, Tree::Other(vec![0xf6]));
        all.push(Tree::of(
            &minicbor::to_vec((7, "new", [1.5, 2.5])).expect("bytes"),
        ));
    }
    let newer = newer.bytes();
    assert!(newer.len() > bytes.len() + 25 * 20);
    assert_eq!(load(&newer).as_ref(), Ok(&own));
}

#[test]
fn what_an_older_one_did_not_know_is_as_at_the_beginning() {
    let own = learned();
    let mut older = Tree::of(&saved(&own));
    // The first versions knew nothing of trips, of what is held and of pauses by hand.
    older.array().truncate(12);
    older.at(&[1, 0, 1, 1, 0]).array().truncate(6);
    let gate = load(&older.bytes()).expect("it can be read");
    let trips = (gate.quickest, gate.trips, gate.unsteady, gate.holds);
    assert_eq!(trips, (None, 0, 0, false));
    assert_ne!((own.quickest, own.trips), (None, 0));
    assert!(gate.by_hand.is_none() && !own.by_hand.is_none());
    let known = |gate: &Gate| (gate.belief.clone(), gate.windows.clone(), gate.in_flight);
    assert_eq!(known(&gate), known(&own));
    Lab::new(&[], 1).with(gate).serve();
}

#[test]
fn parts_that_are_missing_or_nothing_are_as_at_the_beginning() {
    let fresh = Gate::new("api", crate::Timestamp::ZERO, Vec::new());
    let mut tree = Tree::of(&saved(&learned()));
    *tree.at(&[1]) = Tree::Array(Vec::new());
    for part in [2, 3, 4, 6, 7, 16] {
        *tree.at(&[part]) = Tree::Other(vec![0xf6]);
    }
    let gate = load(&tree.bytes()).expect("it can be read");
    let parts = |gate: Gate| {
        (
            gate.pause,
            gate.windows,
            gate.belief,
            gate.circuit,
            gate.crowd,
            gate.by_hand,
        )
    };
    assert_eq!(parts(gate), parts(fresh));
}
