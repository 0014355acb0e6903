//! Which requests a route speaks of: a method and a pattern of the path.

use core::fmt;
use core::str::FromStr;

use http::Method;

use super::text::{TextError, quote};

/// What errors and help texts say that a route looks like.
const FORM: &str =
    "METHOD or *, then a path, such as GET /search/** (* is one segment, ** the rest)";

/// A method (or any) and a pattern of the path.
///
/// The path is compared as it is sent, byte by byte: nothing is decoded, lower-cased, or joined,
/// because servers differ in what they take for the same. So `/a%2Fb` is not `/a/b`, `/users` is
/// not `/users/`, and `/Users` is not `/users`.
///
/// - `*` is exactly one segment, and not an empty one.
/// - `**` is the rest, of any number of segments: `/search/**` is `/search`, `/search/` and
///   `/search/a/b`. It comes last.
/// - `/**` is every path, also the `*` of `OPTIONS *`.
///
/// ```
/// use http::Method;
/// use paceline::upstream::RouteMatch;
///
/// let search: RouteMatch = "GET /search/**".parse()?;
/// assert!(search.matches(&Method::GET, "/search/code"));
/// assert!(!search.matches(&Method::POST, "/search/code"));
/// assert!(!search.matches(&Method::GET, "/searches"));
/// # Ok::<(), paceline::upstream::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteMatch {
    method: Option<Method>,
    segments: Vec<Segment>,
    /// Whether `**` follows the segments.
    rest: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Exactly(Box<str>),
    Any,
}

impl RouteMatch {
    /// Whether a request is meant; `path` is what is sent, without the query.
    pub fn matches(&self, method: &Method, path: &str) -> bool {
        self.method.as_ref().is_none_or(|own| own == method) && self.matches_path(path)
    }

    fn matches_path(&self, path: &str) -> bool {
        if self.rest && self.segments.is_empty() {
            return true;
        }
        let Some(path) = path.strip_prefix('/') else {
            return false;
        };
        let mut sent = path.split('/');
        let all_match = self.segments.iter().all(|own| match (own, sent.next()) {
            (Segment::Exactly(own), Some(sent)) => **own == *sent,
            (Segment::Any, Some(sent)) => !sent.is_empty(),
            (_, None) => false,
        });
        all_match && (self.rest || sent.next().is_none())
    }
}

impl FromStr for RouteMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = |what: &str, expected: &str| {
            TextError::new(format!("{} is not a route: {what}", quote(text)), expected)
        };
        let mut words = text.split_whitespace();
        let (Some(method), path, None) = (words.next(), words.next(), words.next()) else {
            let what = match text.trim().is_empty() {
                true => "it is empty",
                false => "it has more than two words",
            };
            return Err(wrong(what, FORM));
        };
        let Some(path) = path else {
            let what = match method.starts_with('/') {
                true => "there is no method before the path",
                false => "there is no path after the method",
            };
            return Err(wrong(what, FORM));
        };
        let method = read_method(method).ok_or_else(|| {
            wrong(
                &format!("{} is not a method", quote(method)),
                "a method in capital letters, such as GET, or * for all of them",
            )
        })?;
        let (segments, rest) = read_path(path).map_err(|(what, expected)| wrong(what, expected))?;
        Ok(Self {
            method,
            segments,
            rest,
        })
    }
}

/// Methods are case-sensitive (RFC 9110, section 9.1), so `get` is legal, and never what is meant.
fn read_method(text: &str) -> Option<Option<Method>> {
    if text == "*" {
        return Some(None);
    }
    let method = Method::from_bytes(text.as_bytes()).ok()?;
    let plain = !text.bytes().any(|b| b.is_ascii_lowercase()) && !text.contains('*');
    plain.then_some(Some(method))
}

type PathFault = (&'static str, &'static str);

fn read_path(text: &str) -> Result<(Vec<Segment>, bool), PathFault> {
    let path = text
        .strip_prefix('/')
        .ok_or(("the path does not begin with /", FORM))?;
    if path.contains(['?', '#']) {
        return Err((
            "a route looks at the path alone",
            "the path without ? or #, such as GET /search/**",
        ));
    }
    if !path.bytes().all(|b| b.is_ascii_graphic()) {
        return Err((
            "a path is sent in ASCII",
            "other characters percent-encoded as they are sent, such as /caf%C3%A9",
        ));
    }
    let mut segments: Vec<&str> = path.split('/').collect();
    let rest = segments.pop_if(|last| *last == "**").is_some();
    let segments = segments.into_iter().map(|segment| match segment {
        "*" => Ok(Segment::Any),
        "**" => Err(("** is not at the end", "* for one segment before the end")),
        _ if segment.contains('*') => Err((
            "a * stands beside other characters",
            "* as a whole segment, such as /users/*/repos",
        )),
        _ => Ok(Segment::Exactly(segment.into())),
    });
    Ok((segments.collect::<Result<_, _>>()?, rest))
}

impl fmt::Display for RouteMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.method.as_ref().map_or("*", Method::as_str))?;
        for segment in &self.segments {
            match segment {
                Segment::Exactly(text) => write!(f, "/{text}")?,
                Segment::Any => f.write_str("/*")?,
            }
        }
        f.write_str(if self.rest { "/**" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn route(text: &str) -> RouteMatch {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn patterns_match_what_is_sent() {
        for (pattern, yes, no) in [
            (
                "* /search/**",
                &["/search", "/search/", "/search/code", "/search/a//b"][..],
                &["/searches", "/", "", "/x/search", "/Search", "search/a"][..],
            ),
            (
                "* /users/*/repos",
                &["/users/me/repos", "/users/%2F/repos", "/users/*/repos"],
                &[
                    "/users//repos",
                    "/users/a/b/repos",
                    "/users/me/repos/",
                    "/users/me",
                ],
            ),
            ("* /", &["/"], &["", "//", "/a"]),
            ("* /**", &["/", "", "*", "/a/b", "//"], &[]),
            ("* /*", &["/a"], &["/", "/a/"]),
            ("* /a/", &["/a/"], &["/a", "/a//"]),
            ("* /a//b", &["/a//b"], &["/a/b"]),
            ("* /a%2Fb", &["/a%2Fb"], &["/a/b", "/a%2fb"]),
            ("* /*/**", &["/a", "/a/b"], &["/", "//a"]),
        ] {
            let route = route(pattern);
            assert_eq!(route.to_string(), pattern);
            for path in yes {
                assert!(route.matches(&Method::GET, path), "{pattern} {path:?}");
            }
            for path in no {
                assert!(!route.matches(&Method::GET, path), "{pattern} {path:?}");
            }
        }
    }

    #[test]
    fn the_method_is_the_one_named_or_any() {
        assert!(route("GET /a").matches(&Method::GET, "/a"));
        assert!(!route("GET /a").matches(&Method::HEAD, "/a"));
        assert!(route("* /a").matches(&Method::PATCH, "/a"));
        let purge = Method::from_bytes(b"PURGE").expect("a token");
        assert!(route("  PURGE   /a ").matches(&purge, "/a"));
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_would_be_right() {
        const METHOD: &str = "a method in capital letters, such as GET, or * for all of them";
        for (text, wrong, expected) in [
            ("", "it is empty", FORM),
            ("GET /a /b", "it has more than two words", FORM),
            ("/search", "there is no method before the path", FORM),
            ("GET", "there is no path after the method", FORM),
            ("get /a", "\"get\" is not a method", METHOD),
            ("GE* /a", "\"GE*\" is not a method", METHOD),
            ("G(T /a", "\"G(T\" is not a method", METHOD),
            ("GET a", "the path does not begin with /", FORM),
            ("GET **", "the path does not begin with /", FORM),
            (
                "GET /a?b=c",
                "a route looks at the path alone",
                "the path without ? or #, such as GET /search/**",
            ),
            (
                "GET /café",
                "a path is sent in ASCII",
                "other characters percent-encoded as they are sent, such as /caf%C3%A9",
            ),
            (
                "GET /**/a",
                "** is not at the end",
                "* for one segment before the end",
            ),
            (
                "GET /a*",
                "a * stands beside other characters",
                "* as a whole segment, such as /users/*/repos",
            ),
        ] {
            let error = text.parse::<RouteMatch>().expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("{text:?} is not a route: {wrong}; expected {expected}")
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_the_same(text in "(GET|\\*) (/[a-z*%]{0,2}){0,4}(/\\*\\*)?") {
            if let Ok(route) = text.parse::<RouteMatch>() {
                prop_assert_eq!(route.to_string(), text.clone());
                prop_assert_eq!(text.parse::<RouteMatch>(), Ok(route));
            }
        }

        #[test]
        fn any_text_and_any_path_are_fine(text in "\\PC{0,20}", path in "\\PC{0,20}") {
            let _ = text.parse::<RouteMatch>();
            let _ = route("GET /*/a/**").matches(&Method::GET, &path);
        }
    }
}
