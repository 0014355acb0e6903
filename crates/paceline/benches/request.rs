//! What one request costs: `cargo bench -p paceline --features tower --bench request`.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use divan::Bencher;
use governor::{Quota, RateLimiter};
use http::{Request, Response};
use http_body_util::Empty;
use paceline::tower::PacelineLayer;
use paceline::{Observation, Pace, Verdict};
use tower::{Layer, Service};

fn main() {
    divan::main();
}

/// So much that nobody ever waits: the cost of asking, not of waiting.
const AMPLE: u32 = 1_000_000_000;

fn poll<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing holds it back"),
    }
}

fn acquire_and_settle(bencher: Bencher<'_, '_>, pace: &Pace) {
    let served = Observation::status(Verdict::Ok, 200);
    let want = pace.want();
    bencher.bench_local(|| {
        let mut permit = poll(pace.acquire(black_box(&want))).expect("admitted");
        permit.sending();
        permit.settle(&served);
    });
}

#[divan::bench(sample_size = 1000)]
fn nothing_configured(bencher: Bencher<'_, '_>) {
    acquire_and_settle(bencher, &Pace::builder("api").build());
}

#[divan::bench(sample_size = 1000)]
fn one_token_bucket(bencher: Bencher<'_, '_>) {
    let limit = format!("{AMPLE}/s burst {AMPLE}").parse().expect("a limit");
    acquire_and_settle(bencher, &Pace::builder("api").limit(limit).build());
}

/// Without order, refund, answers or anything in flight: a check and a subtraction.
#[divan::bench(sample_size = 1000)]
fn governor_check(bencher: Bencher<'_, '_>) {
    let ample = NonZeroU32::new(AMPLE).expect("not zero");
    let limiter = RateLimiter::direct(Quota::per_second(ample));
    bencher.bench_local(|| black_box(&limiter).check().expect("admitted"));
}

/// Answers at once, so that what is measured is what stands before it.
#[derive(Clone)]
struct NoOp;

impl Service<Request<()>> for NoOp {
    type Response = Response<Empty<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new(Empty::new())))
    }
}

#[divan::bench(sample_size = 1000)]
fn service_bare(bencher: Bencher<'_, '_>) {
    let mut service = NoOp;
    bencher.bench_local(|| poll(black_box(&mut service).call(Request::new(()))).expect("served"));
}

#[divan::bench(sample_size = 1000)]
fn service_with_the_layer(bencher: Bencher<'_, '_>) {
    let mut service = PacelineLayer::new(Pace::builder("api").build()).layer(NoOp);
    bencher.bench_local(|| poll(black_box(&mut service).call(Request::new(()))).expect("served"));
}
