//! Which hosts belong to an upstream.

use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;

use super::text::{TextError, quote};

/// What errors and help texts say that a host looks like.
const FORM: &str = "a host name or address with an optional port, such as api.github.com, \
     *.example.com or 127.0.0.1:8080";

/// A host, or all hosts below a domain, with an optional port.
///
/// - `api.github.com` is that host, whatever the port; `127.0.0.1:8080` and `[::1]:8080` are that
///   port alone.
/// - `*.example.com` is every host below `example.com`, however deep, and not `example.com` itself.
///
/// Names are compared without regard to case and to a dot at their end. The order is by how much a
/// pattern says: the greatest of those that match is the most specific (a port, then an exact host,
/// then the longer name).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    port: Option<u16>,
    exact: bool,
    // The name's length stands before the name, because the derived order compares fields in turn.
    length: usize,
    /// In lower case, without brackets; what follows `*.` if it is not exact.
    name: Box<str>,
}

impl HostPattern {
    fn new(name: &str, exact: bool, port: Option<u16>) -> Self {
        Self {
            port,
            exact,
            length: name.len(),
            name: name.into(),
        }
    }

    /// Whether a host is meant; `port` is the one used, so 443 where an `https` URL names none.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        self.port.is_none_or(|own| own == port) && self.matches_name(plain(host))
    }

    fn matches_name(&self, host: &str) -> bool {
        if self.exact {
            return host.eq_ignore_ascii_case(&self.name);
        }
        let below = host.len().checked_sub(self.name.len() + 1);
        below.is_some_and(|dot| {
            dot > 0
                && host.as_bytes()[dot] == b'.'
                && host.as_bytes()[dot + 1..].eq_ignore_ascii_case(self.name.as_bytes())
        })
    }
}

/// A host as URLs have it, without the brackets of an IPv6 address and the dot that roots a name.
fn plain(host: &str) -> &str {
    match host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(address) => address,
        None => host.strip_suffix('.').unwrap_or(host),
    }
}

impl FromStr for HostPattern {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        read(text).map_err(|wrong| {
            TextError::new(format!("{} is not a host: {wrong}", quote(text)), FORM)
        })
    }
}

fn read(text: &str) -> Result<HostPattern, String> {
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.contains('/') {
        return Err("it is a URL or has a path".into());
    }
    if let Some(address) = text.strip_prefix('[') {
        let (address, after) = address.split_once(']').ok_or("the ] is missing")?;
        let address: Ipv6Addr = address
            .parse()
            .map_err(|_| format!("{} is not an IPv6 address", quote(address)))?;
        let port = match after.strip_prefix(':') {
            Some(port) => Some(read_port(port)?),
            None if after.is_empty() => None,
            None => return Err("something follows the ]".into()),
        };
        return Ok(HostPattern::new(&address.to_string(), true, port));
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(format!("an IPv6 address needs brackets: [{text}]"));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(read_port(port)?)),
        None => (text, None),
    };
    let host = plain(host).to_ascii_lowercase();
    let (name, exact) = match host.strip_prefix("*.") {
        Some(domain) => (domain, false),
        None => (&*host, true),
    };
    check_name(name)?;
    Ok(HostPattern::new(name, exact, port))
}

fn read_port(text: &str) -> Result<u16, String> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port > 0 => Ok(port),
        _ => Err(format!("{} is not a port (1 to 65535)", quote(text))),
    }
}

/// Lengths as in RFC 1035, section 2.3.4; the underscore is not legal there, and in use.
fn check_name(name: &str) -> Result<(), String> {
    if !name.is_ascii() {
        return Err(
            "it is not ASCII (an international name is written as it is sent: xn--…)".into(),
        );
    }
    if name.contains('*') {
        return Err("* stands only for what comes first, as in *.example.com".into());
    }
    if name.len() > 253 {
        return Err("it is longer than 253 characters".into());
    }
    for label in name.split('.') {
        if label.is_empty() {
            return Err("a part between dots is empty".into());
        }
        if label.len() > 63 {
            return Err("a part between dots is longer than 63 characters".into());
        }
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if let Some(odd) = label.chars().find(|c| !legal(*c)) {
            return Err(format!("{odd:?} cannot be in a name"));
        }
    }
    Ok(())
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.exact { "" } else { "*." };
        match self.name.contains(':') {
            true => write!(f, "[{}]", self.name)?,
            false => write!(f, "{star}{}", self.name)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(text: &str) -> HostPattern {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn patterns_match_hosts_and_ports() {
        for (pattern, canonical, yes, no) in [
            (
                "API.github.com",
                "api.github.com",
                &[("api.github.com", 443), ("Api.GitHub.com.", 8443)][..],
                &[("github.com", 443), ("xapi.github.com", 443)][..],
            ),
            ("a.example.", "a.example", &[("a.example", 80)], &[]),
            (
                "*.example.com",
                "*.example.com",
                &[("a.example.com", 443), ("a.b.EXAMPLE.com", 443)],
                &[
                    ("example.com", 443),
                    (".example.com", 443),
                    ("aexample.com", 443),
                    ("é", 1),
                ],
            ),
            (
                "127.0.0.1:8080",
                "127.0.0.1:8080",
                &[("127.0.0.1", 8080)],
                &[("127.0.0.1", 80)],
            ),
            (
                "[0:0::1]:80",
                "[::1]:80",
                &[("[::1]", 80), ("::1", 80)],
                &[("[::1]", 81), ("[::2]", 80)],
            ),
        ] {
            let own = host(pattern);
            assert_eq!(own.to_string(), canonical);
            assert_eq!(host(canonical), own);
            for (name, port) in yes {
                assert!(own.matches(name, *port), "{pattern} {name} {port}");
            }
            for (name, port) in no {
                assert!(!own.matches(name, *port), "{pattern} {name} {port}");
            }
        }
    }

    #[test]
    fn the_more_specific_pattern_is_the_greater() {
        let order = [
            "*.com",
            "*.example.com",
            "example.com",
            "*.example.com:80",
            "example.com:80",
        ];
        assert!(order.map(host).is_sorted());
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_would_be_right() {
        let long = format!("{}.com", "a".repeat(64));
        for (text, wrong) in [
            ("", "it is empty"),
            ("https://api.github.com", "it is a URL or has a path"),
            ("api.github.com/v3", "it is a URL or has a path"),
            ("a:0", "\"0\" is not a port (1 to 65535)"),
            ("a:65536", "\"65536\" is not a port (1 to 65535)"),
            ("a:+80", "\"+80\" is not a port (1 to 65535)"),
            ("a:", "\"\" is not a port (1 to 65535)"),
            ("::1", "an IPv6 address needs brackets: [::1]"),
            ("[::1", "the ] is missing"),
            ("[x]", "\"x\" is not an IPv6 address"),
            ("[::1]80", "something follows the ]"),
            (
                "*",
                "* stands only for what comes first, as in *.example.com",
            ),
            (
                "a.*.com",
                "* stands only for what comes first, as in *.example.com",
            ),
            ("a..b", "a part between dots is empty"),
            (
                "*.",
                "* stands only for what comes first, as in *.example.com",
            ),
            ("*..", "a part between dots is empty"),
            ("user@host", "'@' cannot be in a name"),
            ("a b", "' ' cannot be in a name"),
            (
                "bücher.example",
                "it is not ASCII (an international name is written as it is sent: xn--…)",
            ),
            (&long, "a part between dots is longer than 63 characters"),
        ] {
            let error = text.parse::<HostPattern>().expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("{} is not a host: {wrong}; expected {FORM}", quote(text))
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_host_or_an_error(
            text in "\\PC{0,20}|[*.:\\[\\]a-z0-9]{0,12}",
            sent in "\\PC{0,20}",
        ) {
            if let Ok(own) = text.parse::<HostPattern>() {
                prop_assert_eq!(own.to_string().parse::<HostPattern>(), Ok(own.clone()));
                own.matches(&sent, 80);
            }
        }
    }
}
