//! Paused time: every number is exact.

use tokio::time::Instant;

use super::super::{RetryAfter, Wrap};
use super::*;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn service(spec: ServerSpec) -> LimitedService {
    LimitedService::new(spec).expect("a valid specification")
}

/// The answer's status and Retry-After, and the milliseconds that it took.
async fn ask(service: &LimitedService) -> (u16, Option<String>, u128) {
    ask_with(service, Request::new(())).await
}

async fn ask_with(service: &LimitedService, request: Request<()>) -> (u16, Option<String>, u128) {
    let start = Instant::now();
    let Ok(response) = service.clone().call(request).await;
    let hint = response
        .headers()
        .get(RETRY_AFTER)
        .map(|value| value.to_str().expect("text").to_owned());
    (
        response.status().as_u16(),
        hint,
        start.elapsed().as_millis(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_bucket_of_two_at_one_a_second_in_an_instant() {
    let upstream = service(ServerSpec::token_bucket(1.0, 2).retry_after(RetryAfter::Float));
    assert_eq!(ask(&upstream).await, (200, None, 0));
    assert_eq!(ask(&upstream).await, (200, None, 0));
    assert_eq!(ask(&upstream).await, (429, Some("1.0".to_owned()), 0));
    tokio::time::advance(ms(400)).await;
    assert_eq!(ask(&upstream).await, (429, Some("0.6".to_owned()), 0));
    tokio::time::advance(ms(600)).await;
    assert_eq!(ask(&upstream).await, (200, None, 0));

    let stats = upstream.stats();
    assert_eq!(
        (stats.received, stats.served, stats.refused, stats.in_flight),
        (5, 3, 2, 0)
    );
    assert_eq!(stats.arrivals, [0, 0, 0, 400, 1_000].map(ms));
    assert_eq!(
        (stats.first_at, stats.last_at),
        (Some(ms(0)), Some(ms(1_000)))
    );
    assert_eq!(stats.most_within(ms(1_000)), 4);
}

#[tokio::test(start_paused = true)]
async fn half_the_latency_lies_before_the_decision() {
    let outage = Wrap::outage([ms(50)..ms(60)]).retry_after(RetryAfter::Float);
    let upstream = service(ServerSpec::open().wrap(outage)).latency(ms(100));
    // Arrives at 0, is judged at 50, and has its answer at 100.
    assert_eq!(ask(&upstream).await, (429, Some("0.01".to_owned()), 100));
    assert_eq!(ask(&upstream).await, (200, None, 100));
    assert_eq!(upstream.stats().arrivals, [0, 100].map(ms));
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_held_for_the_whole_latency_and_refused_within_ten_milliseconds() {
    let upstream = service(ServerSpec::concurrency(2)).latency(ms(300));
    let both = (tokio::spawn(call(&upstream)), tokio::spawn(call(&upstream)));
    tokio::task::yield_now().await;
    assert_eq!(upstream.stats().in_flight, 2);
    assert_eq!(ask(&upstream).await, (429, None, 10));
    tokio::time::sleep(ms(289)).await;
    assert_eq!(ask(&upstream).await, (429, None, 10), "asked at 299 ms");
    assert_eq!(ask(&upstream).await, (200, None, 300), "asked at 309 ms");
    both.0.await.expect("answered");
    both.1.await.expect("answered");
    assert_eq!(upstream.stats().max_in_flight, 3);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_gives_its_slot_back() {
    let upstream = service(ServerSpec::concurrency(1)).latency(ms(300));
    let given_up = tokio::time::timeout(ms(20), call(&upstream)).await;
    given_up.expect_err("still on its way");
    assert_eq!(upstream.stats().in_flight, 0);
    assert_eq!(ask(&upstream).await, (200, None, 300));
}

#[tokio::test(start_paused = true)]
async fn calls_are_decided_in_order_whoever_is_polled_first() {
    let upstream = service(ServerSpec::token_bucket(1.0, 1));
    let (first, second) = (call(&upstream), call(&upstream));
    assert_eq!(second.await, 429);
    assert_eq!(first.await, 200);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_a_request_is_what_it_says_or_its_place_in_the_line() {
    let upstream = service(ServerSpec::open().wrap(Wrap::poison(2)));
    let mut by_extension = Request::new(());
    by_extension.extensions_mut().insert(2_u64);
    let by_header = Request::builder()
        .header("x-request-number", "2")
        .body(())
        .expect("a request");
    let otherwise = Request::builder()
        .header("x-request-number", "7")
        .body(())
        .expect("a request");

    assert_eq!(ask_with(&upstream, by_extension).await.0, 429);
    assert_eq!(ask_with(&upstream, by_header).await.0, 429);
    assert_eq!(ask(&upstream).await.0, 429, "two arrived before it");
    assert_eq!(ask_with(&upstream, otherwise).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn the_handler_answers_what_is_served_and_only_that() {
    let upstream = service(ServerSpec::open().wrap(Wrap::nth([2]).status(503)));
    let upstream = upstream.handler(|parts| match parts.uri.path() {
        "/missing" => Response::builder()
            .status(404)
            .body(Full::default())
            .expect("a response"),
        _ => Response::new(Full::from("page")),
    });
    let to = |path| Request::builder().uri(path).body(()).expect("a request");
    assert_eq!(ask_with(&upstream, to("/missing")).await.0, 404);
    assert_eq!(ask_with(&upstream, to("/")).await.0, 503);
    assert_eq!(ask_with(&upstream, to("/")).await.0, 200);
    let stats = upstream.stats();
    assert_eq!((stats.served, stats.refused), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_script_answers_in_order_of_arrival_and_then_serves() {
    let script = Script::status(503)
        .then(429)
        .header("retry-after", "60")
        .then_redirect("/b");
    let upstream = LimitedService::scripted(script).latency(ms(20));
    assert_eq!(ask(&upstream).await, (503, None, 20));
    assert_eq!(ask(&upstream).await, (429, Some("60".to_owned()), 20));
    assert_eq!(ask(&upstream).await, (302, None, 20));
    assert_eq!(ask(&upstream).await, (200, None, 20));
    let stats = upstream.stats();
    assert_eq!((stats.received, stats.served, stats.refused), (4, 2, 2));
}

#[test]
fn a_specification_that_no_server_can_have_is_an_error() {
    let error = LimitedService::new(ServerSpec::token_bucket(3.0, 0)).expect_err("no burst");
    assert_eq!(error.field(), "burst");
}

/// Calls at once; the future only waits for the answer.
fn call(service: &LimitedService) -> impl Future<Output = u16> + use<> {
    let answer = service.clone().call(Request::new(()));
    async move {
        let Ok(response) = answer.await;
        response.status().as_u16()
    }
}
