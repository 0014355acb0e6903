//! The reqwest middleware against a scripted server on loopback: what is spent, sent again, kept in
//! flight, and returned.
//!
//! Permits are counted by what is missing from a bucket that starts with a hundred and gets one a
//! day.
#![cfg(feature = "reqwest")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod dialects;
mod gates;
mod upstream;

use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use paceline::reqwest::{Error, Middleware, client, outcome, stopped};
use paceline::{
    Backoff, Outcome, Pace, Prepaid, Reason, RequestOptions, RetryPolicy, Routed, Router,
};
use reqwest::{Body, Client, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use upstream::{Say, Upstream, say};

/// A pace whose permits can be counted; failed requests are sent again within milliseconds.
fn counted() -> Pace {
    Pace::builder("t")
        .limit("1/d burst 100".parse().unwrap())
        .policy(quick())
        .build()
}

fn quick() -> RetryPolicy {
    let mut policy = RetryPolicy::default();
    policy.backoff = {
        let mut backoff = Backoff::FAILURES;
        backoff.base = Duration::from_millis(1);
        backoff
    };
    policy
}

fn spent(pace: &Pace) -> u64 {
    100 - pace.snapshot().gates[0].limits[0].available
}

fn in_flight(pace: &Pace) -> u64 {
    pace.snapshot().gates[0].in_flight
}

/// Where another crate of the build has TLS without a provider, the client wants one even for plain HTTP.
fn builder() -> reqwest::ClientBuilder {
    // It fails only if it was done before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

fn paced(router: impl Router) -> ClientWithMiddleware {
    client(builder().no_proxy(), router).unwrap()
}

fn seen(response: &Response) -> Outcome {
    response.extensions().get().cloned().unwrap()
}

/// Two hosts, two paces.
#[derive(Clone)]
struct ByPort(String, Pace, Pace);

impl Router for ByPort {
    fn route(&self, _: &http::Method, uri: &http::Uri, _: &http::HeaderMap) -> Routed {
        let first = uri.authority().is_some_and(|own| own.as_str() == self.0);
        let pace = if first { &self.1 } else { &self.2 };
        Routed::new(pace.clone(), pace.want(), pace.policy())
    }
}

#[tokio::test]
async fn three_requests_spend_three() {
    let (pace, upstream) = (counted(), Upstream::start([]).await);
    let client = paced(pace.clone());
    for path in ["/a", "/b", "/c"] {
        let response = client.get(upstream.url(path)).send().await.unwrap();
        assert_eq!(response.url().as_str(), upstream.url(path));
        assert!(response.remote_addr().is_some(), "extensions are kept");
        assert_eq!(response.content_length(), Some(10));
        assert_eq!(response.text().await.unwrap(), "status 200");
    }
    assert_eq!((spent(&pace), in_flight(&pace)), (3, 0));
}

#[tokio::test]
async fn a_failure_and_its_retry_spend_two() {
    let (pace, upstream) = (counted(), Upstream::start([say(503)]).await);
    let response = paced(pace.clone())
        .get(upstream.url("/"))
        .send()
        .await
        .unwrap();
    let outcome = seen(&response);
    assert_eq!(response.status(), 200);
    assert_eq!(
        (outcome.attempts, outcome.refused, outcome.stopped),
        (2, 1, None)
    );
    assert_eq!(spent(&pace), 2);
}

#[tokio::test]
async fn each_redirect_hop_spends_one() {
    let to = |path: &str| say(302).header("location", path);
    let (pace, upstream) = (
        counted(),
        Upstream::start([to("/b"), to("/c"), say(200), to("/e")]).await,
    );
    let client = paced(pace.clone());

    let response = client.get(upstream.url("/a")).send().await.unwrap();
    let outcome = seen(&response);
    assert_eq!(response.url().as_str(), upstream.url("/c"));
    assert_eq!(
        (outcome.attempts, outcome.redirects, outcome.status),
        (1, 2, Some(200))
    );
    assert_eq!(spent(&pace), 3, "two hops");
    drop(response);

    let response = client.get(upstream.url("/d")).send().await.unwrap();
    assert_eq!(response.url().as_str(), upstream.url("/e"));
    assert_eq!(spent(&pace), 5, "one hop");
    assert_eq!(
        upstream.lines(),
        ["GET /a", "GET /b", "GET /c", "GET /d", "GET /e"]
    );
    drop(response);
    assert_eq!(in_flight(&pace), 0);
}

#[tokio::test]
async fn a_redirect_to_another_host_keeps_its_pace_and_takes_no_credentials() {
    let (here, there) = (counted(), counted());
    let second = Upstream::start([]).await;
    let first = Upstream::start([say(307).header("location", second.url("/there"))]).await;
    let router = ByPort(first.authority.clone(), here.clone(), there.clone());
    let mut own = http::HeaderMap::new();
    own.insert("authorization", "Bearer secret".parse().unwrap());
    own.insert("x-kind", "default".parse().unwrap());
    let client = Middleware::new(router)
        .follow_redirects(10)
        .default_headers(own)
        .client(builder().no_proxy())
        .unwrap();

    let request = client.put(first.url("/here")).body("the body");
    let response = request.send().await.unwrap();
    assert_eq!(response.url().as_str(), second.url("/there"));
    assert_eq!((spent(&here), spent(&there)), (1, 1));
    let (before, after) = (&first.asked()[0], &second.asked()[0]);
    assert_eq!(before.headers["authorization"], "Bearer secret");
    assert_eq!(after.headers.get("authorization"), None);
    assert_eq!(after.headers["x-kind"], "default");
    assert_eq!(
        (&*after.line, &*after.body),
        ("PUT /there", "the body"),
        "307 keeps both"
    );
}

#[tokio::test]
async fn credentials_of_the_client_itself_do_not_go_to_another_host() {
    let second = Upstream::start([]).await;
    let first = Upstream::start([
        say(302).header("location", "/same"),
        say(302).header("location", second.url("/there")),
    ])
    .await;
    let mut own = http::HeaderMap::new();
    own.insert("authorization", "Bearer secret".parse().unwrap());
    let builder = builder().no_proxy().default_headers(own);
    let client = client(builder, counted()).unwrap();

    let response = client.get(first.url("/")).send().await.unwrap();
    assert_eq!(response.status(), 302, "the redirect comes back");
    assert_eq!(first.lines(), ["GET /", "GET /same"]);
    assert_eq!(second.lines(), [""; 0]);
}

#[tokio::test]
async fn redirects_end_somewhere() {
    let (pace, again) = (counted(), say(302).header("location", "/"));
    let upstream = Upstream::start(std::iter::repeat_n(again, 20)).await;
    let response = paced(pace.clone())
        .get(upstream.url("/"))
        .send()
        .await
        .unwrap();
    assert_eq!(
        response.status(),
        302,
        "the one that was not followed is untouched"
    );
    assert_eq!((spent(&pace), seen(&response).redirects), (11, 10));
}

#[tokio::test]
async fn a_prepaid_permit_is_used_by_the_first_request_only() {
    let hop = say(302).header("location", "/b");
    let (pace, upstream) = (counted(), Upstream::start([say(200), say(200), hop]).await);
    let client = paced(pace.clone());
    let prepaid = Prepaid::new(pace.acquire(&pace.want()).await.unwrap());
    let options = RequestOptions::new().prepaid(prepaid);
    let get = |options: &RequestOptions| {
        let request = client.get(upstream.url("/"));
        request.with_extension(options.clone()).send()
    };
    get(&options).await.unwrap();
    assert_eq!(spent(&pace), 1, "one request, one permit");
    get(&options).await.unwrap();
    assert_eq!(spent(&pace), 2, "the second takes its own");

    let prepaid = Prepaid::new(pace.acquire(&pace.want()).await.unwrap());
    let response = get(&RequestOptions::new().prepaid(prepaid)).await.unwrap();
    assert_eq!(response.url().path(), "/b");
    assert_eq!(spent(&pace), 4, "so does the redirect hop");

    let unused = Prepaid::new(pace.acquire(&pace.want()).await.unwrap());
    drop(unused);
    assert_eq!(spent(&pace), 4, "unused, it comes back");
}

#[tokio::test]
async fn options_ride_in_an_http_request_as_well() {
    let (pace, upstream) = (counted(), Upstream::start([]).await);
    let request = http::Request::get(upstream.url("/"))
        .extension(RequestOptions::new().cost(paceline::Cost::requests(7)))
        .body("")
        .unwrap();
    let client = paced(pace.clone());
    client.execute(request.try_into().unwrap()).await.unwrap();
    assert_eq!(spent(&pace), 7);
}

#[tokio::test]
async fn what_it_did_cost_is_told_when_the_body_was_read() {
    let limit = "1/d burst 100".parse().unwrap();
    let points = "1 points/d burst 100".parse().unwrap();
    let pace = Pace::builder("t").limit(limit).limit(points).build();
    let redirect = say(302).header("location", "/b");
    let upstream = Upstream::start([redirect, say(200)]).await;
    let options = RequestOptions::new().cost(paceline::Cost::points(30));
    let post = paced(pace.clone()).get(upstream.url("/a"));
    let response = post.with_extension(options).send().await.unwrap();
    let told = response.extensions().get::<paceline::SettleCost>().cloned();
    response.bytes().await.unwrap();
    let available = || pace.snapshot().gates[0].limits[1].available;
    assert_eq!(
        (spent(&pace), available()),
        (2, 70),
        "the work is done once"
    );
    told.unwrap().points(12);
    assert_eq!(available(), 88);
}

#[tokio::test]
async fn a_post_is_sent_again_only_with_a_key_and_with_the_same_body() {
    let upstream = Upstream::start([say(503), say(503), say(200)]).await;
    let client = paced(counted());
    let post = || client.post(upstream.url("/")).body("once");

    let response = post().send().await.unwrap();
    let outcome = seen(&response);
    assert_eq!(response.status(), 503);
    assert_eq!(
        (outcome.attempts, outcome.stopped),
        (1, Some(Reason::NotIdempotent))
    );
    assert_eq!(
        response.text().await.unwrap(),
        "status 503",
        "the body is untouched"
    );

    let response = post().header("idempotency-key", "k").send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), seen(&response).attempts),
        (200, 2)
    );
    let bodies: Vec<_> = upstream
        .asked()
        .into_iter()
        .map(|asked| asked.body)
        .collect();
    assert_eq!(bodies, ["once"; 3]);
}

#[tokio::test]
async fn a_streaming_body_goes_once() {
    let hop = say(307).header("location", "/b");
    let (pace, upstream) = (counted(), Upstream::start([say(503), hop]).await);
    let client = paced(pace.clone());
    let put = || {
        let stream = Body::wrap(Full::new(bytes::Bytes::from("stream")).boxed());
        client.put(upstream.url("/")).body(stream).send()
    };
    let response = put().await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(seen(&response).stopped, Some(Reason::BodyGone));
    let response = put().await.unwrap();
    assert_eq!(response.status(), 307, "nothing is left to send there");
    assert_eq!(upstream.asked().len(), 2);
    assert_eq!((&*upstream.asked()[0].body, spent(&pace)), ("stream", 2));
}

#[tokio::test]
async fn a_refusal_that_no_retry_can_mend_comes_back_at_once_and_untouched() {
    let refusal = say(429).header("retry-after", 60).header("x-own", "kept");
    let upstream = Upstream::start([refusal]).await;
    let began = Instant::now();
    let result = paced(counted())
        .get(upstream.url("/"))
        .with_extension(RequestOptions::new().total(Duration::from_secs(5)))
        .send()
        .await;
    let facts = outcome(&result).cloned().unwrap();
    let response = result.unwrap();
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(
        (response.status().as_u16(), &response.headers()["x-own"]),
        (429, &"kept".parse().unwrap())
    );
    assert_eq!(response.text().await.unwrap(), "status 429");
    assert_eq!(
        (facts.attempts, facts.asked),
        (1, Some(Duration::from_secs(60)))
    );
    assert_eq!(facts.stopped, Some(Reason::Deadline));
    assert!(facts.next_allowed.is_some());
    assert_eq!(upstream.asked().len(), 1);
}

/// The permit of the second attempt never comes: somebody shuts the pace down while it waits.
async fn refused_then_shut_down(body: String) -> (Pace, reqwest_middleware::Result<Response>) {
    let refusal = say(429).header("retry-after", 60).body(body);
    let (pace, upstream) = (counted(), Upstream::start([refusal]).await);
    let (url, client) = (upstream.url("/"), paced(pace.clone()));
    let request = tokio::spawn(async move { client.get(url).send().await });
    while pace.snapshot().waiting == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(in_flight(&pace), 0, "a request that waits is not in flight");
    pace.shut_down();
    (pace, request.await.unwrap())
}

#[tokio::test]
async fn a_refusal_is_kept_while_its_request_waits_for_another_attempt() {
    let (pace, result) = refused_then_shut_down("refused".into()).await;
    let response = result.unwrap();
    let outcome = seen(&response);
    assert_eq!(response.status(), 429);
    assert!(response.url().as_str().starts_with("http://127.0.0.1"));
    assert_eq!(outcome.stopped, Some(Reason::Shutdown));
    assert_eq!(outcome.asked, Some(Duration::from_secs(60)));
    assert_eq!(response.text().await.unwrap(), "refused");
    assert_eq!(spent(&pace), 1);
}

#[tokio::test]
async fn a_long_refusal_is_not_kept_and_the_error_has_its_facts() {
    let (_, result) = refused_then_shut_down("x".repeat(64 * 1024 + 1)).await;
    let facts = outcome(&result).cloned().unwrap();
    let error = result.unwrap_err();
    let ours = Error::of(&error).unwrap();
    assert_eq!(ours.status().unwrap(), 429);
    assert_eq!(stopped(&error).unwrap().reason, Reason::Shutdown);
    assert_eq!(
        (facts.attempts, facts.asked),
        (1, Some(Duration::from_secs(60)))
    );
    let text = error.to_string();
    assert!(
        text.starts_with("t: answered 429, body not kept (attempt 1): not sent again: "),
        "{text}"
    );
}

#[tokio::test]
async fn in_flight_ends_with_the_body() {
    let pace = Pace::builder("t")
        .limit("1 in flight".parse().unwrap())
        .build();
    let upstream = Upstream::start([Say::Halting, Say::Halting]).await;
    let client = paced(pace.clone());

    let mut first = client.get(upstream.url("/1")).send().await.unwrap();
    assert_eq!(first.chunk().await.unwrap().unwrap(), "first");
    let waiting = tokio::spawn(client.get(upstream.url("/2")).send());
    while pace.snapshot().waiting == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!((in_flight(&pace), upstream.asked().len()), (1, 1));
    upstream.go_on();
    assert_eq!(first.chunk().await.unwrap().unwrap(), "later");
    let second = waiting.await.unwrap().unwrap();
    assert_eq!((in_flight(&pace), upstream.asked().len()), (1, 2));
    drop(second);
    assert_eq!(in_flight(&pace), 0, "a dropped body has ended");
}

#[tokio::test]
async fn a_request_that_is_dropped_while_it_waits_costs_nothing() {
    let pace = Pace::builder("t").limit("2/d".parse().unwrap()).build();
    let upstream = Upstream::start([]).await;
    let client = paced(pace.clone());
    for _ in 0..2 {
        client.get(upstream.url("/")).send().await.unwrap();
    }
    let waiting = tokio::spawn(client.get(upstream.url("/")).send());
    while pace.snapshot().waiting == 0 {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!((pace.snapshot().waiting, in_flight(&pace)), (0, 0));

    let late = client.get(upstream.url("/"));
    let options = RequestOptions::new().total(Duration::from_secs(1));
    let error = late.with_extension(options).send().await.unwrap_err();
    let why = stopped(&error).unwrap();
    assert_eq!(
        (why.reason, why.waiting_for),
        (Reason::Deadline, Some(Reason::Limit))
    );
    assert_eq!((why.outcome.attempts, upstream.asked().len()), (0, 2));
}

#[tokio::test]
async fn a_client_that_follows_by_itself_is_charged_for_it() {
    let hop = say(302).header("location", "/b");
    let (pace, upstream) = (counted(), Upstream::start([hop]).await);
    let own = builder().no_proxy().build().unwrap();
    let client = ClientBuilder::new(own)
        .with(Middleware::new(pace.clone()))
        .build();
    let response = client.get(upstream.url("/a#part")).send().await.unwrap();
    assert_eq!(response.url().path(), "/b");
    assert_eq!(spent(&pace), 2);
    client.get(upstream.url("/a#part")).send().await.unwrap();
    assert_eq!(spent(&pace), 3, "a fragment is not a redirect");
}

#[tokio::test]
async fn the_last_failure_is_returned_with_its_source() {
    let (pace, upstream) = (
        counted(),
        Upstream::start(std::iter::repeat_n(Say::HangUp, 9)).await,
    );
    let result = paced(pace.clone()).get(upstream.url("/")).send().await;
    let facts = outcome(&result).cloned().unwrap();
    let error = result.unwrap_err();
    let ours = Error::of(&error).unwrap();
    assert!(
        std::error::Error::source(ours)
            .unwrap()
            .is::<reqwest::Error>()
    );
    assert!(!ours.is_connect() && !ours.is_timeout());
    assert_eq!((facts.attempts, facts.stopped), (4, Some(Reason::Attempts)));
    assert_eq!((spent(&pace), upstream.asked().len()), (4, 4));
    assert_eq!(in_flight(&pace), 0);
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_a_connect_failure() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", gone.local_addr().unwrap());
    drop(gone);
    let error = paced(counted()).get(url).send().await.unwrap_err();
    let ours = Error::of(&error).unwrap();
    assert!(ours.is_connect());
    assert_eq!(ours.outcome().attempts, 4);
}

#[tokio::test]
async fn the_requests_own_timeout_bounds_waits_and_sends_together() {
    let (pace, upstream) = (counted(), Upstream::start([Say::Silence]).await);
    let began = Instant::now();
    let request = paced(pace.clone()).get(upstream.url("/"));
    let error = request
        .timeout(Duration::from_millis(300))
        .send()
        .await
        .unwrap_err();
    assert!(Error::of(&error).unwrap().is_timeout(), "{error}");
    assert!((300..2000).contains(&began.elapsed().as_millis()));
    assert_eq!(in_flight(&pace), 0);
}

#[tokio::test]
async fn waiting_is_not_charged_to_the_clients_own_timeout() {
    let pace = Pace::builder("t").limit("1/1s".parse().unwrap()).build();
    let upstream = Upstream::start([]).await;
    let builder = builder().no_proxy().timeout(Duration::from_millis(500));
    let client = client(builder, pace).unwrap();
    for _ in 0..2 {
        let response = client.get(upstream.url("/")).send().await.unwrap();
        assert_eq!(response.status(), 200, "the second waits for a second");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_costs_nothing() {
    let (pace, upstream) = (counted(), Upstream::start([]).await);
    let error = paced(pace.clone()).get("ftp://example.com/").send().await;
    assert!(error.unwrap_err().is_builder());
    let builder = builder().no_proxy().https_only(true);
    let client = client(builder, pace.clone()).unwrap();
    let error = client.get(upstream.url("/")).send().await;
    assert!(error.unwrap_err().is_builder(), "and is not tried again");
    assert_eq!((spent(&pace), in_flight(&pace)), (0, 0));
}

#[tokio::test]
async fn a_request_that_is_dropped_while_it_is_sent_is_spent() {
    let (pace, upstream) = (counted(), Upstream::start([Say::Silence]).await);
    let sending = tokio::spawn(paced(pace.clone()).get(upstream.url("/")).send());
    while upstream.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    sending.abort();
    assert!(sending.await.unwrap_err().is_cancelled());
    assert_eq!((spent(&pace), in_flight(&pace)), (1, 0));
}

#[tokio::test]
async fn a_post_becomes_a_get_where_it_is_told_to_see_other() {
    let hop = say(303).header("location", "/made");
    let upstream = Upstream::start([hop]).await;
    let post = paced(counted()).post(upstream.url("/make")).body("thing");
    assert_eq!(post.send().await.unwrap().status(), 200);
    assert_eq!(upstream.lines(), ["POST /make", "GET /made"]);
    assert_eq!(upstream.asked()[1].body, "");
}
