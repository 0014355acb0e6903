//! Walks along `Link: rel=next`.

use super::*;

#[test]
fn pages_are_followed_and_each_is_a_request() {
    let server = Server::start(|seen| match seen.line.as_str() {
        "GET /items" => reply(
            200,
            "link: </style>; rel=preload\r\nlink: <?page=2>; rel=\"next last\"\r\n",
            "1",
        ),
        "GET /items?page=2" => reply(200, "link: </moved>; rel=next\r\n", "2"),
        "GET /moved" => reply(302, "location: /deep/3\r\n", ""),
        // Relative to where the answer came from, not to what was asked.
        "GET /deep/3" => reply(200, "link: <4>; rel=next\r\n", "3"),
        "GET /deep/4" => reply(200, "link: </items>; rel=next\r\n", "4"),
        _ => reply(404, "", ""),
    });
    let folder = Folder::new();
    let url = format!("{}/items", server.url);
    let args = [
        &url,
        "--paginate",
        "--out",
        "out",
        "--json",
        "-H",
        "X-Key: k",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let facts = ended.facts();
    let (summary, results) = facts.split_last().unwrap();
    assert_sums(summary, results);
    assert_eq!(
        (&summary["requests"], &summary["sent"]),
        (&json!(4), &json!(5))
    );
    assert!(results.iter().all(|result| result["line"] == 1));
    assert_eq!(results[0]["next"], format!("{url}?page=2"));
    // The fourth leads back to the first: the walk ends, and says so.
    assert!(ended.stderr.contains("fetched before"), "{}", ended.stderr);
    assert_eq!(server.seen().len(), 5);
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.headers.contains(&"x-key: k".into()))
    );
    let names = folder.names("out");
    assert_eq!(
        names
            .iter()
            .map(|name| folder.read(&format!("out/{name}")))
            .collect::<String>(),
        "1234"
    );
    assert_eq!(names[0], "000001-127.0.0.1_items");
}

#[test]
fn pages_and_redirects_elsewhere_get_no_credentials() {
    let elsewhere = Server::start(|_| reply(200, "", "elsewhere"));
    let there = elsewhere.url.clone();
    let server = Server::start(move |seen| match seen.line.as_str() {
        "GET /redirect" => reply(302, &format!("location: {there}/a\r\n"), ""),
        _ => reply(200, &format!("link: <{there}/b>; rel=next\r\n"), ""),
    });
    let folder = Folder::new();
    let (redirect, pages) = (
        format!("{}/redirect", server.url),
        format!("{}/pages", server.url),
    );
    let args = [
        &redirect,
        &pages,
        "--paginate",
        "-H",
        "Authorization: Bearer secret",
        "-H",
        "Cookie: secret",
    ];
    let ended = run(fetch(&folder, &args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let leaks = |seen: &Seen| seen.headers.iter().any(|line| line.contains("secret"));
    assert!(server.seen().iter().all(leaks));
    assert_eq!(elsewhere.seen().len(), 2);
    assert!(
        !elsewhere.seen().iter().any(leaks),
        "{:?}",
        elsewhere.seen()
    );
    assert!(!format!("{ended:?}").contains("secret"));
}

#[test]
fn a_walk_that_broke_off_goes_on_at_the_page_that_failed() {
    let asked = AtomicU32::new(0);
    let server = Server::start(move |seen| match seen.line.as_str() {
        "GET /1" => reply(200, "link: </2>; rel=next\r\n", ""),
        "GET /2" if asked.fetch_add(1, Ordering::Relaxed) == 0 => reply(404, "", ""),
        "GET /2" => reply(200, "link: </3>; rel=next\r\n", ""),
        _ => reply(200, "", ""),
    });
    let folder = Folder::new();
    let url = format!("{}/1", server.url);
    let args = [&url, "--paginate", "--results", "r", "--resume"];
    let codes: Vec<_> = (0..3).map(|_| run(fetch(&folder, &args)).code).collect();
    assert_eq!(codes, [Some(1), Some(0), Some(0)]);
    let asked: Vec<_> = server.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(asked, ["GET /1", "GET /2", "GET /2", "GET /3"]);
}
