//! What an upstream's own words change: for whom a refusal speaks, and waits on answers that are no refusals.

use super::*;
use paceline_engine::{Answer, Scope, Verdict};

fn about_itself() -> Observation {
    let mut seen = refused_for(ms(500));
    seen.scope = Scope::Request;
    seen
}

/// A probe that brings a refusal of its own kind would leave everybody to wait until it is given up, half a minute each time.
#[test]
fn a_probe_asks_for_all_whatever_its_answer_is_about() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    driver.answer(0, &refused());
    driver.ask_all(2, &through(&[API]));
    driver.wait();
    assert_eq!(driver.circuit(API), "probing");
    driver.answer(1, &about_itself());
    assert_eq!(driver.circuit(API), "open");
    driver.pass(ms(2000));
    assert_eq!(driver.order(), [0, 1, 2]);
}

#[test]
fn a_refusal_about_one_request_or_object_pauses_nobody_else() {
    for scope in [Scope::Request, Scope::Resource] {
        let mut driver = Driver::new(&[&[]]);
        driver.ask_all(2, &through(&[API]));
        driver.answer(0, &ok());
        let mut seen = about_itself();
        seen.scope = scope;
        driver.answer(1, &seen);
        driver.ask(&through(&[API]));
        assert_eq!(driver.times()[2], (2, 0), "{scope:?}");
    }
}

/// A server error that also says that a window is spent.
#[test]
fn a_wait_on_a_failure_holds_the_next() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    let mut seen = Observation::status(Verdict::Other, 500);
    seen.answer = Answer::Status(500);
    seen.wait = Some(ms(7000));
    driver.answer(0, &seen);
    driver.ask(&through(&[API]));
    let wake = driver.wake.expect("a pause");
    assert_eq!(wake.reason, Reason::Pause);
    assert!((at(7000)..=at(7220)).contains(&wake.at), "{wake:?}");
}

/// Some tell whoever was served to come back later. Those that are under way do not prove it wrong.
#[test]
fn a_wait_on_a_success_holds_the_next_also_when_others_are_served() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask_all(2, &through(&[API]));
    let mut seen = ok();
    seen.wait = Some(ms(7000));
    driver.answer(0, &seen);
    driver.answer(1, &ok());
    driver.ask(&through(&[API]));
    let wake = driver.wake.expect("a pause");
    assert_eq!(wake.reason, Reason::Pause);
    assert!((at(7000)..=at(7220)).contains(&wake.at), "{wake:?}");
}

/// Its window knows how much is under way and when it starts anew; a pause would come on top of that.
#[test]
fn a_wait_that_is_a_windows_reset_is_the_windows_own() {
    let mut driver = Driver::new(&[&[]]);
    driver.ask(&through(&[API]));
    let mut seen = ok();
    seen.windows.push(window(0, ms(7000)));
    seen.wait = Some(ms(7000));
    driver.answer(0, &seen);
    driver.ask(&through(&[API]));
    let wake = driver.wake.expect("a window");
    assert_eq!(wake.reason, Reason::Window);
    assert!((at(7000)..=at(7055)).contains(&wake.at), "{wake:?}");
}
