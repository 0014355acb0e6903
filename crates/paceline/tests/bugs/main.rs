//! Ways in which other HTTP clients went wrong in public, each as a test of the whole client, named after what must not happen.
//!
//! The line above a test is where it happened. What is tested is the kind: the values beside the one that was reported, the
//! other routes to the same wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[expect(dead_code, reason = "the behaviour tests use all of it")]
#[path = "../behaviour/lab.rs"]
mod lab;
#[expect(dead_code, reason = "the tests of the middleware use all of it")]
#[path = "../reqwest/upstream.rs"]
mod loopback;
mod scene;

mod deadline;
mod detection;
mod herd;
mod hints;
mod outage;
mod overflow;
mod pace;
mod parse;
mod replay;
mod retry;
mod scope;
mod time;
mod windows;

/// `README.md` says which tests hold what; they are there.
#[test]
fn every_test_that_the_table_names_is_there() {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let table = std::fs::read_to_string(format!("{tests}/bugs/README.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| B"));
    let named: Vec<_> = rows
        .flat_map(|row| row.split('`').skip(1).step_by(2))
        .collect();
    assert!(named.len() > 37);
    for name in named {
        let (module, test) = name.split_once("::").unwrap();
        let folder = if module.contains('/') { "" } else { "bugs/" };
        let text = std::fs::read_to_string(format!("{tests}/{folder}{module}.rs")).unwrap();
        assert!(text.contains(&format!("async fn {test}()")), "{name}");
    }
}
