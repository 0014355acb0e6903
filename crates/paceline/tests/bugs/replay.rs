//! Bodies that went out and cannot be had again.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use paceline::tower::PacelineLayer;
use paceline::{Outcome, Pace, Reason, RequestOptions};
use tower::{Layer, ServiceExt};

use crate::lab::{secs, unconfigured};
use crate::loopback::{Upstream, say};
use crate::scene::{over_http, says};

fn outcome<B>(response: &Response<B>) -> Outcome {
    response.extensions().get().cloned().unwrap()
}

/// kubernetes/kubernetes#113933
#[tokio::test(start_paused = true)]
async fn a_stream_is_not_rewound_under_the_attempt_before() {
    for (status, asked) in [
        (429, Some("30")),
        (429, None),
        (403, Some("30")),
        (503, Some("30")),
        (502, None),
    ] {
        // Not even where the caller says that doing it twice is doing it once.
        for options in [RequestOptions::new(), RequestOptions::new().repeatable()] {
            let fields: Vec<_> = asked
                .map(|asked| ("retry-after", asked))
                .into_iter()
                .collect();
            let server = says(1, status, &fields);
            let client = PacelineLayer::new(unconfigured().build()).layer(server.clone());
            let stream = Full::new(Bytes::from("upload")).boxed();
            let request = Request::put("/").extension(options).body(stream).unwrap();
            let response = client.oneshot(request).await.unwrap();
            let outcome = outcome(&response);
            assert_eq!(response.status(), status);
            assert_eq!(outcome.stopped, Some(Reason::BodyGone), "{status}");
            assert_eq!(
                (outcome.attempts, server.stats().received),
                (1, 1),
                "{status}"
            );
            // The wait is in its outcome, and it comes back whole.
            let wait = asked.map(|_| secs(30.0));
            assert_eq!(outcome.asked, wait, "{status}");
            let next = outcome.next_allowed.map(|(next, _)| next);
            assert!(wait.is_none() || next >= wait, "{status}: {next:?}");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, "said\n", "{status}");
        }
    }
}

/// kubernetes/kubernetes#113933
#[tokio::test]
async fn a_stream_is_not_sent_twice_over_http() {
    for status in [429, 502, 503] {
        let refusal = say(status).header("retry-after", 1);
        let upstream = Upstream::start([refusal.clone(), refusal]).await;
        let client = over_http(Pace::builder("api").build());
        let stream = Full::new(Bytes::from("upload")).boxed();
        let request = client
            .put(upstream.url("/"))
            .body(reqwest::Body::wrap(stream));
        let response = request.send().await.unwrap();
        let facts = response.extensions().get::<Outcome>().cloned().unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(facts.stopped, Some(Reason::BodyGone), "{status}");
        assert_eq!(facts.asked, Some(secs(1.0)), "{status}");
        assert_eq!(upstream.asked().len(), 1, "{status}");
        assert_eq!(upstream.asked()[0].body, "upload");
    }
}

/// kubernetes/kubernetes#113933
#[tokio::test(start_paused = true)]
async fn bytes_that_are_sent_again_are_not_what_the_attempt_before_left_over() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reading = Arc::clone(&seen);
    let server = tower::service_fn(move |request: Request<String>| {
        let seen = Arc::clone(&reading);
        async move {
            let mut body = request.into_body();
            // A refusal may come after half of the upload.
            let first: String = body.drain(..body.len() / 2).collect();
            let mut seen = seen.lock().unwrap();
            seen.push(first + &body);
            let mut response = Response::new(Empty::<Bytes>::new());
            if seen.len() < 4 {
                *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            }
            Ok::<_, Infallible>(response)
        }
    });
    let client = PacelineLayer::new(unconfigured().build()).layer(server);
    let request = Request::put("/").body("the whole upload".to_owned());
    let response = client.oneshot(request.unwrap()).await.unwrap();
    assert_eq!(
        (response.status(), outcome(&response).attempts),
        (StatusCode::OK, 4)
    );
    assert_eq!(*seen.lock().unwrap(), ["the whole upload"; 4]);
}
