//! The file's own dialects, `[dialect.NAME]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document::Table;
use crate::dialect::{self, Provider};
use crate::upstream::HostPattern;
use crate::upstream::text::quote;

pub(super) type Dialects = BTreeMap<String, Arc<Provider>>;

const FORM: &str = "a table, such as [dialect.mine]";
const HOST: &str = r#"a host, such as "api.github.com""#;

/// Each may build on those before it and on those that are built in.
pub(super) fn dialects(root: &Table<'_>) -> Dialects {
    let table = root.entry("dialect");
    let table =
        table.and_then(|node| node.any_table("a table for each dialect, such as [dialect.mine]"));
    let mut dialects = Dialects::new();
    let mut claims = BTreeMap::new();
    for (name, node) in table.iter().flat_map(Table::entries) {
        let Some(table) = node.table(&dialect::read::KEYS, FORM) else {
            continue;
        };
        let known = |name: &str| dialect::find(name, &dialects);
        let provider = dialect::read::provider(name, &table, &known);
        claim(name, &table, &mut claims);
        dialects.insert(name.to_owned(), Arc::new(provider));
    }
    dialects
}

/// Notes hosts that another one has already: nobody could tell which of them is spoken there.
fn claim<'a>(name: &'a str, table: &Table<'_>, claims: &mut BTreeMap<HostPattern, &'a str>) {
    // What is wrong with the hosts themselves would be told twice.
    if table.is_in_wrong_file() {
        return;
    }
    let hosts = table.entry("hosts");
    for node in hosts.iter().flat_map(|node| node.elements(HOST)) {
        let Some(pattern) = node.read::<HostPattern>(HOST) else {
            continue;
        };
        let problem = match claims.get(&pattern) {
            Some(owner) if *owner == name => format!("{pattern} is named twice"),
            Some(owner) => format!("{pattern} belongs to dialect {} already", quote(owner)),
            None => {
                claims.insert(pattern, name);
                continue;
            }
        };
        node.fail(problem, "each host once, in one dialect");
    }
}
