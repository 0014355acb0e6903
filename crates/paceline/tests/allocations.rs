//! Where nothing is configured and nothing was refused, a request costs no heap allocation.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use http::Method;
use paceline::dialect::Gates;
use paceline::{Cost, GatesBy, Observation, Pace, Verdict};

fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing holds it back"),
    }
}

fn allocations(pace: &Pace) -> u64 {
    allocations_at(pace, &Cost::default(), None)
}

fn allocations_at(pace: &Pace, cost: &Cost, actual: Option<&Cost>) -> u64 {
    let served = Observation::status(Verdict::Ok, 200);
    let once = || {
        let want = pace
            .want()
            .cost(cost.clone())
            .route(pace.route_of(&Method::GET, "/users/4711/posts"));
        let mut permit = ready(pace.acquire(&want)).expect("admitted");
        permit.sending();
        permit.settle(&served);
        if let Some(actual) = actual {
            permit.settle_cost(actual);
        }
    };
    once();
    allocation_counter::measure(|| (0..1000).for_each(|_| once())).count_total
}

#[test]
fn acquire_and_settle_allocate_nothing() {
    assert_eq!(allocations(&Pace::builder("api").build()), 0);
}

#[test]
fn nor_do_they_with_a_token_bucket_that_has_enough() {
    let limit = "1000000/s burst 1000000".parse().expect("a limit");
    assert_eq!(allocations(&Pace::builder("api").limit(limit).build()), 0);
}

#[test]
fn nor_does_a_cost_that_is_reserved_and_settled() {
    let limit = "1000000 tokens/s burst 1000000".parse().expect("a limit");
    let pace = Pace::builder("api").limit(limit).build();
    let (estimate, actual) = (Cost::tokens(10), Cost::tokens(3));
    assert_eq!(allocations_at(&pace, &estimate, Some(&actual)), 0);
}

#[test]
fn nor_do_they_at_a_gate_that_was_found() {
    let gates = Gates::new(GatesBy::Endpoint);
    let pace = Pace::builder("api").find_gates(gates).build();
    assert_eq!(allocations(&pace), 0);
    assert_eq!(pace.snapshot().gates.len(), 2);
}
