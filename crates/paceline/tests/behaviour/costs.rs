//! Reserved before, settled after: requests say what they will cost, and their callers what they did cost.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use paceline::testing::{LimitedService, ServerSpec};
use paceline::tower::{Error, PacedBody, PacelineLayer};
use paceline::upstream::{Route, Upstream};
use paceline::{Cost, Pace, Paceline, Reason, RequestOptions, SettleCost};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::{Layer, ServiceExt};

use crate::lab::{Lab, secs, unconfigured};

type Answer = Result<Response<PacedBody<Full<Bytes>>>, Error>;

/// A server that answers with the tokens that it used, two seconds later.
fn metered(used: &'static str) -> LimitedService {
    let server = LimitedService::new(ServerSpec::open()).expect("a server");
    server
        .latency(secs(2.0))
        .handler(move |_| Response::new(Full::from(used)))
}

fn lab(limits: &[&str], used: &'static str) -> Lab {
    let limits = limits.iter().map(|limit| limit.parse().expect("a limit"));
    let pace = limits.fold(unconfigured(), paceline::PaceBuilder::limit);
    Lab::with(pace, metered(used))
}

fn request(cost: Cost) -> Request<()> {
    let options = RequestOptions::new().cost(cost);
    Request::post("/chat")
        .extension(options)
        .body(())
        .expect("a request")
}

async fn ask(lab: &Lab, cost: Cost) -> Answer {
    lab.client.clone().oneshot(request(cost)).await
}

fn available(pace: &Pace) -> Vec<u64> {
    let gates = pace.snapshot().gates;
    gates[0].limits.iter().map(|own| own.available).collect()
}

/// A hundred requests that reserve 1000 tokens each, and use what the server says.
async fn job(lab: &Lab, tells: bool) -> Duration {
    let began = Instant::now();
    let mut set = JoinSet::new();
    for _ in 0..100 {
        let lab = lab.clone();
        set.spawn(async move {
            let response = ask(&lab, Cost::tokens(1000)).await.expect("served");
            let spent = response.extensions().get::<SettleCost>().cloned();
            let body = response.into_body().collect().await.expect("a body");
            let used = String::from_utf8(body.to_bytes().to_vec()).expect("a number");
            if tells {
                spent
                    .expect("it named a cost")
                    .tokens(used.parse().expect("a number"));
            }
        });
    }
    set.join_all().await;
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_job_of_a_language_model_takes_the_time_of_what_it_uses() {
    let limit = "10000 tokens/m burst 10000";
    assert_eq!(job(&lab(&[limit], "250"), false).await, secs(542.0));
    assert_eq!(job(&lab(&[limit], "1000"), true).await, secs(542.0));
    assert_eq!(job(&lab(&[limit], "250"), true).await, secs(101.0));
    // Twice what was thought: 99 that cost 2000 and the reserve of the last are 199,000, and 189,000 of them flow in.
    assert_eq!(job(&lab(&[limit], "2000"), true).await, secs(1136.0));
}

#[tokio::test(start_paused = true)]
async fn it_is_told_while_the_body_streams_or_afterwards_and_once() {
    let lab = lab(&["1000 tokens/d burst 1000"], "250");
    for (held, left) in [(true, 750), (false, 500)] {
        let response = ask(&lab, Cost::tokens(400)).await.unwrap();
        let spent = response.extensions().get::<SettleCost>().cloned().unwrap();
        let body = Some(response.into_body()).filter(|_| held);
        let in_flight = lab.pace.snapshot().gates[0].in_flight;
        assert_eq!(in_flight, u64::from(held));
        spent.tokens(250);
        assert_eq!(available(&lab.pace), [left]);
        spent.clone().tokens(0);
        drop(body);
        spent.tokens(0);
        assert_eq!(available(&lab.pace), [left], "the first who tells counts");
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_tells_stands() {
    let lab = lab(&["10/d", "1000 tokens/d"], "250");
    drop(ask(&lab, Cost::tokens(400)).await.unwrap());
    assert_eq!(available(&lab.pace), [9, 600]);
    // Where a limit counts tokens, who named none may tell all the same.
    let response = ask(&lab, Cost::default()).await.unwrap();
    response
        .extensions()
        .get::<SettleCost>()
        .unwrap()
        .tokens(100);
    assert_eq!(available(&lab.pace), [8, 500]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_hopes_as_long_as_somebody_may_tell() {
    let lab = lab(&["1000 tokens/h"], "250");
    let response = ask(&lab, Cost::tokens(900)).await.unwrap();
    let (parts, body) = response.into_parts();
    drop(body);
    let mut request = request(Cost::tokens(900));
    let options = RequestOptions::new().cost(Cost::tokens(900));
    request.extensions_mut().insert(options.total(secs(60.0)));
    let waits = tokio::spawn(lab.client.clone().oneshot(request));
    tokio::time::sleep(secs(5.0)).await;
    assert!(!waits.is_finished());
    let began = Instant::now();
    drop(parts);
    let Err(Error::Stopped(stopped)) = waits.await.unwrap() else {
        panic!("its time ends before the hour does");
    };
    assert_eq!(
        (stopped.reason, began.elapsed()),
        (Reason::Deadline, secs(0.0))
    );
}

#[tokio::test(start_paused = true)]
async fn who_names_nothing_where_only_requests_count_has_nothing_to_tell() {
    let lab = lab(&["10/d"], "250");
    let response = ask(&lab, Cost::requests(1)).await.unwrap();
    assert!(response.extensions().get::<SettleCost>().is_none());
    let response = ask(&lab, Cost::requests(5)).await.unwrap();
    let spent = response.extensions().get::<SettleCost>().unwrap();
    spent.cost(&Cost::requests(2));
    assert_eq!(available(&lab.pace), [7]);
}

#[tokio::test(start_paused = true)]
async fn several_units_are_settled_together() {
    let lab = lab(&["10/d", "1000 tokens/d", "90 points/d burst 90"], "250");
    let cost = Cost::requests(2).and("tokens", 600).and("points", 50);
    let response = ask(&lab, cost).await.unwrap();
    assert_eq!(available(&lab.pace), [8, 400, 40]);
    let spent = response.extensions().get::<SettleCost>().unwrap();
    spent.cost(&Cost::tokens(100).and("points", 60));
    assert_eq!(available(&lab.pace), [8, 900, 30]);
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_settles_its_cost_wakes_who_waits() {
    let pace = unconfigured()
        .limit("1000 tokens/h".parse().unwrap())
        .build();
    let want = pace.want().cost(Cost::tokens(800));
    let mut permit = pace.acquire(&want).await.unwrap();
    permit.sending();
    let next = tokio::spawn(pace.acquire(&want));
    tokio::time::sleep(secs(5.0)).await;
    permit.settle_cost(&Cost::tokens(200));
    let began = Instant::now();
    drop(next.await.unwrap().expect("admitted"));
    assert_eq!(began.elapsed(), secs(0.0));
    assert_eq!(available(&pace), [800], "what was not sent came back, too");
}

#[tokio::test(start_paused = true)]
async fn what_is_too_dear_fails_at_once_and_says_which_limit() {
    let lab = lab(&["10/m", "1000 tokens/m burst 2000"], "250");
    let Err(Error::Stopped(stopped)) = ask(&lab, Cost::tokens(2001)).await else {
        panic!("it can never be sent");
    };
    assert_eq!(stopped.reason, Reason::TooCostly);
    assert_eq!(
        stopped.to_string(),
        "lab: not sent: it costs more than a limit ever allows: \
         2001 tokens where 1000 tokens/m burst 2000 allows 2000 at once"
    );
    assert_eq!((available(&lab.pace), lab.sent()), (vec![10, 2000], 0));
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_lowered_fails_whom_it_stops_for_ever_and_nobody_else() {
    let lab = lab(&["1000 tokens/m"], "250");
    let began = Instant::now();
    drop(ask(&lab, Cost::tokens(900)).await.unwrap());
    let waits = |tokens| {
        let lab = lab.clone();
        tokio::spawn(async move { ask(&lab, Cost::tokens(tokens)).await.map(drop) })
    };
    let (cheap, dear) = (waits(400), waits(800));
    tokio::time::sleep(secs(8.0)).await;
    lab.pace
        .change_limits(0, vec!["500 tokens/m".parse().unwrap()]);
    let error = dear.await.unwrap().expect_err("too dear by now");
    assert_eq!(
        error.to_string(),
        "lab: not sent: it costs more than a limit ever allows: \
         800 tokens where 500 tokens/m allows 500 at once; waited 8 s"
    );
    assert_eq!(began.elapsed(), secs(10.0));
    cheap.await.unwrap().expect("in the next minute");
    assert_eq!(began.elapsed(), secs(62.0));
}

#[tokio::test(start_paused = true)]
async fn what_a_request_names_goes_before_what_its_route_says() {
    let mut llm = Upstream::default();
    llm.hosts = vec!["lab".parse().unwrap()];
    llm.limits = ["10/d", "1000 tokens/d", "90 points/d"]
        .map(|l| l.parse().unwrap())
        .into();
    let mut chat = Route::new("POST /chat".parse().unwrap());
    chat.cost = Cost::requests(2).and("tokens", 600).and("points", 5);
    llm.routes = vec![chat];
    let paceline = Paceline::builder().upstream("llm", llm).build();
    let client = PacelineLayer::new(paceline.clone()).layer(metered("250"));
    let mut request = request(Cost::tokens(400));
    *request.uri_mut() = "http://lab/chat".parse().unwrap();
    client.oneshot(request).await.unwrap();
    let (_, snapshot) = paceline.snapshots().remove(0);
    let limits = snapshot.gates[0].limits.iter();
    let available: Vec<_> = limits.map(|own| own.available).collect();
    assert_eq!(available, [8, 600, 85]);
}
