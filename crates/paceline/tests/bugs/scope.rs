//! How far a refusal reaches: everything that shares the quota, and nothing else.

use std::sync::Arc;

use http::Request;
use http::request::Builder;
use paceline::dialect::Provider;
use paceline::testing::{LimitedService, ServerSpec};
use paceline::upstream::{PartitionKey, Route, Upstream};
use paceline::{Paceline, dialect};

use crate::lab::{Lab, secs};
use crate::scene::{answer, keeps};

/// One upstream, `api.test`.
fn api(change: impl FnOnce(&mut Upstream)) -> Paceline {
    let mut upstream = Upstream::default();
    upstream.hosts = vec!["api.test".parse().unwrap()];
    change(&mut upstream);
    Paceline::builder().upstream("api", upstream).build()
}

/// Refuses every request with `spent` somewhere in its head or URL while the first `until` seconds last.
fn refuses(spent: &'static str, until: f64, fields: &'static [(&str, &str)]) -> LimitedService {
    let began = tokio::time::Instant::now();
    let server = LimitedService::new(ServerSpec::open()).unwrap();
    server.handler(move |head| {
        let said = format!("{} {:?}", head.uri, head.headers);
        let refused = said.contains(spent) && began.elapsed() < secs(until);
        answer(
            if refused { 429 } else { 200 },
            if refused { fields } else { &[] },
        )
    })
}

fn with(token: &str) -> Builder {
    Request::get("http://api.test/").header("authorization", format!("Bearer {token}"))
}

/// twilight-rs/twilight#766
#[tokio::test(start_paused = true)]
async fn a_global_refusal_without_bucket_headers_does_not_stop_one_route_alone() {
    for dialect in [None, dialect::named("discord")] {
        global_refusal(dialect).await;
    }
}

async fn global_refusal(dialect: Option<Arc<Provider>>) {
    let paceline = api(|upstream| {
        upstream.dialect = dialect;
        for route in ["* /channels/**", "* /guilds/**", "* /users/**"] {
            let mut route = Route::new(route.parse().unwrap());
            route.limits = vec!["50/s".parse().unwrap()];
            upstream.routes.push(route);
        }
    });
    let fields = &[("x-ratelimit-global", "true"), ("retry-after", "2")];
    let lab = Lab::routed(paceline, refuses("first", 1.0, fields));
    let ask = |path: &str, token: &str| {
        let uri = format!("http://api.test{path}");
        let request = with(token).uri(uri).body(()).unwrap();
        let lab = lab.clone();
        tokio::spawn(async move { lab.send(request).await })
    };
    let refused = ask("/channels/1/messages", "first");
    tokio::task::yield_now().await;
    assert_eq!(lab.sent(), 1);
    let held =
        ["/channels/2", "/guilds/1", "/users/@me", "/gateway"].map(|path| ask(path, "first"));
    let free = ask("/guilds/1", "second").await.unwrap();
    assert_eq!((free.ok(), free.took), (true, secs(0.0)));
    for report in held {
        let report = report.await.unwrap();
        assert!(report.ok() && keeps(report.took, 2.0), "{report:?}");
    }
    assert!(refused.await.unwrap().ok());
}

/// hivecommons/hive#3943
#[tokio::test(start_paused = true)]
async fn a_credential_that_is_used_up_does_not_stop_another() {
    let spent = &[
        ("retry-after", "3600"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "3600"),
    ];
    let key = |name: &str| PartitionKey::Header(name.parse().unwrap());
    type Ask = fn(&str) -> Builder;
    let ways: [(PartitionKey, Ask); 3] = [
        (key("authorization"), with),
        (key("x-api-key"), |token| {
            Request::get("http://api.test/").header("x-api-key", token)
        }),
        (PartitionKey::Query("key".into()), |token| {
            Request::get(format!("http://api.test/?a=b&key={token}"))
        }),
    ];
    for (partition, ask) in ways {
        let paceline = api(|upstream| upstream.partition = vec![partition.clone()]);
        let lab = Lab::routed(paceline, refuses("token-a", 3600.0, spent));
        let get = |token: &str| lab.send(ask(token).body(()).unwrap());
        let first = get("token-a").await;
        assert_eq!(first.outcome.asked, Some(secs(3600.0)), "{partition:?}");
        let refused = get("token-a").await;
        assert_eq!((refused.status, lab.sent()), (None, 1), "{partition:?}");
        for _ in 0..50 {
            let other = get("token-b").await;
            assert_eq!((other.ok(), other.took), (true, secs(0.0)));
        }
        // What is refused here ends when the server said so.
        assert_eq!(get("token-a").await.status, None, "{partition:?}");
        tokio::time::advance(secs(3602.0)).await;
        let again = get("token-a").await;
        assert_eq!((again.ok(), again.took), (true, secs(0.0)), "{partition:?}");
    }
}
