//! Configurations checked: what is said to people and to programs, where, and with which exit code.

#[path = "support/folder.rs"]
mod folder;

use folder::{Folder, Said};
use serde_json::{Value, json};

const GOOD: &str = r#"
[upstream.github]
hosts = ["api.github.com", "uploads.github.com:8443"]
partition = ["header:authorization", "query:api_key"]
limits = ["5000/h", "100 in flight"]
queue = { max = 500, wait = "90s" }

[[upstream.github.route]]
match = "GET /search/**"
limits = ["30/m"]
cost = 2
priority = "background"
"#;

impl Folder {
    fn new(test: &str) -> Self {
        Self::of("check", test)
    }

    fn check(&self, arguments: &[&str]) -> Said {
        self.run("check", arguments, "")
    }
}

#[test]
fn a_good_file_is_summed_up() {
    let said = Folder::new("good").with("paceline.toml", GOOD).check(&[]);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    assert_eq!(
        said.out,
        "\
paceline.toml: good, 1 upstream

github
  hosts      api.github.com, uploads.github.com:8443
  limits     5000/h, 100 in flight
  partition  header:authorization, query:api_key
  share      process
  queue      500 at most, 90 s each
  retry      4 attempts, 120 s in all
  route      GET /search/**: also 30/m, cost 2, background
"
    );
}

#[test]
fn the_configuration_in_the_readme_is_good() {
    let readme = include_str!("../../../README.md");
    let (_, section) = readme
        .split_once("## Configuration\n")
        .expect("it has the section");
    let (_, after) = section.split_once("```toml\n").expect("a configuration");
    let (text, _) = after.split_once("```").expect("its end");
    let said = Folder::new("readme").with("paceline.toml", text).check(&[]);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
}

#[test]
fn a_request_shows_its_gates_and_none_of_its_values() {
    let folder = Folder::new("request").with("paceline.toml", GOOD);
    let url = "GET https://me:SECRET@api.github.com/search/code?api_key=SECRET#SECRET";
    let said = folder.check(&["--request", url]);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    let (_, charged) = said.out.split_once("\n\nThis ").expect("a paragraph");
    assert_eq!(
        charged,
        "\
GET request
  upstream   github
  dialect    github, by its host
  gate       github: 5000/h, 100 in flight
  gate       github GET /search/**: 30/m
  and gate   that of its bucket, code_search unless its response names another
             route GET /search/code
  cost       2
  priority   background
  partition  header:authorization, query:api_key
"
    );
    let json = folder.check(&["--json", "--request", url]);
    assert!(!said.out.contains("SECRET") && !json.out.contains("SECRET"));
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(
        json["request"],
        json!({
            "method": "GET", "upstream": "github", "configured": true, "dialect": "github", "cost": 2, "costs": {"requests": 2},
            "priority": "background",
            "gates": [
                {"name": "github", "limits": ["5000/h", "100 in flight"]},
                {"name": "github GET /search/**", "limits": ["30/m"]},
            ],
            "found": {"by": "bucket", "bucket": "code_search", "route": "GET /search/code"},
            "partition": ["header:authorization", "query:api_key"],
        })
    );
}

#[test]
fn a_request_shows_the_dialect_that_its_host_or_its_upstream_speaks() {
    let text = r#"
[dialect.zorb]
hosts = ["127.0.0.1:18771"]
gates = { by = "endpoint" }
[upstream.shop]
hosts = ["shop.example"]
dialect = "zorb"
"#;
    let folder = Folder::new("dialects").with("paceline.toml", text);
    for (request, line, dialect) in [
        (
            "GET http://127.0.0.1:18771/x",
            Some("zorb, by its host"),
            json!("zorb"),
        ),
        ("GET http://127.0.0.1:18772/x", None, Value::Null),
        ("GET http://shop.example/x", Some("zorb"), json!("zorb")),
        (
            "GET https://slack.com/x",
            Some("slack, by its host"),
            json!("slack"),
        ),
    ] {
        let said = folder.check(&["--request", request]);
        let lines = said.out.lines();
        let mut told = lines.filter_map(|line| line.strip_prefix("  dialect    "));
        let of_request = told.next_back().filter(|_| dialect != Value::Null);
        assert_eq!(of_request, line, "{request}\n{}", said.out);
        assert_eq!(
            said.out.contains("  and gate "),
            line.is_some(),
            "{request}"
        );
        let said = folder.check(&["--json", "--request", request]);
        let told: Value = serde_json::from_str(&said.out).expect("one object");
        assert_eq!(told["request"]["dialect"], dialect, "{request}");
    }
}

#[test]
fn dialects_of_ones_own_are_summed_up() {
    let page = include_str!("../../../docs/dialects.md");
    let (_, after) = page.split_once("```toml\n").expect("a dialect");
    let (zorb, _) = after.split_once("```").expect("its end");
    let text = format!(
        "{zorb}\n[dialect.plain]\nalso = ['mw-nginx']\nroute = [{{ match = 'GET /a', limits = ['1/s'] }}]\n"
    );
    let folder = Folder::new("own").with("paceline.toml", text);
    let said = folder.check(&[]);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    assert_eq!(
        said.out,
        "\
paceline.toml: good, 0 upstreams, 2 dialects

dialect plain
  hosts      none, it is spoken where it is named
  route      GET /a: also 1/s, cost 1
  examples   none

dialect zorb
  hosts      api.zorb.example
  rules      2 when, 1 window, 1 wait, 1 cost
  gates      by endpoint
  limits     60/m, 5000 points/h
  examples   4, read as they say
"
    );
    let json = folder.check(&["--json"]);
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(
        json["dialects"][1],
        json!({
            "name": "zorb", "hosts": ["api.zorb.example"], "examples": 4, "gates": "endpoint",
            "rules": {"when": 2, "window": 1, "wait": 1, "cost": 1},
            "limits": ["60/m", "5000 points/h"], "routes": [],
        })
    );
}

#[test]
fn a_dialect_of_the_name_of_a_built_in_one_is_noted() {
    let text =
        "[dialect.github]\nalso = [\"github\"]\npause = \"9s\"\n[dialect.mine]\npause = \"9s\"\n";
    let said = Folder::new("shadow").with("paceline.toml", text).check(&[]);
    assert_eq!(
        (said.code, said.talk.as_str()),
        (
            Some(0),
            "note: dialect.github: it takes the place of the built-in dialect of that name, also at its hosts\n"
        )
    );
}

#[test]
fn a_gate_that_will_be_found_is_told_by_what() {
    let folder = Folder::new("found").with("paceline.toml", GOOD);
    for (request, found, json) in [
        (
            "POST https://discord.com/api/v10/channels/1/messages",
            Some("one of its route's own, until its response names a bucket"),
            json!({
                "by": "bucket", "route": "POST /api/v10/channels/*/messages",
                "object": {"after": "channels", "mark": "MARK"},
            }),
        ),
        (
            "GET https://slack.com/api/users.list",
            Some("one of its endpoint's own"),
            json!({"by": "endpoint", "route": "GET /api/users.list"}),
        ),
        (
            "GET https://api.airtable.com/v0/app123/Tasks",
            Some("one of its object's own"),
            json!({"by": "resource", "object": {"after": "v0", "mark": "MARK"}}),
        ),
        ("GET https://example.com/", None, Value::Null),
    ] {
        let said = folder.check(&["--request", request]);
        let line = said
            .out
            .lines()
            .find_map(|line| line.strip_prefix("  and gate   "));
        assert_eq!(line, found, "{request}");
        let said = folder.check(&["--json", "--request", request]);
        let mut told: Value = serde_json::from_str(&said.out).expect("one object");
        if let Some(mark) = told["request"]["found"].pointer_mut("/object/mark") {
            assert_eq!(mark.as_str().map(str::len), Some(6));
            *mark = json!("MARK");
        }
        assert_eq!(told["request"]["found"], json, "{request}");
    }
}

#[test]
fn two_requests_that_share_a_gate_are_told_the_same_and_no_object_is_named() {
    let folder = Folder::new("shared").with("paceline.toml", GOOD);
    let gate = |request: &str| {
        let said = folder.check(&["--request", request]);
        let (_, gate) = said.out.split_once("  and gate   ").expect("a gate");
        let gate = gate.split("  cost ").next().expect("a gate").to_owned();
        assert!(
            !gate.contains("app1") && !gate.contains("41771983423143937"),
            "{gate}"
        );
        gate
    };
    let base = |path: &str| gate(&format!("GET https://api.airtable.com/v0/{path}"));
    assert_eq!(base("app1/Tasks"), base("app1/People"));
    assert_ne!(base("app1/Tasks"), base("app2/Tasks"));
    let discord = |path: &str| gate(&format!("GET https://discord.com/api/v10/{path}"));
    assert_eq!(
        discord("users/41771983423143937"),
        discord("users/41771983423143938")
    );
    assert_ne!(
        discord("users/41771983423143937"),
        discord("users/41771983423143937/x")
    );
    assert_ne!(
        discord("channels/1/messages"),
        discord("channels/2/messages")
    );
}

#[test]
fn another_method_another_path_and_another_port_are_charged_elsewhere() {
    let folder = Folder::new("elsewhere").with("paceline.toml", GOOD);
    for (request, upstream, gates) in [
        ("POST https://api.github.com/search/code", "github", 1),
        ("GET https://API.github.com/searches", "github", 1),
        (
            "GET https://uploads.github.com/x",
            "https://uploads.github.com:443",
            1,
        ),
        ("GET https://uploads.github.com:8443/search", "github", 2),
    ] {
        let said = folder.check(&["--json", "--request", request]);
        let json: Value = serde_json::from_str(&said.out).expect("one object");
        assert_eq!(json["request"]["upstream"], upstream, "{request}");
        let charged = json["request"]["gates"].as_array().expect("a list");
        assert_eq!(charged.len(), gates, "{request}");
    }
}

#[test]
fn an_origin_that_is_not_configured_is_said_to_be_that() {
    let folder = Folder::new("origin").with("paceline.toml", GOOD);
    let said = folder.check(&["--request", "GET http://Other.example/x"]);
    assert!(
        said.out.ends_with(
            "\
This GET request
  upstream   http://other.example:80, an origin that is not configured
  gate       origin: none, the pace is learned
  cost       1
  priority   normal
  partition  header:authorization
"
        ),
        "{}",
        said.out
    );
}

#[test]
fn what_cannot_be_done_yet_is_noted() {
    let text = r#"
[upstream.a]
hosts = ["a.example"]
dialect = "github"
share = "redis://me:SECRET@cache/0"
limits = ["90000 tokens/m"]
[upstream.b]
hosts = ["b.example"]
share = "machine"
"#;
    let folder = Folder::new("notes").with("own.toml", text);
    let said = folder.check(&["own.toml"]);
    assert_eq!(said.code, Some(0));
    assert!(said.out.starts_with("own.toml: good, 2 upstreams\n"));
    assert_eq!(
        said.talk.lines().collect::<Vec<_>>(),
        [
            "note: upstream.a.share: redis://…@cache/0: this version does not share a pace with other machines yet; expected process or machine",
            "note: upstream.a.limits: 90000 tokens/m: nothing in this file says how many tokens a request spends, so only programs that say it for each request are held to it",
        ]
    );
    let json = folder.check(&["--config", "own.toml", "--json"]);
    let object: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(object["notes"].as_array().map(Vec::len), Some(2));
    assert_eq!(object["request"], Value::Null);
}

#[test]
fn what_a_request_costs_in_each_unit_is_shown_and_what_makes_no_sense_is_noted() {
    let text = r#"
[upstream.llm]
hosts = ["llm.example"]
limits = ["90000 tokens/m", "50 points/m"]
[[upstream.llm.route]]
match = "POST /chat"
cost = { tokens = 1200, token = 5 }
[[upstream.llm.route]]
match = "POST /**"
limits = ["9 images/h"]
cost = { requests = 2, tokens = 300, images = 10 }
"#;
    let folder = Folder::new("costs").with("own.toml", text);
    let request = ["own.toml", "--request", "POST https://llm.example/chat"];
    let said = folder.check(&request);
    assert_eq!(
        said.talk.lines().collect::<Vec<_>>(),
        [
            "note: upstream.llm.limits: 50 points/m: nothing in this file says how many points a request spends, so only programs that say it for each request are held to it",
            "note: upstream.llm.route[0].cost: 5 token: no limit of this upstream counts token, so they cost nothing",
            "note: upstream.llm.route[1].cost: 10 images where 9 images/h allows 9 at once, so no such request is ever sent",
        ]
    );
    let route = "  route      POST /chat: cost 1 request, 5 token, 1200 tokens\n";
    assert!(said.out.contains(route), "{}", said.out);
    let cost = "  cost       2 requests, 10 images, 5 token, 1200 tokens\n";
    assert!(said.out.contains(cost), "{}", said.out);
    let json = folder.check(&[request.as_slice(), &["--json"]].concat());
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    let costs = json!({"requests": 2, "images": 10, "token": 5, "tokens": 1200});
    assert_eq!(
        (&json["request"]["cost"], &json["request"]["costs"]),
        (&json!(2), &costs)
    );
    let route = &json["upstreams"][0]["routes"][0];
    assert_eq!(
        (&route["cost"], &route["costs"]["tokens"]),
        (&json!(1), &json!(1200))
    );
}

#[test]
fn every_error_names_file_line_key_and_what_would_be_right() {
    let text = "[upstream.a]\nhosts = [\"a b\"]\nshare = \"fleet\"\n";
    let said = Folder::new("errors")
        .with("bad.toml", text)
        .check(&["bad.toml"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert_eq!(
        said.talk.lines().collect::<Vec<_>>(),
        [
            "error: bad.toml:2:10: upstream.a.hosts[0]: \"a b\" is not a host: ' ' cannot be in a name; expected a host name or address with an optional port, such as api.github.com, *.example.com or 127.0.0.1:8080",
            "error: bad.toml:3:9: upstream.a.share: \"fleet\" is not a way to share; expected process, machine or redis://HOST[:PORT][/DATABASE]",
        ]
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let folder = Folder::new("missing");
    for (arguments, file) in [(&[][..], "paceline.toml"), (&["x.toml"], "x.toml")] {
        let said = folder.check(arguments);
        assert_eq!(said.code, Some(2));
        let begins = format!("error: {file}: it cannot be read: ");
        assert!(said.talk.starts_with(&begins), "{}", said.talk);
    }
}

/// As the README and the help have it.
#[test]
fn a_request_needs_no_file() {
    let folder = Folder::new("nothing");
    let request = ["--request", "GET https://api.github.com/search/code"];
    let said = folder.check(&request);
    assert_eq!((said.code, said.talk.as_str()), (Some(0), ""));
    assert_eq!(
        said.out,
        "\
no paceline.toml here: nothing is configured

This GET request
  upstream   https://api.github.com:443, an origin that is not configured
  dialect    github, by its host
  gate       origin: none, the pace is learned
  and gate   that of its bucket, code_search unless its response names another
             route GET /search/code
  cost       1
  priority   normal
  partition  header:authorization
"
    );
    let json = folder.check(&[&request[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(json["file"], Value::Null);
    assert_eq!(json["request"]["dialect"], "github");
    // A file that is named has to be there.
    let said = folder.check(&["own.toml", request[0], request[1]]);
    assert_eq!(said.code, Some(2));
}

#[test]
fn a_request_that_is_none_is_bad_usage_and_not_repeated() {
    let folder = Folder::new("usage").with("paceline.toml", GOOD);
    for (request, wrong) in [
        ("", "these are not two words"),
        ("https://a.example/SECRET", "these are not two words"),
        (
            "get https://a.example/SECRET",
            "the first word is not a method in capital letters",
        ),
        (
            "G@T https://a.example/SECRET",
            "the first word is not a method in capital letters",
        ),
        (
            "GET SECRET",
            "the URL cannot be read (relative URL without a base)",
        ),
        (
            "GET ftp://a.example/SECRET",
            "the URL is neither http nor https",
        ),
    ] {
        let said = folder.check(&["--request", request]);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{request}");
        assert_eq!(
            said.talk,
            format!(
                "error: --request: {wrong}; expected a method and a URL, such as 'GET https://api.example.com/items'\n"
            )
        );
    }
}

#[test]
fn limits_that_a_dialect_has_published_are_shown_and_counted() {
    let text = r#"
[upstream.shop]
hosts = ["shop.example"]
dialect = "shopify-graphql"
[[upstream.shop.route]]
match = "POST /**"
cost = { points = 40 }
[upstream.dear]
hosts = ["dear.example"]
dialect = "shopify-graphql"
[[upstream.dear.route]]
match = "POST /**"
cost = { points = 1001 }
"#;
    let folder = Folder::new("published").with("own.toml", text);
    let said = folder.check(&["own.toml"]);
    assert_eq!(
        said.talk.lines().collect::<Vec<_>>(),
        [
            "note: upstream.dear.route[0].cost: 1001 points where 100 points/s burst 1000 allows 1000 at once, so no such request is ever sent",
        ]
    );
    let limits = "  limits     100 points/s burst 1000, as published\n";
    assert!(said.out.contains(limits), "{}", said.out);
    let json = folder.check(&["own.toml", "--json"]);
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(json["upstreams"][0]["published"], json!(true));
}
