//! Windows of points, whoever names them or not, and reports that are out of the ordinary.

use super::*;

fn points_bucket(left: u64) -> Window {
    Window {
        unit: Unit::Other("points".into()),
        limit_milli: Some(1_000_000),
        remaining: Some(left),
        refill: Some(Duration::from_millis(20)),
        ..Window::unknown()
    }
}

fn priced(windows: &[Window], verdict: Verdict, status: u16, requested: u64) -> Observation {
    let mut seen = Observation {
        windows: windows.to_vec(),
        ..Observation::status(verdict, status)
    };
    seen.spent.push(crate::Spent {
        unit: Unit::Other("points".into()),
        requested: Some(requested),
        actual: None,
    });
    seen
}

#[test]
fn a_full_bucket_is_spent_once() {
    let mut lab = Lab::new();
    let dear = Cost::points(100);
    let first = lab.send(0, &dear);
    lab.answer(10, first, &served(&[points_bucket(900)]));
    // Long idle: full, 1000 points, ten of them.
    let mut sent = 0;
    while sent < 500 && lab.opens(100_000, &dear).is_open(at(100_000)) {
        lab.send(100_000, &dear);
        sent += 1;
    }
    assert_eq!(sent, 10, "1000 points for 100 each");
}

#[test]
fn what_was_lost_of_a_bucket_is_gone_also_after_it_refilled() {
    let mut lab = Lab::new();
    let dear = Cost::points(100);
    let first = lab.send(0, &dear);
    lab.answer(10, first, &served(&[points_bucket(0)]));
    // 2 s bring 100 points.
    let mut sent = 0;
    while sent < 500 && lab.opens(2010, &dear).is_open(at(2010)) {
        let order = lab.send(2010, &dear);
        lab.answer(2010, order, &Observation::failure(Failure::Broken));
        sent += 1;
    }
    assert_eq!(sent, 1);
}

#[test]
fn one_that_is_too_dear_does_not_price_the_others() {
    let mut lab = Lab::new();
    let window = |left| Window {
        unit: Unit::Other("points".into()),
        ..window(1000, left, 3600)
    };
    let first = lab.send(0, &Cost::default());
    lab.answer(10, first, &priced(&[window(999)], Verdict::Ok, 200, 1));
    let dear = lab.send(20, &Cost::default());
    lab.answer(
        30,
        dear,
        &priced(&[window(999)], Verdict::RateLimited, 429, 1_000_000),
    );
    assert!(lab.is_open(40), "{:?}", lab.opens(40, &Cost::default()));
}

#[test]
fn lost_ones_that_name_no_points_cost_the_going_price() {
    let mut lab = Lab::new();
    let window = |left| Window {
        unit: Unit::Other("points".into()),
        ..window(1000, left, 3600)
    };
    let first = lab.send(0, &Cost::default());
    lab.answer(10, first, &priced(&[window(200)], Verdict::Ok, 200, 100));
    let mut sent = 0;
    while sent < 100 && lab.is_open(20) {
        let order = lab.send(20, &Cost::default());
        lab.answer(20, order, &Observation::failure(Failure::Broken));
        sent += 1;
    }
    assert_eq!(sent, 2);
}

#[test]
fn a_refusal_by_a_window_that_is_not_kept_is_not_explained() {
    let mut lab = Lab::new();
    let named = |n: u64, left| Window {
        name: Some(format!("w{n}").into()),
        ..window(10, left, 3600)
    };
    let all: Vec<_> = (0..9).map(|n| named(n, 9)).collect();
    let first = lab.send(0, &Cost::default());
    lab.answer(10, first, &served(&all));
    let again = lab.send(20, &Cost::default());
    let explained = lab.answer(30, again, &refused(&[named(8, 0)]));
    assert!(
        !(explained && lab.is_open(40)),
        "explained, and nobody waits for it"
    );
}

#[test]
fn who_names_no_points_is_not_taken_for_somebody_else() {
    let mut lab = Lab::new();
    let window = |left| Window {
        unit: Unit::Other("points".into()),
        ..window(1000, left, 3600)
    };
    for n in 0..5 {
        let order = lab.send(n * 100, &Cost::default());
        lab.answer(
            n * 100 + 10,
            order,
            &priced(&[window(990 - n * 10)], Verdict::Ok, 200, 10),
        );
    }
    // 950 left, 10 each: 95 may be under way.
    assert_eq!(lab.volley(450, 500), 95);
}

#[test]
fn durations_that_are_huge_do_not_panic() {
    let mut lab = Lab::new();
    let first = lab.send(0, &Cost::default());
    let huge = Window {
        reset: Some(Duration::MAX),
        length: Some(Duration::MAX),
        ..window(5, 0, 1)
    };
    lab.answer(10, first, &refused(&[huge]));
    assert!(!lab.is_open(20));
}
