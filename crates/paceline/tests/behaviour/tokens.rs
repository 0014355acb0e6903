//! Each HTTP request that leaves spends one permit, and none spends two.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Empty;
use paceline::testing::{LimitedService, Script, ServerSpec};
use paceline::{Prepaid, RequestOptions};
use tower::{Layer, ServiceExt};
use tower_http::follow_redirect::FollowRedirectLayer;

use crate::lab::{Lab, unconfigured};

/// A thousand a day, so that what was spent can be counted.
fn counted(script: Script) -> Lab {
    let pace = unconfigured().limit("1000/d".parse().expect("a limit"));
    Lab::with(pace, LimitedService::scripted(script))
}

fn spent(lab: &Lab) -> u64 {
    1000 - lab.pace.snapshot().gates[0].limits[0].available
}

#[tokio::test(start_paused = true)]
async fn three_requests_spend_three() {
    let lab = counted(Script::status(200).forever());
    for _ in 0..3 {
        assert!(lab.get("/").await.ok());
    }
    assert_eq!(spent(&lab), 3);
}

#[tokio::test(start_paused = true)]
async fn a_walk_of_five_pages_spends_five() {
    let lab = Lab::new(
        unconfigured().limit("1000/d".parse().unwrap()),
        ServerSpec::open(),
    );
    assert_eq!(lab.tree(5, 1, 1).await.failed(), 0);
    assert_eq!(spent(&lab), 5);
}

#[tokio::test(start_paused = true)]
async fn a_failure_and_its_retry_spend_two() {
    let lab = counted(Script::status(503).then(200).forever());
    let report = lab.get("/").await;
    assert!(report.ok());
    assert_eq!(
        (spent(&lab), report.outcome.attempts, lab.sent()),
        (2, 2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_redirect_that_is_followed_above_the_layer_spends_two() {
    let lab = counted(Script::redirect("/b").then(200).forever());
    let client = FollowRedirectLayer::new().layer(lab.client.clone());
    let request = Request::get("http://lab/a")
        .body(Empty::<Bytes>::new())
        .unwrap();
    let response = client.oneshot(request).await;
    assert_eq!(response.unwrap().status(), StatusCode::OK);
    assert_eq!((spent(&lab), lab.sent()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_operation_of_one_request_uses_its_prepaid_permit_and_no_other() {
    let lab = counted(Script::status(200).forever());
    let prepaid = Prepaid::new(lab.pace.acquire(&lab.pace.want()).await.unwrap());
    let request = |prepaid: &Prepaid| {
        let options = RequestOptions::new().prepaid(prepaid.clone());
        Request::get("/").extension(options).body(()).unwrap()
    };
    assert!(lab.send(request(&prepaid)).await.ok());
    assert_eq!((spent(&lab), lab.sent()), (1, 1));
    // Its second request takes its own.
    assert!(lab.send(request(&prepaid)).await.ok());
    assert_eq!((spent(&lab), lab.sent()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_sends_nothing_gives_its_prepaid_permit_back() {
    let lab = counted(Script::status(200).forever());
    let prepaid = Prepaid::new(lab.pace.acquire(&lab.pace.want()).await.unwrap());
    assert_eq!(spent(&lab), 1);
    drop(prepaid);
    assert_eq!(spent(&lab), 0);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_tried_again_is_sent_once() {
    for status in [400, 401, 403, 404, 422] {
        let lab = counted(Script::status(status).forever());
        assert_eq!(lab.get("/").await.status.map(|s| s.as_u16()), Some(status));
        assert_eq!((spent(&lab), lab.sent()), (1, 1), "{status}");
    }
    for status in [429, 503] {
        let lab = counted(Script::status(status).forever());
        let post = Request::post("/").body(()).unwrap();
        assert_eq!(
            lab.send(post).await.status.map(|s| s.as_u16()),
            Some(status)
        );
        assert_eq!((spent(&lab), lab.sent()), (1, 1), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_with_a_key_is_tried_again() {
    let lab = counted(Script::status(503).then(201).forever());
    let post = Request::post("/")
        .header("idempotency-key", "k1")
        .body(())
        .unwrap();
    assert_eq!(lab.send(post).await.status, Some(StatusCode::CREATED));
    assert_eq!(spent(&lab), 2);
}
