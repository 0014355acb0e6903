//! The file's own dialects, `[dialect.NAME]`.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use paceline_engine::response::dialect::Dialect;

use super::document::{Node, Table};
use super::read::{NAME, is_plain};
use crate::dialect::{self, Provider};
use crate::upstream::text::quote;
use crate::upstream::{HostPattern, TextError};

pub(super) type Dialects = BTreeMap<String, Arc<Provider>>;

const FORM: &str = "a table, such as [dialect.mine]";
const HOST: &str = r#"a host, such as "api.github.com""#;

/// So many may build on each other in a row: nobody follows further, and each takes its place on the stack.
const DEEPEST: usize = 16;

/// Each may build on any other, wherever it stands, and on those that are built in.
pub(super) fn dialects(root: &Table<'_>) -> Dialects {
    let node = root.entry("dialect");
    let table =
        node.and_then(|node| node.any_table("a table for each dialect, such as [dialect.mine]"));
    let entries = table.iter().flat_map(Table::entries);
    let tables: BTreeMap<_, _> = entries
        .filter_map(|(name, node)| Some((name, node.table(&dialect::read::KEYS, FORM)?)))
        .collect();
    let reading = Reading {
        tables: &tables,
        done: RefCell::default(),
        under_way: RefCell::default(),
    };
    for name in tables.keys() {
        // Whatever is wrong was noted where it stands.
        let _ = reading.named(name);
    }
    let dialects = reading.done.into_inner();
    if !root.is_in_wrong_file() {
        check_hosts(&tables);
    }
    dialects
}

/// Dialects that are read in the order in which they need each other.
struct Reading<'a> {
    tables: &'a BTreeMap<&'a str, Table<'a>>,
    done: RefCell<Dialects>,
    /// The one that is being read, and those that wait for it.
    under_way: RefCell<Vec<&'a str>>,
}

impl Reading<'_> {
    fn named(&self, wanted: &str) -> Result<Arc<Provider>, TextError> {
        if let Some(done) = self.done.borrow().get(wanted) {
            return Ok(Arc::clone(done));
        }
        let own = self.tables.get_key_value(wanted);
        let is_itself = self.under_way.borrow().last() == Some(&wanted);
        match own {
            // The one of its name that it takes the place of.
            Some(_) if is_itself => dialect::named(wanted).ok_or_else(|| {
                TextError::new(
                    "it builds on itself",
                    "other dialects, or none where it stands alone",
                )
            }),
            Some((name, table)) => {
                self.may_wait_for(name)?;
                self.under_way.borrow_mut().push(name);
                let provider = dialect::read::provider(name, table, &|other| self.named(other));
                self.under_way.borrow_mut().pop();
                Self::check(name, table, &provider);
                let provider = Arc::new(provider);
                let mut done = self.done.borrow_mut();
                done.insert((*name).to_owned(), Arc::clone(&provider));
                Ok(provider)
            }
            None => dialect::named(wanted)
                .ok_or_else(|| dialect::missing(wanted, self.tables.keys().copied())),
        }
    }

    /// Notes a name that nobody could write elsewhere, and a dialect that adds nothing to what all understand. One that takes
    /// the place of a built-in one may do so to have nothing added there.
    fn check(name: &str, table: &Table<'_>, own: &Provider) {
        if !is_plain(name) {
            table.fail(
                format!("{} cannot name a dialect", quote(name)),
                format!("{NAME}, such as [dialect.mine]"),
            );
        }
        let builds_on = |node: Node<'_>| !node.is_empty_array();
        let adds_nothing = own.dialect == Dialect::PLAIN
            && !table.entry("also").is_some_and(builds_on)
            && own.gates.is_none()
            && own.limits.is_empty()
            && own.routes.is_empty()
            && own.cold_start.is_none();
        if adds_nothing && dialect::named(name).is_none() && !table.is_in_wrong_file() {
            table.fail(
                "it says nothing that all upstreams do not say",
                "when, window, wait, cost, gates, limits, pause, or also (docs/dialects.md has them all)",
            );
        }
    }

    /// Whether those under way can wait for this one.
    fn may_wait_for(&self, wanted: &str) -> Result<(), TextError> {
        let under_way = self.under_way.borrow();
        if let Some(begin) = under_way.iter().position(|name| *name == wanted) {
            let circle = under_way[begin..].iter().chain([&wanted]);
            let circle: Vec<_> = circle.map(|name| quote(name)).collect();
            return Err(TextError::new(
                format!(
                    "they build on each other in a circle: {}",
                    circle.join(" on ")
                ),
                "one of them that builds on none of the others",
            ));
        }
        if under_way.len() >= DEEPEST {
            return Err(TextError::new(
                format!("more than {DEEPEST} dialects build on each other in a row"),
                "a dialect that names those it builds on itself",
            ));
        }
        Ok(())
    }
}

/// Notes hosts that another one has already: nobody could tell which of them is spoken there.
fn check_hosts(tables: &BTreeMap<&str, Table<'_>>) {
    let mut tables: Vec<_> = tables.iter().collect();
    tables.sort_by_key(|(_, table)| table.offset());
    let mut claims = BTreeMap::<HostPattern, &str>::new();
    for (name, table) in tables {
        let hosts = table.entry("hosts");
        for node in hosts.iter().flat_map(|node| node.elements(HOST)) {
            let Some(pattern) = node.read::<HostPattern>(HOST) else {
                continue;
            };
            let problem = match claims.get(&pattern) {
                Some(owner) if owner == name => format!("{pattern} is named twice"),
                Some(owner) => format!("{pattern} belongs to dialect {} already", quote(owner)),
                None => {
                    claims.insert(pattern, *name);
                    continue;
                }
            };
            node.fail(problem, "each host once, in one dialect");
        }
    }
}
