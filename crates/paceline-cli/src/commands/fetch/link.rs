//! The next page, as `Link` headers name it (RFC 8288).

use http::header::{self, HeaderMap};
use url::Url;

/// The target of the first link whose relation is `next`, resolved against the response's URL; `None` if there is none, or
/// one that cannot be fetched.
pub(super) fn next_page(headers: &HeaderMap, base: &Url) -> Option<Url> {
    headers
        .get_all(header::LINK)
        .iter()
        .find_map(|value| next_target(&String::from_utf8_lossy(value.as_bytes())))
        .and_then(|target| base.join(target.trim()).ok())
        .filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// `Link = #link-value; link-value = "<" URI-Reference ">" *( OWS ";" OWS [ link-param ] )` (section 3).
fn next_target(value: &str) -> Option<String> {
    let mut rest = value;
    loop {
        let open = rest.find('<')?;
        let close = open + rest[open..].find('>')?;
        let target = &rest[open + 1..close];
        let (params, after) = params(&rest[close + 1..]);
        rest = after;
        // "The rel parameter MUST NOT appear more than once in a given link-value; occurrences after the first MUST be
        // ignored by parsers" (section 3.3). A link with an anchor speaks of something else than this response (3.2).
        let first = |name: &str| {
            params
                .iter()
                .find(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        let is_next = |(_, relations): &(&str, String)| {
            relations
                .split_ascii_whitespace()
                .any(|relation| relation.eq_ignore_ascii_case("next"))
        };
        if first("rel").is_some_and(is_next) && first("anchor").is_none() {
            return Some(target.to_owned());
        }
    }
}

/// The parameters of one link, and what follows its comma.
fn params(text: &str) -> (Vec<(&str, String)>, &str) {
    let mut params = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        let end = rest.find(['=', ';', ',']).unwrap_or(rest.len());
        let name = rest[..end].trim_matches([' ', '\t']);
        match rest[end..].chars().next() {
            Some('=') => {
                let (value, after) = value(rest[end + 1..].trim_start_matches([' ', '\t']));
                params.push((name, value));
                rest = after;
            }
            Some(';') => {
                params.push((name, String::new()));
                rest = &rest[end..];
            }
            Some(_) => return (params, &rest[end + 1..]),
            None => return (params, ""),
        }
    }
}

/// `token / quoted-string` (RFC 9110 section 5.6.4), and what follows it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        return (
            text[..end].trim_end_matches([' ', '\t']).to_owned(),
            &text[end..],
        );
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            _ => value.push(char),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found() {
        let base: Url = "http://a.example/items?page=1".parse().unwrap();
        for (link, next) in [
            (
                r#"<http://b.example/2>; rel="next""#,
                Some("http://b.example/2"),
            ),
            ("<?page=2>;rel=next", Some("http://a.example/items?page=2")),
            (
                r#"</i?a=1,2;b>; title="a, b; rel=\"x\""; REL="prev Next""#,
                Some("http://a.example/i?a=1,2;b"),
            ),
            (
                r#"</1>; rel="prev", </3>; rel="next", </9>; rel=last"#,
                Some("http://a.example/3"),
            ),
            (r#"</1>; rel=prev; rel=next"#, None),
            (r#"</1>; rel=next; anchor="/other""#, None),
            (r#"</1>; rel="nextish", </2>; rev=next"#, None),
            ("<ftp://a.example/>; rel=next", None),
            ("<http://[>; rel=next", None),
            ("</1>, </2>; rel = next", Some("http://a.example/2")),
            ("<> ; rel=next", Some("http://a.example/items?page=1")),
            (r#"</1; rel=next"#, None),
            (r#"</1>; rel="next"#, Some("http://a.example/1")),
            (r#"</1>; ; = ;;, ,"#, None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(header::LINK, "</style.css>; rel=preload".parse().unwrap());
            headers.append(header::LINK, link.parse().unwrap());
            assert_eq!(
                next_page(&headers, &base).as_ref().map(Url::as_str),
                next,
                "{link}"
            );
        }
    }

    #[test]
    fn no_text_is_read_for_ever() {
        let mut rng = 1_u32;
        for _ in 0..20_000 {
            let text: String = (0..rng % 24)
                .map(|_| {
                    rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    ['<', '>', ';', ',', '=', '"', '\\', ' ', 'r', 'é'][(rng >> 24) as usize % 10]
                })
                .collect();
            rng = rng.wrapping_add(1).rotate_left(3);
            let _ = next_target(&text);
        }
    }
}
