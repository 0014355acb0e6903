//! Every metric of the table in `telemetry.rs`, and that no label tells what a request held.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::Full;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use paceline::dialect::Gates;
use paceline::testing::{LimitedService, Script};
use paceline::tower::PacelineLayer;
use paceline::upstream::{Route, Upstream};
use paceline::{GatesBy, Pace, Paceline, Reason, Router, response};
use tower::{Layer, ServiceExt};

/// What was recorded since the last look (gauges, too: they begin at zero after each): name and labels, sorted.
type Recorded = BTreeMap<(String, Vec<(String, String)>), DebugValue>;

fn look(snapshotter: &Snapshotter) -> Recorded {
    let all = snapshotter.snapshot().into_vec().into_iter();
    all.map(|(key, _, _, value)| {
        let key = key.key();
        let labels = key
            .labels()
            .map(|label| (label.key().into(), label.value().into()));
        let mut labels: Vec<_> = labels.collect();
        labels.sort();
        ((key.name().to_owned(), labels), value)
    })
    .collect()
}

fn labels(labels: &[(&str, &str)]) -> Vec<(String, String)> {
    labels
        .iter()
        .map(|(key, value)| ((*key).into(), (*value).into()))
        .collect()
}

fn counter(recorded: &Recorded, name: &str, own: &[(&str, &str)]) -> u64 {
    match recorded.get(&(name.into(), labels(own))) {
        Some(DebugValue::Counter(count)) => *count,
        other => panic!("{name} {own:?}: {other:?}"),
    }
}

fn gauge(recorded: &Recorded, name: &str, own: &[(&str, &str)]) -> f64 {
    match recorded.get(&(name.into(), labels(own))) {
        Some(DebugValue::Gauge(value)) => value.0,
        other => panic!("{name} {own:?}: {other:?}"),
    }
}

fn histogram(recorded: &Recorded, name: &str, own: &[(&str, &str)]) -> Vec<f64> {
    match recorded.get(&(name.into(), labels(own))) {
        Some(DebugValue::Histogram(values)) => values.iter().map(|value| value.0).collect(),
        other => panic!("{name} {own:?}: {other:?}"),
    }
}

fn request() -> Request<()> {
    Request::get("http://host.example/secret?token=1")
        .body(())
        .expect("a request")
}

/// Recorders of their own: tests run side by side.
fn recorded<T>(build: impl FnOnce() -> T) -> (T, Snapshotter) {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    (metrics::with_local_recorder(&recorder, build), snapshotter)
}

#[tokio::test(start_paused = true)]
async fn every_metric_of_the_table_says_what_happened() {
    let build = || {
        Pace::builder("api")
            .seed(1)
            .limit("1 in flight".parse().expect("a limit"))
    };
    let (pace, snapshotter) = recorded(|| build().build());
    let served = Response::new(Full::from("a body"));
    let script = Script::answer(served)
        .then(503)
        .then(429)
        .header("retry-after", "3")
        .then(404)
        .then_redirect("/elsewhere")
        .then(200)
        .forever();
    let server = LimitedService::scripted(script).latency(Duration::from_secs(1));
    let client = PacelineLayer::new(pace.clone()).layer(server);
    let gate = &[("gate", "api")][..];

    let held = client.clone().oneshot(request()).await.expect("200");
    let waiting = tokio::spawn(client.clone().oneshot(request()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let seen = look(&snapshotter);
    assert_eq!(gauge(&seen, "paceline_in_flight", gate), 1.0);
    assert_eq!(gauge(&seen, "paceline_waiting", gate), 1.0);
    assert_eq!(
        gauge(&seen, "paceline_pace_per_second", gate),
        f64::INFINITY
    );
    let class = |class: &'static str| [("class", class), ("gate", "api")];
    assert_eq!(counter(&seen, "paceline_requests_total", &class("ok")), 1);

    drop(held);
    // 503, 429, 404: two are sent again.
    let missing = waiting.await.expect("no panic").expect("404");
    assert_eq!(missing.status(), 404);
    let outcome = missing
        .extensions()
        .get::<paceline::Outcome>()
        .expect("an outcome")
        .clone();
    drop(missing);
    let redirect = client.clone().oneshot(request()).await.expect("302");
    assert_eq!(redirect.status(), StatusCode::FOUND);
    drop(redirect);
    let seen = look(&snapshotter);
    for (verdict, count) in [
        ("ok", 0),
        ("rate_limited", 1),
        ("overloaded", 1),
        ("redirect", 1),
        ("other", 1),
    ] {
        let requests = counter(&seen, "paceline_requests_total", &class(verdict));
        assert_eq!(requests, count, "{verdict}");
    }
    assert_eq!(counter(&seen, "paceline_retries_total", gate), 2);
    assert_eq!(counter(&seen, "paceline_pauses_total", gate), 1);
    let backoff = counter(&seen, "paceline_backoff_milliseconds_total", gate);
    let own = outcome
        .waits
        .iter()
        .find(|(reason, _)| *reason == Reason::Backoff);
    let own = own.map_or(0, |(_, time)| time.as_millis());
    assert!(
        u128::from(backoff).abs_diff(own) <= 2,
        "{backoff} {outcome:?}"
    );
    let waits = |reason| {
        histogram(
            &seen,
            "paceline_wait_seconds",
            &[("gate", "api"), ("reason", reason)],
        )
    };
    let in_flight = waits("in_flight");
    assert!(
        matches!(in_flight[..], [wait] if (1.0..=2.0).contains(&wait)),
        "{in_flight:?}"
    );
    let all: f64 = Reason::ALL
        .iter()
        .flat_map(|reason| waits(reason.code()))
        .sum();
    assert!(
        (all - outcome.waited.as_secs_f64()).abs() < 0.01,
        "{all} {outcome:?}"
    );
    let share = gauge(&seen, "paceline_refused_share", gate);
    assert!((0.009..=0.01).contains(&share), "{share}");
    assert_eq!(gauge(&seen, "paceline_in_flight", gate), -1.0);
    assert_eq!(gauge(&seen, "paceline_waiting", gate), -1.0);
    let interval = pace.snapshot().gates[0]
        .belief
        .interval
        .expect("a pace that was learned");
    let told = gauge(&seen, "paceline_pace_per_second", gate);
    assert!(
        (told * interval.as_secs_f64() - 1.0).abs() < 1e-6,
        "{told} {interval:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn circuits_that_open_close_and_give_up_are_counted() {
    let changes = |seen: &Recorded| {
        ["open", "closed", "gave_up"].map(|to| {
            counter(
                seen,
                "paceline_circuit_changes_total",
                &[("gate", "api"), ("to", to)],
            )
        })
    };
    for (script, expected) in [
        (Script::status(429).times(5).then(200).forever(), [1, 1, 0]),
        (Script::status(429).forever(), [1, 0, 1]),
    ] {
        let (pace, snapshotter) = recorded(|| Pace::builder("api").seed(1).build());
        let client = PacelineLayer::new(pace).layer(LimitedService::scripted(script));
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..3 {
            set.spawn(client.clone().oneshot(request()));
        }
        set.join_all().await;
        assert_eq!(changes(&look(&snapshotter)), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_told_twice_counts_once() {
    let (pace, snapshotter) = recorded(|| Pace::builder("api").build());
    let mut permit = pace.acquire(&pace.want()).await.expect("admitted");
    let seen = response::read(StatusCode::OK, &HeaderMap::new(), pace.wall());
    permit.settle(&seen);
    permit.settle(&seen);
    drop(permit);
    let seen = look(&snapshotter);
    let ok = [("class", "ok"), ("gate", "api")];
    assert_eq!(counter(&seen, "paceline_requests_total", &ok), 1);
}

#[tokio::test(start_paused = true)]
async fn paces_under_one_label_add_up() {
    let ((first, second), snapshotter) = recorded(|| {
        let pace = |name| Pace::builder(name).label("shared").build();
        (pace("one"), pace("two"))
    });
    let mut sum = 0.0;
    let mut in_flight = || {
        sum += gauge(
            &look(&snapshotter),
            "paceline_in_flight",
            &[("gate", "shared")],
        );
        sum
    };
    let one = first.acquire(&first.want()).await.expect("admitted");
    let two = second.acquire(&second.want()).await.expect("admitted");
    let more = second.acquire(&second.want()).await.expect("admitted");
    assert_eq!(in_flight(), 3.0);
    drop((two, more));
    assert_eq!(in_flight(), 1.0);
    drop(one);
    assert_eq!(in_flight(), 0.0);
}

#[tokio::test(start_paused = true)]
async fn gates_that_are_found_count_as_their_upstreams() {
    let find = Gates::new(GatesBy::Bucket);
    let (pace, snapshotter) = recorded(|| Pace::builder("api").find_gates(find).build());
    let script = Script::status(429).header("retry-after", "3");
    let server = LimitedService::scripted(script.then(200).forever());
    let client = PacelineLayer::new(pace.clone()).layer(server);
    for path in [
        "http://host.example/secrets/1",
        "http://host.example/others/1",
    ] {
        let request = Request::get(path).body(()).expect("a request");
        client.clone().oneshot(request).await.expect("200");
    }
    assert_eq!(pace.snapshot().gates.len(), 3);
    let seen = look(&snapshotter);
    let gate = &[("gate", "api")][..];
    let class = |class: &'static str| [("class", class), ("gate", "api")];
    assert_eq!(counter(&seen, "paceline_requests_total", &class("ok")), 2);
    assert_eq!(counter(&seen, "paceline_pauses_total", gate), 1);
    let mut labels: Vec<_> = seen.keys().flat_map(|(_, labels)| labels).collect();
    labels.retain(|(key, _)| key == "gate");
    assert!(labels.iter().all(|(_, value)| value == "api"), "{labels:?}");
}

#[tokio::test(start_paused = true)]
async fn no_label_holds_a_url_a_host_or_a_credential() {
    let upstream = |hosts: &[&str]| {
        let mut search = Route::new("GET /search/**".parse().expect("a route"));
        search.limits = vec!["100/s".parse().expect("a limit")];
        let mut upstream = Upstream::default();
        upstream.hosts = hosts
            .iter()
            .map(|host| host.parse().expect("a host"))
            .collect();
        upstream.routes = vec![search];
        upstream
    };
    let paceline = Paceline::builder()
        .upstream("github", upstream(&["api.github.example"]))
        .others(upstream(&[]))
        .build();
    let ((), snapshotter) = recorded(|| {
        for url in [
            "http://me:hunter2@host.example/secret?token=hunter2",
            "http://other.example/search/secret",
            "http://api.github.example/search/secret",
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("authorization", "Bearer hunter2".parse().expect("a value"));
            let routed = paceline.route(&Method::GET, &url.parse().expect("a URL"), &headers);
            drop(routed.pace.acquire(&routed.want));
        }
    });
    let mut gates = Vec::new();
    for (name, labels) in look(&snapshotter).into_keys() {
        for (key, value) in labels {
            for told in ["example", "secret", "hunter2", "http", "Bearer", "?"] {
                assert!(!value.contains(told), "{name}: {key}={value}");
            }
            if key == "gate" {
                gates.push(value);
            }
        }
    }
    gates.sort();
    gates.dedup();
    assert_eq!(
        gates,
        [
            "github",
            "github GET /search/**",
            "origin",
            "origin GET /search/**"
        ]
    );
}
