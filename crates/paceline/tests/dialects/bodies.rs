//! Refusals that hide in bodies, and bodies that come back whole all the same.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::time::{Instant, sleep};

use crate::lab::{Body, Lab, answer, with_body};

const LIMITED: &str = r#"{"ok":false,"error":"ratelimited"}"#;

#[tokio::test(start_paused = true)]
async fn a_refusal_with_status_200_is_waited_out_and_sent_again() {
    let lab = Lab::new("slack", |nth, _| match nth {
        0 => answer(200, &[("retry-after", "30")], LIMITED),
        _ => answer(200, &[], r#"{"ok":true}"#),
    });
    let got = lab.get("/api/users.list").await;
    assert_eq!((got.status, got.body.as_str()), (200, r#"{"ok":true}"#));
    assert_eq!((got.outcome.attempts, got.outcome.refused), (2, 1));
    let arrived = lab.arrived();
    assert!((30_050..31_200).contains(&arrived[1]), "{arrived:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_is_the_last_word_comes_back_with_its_body() {
    let lab = Lab::new("slack", |_, _| {
        answer(200, &[("retry-after", "30")], LIMITED)
    });
    let got = lab
        .get_within("/api/users.list", Duration::from_secs(5))
        .await;
    assert_eq!((got.status, got.body.as_str()), (200, LIMITED));
    assert_eq!(got.outcome.asked, Some(Duration::from_secs(30)));
}

/// Too long to be understood: nothing is cut, and nothing waits for its end.
#[tokio::test(start_paused = true)]
async fn a_long_body_comes_back_whole() {
    let long = format!(r#"{{"ok":true,"items":"{}"}}"#, "x".repeat(300_000));
    let sent = long.clone();
    let lab = Lab::new("slack", move |_, _| {
        let pieces: Vec<_> = sent
            .as_bytes()
            .chunks(1000)
            .map(|own| Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(own))))
            .collect();
        let trailers = HeaderMap::from_iter([(http::header::ETAG, "a".parse().expect("a value"))]);
        let frames = pieces.into_iter().chain([Ok(Frame::trailers(trailers))]);
        let body = StreamBody::new(futures_util::stream::iter(frames));
        with_body(
            200,
            &[("content-type", "application/json")],
            body.map_err(|never| match never {}).boxed(),
        )
    });
    let got = lab.get("/api/users.list").await;
    assert_eq!((got.status, got.body.len()), (200, long.len()));
    assert_eq!(got.body, long);
}

/// An event stream has no end: whoever waited for it would hold up the first event.
#[tokio::test(start_paused = true)]
async fn an_event_stream_is_not_looked_into() {
    let lab = Lab::new("openai", |_, _| {
        with_body(
            200,
            &[("content-type", "text/event-stream")],
            slow("data: 1\n\n"),
        )
    });
    let began = Instant::now();
    let got = lab.get("/v1/chat/completions").await;
    // The latency of the head, then the body's own time.
    assert_eq!(
        (got.body.as_str(), began.elapsed().as_millis()),
        ("data: 1\n\n", 5050)
    );
}

/// A body that dawdles is waited for a second, and comes back whole.
#[tokio::test(start_paused = true)]
async fn a_slow_body_delays_its_response_by_a_second_at_most() {
    let lab = Lab::new("slack", |_, _| {
        with_body(200, &[("content-type", "application/json")], slow(LIMITED))
    });
    let got = lab.get("/api/users.list").await;
    assert_eq!((got.body.as_str(), got.outcome.refused), (LIMITED, 0));
}

/// One piece, after five seconds.
fn slow(text: &'static str) -> Body {
    let piece = async move {
        sleep(Duration::from_secs(5)).await;
        Ok::<_, Infallible>(Frame::data(Bytes::from_static(text.as_bytes())))
    };
    let piece: std::pin::Pin<Box<dyn Future<Output = _> + Send + Sync>> = Box::pin(piece);
    StreamBody::new(futures_util::stream::once(piece))
        .map_err(|never| match never {})
        .boxed()
}
