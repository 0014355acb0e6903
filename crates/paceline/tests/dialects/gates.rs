//! Quotas that a provider names in its responses: each holds its own requests, and nobody else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use http::Response;
use tokio::time::Instant;

use crate::lab::{Body, Lab, answer};

/// So many in each stretch of so many seconds, from the first one on.
#[derive(Clone, Copy)]
struct Quota {
    name: &'static str,
    limit: u64,
    seconds: f64,
}

/// A provider with several quotas, which counts what it refuses.
#[derive(Clone, Default)]
struct Provider {
    windows: Arc<Mutex<BTreeMap<String, (Instant, u64)>>>,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    /// Takes one from `quota`, which `of` has to itself: what is left, in how many seconds it starts anew.
    fn take(&self, quota: Quota, of: &str) -> Result<(u64, f64), f64> {
        let now = Instant::now();
        let mut windows = self.windows.lock().expect("nobody panicked");
        let window = windows
            .entry(format!("{} {of}", quota.name))
            .or_insert((now, 0));
        if (now - window.0).as_secs_f64() >= quota.seconds {
            *window = (now, 0);
        }
        let reset = quota.seconds - (now - window.0).as_secs_f64();
        if window.1 == quota.limit {
            self.refused
                .lock()
                .expect("nobody panicked")
                .push(of.to_owned());
            return Err(reset);
        }
        window.1 += 1;
        Ok((quota.limit - window.1, reset))
    }

    fn refused(&self) -> Vec<String> {
        self.refused.lock().expect("nobody panicked").clone()
    }
}

const MESSAGES: Quota = Quota {
    name: "80c17d2f203122d936070c88c8d10f33",
    limit: 5,
    seconds: 5.0,
};
const MEMBERS: Quota = Quota {
    name: "members",
    limit: 10,
    seconds: 10.0,
};

/// Messages and pins of a channel share a bucket, and each channel has it to itself.
fn discord(provider: &Provider) -> impl Fn(usize, &str) -> Response<Body> + Clone + use<> {
    let provider = provider.clone();
    move |_, path| {
        let path = path.trim_start_matches("/api/v10");
        let object = path.split('/').nth(2).unwrap_or_default();
        let quota = match path.starts_with("/channels") {
            true => MESSAGES,
            false => MEMBERS,
        };
        let taken = provider.take(quota, object);
        let (remaining, reset) = taken.unwrap_or_else(|reset| (0, reset));
        let fields = [
            ("x-ratelimit-limit", quota.limit.to_string()),
            ("x-ratelimit-remaining", remaining.to_string()),
            ("x-ratelimit-reset-after", format!("{reset:.3}")),
            ("x-ratelimit-bucket", quota.name.to_owned()),
        ];
        let mut fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let wait = reset.ceil().to_string();
        if taken.is_err() {
            fields.push(("retry-after", &wait));
            fields.push(("x-ratelimit-scope", "user"));
        }
        answer(if taken.is_ok() { 200 } else { 429 }, &fields, "{}")
    }
}

/// When the requests to paths with this in them arrived, in milliseconds, and which they were.
fn arrived<F>(lab: &Lab<F>, part: &str) -> Vec<(u128, String)> {
    let arrivals = lab.arrivals.lock().expect("nobody panicked");
    let own = arrivals.iter().filter(|(path, _)| path.contains(part));
    own.map(|(path, at)| (at.as_millis(), path.clone()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn each_bucket_of_discord_is_spent_to_its_end_and_none_is_refused() {
    let provider = Provider::default();
    let lab = Lab::new("discord", discord(&provider));
    let mut paths = Vec::new();
    for number in 0..5 {
        paths.push(format!("/api/v10/channels/1111/messages/{}", 7000 + number));
        paths.push(format!("/api/v10/channels/1111/pins/{}", 8000 + number));
        paths.push(format!("/api/v10/channels/2222/messages/{}", 9000 + number));
    }
    paths.extend((0..10).map(|n| format!("/api/v10/guilds/3333/members/{}", 4000 + n)));
    let all = join_all(paths.iter().map(|path| lab.get(path))).await;
    assert!(all.iter().all(|got| got.status == 200));
    assert_eq!(provider.refused(), [""; 0]);

    // The other channel and the guild have quotas of their own: two round trips, the first alone.
    for other in ["/channels/2222", "/guilds/3333"] {
        let arrived = arrived(&lab, other);
        assert!(arrived.last().expect("some").0 <= 50, "{arrived:?}");
    }
    // Ten for the one channel, five at once, whatever is asked of it.
    let arrived = arrived(&lab, "/channels/1111");
    let (first, second) = arrived.split_at(5);
    assert!(first.iter().all(|(at, _)| *at <= 100), "{arrived:?}");
    let anew = 5050..5200;
    assert!(
        second.iter().all(|(at, _)| anew.contains(at)),
        "{arrived:?}"
    );
    // Though the two routes were not known to share it, they go as they came.
    let came: Vec<_> = paths
        .iter()
        .filter(|path| second.iter().any(|(_, own)| own == *path))
        .collect();
    let went: Vec<_> = second.iter().map(|(_, path)| path).collect();
    assert_eq!(went, came);
}

#[tokio::test(start_paused = true)]
async fn what_discord_says_globally_stops_every_bucket() {
    let lab = Lab::new("discord", |nth, path| {
        let bucket = match path.contains("channels") {
            true => "messages",
            false => "members",
        };
        let fields = [
            ("x-ratelimit-limit", "5"),
            ("x-ratelimit-remaining", "4"),
            ("x-ratelimit-reset-after", "1.0"),
            ("x-ratelimit-bucket", bucket),
        ];
        match nth {
            2 => answer(
                429,
                &[
                    ("retry-after", "65"),
                    ("x-ratelimit-global", "true"),
                    ("x-ratelimit-scope", "global"),
                ],
                r#"{"retry_after":64.57,"global":true}"#,
            ),
            _ => answer(200, &fields, "{}"),
        }
    });
    for path in ["/channels/1/messages", "/guilds/2/members"] {
        assert_eq!(lab.get(path).await.status, 200);
    }
    let began = Instant::now();
    // The third is refused; the one beside it was served and says nothing about that.
    let both = join_all(["/channels/1/messages", "/guilds/2/members"].map(|path| lab.get(path)));
    let later = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        join_all(["/guilds/2/members", "/users/@me"].map(|path| lab.get(path))).await
    };
    let (both, later) = tokio::join!(both, later);
    assert!(both.iter().chain(&later).all(|got| got.status == 200));
    let arrived = lab.arrived();
    assert_eq!(arrived.len(), 7);
    let held = &arrived[4..];
    assert!(
        held.iter().all(|at| (65_000..68_000).contains(at)),
        "{arrived:?}"
    );
    assert!(began.elapsed() < Duration::from_secs(68));
}

/// The search quota is spent in no time, and whoever asks for something else must not notice.
#[tokio::test(start_paused = true)]
async fn a_search_quota_of_github_that_is_spent_holds_no_other_request() {
    const SEARCH: Quota = Quota {
        name: "search",
        limit: 4,
        seconds: 60.0,
    };
    const CORE: Quota = Quota {
        name: "core",
        limit: 20,
        seconds: 3600.0,
    };
    let provider = Provider::default();
    let served = provider.clone();
    let lab = Lab::new("github", move |_, path| {
        let quota = match path.starts_with("/search/") {
            true => SEARCH,
            false => CORE,
        };
        let taken = served.take(quota, "");
        let (remaining, reset) = taken.unwrap_or_else(|reset| (0, reset));
        let fields = [
            ("x-ratelimit-limit", quota.limit.to_string()),
            ("x-ratelimit-remaining", remaining.to_string()),
            ("x-ratelimit-reset", format!("{}", reset.ceil())),
            ("x-ratelimit-resource", quota.name.to_owned()),
        ];
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        answer(if taken.is_ok() { 200 } else { 403 }, &fields, "{}")
    });
    assert_eq!(lab.get("/search/issues").await.status, 200);
    assert_eq!(lab.get("/repos/a/b/issues").await.status, 200);
    let searches = (0..6).map(|_| "/search/issues".to_owned());
    // Repositories that were never seen are in the quota of those that were.
    let others = (0..19).map(|n| format!("/repos/some/repository-{n}/issues"));
    let paths: Vec<_> = searches.chain(others).collect();
    let all = join_all(paths.iter().map(|path| lab.get(path))).await;
    assert!(all.iter().all(|got| got.status == 200));
    assert_eq!(provider.refused(), [""; 0]);
    let core = arrived(&lab, "/repos/");
    assert!(core.last().expect("some").0 < 500, "{core:?}");
    let search = arrived(&lab, "/search/");
    let anew = search.iter().filter(|(at, _)| *at >= 60_000).count();
    assert_eq!((search.len(), anew), (7, 3), "{search:?}");
    // And the quota that is spent holds what was never asked for, until its end.
    let unseen = lab
        .get_within("/orgs/somebody", Duration::from_secs(10))
        .await;
    assert_eq!((unseen.status, provider.refused().len()), (0, 0));
    assert!(unseen.body.contains("window"), "{}", unseen.body);
}

/// Slack's limits are those of a method.
#[tokio::test(start_paused = true)]
async fn a_method_of_slack_that_is_refused_stops_no_other() {
    let lab = Lab::new("slack", |nth, path| match (nth, path) {
        (1, "/api/conversations.history") => answer(429, &[("retry-after", "30")], "{}"),
        _ => answer(200, &[], r#"{"ok":true}"#),
    });
    let others = async {
        for _ in 0..20 {
            assert_eq!(lab.get("/api/users.list").await.status, 200);
        }
    };
    let history = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        join_all((0..2).map(|_| lab.get("/api/conversations.history"))).await
    };
    let ((), history) = tokio::join!(others, history);
    assert!(history.iter().all(|got| got.status == 200));
    assert!(arrived(&lab, "users.list").last().expect("some").0 < 1_100);
    let again = arrived(&lab, "conversations.history");
    assert!(again.last().expect("some").0 >= 30_000, "{again:?}");
}

/// Five a second for each base, and half a minute of silence for whoever asks too much of one.
#[tokio::test(start_paused = true)]
async fn a_base_of_airtable_that_is_refused_stops_no_other() {
    let lab = Lab::new("airtable", |nth, path| match (nth, path) {
        (0, path) if path.contains("appOne") => answer(429, &[], "{}"),
        _ => answer(200, &[], "{}"),
    });
    let one = lab.get("/v0/appOne111222333aa/Tasks");
    let same = async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        lab.get("/v0/appOne111222333aa/People/rec12345").await
    };
    let other = async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        lab.get("/v0/appTwo111222333aa/Tasks").await
    };
    let (one, same, other) = tokio::join!(one, same, other);
    assert_eq!((one.status, same.status, other.status), (200, 200, 200));
    assert!(arrived(&lab, "appTwo")[0].0 < 1_000);
    let held = arrived(&lab, "appOne");
    assert!(held[1..].iter().all(|(at, _)| *at >= 30_000), "{held:?}");
}

/// What one route says stays with it: no path, no object and no secret ends in what people see.
#[tokio::test(start_paused = true)]
async fn names_of_gates_hold_no_path() {
    let provider = Provider::default();
    let lab = Lab::new("discord", discord(&provider));
    for path in [
        "/api/v10/channels/1111/messages",
        "/api/v10/webhooks/987654/s3cr3t-t0k3n",
    ] {
        lab.get(path).await;
    }
    let [(_, snapshot)] = &lab.paceline.snapshots()[..] else {
        panic!("one upstream");
    };
    let names: Vec<_> = snapshot.gates.iter().map(|gate| &*gate.name).collect();
    let bucket = format!("api {} #1", MESSAGES.name);
    assert_eq!(names, ["api", &bucket, "api members #2"]);
}
