//! Upstreams that break off, refuse, or are not there.

use super::*;

#[test]
fn servers_that_break_off_or_talk_too_much_fail_their_line_alone() {
    let server = Server::start(|seen| match seen.line.as_str() {
        "GET /half" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it".to_vec(),
        "GET /chunk" => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf".to_vec(),
        "GET /large" => reply(200, "", &"x".repeat(2000)),
        "GET /endless" => {
            let part = format!("3e8\r\n{}\r\n", "x".repeat(1000));
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{part}{part}").into()
        }
        "GET /headers" => {
            let fields: String = (0..1024)
                .map(|n| format!("x-{n:04}: {}\r\n", "v".repeat(55)))
                .collect();
            reply(200, &fields, "")
        }
        "GET /nonsense" => b"\0\x01\x02 what is this\r\n\r\n".to_vec(),
        "GET /nothing" => Vec::new(),
        _ => reply(200, "", "fine"),
    });
    let folder = Folder::new();
    let places = [
        "half", "chunk", "large", "endless", "headers", "nonsense", "nothing", "good",
    ];
    let urls: Vec<_> = places
        .iter()
        .map(|place| format!("{}/{place}", server.url))
        .collect();
    let mut args: Vec<&str> = urls.iter().map(String::as_str).collect();
    args.extend([
        "--max-body",
        "1KiB",
        "--out",
        "out",
        "--json",
        "--best-effort",
        "--concurrency",
        "1",
    ]);
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_sums(summary, results);
    let expected = [
        (Some("failure"), "broke off after 10 bytes"),
        (Some("failure"), "broke off after"),
        (Some("too_large"), "larger than 1024 bytes (--max-body)"),
        (Some("too_large"), "larger than 1024 bytes (--max-body)"),
        (None, "message head is too large"),
        (None, "invalid HTTP"),
        (None, "connection closed before message completed"),
    ];
    for (result, (reason, says)) in results.iter().zip(expected) {
        assert_eq!(result["ok"], false, "{result}");
        assert!(
            reason.is_none_or(|reason| result["reason"] == reason),
            "{result}"
        );
        assert!(result["error"].as_str().unwrap().contains(says), "{result}");
    }
    assert_eq!(results[7]["ok"], true);
    // No half file stays.
    assert_eq!(folder.names("out").len(), 1);
}

#[test]
fn an_upstream_that_nobody_reaches_fails_and_nothing_hangs() {
    let folder = Folder::new();
    // Bound for as long as the test runs, so that nobody else is given the port, and nobody listens there.
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/", silent.local_addr().unwrap());
    let refusing = format!("http://{}/", closed.local_addr().unwrap());
    let args = [
        &refusing,
        &silent,
        "--json",
        "--total",
        "500ms",
        "--timeout",
        "300ms",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let facts = ended.facts();
    assert_sums(&facts[2], &facts[..2]);
    assert!(
        facts[0]["error"]
            .as_str()
            .unwrap()
            .contains("Connection refused"),
        "{facts:?}"
    );
    assert_eq!(facts[1]["status"], Value::Null);
    assert!(facts[2]["sent"].as_u64().unwrap() >= 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_certificates_fetches_http_all_the_same() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &[&server.url]);
    command
        .env("SSL_CERT_FILE", "none")
        .env("SSL_CERT_DIR", "none");
    let ended = run(command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("https will not work here"),
        "{ended:?}"
    );
}

#[test]
fn refused_requests_are_sent_again_and_counted() {
    let asked = AtomicU32::new(0);
    let server = Server::start(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => reply(429, "retry-after: 1\r\n", ""),
        1 => reply(503, "", ""),
        _ => reply(200, "", "served"),
    });
    let folder = Folder::new();
    let ended = run(fetch(&folder, &[&server.url, "--json"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let facts = ended.facts();
    assert_eq!(
        (&facts[0]["attempts"], &facts[1]["sent"]),
        (&json!(3), &json!(3))
    );
    assert!(facts[1]["refused"].as_u64().unwrap() >= 1, "{facts:?}");
    assert!(facts[0]["waited_s"].as_f64().unwrap() >= 1.0, "{facts:?}");
    assert_eq!(facts[0]["waited_s"], facts[1]["waited_s"]);
}

#[test]
fn a_limit_that_is_typed_is_kept() {
    let (folder, server) = (Folder::new(), echo());
    let input: String = (0..6).map(|n| format!("{}/{n}x\n", server.url)).collect();
    folder.write("urls.txt", input);
    let args = ["-i", "urls.txt", "--limit", "2/0.5s", "--json"];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = &ended.facts()[6];
    assert!(summary["elapsed_s"].as_f64().unwrap() >= 1.0, "{summary}");
    assert_eq!(summary["refused"], 0);
}

/// A dialect of one's own that names its hosts, whose refusals stand in bodies of status 200.
#[test]
fn a_refusal_that_stands_in_a_body_is_no_page() {
    let folder = Folder::new();
    let server = Server::start(|seen| match &*seen.line {
        "POST /fine" => reply(200, "", r#"{"outcome":"DONE"}"#),
        _ => reply(200, "", r#"{"outcome":"SLOWDOWN"}"#),
    });
    let host = server.url.trim_start_matches("http://");
    let dialect = format!(
        r#"
[dialect.zorb]
hosts = ["{host}"]
[[dialect.zorb.when]]
at = "body: outcome"
is = ["SLOWDOWN"]
class = "rate_limited"
"#
    );
    folder.write("own.toml", dialect);
    let url = |path: &str| format!("{}{path}", server.url);
    folder.write("urls", format!("{}\n{}\n", url("/fine"), url("/slow")));
    let fetch_all = |more: &[&str]| {
        let mut args = vec!["--config", "own.toml", "--input", "urls", "--json"];
        args.extend(["-X", "POST", "--out", "pages", "--results", "results"]);
        args.extend(more);
        run(fetch(&folder, &args))
    };
    let ended = fetch_all(&[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let summary = &ended.facts()[0];
    assert_eq!(
        (&summary["ok"], &summary["refused"]),
        (&1.into(), &1.into()),
        "{summary}"
    );
    let results = lines(&folder.read("results"));
    assert_eq!(
        (&results[1]["ok"], &results[1]["file"]),
        (&false.into(), &Value::Null)
    );
    assert!(
        results[1]["error"]
            .as_str()
            .unwrap()
            .starts_with("200 OK, read as a refusal: "),
        "{results:?}"
    );
    assert_eq!(folder.names("pages").len(), 1, "a refusal is not kept");
    fetch_all(&["--resume"]);
    assert_eq!(server.seen().len(), 3, "it is asked again");
}

#[test]
fn a_status_without_a_name_goes_by_its_number() {
    let (folder, server) = (Folder::new(), echo());
    let ended = run(fetch(&folder, &[&format!("{}/477", server.url)]));
    let facts = ended.facts();
    let error = facts[0]["error"].as_str().unwrap();
    assert!(error.starts_with("477: "), "{error}");
}
