//! Where nothing is configured and nothing was refused, a request costs no heap allocation.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use paceline::{Observation, Pace, Verdict};

fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing holds it back"),
    }
}

fn allocations(pace: &Pace) -> u64 {
    let served = Observation::status(Verdict::Ok, 200);
    let once = || {
        let mut permit = ready(pace.acquire(&pace.want())).expect("admitted");
        permit.sending();
        permit.settle(&served);
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
