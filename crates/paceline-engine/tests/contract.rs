//! What the engine promises a driver, one promise a test, in virtual time.

mod support;

use paceline_engine::*;
use support::*;

/// Gate 0 is the upstream's own, as in a pace; routes come after it.
const API: u16 = 0;
const ROUTE: u16 = 1;
const OTHER_ROUTE: u16 = 2;

mod gates {
    use super::*;

    #[test]
    fn all_gates_are_charged_or_none() {
        let mut driver = Driver::new(&[&["10/s"], &["1/s"]]);
        driver.ask_all(2, &through(&[API, ROUTE]));
        assert_eq!(driver.order(), [0]);
        assert_eq!(
            (driver.available(0), driver.available(1)),
            (vec![9], vec![0])
        );
        driver.wait();
        assert_eq!(driver.times(), [(0, 0), (1, 1000)]);
        assert_eq!(
            (driver.available(0), driver.available(1)),
            (vec![9], vec![0])
        );
    }

    #[test]
    fn a_cost_is_charged_to_every_limit_in_its_own_unit() {
        let mut driver = Driver::new(&[&["10/s", "100 tokens/m", "3 in flight"]]);
        let want = through(&[API]).cost(Cost::requests(4).and("tokens", 70));
        driver.ask(&want);
        assert_eq!(driver.available(0), [6, 30, 2]);
        driver.ask(&want);
        assert_eq!(driver.wait(), Deadline::new(at(60_000), Reason::Limit));
        assert_eq!(driver.order(), [0, 1]);
    }

    #[test]
    fn a_ticket_of_a_slow_route_does_not_hold_back_those_that_need_only_the_upstream() {
        let mut driver = Driver::new(&[&["2/s burst 2"], &["1/10s"]]);
        driver.ask_all(2, &through(&[API, ROUTE]));
        for _ in 0..20 {
            driver.ask(&through(&[API]));
            driver.pass(ms(500));
        }
        driver.pass(ms(1000));
        let (slow, quick): (Vec<_>, _) = driver.times().into_iter().partition(|start| start.0 < 2);
        assert_eq!(slow, [(0, 0), (1, 10_000)], "never delayed by them");
        // The one that would have taken the slow one's token at ten seconds came after it.
        assert!(
            quick
                .iter()
                .all(|(name, ms)| *ms <= 500 * (*name as u128 - 2) + 1000)
        );
        assert_eq!(quick.len(), 20);
    }

    /// It kept the only place in flight for its start in an hour, and everybody stood behind it.
    #[test]
    fn a_place_in_flight_is_not_kept_for_a_start_that_is_far_off() {
        let mut driver = Driver::new(&[&["1 in flight"], &["1/h"]]);
        let first = driver.ask(&through(&[API, ROUTE]));
        driver.answer(first, &ok());
        let slow = driver.ask(&through(&[API, ROUTE]));
        for _ in 0..3 {
            let quick = driver.ask(&through(&[API]));
            driver.answer(quick, &ok());
        }
        assert_eq!(driver.order(), [0, 2, 3, 4]);
        driver.pass(ms(3_600_000));
        assert_eq!(driver.times().last(), Some(&(slow, 3_600_000)));
    }

    #[test]
    fn nobody_takes_the_token_that_an_earlier_ticket_will_need() {
        let mut driver = Driver::new(&[&["1/10s"], &["1/s"]]);
        driver.ask(&through(&[ROUTE]));
        let early = driver.ask(&through(&[API, ROUTE]));
        let late = driver.ask(&through(&[API]));
        driver.pass(ms(20_000));
        assert_eq!(driver.times(), [(0, 0), (early, 1000), (late, 11_000)]);
    }

    /// It was woken by whatever happened next, for nobody had asked for the instant.
    #[test]
    fn a_later_ticket_passes_as_soon_as_there_is_room_for_both() {
        let mut driver = Driver::new(&[&["1/s burst 2"], &["1 in flight"]]);
        driver.ask(&through(&[API, ROUTE]));
        let earlier = driver.ask(&through(&[API, ROUTE]));
        let later = driver.ask(&through(&[API]));
        assert_eq!(driver.wait(), Deadline::new(at(1000), Reason::Turn));
        assert_eq!(driver.times(), [(0, 0), (later, 1000)]);
        driver.finish(0);
        assert_eq!(driver.times()[2], (earlier, 1000));
    }

    #[test]
    fn two_interleaved_routes_both_get_their_full_rate() {
        let mut driver = Driver::new(&[&["10/s burst 1"], &["2/s"], &["3/s"]]);
        for _ in 0..30 {
            driver.ask(&through(&[API, ROUTE]));
            driver.ask(&through(&[API, OTHER_ROUTE]));
            driver.ask(&through(&[API]));
        }
        driver.pass(ms(20_000));
        let last = |kind| {
            let times = driver.times();
            let own = times.iter().filter(|(name, _)| name % 3 == kind);
            assert_eq!(own.clone().count(), 30);
            own.map(|(_, ms)| *ms).max().expect("thirty")
        };
        assert!((14_000..=14_500).contains(&last(0)), "{}", last(0));
        assert!((9_000..=9_800).contains(&last(1)), "{}", last(1));
        assert!(last(2) <= 7_000, "{}", last(2));
        let own = |kind| {
            let order = driver.order().into_iter();
            order
                .filter(move |name| name % 3 == kind)
                .collect::<Vec<_>>()
        };
        assert!((0..3).all(|kind| own(kind).is_sorted()));
    }

    #[test]
    fn a_request_that_is_free_is_in_flight_like_any_other() {
        let mut driver = Driver::new(&[&["1 in flight", "1/h"]]);
        driver.ask_all(2, &through(&[API]).cost(Cost::requests(0)));
        assert_eq!((driver.order(), driver.wake), (vec![0], None));
        driver.finish(0);
        assert_eq!(driver.order(), [0, 1]);
    }
}

mod live_changes {
    use super::*;

    /// Spends all of `before`, changes it to `after`, and says when the next three start.
    fn check(before: &str, after: &str, starts: [u128; 3]) {
        let mut driver = Driver::new(&[&[before]]);
        let spent = driver.available(0)[0];
        driver.ask_all(usize::try_from(spent).expect("a few"), &through(&[API]));
        driver.change_limits(API, &[after]);
        driver.ask_all(3, &through(&[API]));
        driver.pass(ms(100_000));
        let times = driver.times();
        let next: Vec<_> = times
            .iter()
            .skip(spent as usize)
            .map(|(_, ms)| *ms)
            .collect();
        assert_eq!(next, starts, "{before} to {after}");
    }

    #[test]
    fn none_grants_a_burst() {
        check("1/s burst 5", "2/s burst 5", [500, 1000, 1500]);
        check("1/s burst 5", "1/s burst 2", [1000, 2000, 3000]);
        check("1/s burst 5", "1/s burst 500", [1000, 2000, 3000]);
        check("5/10s", "2/10s", [10_000, 10_000, 20_000]);
        check("5/10s", "6/10s", [0, 10_000, 10_000]);
        check("5/10s", "5/20s", [20_000, 20_000, 20_000]);
        check("5/10s", "1/s burst 5", [1000, 2000, 3000]);
        check("5/10s", "1/s burst 500", [1000, 2000, 3000]);
        check("1/s burst 5", "5/10s", [10_000, 10_000, 10_000]);
        check("1/s burst 5", "2/10s", [10_000, 10_000, 20_000]);
    }

    #[test]
    fn a_limit_that_stays_keeps_its_books_when_the_one_before_it_goes() {
        let mut driver = Driver::new(&[&["10/s", "3/h"]]);
        driver.ask_all(3, &through(&[API]));
        driver.pass(ms(5000));
        driver.change_limits(API, &["3/h"]);
        assert_eq!(driver.available(0), [0]);
        driver.change_limits(API, &["20/s", "3/h"]);
        assert_eq!(driver.available(0), [20, 0]);
    }

    #[test]
    fn fewer_in_flight_than_there_are_admits_when_there_is_room_again() {
        let mut driver = Driver::new(&[&["4 in flight"]]);
        driver.ask_all(5, &through(&[API]));
        driver.change_limits(API, &["2 in flight"]);
        for name in 0..2 {
            driver.finish(name);
            assert_eq!(driver.starts.len(), 4);
        }
        driver.finish(2);
        assert_eq!(driver.starts.len(), 5);
    }

    #[test]
    fn a_raised_limit_serves_those_who_wait_at_once() {
        let mut driver = Driver::new(&[&["1/h"]]);
        driver.ask_all(3, &through(&[API]));
        driver.change_limits(API, &["2/h"]);
        assert_eq!(driver.times(), [(0, 0), (1, 0)]);
    }
}

mod refunds {
    use super::*;

    #[test]
    fn a_strict_window_and_a_bucket_serve_the_next_at_once() {
        for limit in ["1/h", "1/h burst 1", "1 in flight"] {
            let mut driver = Driver::new(&[&[limit]]);
            driver.ask_all(2, &through(&[API]));
            driver.refund(0);
            assert_eq!(driver.times(), [(0, 0), (1, 0)], "{limit}");
        }
    }

    #[test]
    fn the_believed_spacing_counts_from_the_last_that_was_sent() {
        let mut driver = Driver::new(&[&[]]);
        driver.ask(&through(&[API]));
        driver.answer(0, &ok());
        driver.ask(&through(&[API]));
        driver.answer(1, &refused());
        driver.ask_all(2, &through(&[API]));
        let first = driver.wait();
        assert_eq!(first.reason, Reason::Belief);
        driver.refund(2);
        assert_eq!(driver.order(), [0, 1, 2, 3]);
        assert_eq!(driver.starts[3].at, first.at);
    }

    #[test]
    fn a_probe_that_was_not_sent_lets_the_next_one_ask() {
        let mut driver = Driver::new(&[&[]]);
        driver.ask(&through(&[API]));
        driver.answer(0, &refused());
        driver.ask_all(3, &through(&[API]));
        driver.wait();
        assert_eq!(
            (driver.order(), driver.circuit(API)),
            (vec![0, 1], "probing")
        );
        driver.refund(1);
        assert_eq!(
            (driver.order(), driver.circuit(API)),
            (vec![0, 1, 2], "probing")
        );
        driver.finish(2);
        driver.pass(ms(100));
        assert_eq!(
            driver.order(),
            [0, 1, 2, 3],
            "nobody will tell how it ended"
        );
    }

    #[test]
    fn a_ticket_that_leaves_lets_the_next_one_pass() {
        let mut driver = Driver::new(&[&["5/s burst 5"]]);
        driver.ask(&through(&[API]).cost(Cost::requests(4)));
        let dear = driver.ask(&through(&[API]).cost(Cost::requests(5)));
        let cheap = driver.ask(&through(&[API]));
        assert_eq!(driver.order(), [0]);
        driver.leave(dear);
        assert_eq!(driver.order(), [0, cheap]);
    }
}

mod refusals {
    use super::*;

    #[test]
    fn a_deadline_before_the_turn_says_when_it_would_have_been_and_charges_nothing() {
        let mut driver = Driver::new(&[&["1/s"]]);
        driver.ask_all(3, &through(&[API]));
        let late = driver.ask(&through(&[API]).deadline(at(2999)));
        let refusal = driver.refusal(late);
        assert_eq!(refusal.reason, Reason::Deadline);
        assert_eq!(refusal.waiting_for, Some(Reason::Limit));
        assert_eq!(refusal.possible_at, Some(at(3000)));
        let just = driver.ask(&through(&[API]).deadline(at(3000)));
        driver.pass(ms(5000));
        assert_eq!(driver.times(), [(0, 0), (1, 1000), (2, 2000), (just, 3000)]);
    }

    #[test]
    fn a_pause_that_outlasts_a_waiters_deadline_ends_it_at_once() {
        let mut driver = Driver::new(&[&["2/s"]]);
        driver.ask_all(2, &through(&[API]));
        let patient = driver.ask(&through(&[API]));
        let hasty = driver.ask(&through(&[API]).deadline(at(10_000)));
        driver.answer(0, &ok());
        driver.answer(1, &refused_for(ms(30_000)));
        let refusal = driver.refusal(hasty);
        assert_eq!(refusal.reason, Reason::Deadline);
        assert_eq!(refusal.waiting_for, Some(Reason::Pause));
        assert_eq!(refusal.asked, Some(ms(30_000)));
        assert!(refusal.possible_at >= Some(at(30_000)));
        assert_eq!(driver.tickets.values().collect::<Vec<_>>(), [&patient]);
    }

    /// Woken for the deadline, it could neither start nor fail, and asked to be woken at the same instant for ever.
    #[test]
    fn who_cannot_start_at_its_deadline_fails_then() {
        let mut driver = Driver::new(&[&["1 in flight"]]);
        driver.ask(&through(&[API]));
        let late = driver.ask(&through(&[API]).deadline(at(2000)));
        assert_eq!(driver.wait(), Deadline::new(at(2000), Reason::Deadline));
        assert_eq!(driver.refusal(late).waiting_for, Some(Reason::InFlight));
    }

    #[test]
    fn who_comes_after_its_deadline_is_not_sent() {
        let mut driver = Driver::new(&[&[]]);
        driver.pass(ms(10));
        let late = driver.ask(&through(&[API]).deadline(at(9)));
        assert_eq!(driver.refusal(late).reason, Reason::Deadline);
        driver.ask(&through(&[API]).deadline(at(10)));
        assert_eq!(driver.order(), [1]);
    }

    #[test]
    fn an_own_delay_that_outlasts_the_deadline_is_said_to_be_that() {
        let mut driver = Driver::new(&[&[]]);
        let want = through(&[API]).deadline(at(1000));
        let name = driver.ask_again(&want, None, &Attempts::default(), at(3000));
        let refusal = driver.refusal(name);
        assert_eq!(refusal.reason, Reason::Deadline);
        assert_eq!(refusal.waiting_for, Some(Reason::Backoff));
        assert_eq!(refusal.possible_at, Some(at(3000)));
    }

    #[test]
    fn a_full_line_refuses_the_next() {
        let mut driver = Driver::with(1, 2, &[&["1/s"]]);
        driver.ask_all(3, &through(&[API]));
        let fourth = driver.ask(&through(&[API]));
        assert_eq!(driver.refusal(fourth).reason, Reason::QueueFull);
        driver.wait();
        driver.ask(&through(&[API]));
        assert_eq!((driver.tickets.len(), driver.refusals.len()), (2, 1));
    }

    #[test]
    fn what_costs_more_than_a_limit_ever_allows_fails_at_once() {
        for limit in ["4/s", "100/s burst 4"] {
            let mut driver = Driver::new(&[&[limit]]);
            let dear = driver.ask(&through(&[API]).cost(Cost::requests(5)));
            assert_eq!(driver.refusal(dear).reason, Reason::TooCostly);
            assert_eq!(driver.refusal(dear).possible_at, None);
            assert_eq!(driver.available(0), [4], "nothing was charged");
        }
    }

    #[test]
    fn what_a_lowered_limit_makes_too_costly_fails_and_lets_the_next_pass() {
        let mut driver = Driver::new(&[&["4/s"]]);
        driver.ask_all(2, &through(&[API]).cost(Cost::requests(3)));
        driver.ask(&through(&[API]));
        driver.change_limits(API, &["2/s"]);
        assert_eq!(driver.refusal(1).reason, Reason::TooCostly);
        driver.pass(ms(1000));
        assert_eq!(driver.times(), [(0, 0), (2, 1000)]);
    }

    #[test]
    fn best_effort_goes_now_or_not_at_all() {
        let mut driver = Driver::new(&[&["2/s"]]);
        let want = through(&[API]).best_effort();
        driver.ask_all(3, &want);
        assert_eq!(driver.order(), [0, 1]);
        let refusal = driver.refusal(2);
        assert_eq!(refusal.reason, Reason::BestEffort);
        assert_eq!(refusal.waiting_for, Some(Reason::Limit));
        assert_eq!(refusal.possible_at, Some(at(1000)));
    }

    #[test]
    fn a_shutdown_refuses_those_who_wait_and_those_who_come() {
        let mut driver = Driver::new(&[&["1/s"]]);
        driver.ask_all(3, &through(&[API]));
        driver.input(|engine, _| engine.shut_down());
        driver.ask(&through(&[API]));
        let refusals: Vec<_> = driver
            .refusals
            .iter()
            .map(|(n, r)| (*n, r.reason))
            .collect();
        assert_eq!(refusals, [1, 2, 3].map(|name| (name, Reason::Shutdown)));
        driver.answer(0, &ok());
        assert_eq!((driver.wake, driver.in_flight(API)), (None, 0));
    }
}

mod the_line {
    use super::*;

    #[test]
    fn a_retry_keeps_its_place() {
        let mut driver = Driver::new(&[&["1/s"]]);
        let want = through(&[API]);
        let place = driver.engine.place(driver.now, &want);
        driver.ask_all(3, &want);
        let retried = driver.ask_again(&want, Some(place), &Attempts::default(), at(1500));
        driver.pass(ms(5000));
        assert_eq!(driver.order(), [0, 1, retried, 2]);
    }

    #[test]
    fn one_that_was_refused_again_and_again_lets_a_bounded_number_pass() {
        let mut driver = Driver::new(&[&["10/s burst 1"]]);
        let want = through(&[API]);
        driver.ask(&want);
        driver.answer(0, &ok());
        driver.pass(ms(100));
        let policy = RetryPolicy::default();
        let mut attempts = Attempts::default();
        let place = driver.engine.place(driver.now, &want);
        let mut last = driver.ask_again(&want, Some(place), &attempts, driver.now);
        let mut passed = Vec::new();
        driver.ask_all(100, &want);
        for _ in 0..6 {
            let seen = refused();
            driver.settle(last, &seen);
            let decision = driver.engine.decide(
                driver.now,
                &want,
                &policy,
                &mut attempts,
                Repeatable::YES,
                &seen,
            );
            assert!(matches!(decision, Decision::Again { .. }), "{decision:?}");
            driver.finish(last);
            let before = driver.starts.len();
            last = driver.ask_again(&want, Some(place), &attempts, driver.now);
            while !driver.under_way.contains_key(&last) {
                let others: Vec<_> = driver.under_way.keys().copied().collect();
                for other in others {
                    driver.answer(other, &refused());
                }
                driver.wait();
            }
            passed.push(driver.starts.len() - before - 1);
        }
        assert_eq!(passed, [0, 2, 4, 8, 16, 16]);
    }

    #[test]
    fn one_that_yields_does_not_wait_for_others_to_come() {
        let mut driver = Driver::new(&[&["1/s"]]);
        let want = through(&[API]);
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            let seen = refused();
            let _ = driver.engine.decide(
                driver.now,
                &want,
                &RetryPolicy::default(),
                &mut attempts,
                Repeatable::YES,
                &seen,
            );
        }
        driver.ask(&want);
        driver.ask_again(&want, None, &attempts, driver.now);
        driver.pass(ms(1000));
        assert_eq!(driver.times(), [(0, 0), (1, 1000)]);
    }

    #[test]
    fn who_waits_is_counted_at_each_of_its_gates() {
        let mut driver = Driver::new(&[&[], &["1/s"], &["1/s"]]);
        driver.ask_all(3, &through(&[API, ROUTE]));
        driver.ask_all(2, &through(&[API, OTHER_ROUTE]));
        let waiting = [API, ROUTE, OTHER_ROUTE].map(|gate| driver.waiting(gate));
        assert_eq!(waiting, [3, 2, 1]);
    }

    #[test]
    fn more_important_ones_go_first_and_background_work_never_starves() {
        let mut driver = Driver::new(&[&["1/s"]]);
        driver.ask(&through(&[API]));
        let batch = driver.ask(&through(&[API]).priority(Priority::Background));
        for _ in 0..90 {
            driver.ask(&through(&[API]).priority(Priority::Interactive));
            driver.pass(ms(1000));
        }
        let rank = driver.order().iter().position(|name| *name == batch);
        assert_eq!(rank, Some(61), "a minute later than one that came with it");
    }

    #[test]
    fn the_same_seed_and_the_same_inputs_have_the_same_effects() {
        let run = |seed| {
            let mut driver = Driver::with(seed, 1000, &[&["50/s burst 5"]]);
            driver.ask_all(40, &through(&[API]));
            for step in 0..400 {
                if let Some(name) = driver.under_way.keys().next().copied() {
                    let seen = match step % 7 {
                        0 => refused_for(ms(50 * step)),
                        1 => Observation::failure(Failure::Broken),
                        2 => refused(),
                        _ => ok(),
                    };
                    driver.answer(name, &seen);
                }
                driver.pass(ms(200));
            }
            (driver.starts, driver.events, driver.refusals)
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2), "the seed decides the jitter");
    }
}

mod answers {
    use super::*;

    #[test]
    fn a_window_that_is_used_up_holds_the_next_until_it_starts_anew() {
        let mut driver = Driver::new(&[&[]]);
        driver.ask(&through(&[API]));
        let mut seen = ok();
        seen.windows.push(window(0, ms(7000)));
        driver.answer(0, &seen);
        driver.ask(&through(&[API]));
        assert_eq!(driver.wake, Some(Deadline::new(at(7000), Reason::Window)));
        driver.pass(ms(7000));
        assert_eq!(driver.times(), [(0, 0), (1, 7000)]);
    }

    #[test]
    fn the_jitter_of_a_pause_comes_after_it_and_never_before() {
        for asked in [1, 40, 1_000, 30_000, 3_600_000] {
            let ends: Vec<_> = (0..50)
                .map(|seed| {
                    let mut driver = Driver::with(seed, 10, &[&[]]);
                    driver.ask_all(2, &through(&[API]));
                    driver.answer(0, &ok());
                    driver.answer(1, &refused_for(ms(asked)));
                    let pause = driver.engine.snapshot(driver.now).gates[0].throttled_until;
                    pause.expect("a pause").since(at(0))
                })
                .collect();
            // The belief of a first refusal asks for 100 ms by itself.
            let plain = ms(asked.max(100));
            let longest = (plain + plain / 32).min(plain + ms(1000));
            assert!(
                ends.iter().all(|end| (plain..=longest).contains(end)),
                "{asked} ms"
            );
            assert!(asked < 100 || ends.iter().max() > ends.iter().min());
        }
    }

    /// Opens the circuit of a gate that never served, with `waiting` in line; the probe is under way.
    fn probing(waiting: usize) -> Driver {
        let mut driver = Driver::new(&[&[]]);
        driver.ask(&through(&[API]));
        driver.answer(0, &refused());
        driver.ask_all(waiting, &through(&[API]));
        driver.wait();
        assert_eq!(
            (driver.order(), driver.circuit(API)),
            (vec![0, 1], "probing")
        );
        driver
    }

    #[test]
    fn a_circuit_that_closes_does_not_dump_the_line() {
        let mut driver = probing(200);
        driver.answer(1, &ok());
        let mut most = Vec::new();
        while driver.wake.is_some() || driver.in_flight(API) > 0 {
            // Past the spacing that the run of refusals left, so that only the circuit holds anybody back.
            driver.pass(ms(1000));
            most.push(driver.in_flight(API));
            let oldest = *driver.under_way.keys().next().expect("in flight");
            driver.answer(oldest, &ok());
        }
        assert_eq!(most[..6], [2, 3, 4, 5, 6, 7]);
        assert_eq!(driver.starts.len(), 201);
    }

    #[test]
    fn a_probe_that_is_never_answered_is_not_waited_for_for_ever() {
        let mut driver = probing(2);
        let patience = driver.starts[1].at + ms(30_000);
        driver.pass_to(patience);
        assert_eq!(driver.order(), [0, 1, 2]);
        assert_eq!(driver.starts[2].at, patience);
    }

    /// It was taken for a refusal of this request alone, and the next probe had to wait for the end of all patience.
    #[test]
    fn a_probe_that_is_refused_again_gives_its_place_to_the_next() {
        let mut driver = Driver::new(&[&[]]);
        driver.ask_all(5, &through(&[API]));
        let want = through(&[API]);
        let mut attempts = Attempts::default();
        let place = driver.engine.place(driver.now, &want);
        let seen = refused();
        driver.settle(0, &seen);
        let _ = driver.engine.decide(
            driver.now,
            &want,
            &RetryPolicy::default(),
            &mut attempts,
            Repeatable::YES,
            &seen,
        );
        driver.finish(0);
        assert_eq!(driver.circuit(API), "open");
        for name in 1..5 {
            driver.answer(name, &ok());
        }
        assert_eq!(driver.circuit(API), "open", "they left before it opened");
        let probe = driver.ask_again(&want, Some(place), &attempts, driver.now);
        driver.ask(&want);
        driver.wait();
        assert_eq!(driver.circuit(API), "probing");
        driver.answer(probe, &seen);
        assert_eq!(driver.circuit(API), "open");
        driver.pass(ms(2000));
        assert_eq!(driver.starts.len(), 7);
    }
}
