//! The dialects that come with the library.

use std::sync::{Arc, LazyLock};

use super::{Provider, read};

/// File by file, in alphabetical order.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

/// Read once, when the first of them is asked for.
static KNOWN: LazyLock<Vec<Arc<Provider>>> = LazyLock::new(|| {
    let files = FILES.iter();
    files
        .filter_map(|(slug, text)| read::file(slug, text).ok())
        .map(Arc::new)
        .collect()
});

/// The text of the embedded file of this name.
pub(super) fn text(slug: &str) -> Option<&'static str> {
    let mut files = FILES.iter();
    files.find(|(own, _)| *own == slug).map(|(_, text)| *text)
}

/// All of them, by name.
pub fn all() -> &'static [Arc<Provider>] {
    &KNOWN
}

/// The names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(slug, _)| *slug)
}

/// The dialect of this name.
pub fn named(slug: &str) -> Option<Arc<Provider>> {
    all().iter().find(|own| *own.slug == *slug).cloned()
}

/// The dialect that this host is known to speak; of several the one whose pattern says most.
pub fn by_host(host: &str, port: u16) -> Option<Arc<Provider>> {
    let claims = all().iter().flat_map(|own| {
        let hosts = own.hosts.iter().filter(|own| own.matches(host, port));
        hosts.map(move |pattern| (pattern, own))
    });
    claims
        .max_by_key(|(pattern, _)| *pattern)
        .map(|(_, own)| Arc::clone(own))
}

/// What would be right instead of the name of a dialect that there is not.
pub fn expected_name(wrong: &str) -> String {
    let names: Vec<_> = names().collect();
    match crate::config::document::nearest(wrong, &names) {
        Some(near) => format!("{near}? (`paceline explain --dialects` lists them all)"),
        None => "a dialect that is built in (`paceline explain --dialects` lists them), or one \
                 of your own, [dialect.NAME]"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read() {
        for (slug, text) in FILES {
            if let Err(errors) = read::file(slug, text) {
                panic!("{errors}");
            }
        }
    }

    #[test]
    fn no_two_claim_a_host() {
        let mut hosts: Vec<_> = all().iter().flat_map(|own| &own.hosts).collect();
        hosts.sort();
        let twice: Vec<_> = hosts.windows(2).filter(|two| two[0] == two[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
