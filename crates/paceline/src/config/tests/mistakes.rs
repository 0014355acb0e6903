//! What is said about a file that is wrong.

use super::*;

#[test]
fn a_wrong_limit_is_told_with_its_place_and_the_grammar() {
    let text = "\n\n\n[upstream.github]\nurl = 'https://api.github.com'\n\nlimits = [\"10/0s\"]\n";
    assert_eq!(
        complaint(text),
        "paceline.toml:7:11: upstream.github.limits[0]: \"10/0s\" is not a limit: the period is zero \
         (character 4); expected a period above zero, such as 10/s [limits are: N/s, N/m, N/h, N/d or N/Ks \
         (never more than N in any such period), N/s burst B (a token bucket), N in flight, \
         Ts server time / Ws (what requests take, together); \
         a word after N counts something else: N tokens/m]"
    );
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_file() {
    let text =
        "[upstream.b]\nhost = ['x']\nshare = 'fleet'\n[upstream.a]\nhosts = ['a']\nqueue = 5\n";
    let errors = Config::parse(text, "p.toml").expect_err("wrong");
    let places: Vec<_> = errors
        .as_slice()
        .iter()
        .map(|error| (error.position.map_or(0, |at| at.line), error.key.as_str()))
        .collect();
    assert_eq!(
        places,
        [
            (1, "upstream.b"),
            (2, "upstream.b.host"),
            (3, "upstream.b.share"),
            (6, "upstream.a.queue"),
        ]
    );
}

#[test]
fn each_mistake_has_its_message() {
    let of_an_upstream = MISTAKES_OF_AN_UPSTREAM
        .iter()
        .map(|(line, said)| (with(line), said));
    let mistakes = MISTAKES
        .iter()
        .map(|(text, said)| ((*text).to_owned(), said));
    let grammar = format!("[limits are: {}]", paceline_engine::LIMIT_GRAMMAR);
    for (text, said) in mistakes.chain(of_an_upstream) {
        let expected = said.replace("[GRAMMAR]", &grammar);
        assert_eq!(
            complaint(&text),
            format!("paceline.toml:{expected}"),
            "{text}"
        );
    }
}

#[test]
fn secrets_in_a_file_are_not_repeated() {
    for line in [
        "share = 'reddis://me:secret@h'",
        "url = 'https://me:secret@h'",
    ] {
        let said = complaint(&with(line));
        assert!(!said.contains("secret"), "{said}");
    }
}

const MISTAKES: &[(&str, &str)] = &[
    (
        "[upstream.a]\nurl = 'http://a'\n[upstream.a]",
        "3:11: upstream.a: the key is there already; expected each key once",
    ),
    ("a = [[", "1:7: a: unclosed array; expected `]`"),
    (
        "upstream = \"é",
        r#"1:14: upstream: invalid basic string; expected `"`"#,
    ),
    ("x", "1:2: key with no value; expected `=`"),
    (
        "[upstream.a\nurl = 'http://a'",
        "1:12: unclosed table; expected `]`",
    ),
    (
        "[upstream.a]\nhosts = [\"a\"\nlimits = []",
        "3:1: missing comma between array elements; expected `,`",
    ),
    (
        "[upstream.a]\nshare = machine",
        r#"2:9: upstream.a.share: text needs quotation marks; expected quotation marks around it, as in share = "machine""#,
    ),
    (
        "[upstream.a]\nurl = 'http://a'\nurl = 'http://b'",
        "3:1: upstream.a.url: the key is there already; expected each key once",
    ),
    (
        "[upstream.a]\nurl = 'http://a",
        "2:16: upstream.a.url: invalid literal string; expected `'`",
    ),
    (
        "upstream = 5",
        "1:12: upstream: an integer does not belong here; expected a table for each upstream, such as [upstream.github]",
    ),
    (
        "[[upstream]]\nhosts = ['a']",
        "1:1: upstream: an array does not belong here; expected a table for each upstream, such as [upstream.github]",
    ),
    (
        "[upstreams.a]\nurl = 'http://a'",
        r#"1:2: upstreams: "upstreams" is not a key; expected upstream? (the keys here are: upstream, dialect)"#,
    ),
    (
        "[server]\nport = 1",
        r#"1:2: server: "server" is not a key; expected one of: upstream, dialect"#,
    ),
    (
        "[upstream]\nlimits = []",
        "2:10: upstream.limits: an array does not belong here; expected a table, such as [upstream.github]",
    ),
    (
        "[upstream.a]",
        r#"1:1: upstream.a: it has neither hosts nor url; expected hosts = ["api.github.com"] or url = "https://api.github.com""#,
    ),
    (
        "[upstream.a]\nhosts = []\nlimits = ['1/s']",
        r#"1:1: upstream.a: it has neither hosts nor url; expected hosts = ["api.github.com"] or url = "https://api.github.com""#,
    ),
    (
        "[upstream.\"a b\"]\nurl = 'http://a'",
        r#"1:1: upstream."a b": "a b" cannot name an upstream; expected letters, digits, hyphens, underscores and dots, such as [upstream.github]"#,
    ),
    (
        "[upstream.-]\nurl = 'http://a'",
        r#"1:1: upstream.-: "-" cannot name an upstream; expected letters, digits, hyphens, underscores and dots, such as [upstream.github]"#,
    ),
    (
        "[upstream.a]\nhosts = ['x.example']\n[upstream.b]\nhosts = ['y.example', 'X.example']",
        r#"4:23: upstream.b.hosts[1]: x.example belongs to upstream "a" already; expected each host once, in one upstream"#,
    ),
    (
        "[upstream.b]\nurl = 'https://x.example'\n[upstream.a]\nhosts = ['x.example']",
        r#"4:10: upstream.a.hosts[0]: x.example belongs to upstream "b" already; expected each host once, in one upstream"#,
    ),
    (
        "[upstream.a]\nhosts = ['x', 'x.']",
        "2:15: upstream.a.hosts[1]: x is named twice; expected each host once, in one upstream",
    ),
    (
        "[dialect.a]\nhosts = ['x.example', '*.x.example:80']\npause = '1s'\n[dialect.b]\nalso = ['a']\nhosts = ['X.example']",
        r#"6:10: dialect.b.hosts[0]: x.example belongs to dialect "a" already; expected each host once, in one dialect"#,
    ),
    (
        "[dialect.a]\nstatuses = [429, 477]\n[[dialect.a.when]]\nstatus = [478]\nclass = 'rate_limited'",
        r#"2:18: dialect.a.statuses[1]: no rule makes a refusal of 477, and by itself it is none; expected [[when]] with status = [477] and class = "rate_limited", or another status"#,
    ),
    (
        "[dialect.\"\"]\npause = '1s'",
        r#"1:1: dialect."": "" cannot name a dialect; expected letters, digits, hyphens, underscores and dots, such as [dialect.mine]"#,
    ),
    (
        "[dialect.\"a b/é\"]\npause = '1s'",
        r#"1:1: dialect."a b/é": "a b/é" cannot name a dialect; expected letters, digits, hyphens, underscores and dots, such as [dialect.mine]"#,
    ),
    (
        "[dialect.z]\nname = 'Z'",
        "1:1: dialect.z: it says nothing that all upstreams do not say; expected when, window, wait, cost, gates, limits, pause, or also (docs/dialects.md has them all)",
    ),
    (
        "[dialect.z]\nunits = { a = 'points' }",
        r#"2:9: dialect.z.units: they go by buckets, and nothing says where their names stand; expected bucket = "x-ratelimit-resource""#,
    ),
    (
        "[dialect.z]\npause = '0s'",
        r#"2:9: dialect.z.pause: "0s" is no time at all; expected a duration above zero, such as "2m""#,
    ),
    (
        "[dialect.z]\nwindow = [{ remaining = 'x-left', length = '0s' }]",
        r#"2:44: dialect.z.window[0].length: "0s" is no time at all; expected a duration above zero, such as "2m""#,
    ),
    (
        "[dialect.z]\nwait = [{ at = 'bdy: x' }]",
        r#"2:16: dialect.z.wait[0].at: "bdy" is no field; expected body: x?"#,
    ),
    (
        "[dialect.z]\ngates = { by = 'resource', resources = ['a', 'b/c'] }",
        r#"2:46: dialect.z.gates.resources[1]: it is not one segment of a path; expected a segment, such as "channels" for /channels/123/messages"#,
    ),
    (
        "[dialect.z]\ngates = { by = 'resource', resources = [''] }",
        r#"2:41: dialect.z.gates.resources[0]: it is not one segment of a path; expected a segment, such as "channels" for /channels/123/messages"#,
    ),
    (
        "[dialect.z]\ngates = { by = 'resource', resources = ['a'], route = [{ match = '* /a' }] }",
        r#"2:56: dialect.z.gates.route[0]: quotas go by objects alone here, whatever the route; expected by = "endpoint" or "bucket", or no routes"#,
    ),
    (
        "[dialect.z]\nwhen = [{ status = [], class = 'other' }]",
        "2:20: dialect.z.when[0].status: it is empty, so that any status would fit; expected an array of statuses, such as [429, 503]",
    ),
    (
        "[dialect.z]\nwhen = [{ at = 'body: e', contains = [''], class = 'other' }]",
        r#"2:39: dialect.z.when[0].contains[0]: every text has nothing in it; expected words, such as "slow down""#,
    ),
    (
        "[dialect.z]\ncost = [{ actual = [] }]",
        r#"2:9: dialect.z.cost[0]: it does not say where a cost stands; expected actual = ["body: usage.total_tokens"], or requested"#,
    ),
    (
        "[dialect.mine]\nalso = ['mine']",
        "2:9: dialect.mine.also[0]: it builds on itself; expected other dialects, or none where it stands alone",
    ),
    (
        "[dialect.a]\nalso = ['b']\n[dialect.b]\nalso = ['c']\n[dialect.c]\nalso = ['slack', 'b']",
        r#"6:18: dialect.c.also[1]: they build on each other in a circle: "b" on "c" on "b"; expected one of them that builds on none of the others"#,
    ),
    (
        "[dialect.a]\nalso = ['mne']\n[dialect.mine]\npause = '1s'",
        r#"2:9: dialect.a.also[0]: there is no dialect "mne"; expected mine? (`paceline explain --dialects` lists them all)"#,
    ),
    (
        "[dialect.a]\nhosts = ['x', 'x.']\npause = '1s'",
        "2:15: dialect.a.hosts[1]: x is named twice; expected each host once, in one dialect",
    ),
    (
        "upstream.a = 5",
        "1:14: upstream.a: an integer does not belong here; expected a table, such as [upstream.github]",
    ),
];

/// Each of them is what an upstream says in addition to its host, from line 3.
const MISTAKES_OF_AN_UPSTREAM: &[(&str, &str)] = &[
    (
        "colour = 'red'",
        r#"3:1: upstream.a.colour: "colour" is not a key; expected one of: hosts, url, dialect, partition, limits, share, queue, route, retry"#,
    ),
    (
        "limts = ['1/s']",
        r#"3:1: upstream.a.limts: "limts" is not a key; expected limits? (the keys here are: hosts, url, dialect, partition, limits, share, queue, route, retry)"#,
    ),
    (
        "partition = ['header:é ']",
        r#"3:14: upstream.a.partition[0]: "header:é " is not a partition: "é " is not a header name; expected a header name, such as header:authorization"#,
    ),
    (
        "partition = ['header:x y']",
        r#"3:14: upstream.a.partition[0]: "header:x y" is not a partition: "x y" is not a header name; expected a header name, such as header:authorization"#,
    ),
    (
        "partition = 'none'",
        r#"3:13: upstream.a.partition: a string does not belong here; expected an array such as ["header:authorization"], or ["none"]"#,
    ),
    (
        "partition = []",
        r#"3:13: upstream.a.partition: it is empty; expected an array such as ["header:authorization"], or ["none"]"#,
    ),
    (
        "partition = ['none', 'header:a']",
        "3:14: upstream.a.partition[0]: none stands beside others; expected none alone, or only the others",
    ),
    (
        "partition = ['header:a', 'header:A']",
        "3:26: upstream.a.partition[1]: header:a is named twice; expected each of them once",
    ),
    (
        "partition = ['cookie']",
        r#"3:14: upstream.a.partition[0]: "cookie" is not a partition: it is none of the three forms; expected header:NAME, query:NAME or none (everybody shares), such as header:authorization"#,
    ),
    (
        "partition = [1]",
        "3:14: upstream.a.partition[0]: an integer does not belong here; expected header:NAME, query:NAME or none (everybody shares), such as header:authorization",
    ),
    (
        "limits = '10/s'",
        r#"3:10: upstream.a.limits: a string does not belong here; expected an array of limits, such as ["10/s burst 50", "100 in flight"]"#,
    ),
    (
        "limits = [10]",
        r#"3:11: upstream.a.limits[0]: an integer does not belong here; expected a limit, such as "10/s burst 50""#,
    ),
    (
        "limits = ['10/s', '10']",
        r#"3:19: upstream.a.limits[1]: "10" is not a limit: it does not say per what (character 3); expected a period, such as 10/s, or 10 in flight [GRAMMAR]"#,
    ),
    (
        "limits = ['20 server time / 10s']",
        r#"3:11: upstream.a.limits[0]: "20 server time / 10s" is not a limit: it does not say in what the server time is (character 4); expected s, m, h or d, such as 20s server time / 10s [GRAMMAR]"#,
    ),
    (
        "share = 'fleet'",
        r#"3:9: upstream.a.share: "fleet" is not a way to share; expected process, machine or redis://HOST[:PORT][/DATABASE]"#,
    ),
    (
        "share = true",
        "3:9: upstream.a.share: a boolean does not belong here; expected process, machine or redis://HOST[:PORT][/DATABASE]",
    ),
    (
        "share = 'redis://'",
        r#"3:9: upstream.a.share: "redis://" is not a URL: empty string; expected process, machine or redis://HOST[:PORT][/DATABASE]"#,
    ),
    (
        "url = 'a.example'",
        r#"3:7: upstream.a.url: "a.example" is not such a URL: it does not begin with http:// or https://; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "url = 'ftp://a.example'",
        r#"3:7: upstream.a.url: "ftp://a.example" is not such a URL: it does not begin with http:// or https://; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "url = 'http://a.example/?q=1'",
        r#"3:7: upstream.a.url: "http://a.example/?q=1" is not such a URL: it has a query or a fragment; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "url = 'http://u:p@a.example'",
        r#"3:7: upstream.a.url: "http://…@a.example" is not such a URL: it holds credentials, which requests carry themselves; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "url = 'http://*.example'",
        r#"3:7: upstream.a.url: "http://*.example" is not such a URL: * is not one host; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "url = 'http://'",
        r#"3:7: upstream.a.url: "http://" is not such a URL: empty string; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "url = 1.5",
        r#"3:7: upstream.a.url: a float does not belong here; expected an http or https URL without credentials and query, such as "https://api.github.com""#,
    ),
    (
        "dialect = 'githab'",
        r#"3:11: upstream.a.dialect: there is no dialect "githab"; expected github? (`paceline explain --dialects` lists them all)"#,
    ),
    (
        "dialect = 1979-05-27",
        r#"3:11: upstream.a.dialect: a datetime does not belong here; expected a dialect's name, such as "github""#,
    ),
    (
        "queue = 5",
        r#"3:9: upstream.a.queue: an integer does not belong here; expected a table, such as { max = 10000, wait = "2m" }"#,
    ),
    (
        "queue = { max = -1 }",
        "3:17: upstream.a.queue.max: -1 is out of range; expected a whole number from 0 to 1000000000",
    ),
    (
        "queue = { max = 1.5 }",
        "3:17: upstream.a.queue.max: a float does not belong here; expected a whole number from 0 to 1000000000",
    ),
    (
        "queue = { max = 99999999999999999999 }",
        "3:17: upstream.a.queue.max: 99999999999999999999 is out of range; expected a whole number from 0 to 1000000000",
    ),
    (
        "queue = { wait = '2' }",
        r#"3:18: upstream.a.queue.wait: "2" is not a duration: "2" has no unit; expected a number and a unit (d, h, m, s, ms, us), such as 2m, 500ms or 1h30m"#,
    ),
    (
        "queue = { wait = 2 }",
        r#"3:18: upstream.a.queue.wait: an integer does not belong here; expected a duration, such as "2m""#,
    ),
    (
        "queue = { size = 3 }",
        r#"3:11: upstream.a.queue.size: "size" is not a key; expected one of: max, wait"#,
    ),
    (
        "route = { match = 'GET /a' }",
        "3:9: upstream.a.route: a table does not belong here; expected tables such as [[upstream.github.route]]",
    ),
    (
        "[[upstream.a.route]]\nlimits = ['1/s']",
        r#"3:1: upstream.a.route[0]: it has no match; expected a method and a path, such as match = "GET /search/**""#,
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET'",
        r#"4:9: upstream.a.route[0].match: "GET" is not a route: there is no path after the method; expected METHOD or *, then a path, such as GET /search/** (* is one segment, ** the rest)"#,
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\ncost = -1",
        "5:8: upstream.a.route[0].cost: -1 is out of range; expected a whole number from 0 to 1000000000000000",
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\ncost = '5 tokens'",
        "5:8: upstream.a.route[0].cost: a string does not belong here; expected a whole number from 0 to 1000000000000000 of requests, or amounts by unit, such as { requests = 1, tokens = 1200 }",
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\ncost = {}",
        "5:8: upstream.a.route[0].cost: it is empty; expected amounts by unit, such as { requests = 1, tokens = 1200 }",
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\ncost = { tokens = 1.5 }",
        "5:19: upstream.a.route[0].cost.tokens: a float does not belong here; expected a whole number from 0 to 1000000000000000",
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\ncost = { 'tokens/m' = 9 }",
        r#"5:23: upstream.a.route[0].cost."tokens/m": "tokens/m" is not a unit; expected requests, or the word that a limit has for it, such as tokens in 90000 tokens/m"#,
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\ncost = { tokens = 9, Tokens = 9 }",
        "5:31: upstream.a.route[0].cost.Tokens: this unit is named twice; expected each unit once",
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\npriority = 'urgent'",
        r#"5:12: upstream.a.route[0].priority: "urgent" is not a priority; expected background, normal or interactive"#,
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\nlimits = ['0/s burst']",
        r#"5:11: upstream.a.route[0].limits[0]: "0/s burst" is not a limit: the amount is zero, so nothing could ever go (character 1); expected an amount above zero, such as 1/s [GRAMMAR]"#,
    ),
    (
        "[[upstream.a.routes]]\nmatch = 'GET /a'",
        r#"3:14: upstream.a.routes: "routes" is not a key; expected route? (the keys here are: hosts, url, dialect, partition, limits, share, queue, route, retry)"#,
    ),
    (
        "[[upstream.a.route]]\nmatch = 'GET /a'\npath = 'x'",
        r#"5:1: upstream.a.route[0].path: "path" is not a key; expected match? (the keys here are: match, limits, cost, priority)"#,
    ),
    (
        "retry = false",
        r#"3:9: upstream.a.retry: a boolean does not belong here; expected a table, such as { attempts = 4, total = "2m" }"#,
    ),
    (
        "retry = { attempts = 0 }",
        "3:22: upstream.a.retry.attempts: 0 is out of range; expected a whole number from 1 to 4294967295",
    ),
    (
        "share = machine",
        r#"3:9: upstream.a.share: text needs quotation marks; expected quotation marks around it, as in share = "machine""#,
    ),
    (
        "hosts = ['b']",
        "3:1: upstream.a.hosts: the key is there already; expected each key once",
    ),
    (
        "retry = { attempts = 4294967296 }",
        "3:22: upstream.a.retry.attempts: 4294967296 is out of range; expected a whole number from 1 to 4294967295",
    ),
    (
        "retry = { total = '0s' }",
        r#"3:19: upstream.a.retry.total: "0s" is no time at all; expected a duration above zero, such as "2m""#,
    ),
    (
        "retry = { total = '2 minutes' }",
        r#"3:19: upstream.a.retry.total: "2 minutes" is not a duration: "minutes" is not a unit; expected a number and a unit (d, h, m, s, ms, us), such as 2m, 500ms or 1h30m"#,
    ),
    (
        "retry = { best_effort = 'yes' }",
        "3:25: upstream.a.retry.best_effort: a string does not belong here; expected true or false",
    ),
    (
        "retry = { resend = true }",
        r#"3:11: upstream.a.retry.resend: "resend" is not a key; expected one of: attempts, total, resend_refused, ignore_retry_after, best_effort"#,
    ),
];
