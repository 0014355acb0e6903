//! What a dialect says that only the whole of its rules can bear out.

use core::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, StatusCode};
use paceline_engine::response::dialect::{Dialect, When};
use paceline_engine::{Verdict, WallTime, response};

use super::values::STATUSES;
use crate::config::document::Table;

/// Notes units of buckets that no response is said to name.
pub(super) fn check_units(table: &Table<'_>, dialect: &Dialect) {
    if let Some(node) = table.entry("units").filter(|_| dialect.bucket.is_none()) {
        node.fail(
            "they go by buckets, and nothing says where their names stand",
            r#"bucket = "x-ratelimit-resource""#,
        );
    }
}

/// Notes statuses that are said to refuse, and of which nothing makes a refusal: `statuses` tells people, rules decide.
pub(super) fn check_statuses(table: &Table<'_>, dialect: &Dialect) {
    let node = table.entry("statuses");
    for node in node.iter().flat_map(|node| node.elements(STATUSES)) {
        // What is no status was told when it was read.
        let known = node.as_json().parse().ok();
        let Some(status) = known.and_then(|status| StatusCode::from_u16(status).ok()) else {
            continue;
        };
        let mut rules = dialect.when.iter();
        let refuses = |rule: &When| rule.then.class.is_some_and(Verdict::is_refusal);
        let fits =
            |rule: &When| rule.statuses.is_empty() || rule.statuses.contains(&status.as_u16());
        if !may_refuse(status) && !rules.any(|rule| refuses(rule) && fits(rule)) {
            let status = status.as_u16();
            node.fail(
                format!("no rule makes a refusal of {status}, and by itself it is none"),
                format!(r#"[[when]] with status = [{status}] and class = "rate_limited", or another status"#),
            );
        }
    }
}

/// Whether a response with this status may be a refusal without any dialect.
fn may_refuse(status: StatusCode) -> bool {
    let hint = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("1"))]);
    let seen = response::read(status, &hint, WallTime(Duration::ZERO));
    seen.verdict.is_refusal()
}
