//! Text that has to fit.

use ratatui::text::Span;

/// At most so many columns of it; where something is missing it ends with `…`.
pub(super) fn cut(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if columns(text) <= width {
        return text.into();
    }
    let mut kept = String::new();
    for char in text.chars() {
        kept.push(char);
        if columns(&kept) + 1 > width {
            kept.pop();
            break;
        }
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// The same of an upstream, whose scheme says least.
pub(super) fn cut_origin(text: &str, width: u16) -> String {
    if columns(text) <= usize::from(width) {
        return text.into();
    }
    let host = text.split_once("://").map_or(text, |(_, host)| host);
    cut(host, width)
}

/// How many columns it takes.
pub(super) fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_and_says_that_something_is_missing() {
        assert_eq!(cut("origin", 6), "origin");
        assert_eq!(cut("origin", 5), "orig…");
        assert_eq!(cut("origin", 1), "…");
        assert_eq!(cut("origin", 0), "");
        assert_eq!(cut("検索検索", 5), "検索…");
        for width in 0..20 {
            let text = cut("検索 of e\u{301}tat", width);
            assert!(columns(&text) <= usize::from(width), "{text}");
        }
    }

    #[test]
    fn a_scheme_goes_before_a_host() {
        let origin = "https://api.example.com";
        assert_eq!(cut_origin(origin, 23), origin);
        assert_eq!(cut_origin(origin, 15), "api.example.com");
        assert_eq!(cut_origin(origin, 10), "api.examp…");
        assert_eq!(cut_origin("github", 3), "gi…");
    }
}
