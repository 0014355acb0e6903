//! What a dialect's file says of gates: `[gates]`.

use paceline_engine::GatesBy;

use super::gates::{Gates, KnownRoute};
use super::values::{TABLE, TEXT, one_of, tables, texts};
use crate::config::document::Table;

const KEYS: [&str; 3] = ["by", "resources", "route"];
const ROUTE_KEYS: [&str; 2] = ["match", "bucket"];
const ROUTE: &str = r#"a method and a path, such as match = "GET /search/**""#;

pub(super) fn gates(table: &Table<'_>) -> Option<Gates> {
    let table = table.entry("gates")?.table(&KEYS, TABLE)?;
    if table.entry("by").is_none() {
        table.fail(
            "it does not say what quotas go by",
            r#"by = "endpoint", "bucket" or "resource""#,
        );
    }
    let by = one_of(&table, "by", &GatesBy::ALL.map(|by| (by.code(), by)))?;
    let gates = Gates {
        by,
        resources: texts(&table, "resources"),
        routes: tables(&table, "route", &ROUTE_KEYS)
            .iter()
            .filter_map(|route| known_route(route, by))
            .collect(),
    };
    if by == GatesBy::Resource && gates.resources.is_empty() {
        table.fail(
            "it does not say where objects stand in paths",
            r#"resources = ["channels"], whose objects are in /channels/123/messages"#,
        );
    }
    Some(gates)
}

fn known_route(table: &Table<'_>, by: GatesBy) -> Option<KnownRoute> {
    let bucket = table.entry("bucket");
    if by != GatesBy::Bucket
        && let Some(node) = &bucket
    {
        node.fail("quotas do not go by buckets here", r#"by = "bucket""#);
    }
    let Some(matcher) = table.entry("match") else {
        table.fail("it has no match", ROUTE);
        return None;
    };
    Some(KnownRoute {
        matcher: matcher.read(ROUTE)?,
        bucket: bucket.and_then(|node| node.text(TEXT)).map(Into::into),
    })
}

/// Notes where gates go by a name that no response is said to hold.
pub(super) fn check(table: &Table<'_>, by: GatesBy, names_buckets: bool) {
    if by == GatesBy::Bucket
        && !names_buckets
        && let Some(node) = table.entry("gates")
    {
        node.fail(
            "quotas go by buckets, and nothing says where their names stand",
            r#"bucket = "x-ratelimit-bucket""#,
        );
    }
}
