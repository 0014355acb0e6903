//! The dialects that come with the library.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{Provider, read};
use crate::upstream::TextError;
use crate::upstream::text::quote;

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

/// An embedded dialect that another one builds on: read from its file, since the others are being read.
pub(super) fn base(slug: &str) -> Option<Provider> {
    let mut files = FILES.iter();
    let (slug, text) = files.find(|(own, _)| *own == slug)?;
    read::file(slug, text).ok()
}

/// All of them, by name.
pub fn all() -> &'static [Arc<Provider>] {
    &KNOWN
}

/// The dialect of this name.
pub fn named(slug: &str) -> Option<Arc<Provider>> {
    all().iter().find(|own| *own.slug == *slug).cloned()
}

/// A built-in dialect in the form that a configuration has, `[dialect.NAME]`: a template for one's own.
pub fn template(slug: &str) -> Option<String> {
    let mut files = FILES.iter();
    let (_, text) = files.find(|(own, _)| *own == slug)?;
    let mut template = format!("[dialect.{slug}]\n");
    for line in text.lines() {
        // Arrays in it begin after a blank or a key.
        let header = line.trim_start_matches('[');
        let brackets = &line[..line.len() - header.len()];
        let is_header = !brackets.is_empty() && header.starts_with(|c: char| c.is_alphabetic());
        let place = if is_header {
            format!("dialect.{slug}.")
        } else {
            String::new()
        };
        template += &format!("{brackets}{place}{header}\n");
    }
    Some(template)
}

/// The dialect that this host is known to speak; of several the one whose pattern says most.
pub fn by_host(host: &str, port: u16) -> Option<Arc<Provider>> {
    by_host_among(all(), host, port)
}

/// The same, `own` before those that come with the library; one of its own takes the place of the one of that name.
pub(crate) fn spoken_at(
    host: &str,
    port: u16,
    own: &BTreeMap<String, Arc<Provider>>,
) -> Option<Arc<Provider>> {
    by_host_among(own.values(), host, port).or_else(|| {
        let known = by_host(host, port)?;
        Some(own.get(&*known.slug).cloned().unwrap_or(known))
    })
}

fn by_host_among<'a>(
    dialects: impl IntoIterator<Item = &'a Arc<Provider>>,
    host: &str,
    port: u16,
) -> Option<Arc<Provider>> {
    let claims = dialects.into_iter().flat_map(|own| {
        let hosts = own.hosts.iter().filter(|own| own.matches(host, port));
        hosts.map(move |pattern| (pattern, own))
    });
    claims
        .max_by_key(|(pattern, _)| *pattern)
        .map(|(_, own)| Arc::clone(own))
}

/// The dialect of this name, of `own` before those that come with the library.
pub(crate) fn find(
    slug: &str,
    own: &BTreeMap<String, Arc<Provider>>,
) -> Result<Arc<Provider>, TextError> {
    let found = own.get(slug).cloned().or_else(|| named(slug));
    found.ok_or_else(|| missing(slug, own.keys().map(String::as_str)))
}

/// What is wrong with the name of a dialect that there is not, and what would be right; `own` are names beside the built-in
/// ones.
pub(crate) fn missing<'a>(wrong: &str, own: impl Iterator<Item = &'a str>) -> TextError {
    let names: Vec<_> = FILES.iter().map(|(slug, _)| *slug).chain(own).collect();
    let expected = match crate::config::document::nearest(wrong, &names) {
        Some(near) => format!("{near}? (`paceline explain --dialects` lists them all)"),
        None => "a dialect that is built in (`paceline explain --dialects` lists them), or one \
                 of your own, [dialect.NAME]"
            .into(),
    };
    TextError::new(format!("there is no dialect {}", quote(wrong)), expected)
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
    fn every_template_is_read_as_its_file_is() {
        for own in all() {
            let text = template(&own.slug).expect("it is built in");
            let config = crate::config::Config::parse(&text, "own.toml");
            let config = config.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
            assert_eq!(config.dialects[&*own.slug], *own);
        }
        assert_eq!(template("nobody"), None);
    }

    #[test]
    fn no_two_claim_a_host() {
        let mut hosts: Vec<_> = all().iter().flat_map(|own| &own.hosts).collect();
        hosts.sort();
        let twice: Vec<_> = hosts.windows(2).filter(|two| two[0] == two[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
