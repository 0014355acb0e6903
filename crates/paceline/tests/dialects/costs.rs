//! What responses say about their cost, and what the whole client makes of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response};
use http_body_util::Full;
use paceline::tower::PacelineLayer;
use paceline::upstream::{Route, Upstream};
use paceline::{Cost, Outcome, Paceline, Reason, SettleCost, dialect};
use tokio::time::{Instant, sleep};
use tower::{BoxError, Layer, ServiceExt, service_fn};

use crate::lab::{Lab, answer};

/// An upstream that speaks this dialect under these limits; each of its requests reserves `cost`.
fn upstream(dialect: &str, limits: &[&str], cost: Cost) -> Upstream {
    let mut upstream = Upstream::default();
    upstream.hosts = vec!["api.example".parse().expect("a host")];
    upstream.dialect = Some(dialect::named(dialect).expect("a dialect"));
    upstream.limits = limits
        .iter()
        .map(|limit| limit.parse().expect("a limit"))
        .collect();
    let mut route = Route::new("* /**".parse().expect("a route"));
    route.cost = cost;
    upstream.routes = vec![route];
    upstream
}

fn available(paceline: &Paceline) -> Vec<u64> {
    let (_, snapshot) = paceline.snapshots().remove(0);
    let limits = snapshot.gates[0].limits.iter();
    limits.map(|own| own.available).collect()
}

/// What is left of `limits` after one request that was answered with 200 and this body.
async fn left(dialect: &str, limits: &[&str], cost: Cost, body: &'static str) -> Vec<u64> {
    let lab = Lab::of(upstream(dialect, limits, cost), move |_, _| {
        answer(200, &[("content-type", "application/json")], body)
    });
    assert_eq!(lab.get("/").await.body, body);
    available(&lab.paceline)
}

/// Shopify's bucket: what a query asks for is held until it is answered, and what it did not use comes back.
#[derive(Debug)]
struct Shop {
    milli_points: u64,
    at: Instant,
}

const WHOLE: u64 = 1_000_000;

impl Shop {
    fn flow(&mut self) {
        let millis = u64::try_from(self.at.elapsed().as_millis()).expect("a test is short");
        // 100 a second.
        self.milli_points = (self.milli_points + millis * 100).min(WHOLE);
        self.at += Duration::from_millis(millis);
    }
}

async fn shop(shop: Arc<Mutex<Shop>>) -> Result<Response<Full<Bytes>>, BoxError> {
    let held = {
        let mut shop = shop.lock().expect("nobody panicked");
        shop.flow();
        let held = shop.milli_points >= 400_000;
        shop.milli_points -= if held { 400_000 } else { 0 };
        held
    };
    sleep(Duration::from_millis(500)).await;
    let mut shop = shop.lock().expect("nobody panicked");
    shop.flow();
    shop.milli_points = WHOLE.min(shop.milli_points + if held { 360_000 } else { 0 });
    let left = shop.milli_points / 1000;
    let status = format!(
        r#""throttleStatus":{{"maximumAvailable":1000,"currentlyAvailable":{left},"restoreRate":100}}"#
    );
    let body = if held {
        format!(
            r#"{{"extensions":{{"cost":{{"requestedQueryCost":400,"actualQueryCost":40,{status}}}}}}}"#
        )
    } else {
        format!(
            r#"{{"errors":[{{"extensions":{{"code":"THROTTLED"}}}}],"extensions":{{"cost":{{"requestedQueryCost":400,{status}}}}}}}"#
        )
    };
    Ok(Response::new(Full::from(body)))
}

/// Forty queries that reserve 400 points and use 40. Kept, the reserves would take a hundred and fifty seconds.
#[tokio::test(start_paused = true)]
async fn a_shop_gives_back_what_its_queries_do_not_use_and_refuses_none() {
    let stock = Arc::new(Mutex::new(Shop {
        milli_points: WHOLE,
        at: Instant::now(),
    }));
    let limits = ["100 points/s burst 1000"];
    let upstream = upstream("shopify-graphql", &limits, Cost::points(400));
    let paceline = Paceline::builder().upstream("shop", upstream).build();
    let service = service_fn(move |_: Request<()>| shop(Arc::clone(&stock)));
    let client = PacelineLayer::new(paceline.clone()).layer(service);
    let began = Instant::now();
    let queries = (0..40).map(|_| {
        let request = Request::get("https://api.example/graphql.json").body(());
        client.clone().oneshot(request.expect("a request"))
    });
    let refused = join_all(queries).await.into_iter().map(|answer| {
        let answer = answer.expect("an answer");
        let outcome = answer.extensions().get::<Outcome>().expect("an outcome");
        assert_eq!(outcome.stopped, None);
        outcome.refused
    });
    assert_eq!(refused.sum::<u32>(), 0);
    // Two at a time for four seconds; then 100 points a second pay for two and a half: 13.7 s, and a tenth because what is
    // told to be left, in whole points, is as old as its answer's way.
    let elapsed = began.elapsed().as_millis();
    assert!((13_700..=13_800).contains(&elapsed), "{elapsed}");
}

/// The caller names nothing; the refusal says what the query costs.
#[tokio::test(start_paused = true)]
async fn the_next_attempt_reserves_what_the_refusal_said() {
    const REFUSED: &str = r#"{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":502,"throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":89,"restoreRate":50}}}}"#;
    const SERVED: &str =
        r#"{"extensions":{"cost":{"requestedQueryCost":502,"actualQueryCost":101}}}"#;
    let script = |nth, _: &str| answer(200, &[], if nth == 0 { REFUSED } else { SERVED });
    let of = |limit| {
        Lab::of(
            upstream("shopify-graphql", &[limit], Cost::default()),
            script,
        )
    };
    let lab = of("1 points/d burst 1000");
    let (got, under_way) = tokio::join!(lab.get("/"), async {
        // 413 points at 50 a second, and what spreads the returns.
        for _ in 0..1000 {
            sleep(Duration::from_millis(10)).await;
            if lab.arrived().len() == 2 {
                break;
            }
        }
        available(&lab.paceline)
    });
    assert_eq!((got.body.as_str(), got.outcome.attempts), (SERVED, 2));
    assert!(lab.arrived()[1] >= 8260, "{:?}", lab.arrived());
    assert_eq!(
        (under_way, available(&lab.paceline)),
        (vec![498], vec![899])
    );

    // More than is configured: nothing more is sent.
    let lab = of("1 points/d burst 400");
    let got = lab.get("/").await;
    assert_eq!((got.body.as_str(), lab.arrived()), (REFUSED, vec![0]));
    assert_eq!(got.outcome.stopped, Some(Reason::TooCostly));
}

#[tokio::test(start_paused = true)]
async fn a_query_that_never_fits_ends_at_once_and_holds_nobody_up() {
    let lab = Lab::new("shopify-graphql", |_, path| match path {
        "/dear" => answer(
            200,
            &[],
            r#"{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":1200,"throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":1000,"restoreRate":50}}}}"#,
        ),
        _ => answer(200, &[], "{}"),
    });
    let got = lab.get("/dear").await;
    assert_eq!(got.outcome.stopped, Some(Reason::TooCostly));
    assert_eq!((got.status, got.outcome.next_allowed), (200, None));
    lab.get("/cheap").await;
    lab.get("/cheap").await;
    assert_eq!(lab.arrived(), [0, 50, 100]);
}

/// Only the caller knows how many tokens it sends; the refusal says how many there ever are.
#[tokio::test(start_paused = true)]
async fn more_tokens_than_the_provider_ever_has_are_not_sent_again() {
    let refused = [
        ("x-ratelimit-limit-tokens", "30000"),
        ("x-ratelimit-remaining-tokens", "30000"),
        ("x-ratelimit-reset-tokens", "0s"),
    ];
    let upstream = upstream("openai", &["1000/m"], Cost::tokens(45_000));
    let lab = Lab::of(upstream, move |_, _| answer(429, &refused, "{}"));
    let got = lab.get("/v1/chat/completions").await;
    assert_eq!(got.outcome.stopped, Some(Reason::TooCostly));
    assert_eq!((got.status, lab.arrived().len()), (429, 1));
}

#[tokio::test(start_paused = true)]
async fn points_of_a_graph_are_what_the_answer_says() {
    let limits = ["5000 points/h", "80/m"];
    let cost = || Cost::points(10);
    for (body, points) in [
        (r#"{"data":{"rateLimit":{"cost":1}}}"#, 4999),
        (r#"{"data":{"rateLimit":{"cost":27}}}"#, 4973),
        (r#"{"data":{"rateLimit":null}}"#, 4990),
        (r#"{"data":{}}"#, 4990),
    ] {
        let left = left("github-graphql", &limits, cost(), body).await;
        assert_eq!(left, [points, 79], "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_of_a_model_are_what_it_used_in_each_unit() {
    let usage = r#"{"usage":{"prompt_tokens":73,"completion_tokens":800,"total_tokens":873}}"#;
    let limits = ["500/m", "90000 tokens/d burst 90000"];
    let left_of_it = left("openai", &limits, Cost::tokens(1200), usage).await;
    assert_eq!(left_of_it, [499, 90_000 - 873]);

    let usage = r#"{"usage":{"input_tokens":73,"output_tokens":800}}"#;
    let limits = ["50/m", "40000 input-tokens/m", "8000 output-tokens/m"];
    let cost = Cost::unit("input-tokens", 100).and("output-tokens", 4096);
    let left_of_it = left("anthropic", &limits, cost, usage).await;
    assert_eq!(left_of_it, [49, 40_000 - 73, 8000 - 800]);
}

/// What the dialect cannot read, the caller tells; what it has read stays as it is.
#[tokio::test(start_paused = true)]
async fn a_stream_of_events_is_settled_by_hand() {
    let usage = r#"{"usage":{"total_tokens":873}}"#;
    for (kind, settled) in [("text/event-stream", 1200), ("application/json", 873)] {
        let limits = ["90000 tokens/d burst 90000"];
        let upstream = upstream("openai", &limits, Cost::tokens(1200));
        let paceline = Paceline::builder().upstream("llm", upstream).build();
        let service = service_fn(move |_: Request<()>| async move {
            let response = Response::builder().header("content-type", kind);
            Ok::<_, BoxError>(response.body(Full::<Bytes>::from(usage))?)
        });
        let client = PacelineLayer::new(paceline.clone()).layer(service);
        let request = Request::get("https://api.example/").body(());
        let response = client.oneshot(request.expect("a request")).await;
        let response = response.expect("an answer");
        assert_eq!(available(&paceline), [90_000 - settled], "{kind}");
        let settle = response.extensions().get::<SettleCost>();
        settle.expect("a limit counts tokens").tokens(900);
        let told = if kind == "text/event-stream" {
            900
        } else {
            873
        };
        assert_eq!(available(&paceline), [90_000 - told], "{kind}");
    }
}
