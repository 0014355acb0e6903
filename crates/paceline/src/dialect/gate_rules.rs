//! What a dialect's file says of gates: `[gates]`.

use paceline_engine::GatesBy;

use super::gates::{Gates, KnownRoute};
use super::values::{TABLE, TEXT, TEXTS, one_of, tables, texts};
use crate::config::document::Table;

pub(super) const KEYS: [&str; 3] = ["by", "resources", "route"];
pub(super) const ROUTE_KEYS: [&str; 2] = ["match", "bucket"];
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
        resources: resources(&table),
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

fn resources(table: &Table<'_>) -> Vec<Box<str>> {
    let node = table.entry("resources");
    for node in node.iter().flat_map(|node| node.elements(TEXTS)) {
        if node.is_text()
            && node
                .text(TEXT)
                .is_some_and(|own| own.is_empty() || own.contains('/'))
        {
            node.fail(
                "it is not one segment of a path",
                r#"a segment, such as "channels" for /channels/123/messages"#,
            );
        }
    }
    texts(table, "resources")
}

fn known_route(table: &Table<'_>, by: GatesBy) -> Option<KnownRoute> {
    let bucket = table.entry("bucket");
    if by == GatesBy::Resource {
        table.fail(
            "quotas go by objects alone here, whatever the route",
            r#"by = "endpoint" or "bucket", or no routes"#,
        );
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::read;

    #[test]
    fn what_quotas_go_by_is_read() {
        let text = r#"
            bucket = "x-ratelimit-bucket"
            [gates]
            by = "bucket"
            resources = ["channels"]
            [[gates.route]]
            match = "* /search/**"
            bucket = "search"
            [[gates.route]]
            match = "* /files/**"
        "#;
        let gates = read::file("mine", text).unwrap().gates.unwrap();
        assert_eq!((gates.by, gates.routes.len()), (GatesBy::Bucket, 2));
        assert_eq!(gates.resources, ["channels".into()]);
        assert_eq!(gates.routes[0].bucket.as_deref(), Some("search"));
        assert_eq!(gates.routes[1].bucket, None);
        assert_eq!(read::file("mine", "").unwrap().gates, None);
        // Those of the dialect that it builds on.
        let text = r#"also = ["slack"]"#;
        let gates = read::file("mine", text).unwrap().gates.unwrap();
        assert_eq!(gates.by, GatesBy::Endpoint);
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_would_be_right() {
        for (text, wrong) in [
            (
                "[gates]",
                r#"mine.toml:1:1: gates: it does not say what quotas go by; expected by = "endpoint", "bucket" or "resource""#,
            ),
            (
                "[gates]\nby = 'host'",
                r#"mine.toml:2:6: gates.by: "host" is not one of them; expected one of: endpoint, bucket, resource"#,
            ),
            (
                "[gates]\nby = 'bucket'",
                r#"gates: quotas go by buckets, and nothing says where their names stand; expected bucket = "x-ratelimit-bucket""#,
            ),
            (
                "[gates]\nby = 'resource'",
                "gates: it does not say where objects stand in paths; expected resources = [\"channels\"], whose",
            ),
            (
                "[gates]\nby = 'endpoint'\nroute = [{ match = 'GET /a', bucket = 'a' }]",
                r#"mine.toml:3:39: gates.route[0].bucket: quotas do not go by buckets here; expected by = "bucket""#,
            ),
        ] {
            let errors = read::file("mine", text).unwrap_err().to_string();
            assert!(errors.contains(wrong), "{text}: {errors}");
        }
    }
}
