//! What is read from a file that is right.

mod dialects;
mod file;
mod mistakes;

use core::time::Duration;

use http::{Method, Uri, header};
use paceline_engine::{Cost, Limit, Priority};

use super::*;
use crate::upstream::*;

fn parse(text: &str) -> Config {
    Config::parse(text, "paceline.toml").unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is said about a file that is wrong.
fn complaint(text: &str) -> String {
    match Config::parse(text, "paceline.toml") {
        Ok(config) => panic!("nothing is wrong with it: {config:?}"),
        Err(errors) => errors.to_string(),
    }
}

/// An upstream that says this in addition to its host.
fn with(line: &str) -> String {
    format!("[upstream.a]\nhosts = [\"a.example\"]\n{line}\n")
}

fn limit(text: &str) -> Limit {
    text.parse().expect("a limit")
}

#[test]
fn the_full_example_is_read() {
    let config = parse(
        r#"
[upstream.github]
hosts = ["api.github.com"]            # or url = "https://…" for the reverse proxy
dialect = "github"
partition = ["header:authorization"]  # who shares a quota: header:X, query:X, none (everybody)
limits = ["5000/h", "100 in flight"]
share = "machine"                     # process | machine | redis://…
queue = { max = 10000, wait = "2m" }

[[upstream.github.route]]
match = "GET /search/**"              # METHOD or *, then a path: * is one segment, ** the rest
limits = ["30/m"]                     # in addition to the upstream's
cost = 1
priority = "background"               # background | normal | interactive

[upstream.github.retry]
attempts = 4
total = "2m"
"#,
    );
    let expected = Upstream {
        hosts: vec!["api.github.com".parse().expect("a host")],
        url: None,
        published: true,
        dialect: dialect::named("github"),
        partition: vec![PartitionKey::Header(header::AUTHORIZATION)],
        limits: vec![limit("5000/h"), limit("100 in flight")],
        share: Share::Machine,
        queue: Queue {
            max: 10_000,
            wait: Some(Duration::from_secs(120)),
        },
        routes: vec![Route {
            matcher: "GET /search/**".parse().expect("a route"),
            limits: vec![limit("30/m")],
            cost: Cost::requests(1),
            priority: Some(Priority::Background),
        }],
        retry: Retry::default(),
    };
    assert_eq!(
        config.upstreams,
        BTreeMap::from([("github".to_owned(), expected)])
    );
}

#[test]
fn what_is_not_said_has_its_default() {
    let config = parse(&with("[[upstream.a.route]]\nmatch = '* /**'"));
    let upstream = &config.upstreams["a"];
    assert_eq!(
        *upstream,
        Upstream {
            hosts: vec!["a.example".parse().expect("a host")],
            routes: vec![Route {
                matcher: "* /**".parse().expect("a route"),
                limits: Vec::new(),
                cost: Cost::default(),
                priority: None,
            }],
            ..Upstream::default()
        }
    );
    assert_eq!(
        upstream.partition,
        [PartitionKey::Header(header::AUTHORIZATION)]
    );
    assert_eq!(upstream.queue.max, 10_000);
    assert_eq!(upstream.retry.attempts, 4);
    assert_eq!(upstream.retry.total, Duration::from_secs(120));
    assert_eq!(parse(""), Config::default());
}

#[test]
fn everything_else_is_read_too() {
    let config = parse(
        r#"
[upstream.shop]
url = "http://127.0.0.1:8080/v1"
partition = ["header:X-Shop", "query:api_key"]
share = "redis://me:secret@cache:6379/0"
queue = { max = 0 }
route = [{ match = "POST /a", cost = 1_000 }, { match = "* /b", cost = 0 }, { match = "* /c", cost = { Tokens = 1_200, points = 0 } }]
[upstream.shop.retry]
attempts = 0x10
total = "1h30m"
resend_refused = true
ignore_retry_after = true
best_effort = true
"#,
    );
    let shop = &config.upstreams["shop"];
    assert_eq!(shop.hosts, ["127.0.0.1:8080".parse().expect("a host")]);
    assert_eq!(shop.url, Some(Uri::from_static("http://127.0.0.1:8080/v1")));
    let shown: Vec<String> = shop.partition.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["header:x-shop", "query:api_key"]);
    assert_eq!(
        shop.share,
        Share::Redis("redis://me:secret@cache:6379/0".into())
    );
    assert!(!format!("{config:?}").contains("secret"));
    assert_eq!(shop.queue, Queue { max: 0, wait: None });
    let retry = Retry {
        attempts: 16,
        total: Duration::from_secs(5400),
        resend_refused: true,
        ignore_retry_after: true,
        best_effort: true,
    };
    assert_eq!(shop.retry, retry);
    let costs: Vec<_> = shop.routes.iter().map(|route| &route.cost).collect();
    let by_unit = Cost::tokens(1200).and("points", 0);
    assert_eq!(costs, [&Cost::requests(1000), &Cost::requests(0), &by_unit]);
}

#[test]
fn an_empty_list_of_limits_asks_for_none_of_the_dialects_either() {
    let published = |limits: &str| {
        let text = format!("[upstream.a]\nhosts = ['a']\ndialect = 'notion'\n{limits}");
        let config = Config::parse(&text, "paceline.toml").unwrap();
        config.upstreams["a"].published
    };
    assert!(published(""));
    assert!(published("limits = ['1/s']"));
    assert!(!published("limits = []"));
}

#[test]
fn a_request_finds_its_upstream_and_routes() {
    let config = parse(
        r#"
[upstream.all]
hosts = ["*.example.com"]
[upstream.api]
hosts = ["api.example.com"]
route = [{ match = "* /**" }, { match = "GET /a" }, { match = "POST /a" }]
[upstream.local]
url = "http://api.example.com:8080"
"#,
    );
    let name = |host, port| config.upstream_of(host, port).map(|(name, _)| name);
    assert_eq!(name("www.example.com", 443), Some("all"));
    assert_eq!(name("api.example.com", 443), Some("api"));
    assert_eq!(name("api.example.com", 8080), Some("local"));
    assert_eq!(name("example.com", 443), None);
    let routes = config.upstreams["api"].routes_of(&Method::GET, "/a");
    let matchers: Vec<String> = routes.map(|route| route.matcher.to_string()).collect();
    assert_eq!(matchers, ["* /**", "GET /a"]);
}

#[test]
fn a_url_that_its_own_hosts_cover_claims_nothing_more() {
    let config = parse("[upstream.a]\nhosts = ['*.example']\nurl = 'https://api.example'");
    assert_eq!(
        config.upstreams["a"].hosts,
        ["*.example".parse().expect("a host")]
    );
}

#[test]
fn nothing_panics_on_any_text() {
    use proptest::prelude::*;
    let pieces = "([\\[\\]{}=\"'.,#\n a-z0-9é]|upstream|hosts|limits|route|\\[\\[upstream.a.route\\]\\]\n|= \\[\"|\"\\]\n){0,30}";
    proptest!(|(text in pieces)| {
        let _ = Config::parse(&text, "f");
    });
}
