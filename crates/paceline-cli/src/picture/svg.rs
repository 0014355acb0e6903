//! An SVG document while it is written. How things look is said by classes, in one style sheet.

use core::fmt::{self, Write as _};

/// A document while it is written.
pub(crate) struct Svg {
    body: String,
    width: f64,
}

/// Which end of a text its place is.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// `width` in pixels; the height is known in the end.
    pub(crate) const fn new(width: f64) -> Self {
        Self {
            body: String::new(),
            width,
        }
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: Anchor, words: &str) {
        let (x, y, words) = (number(x), number(y), Escaped(words));
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.write(format_args!(
            r#"<text x="{x}" y="{y}" class="{class}" text-anchor="{anchor}">{words}</text>"#
        ));
    }

    /// Along an axis that goes up, its middle at a place.
    pub(crate) fn text_upwards(&mut self, (x, y): (f64, f64), class: &str, words: &str) {
        let (x, y, words) = (number(x), number(y), Escaped(words));
        self.write(format_args!(
            "<text transform=\"translate({x} {y}) rotate(-90)\" class=\"{class}\" \
             text-anchor=\"middle\">{words}</text>"
        ));
    }

    pub(crate) fn rectangle(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        class: &str,
    ) {
        let (x, y) = (number(x), number(y));
        let (width, height) = (number(width), number(height));
        self.write(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{class}"/>"#
        ));
    }

    pub(crate) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(number);
        self.write(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{class}"/>"#
        ));
    }

    /// `data` is an SVG path; an empty one is left out.
    pub(crate) fn path(&mut self, data: &str, class: &str) {
        if !data.is_empty() {
            self.write(format_args!(r#"<path d="{data}" class="{class}"/>"#));
        }
    }

    /// The whole document. `title` is what is read aloud.
    pub(crate) fn finish(self, height: f64, title: &str, style: &str) -> String {
        let (width, height, title) = (number(self.width), number(height), Escaped(title));
        let body = self.body;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n\
             <style>\n{style}</style>\n{body}</svg>\n"
        )
    }

    fn write(&mut self, element: fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a text can be written to");
    }
}

/// With at most one decimal: a tenth of a pixel is not seen.
pub(crate) fn number(value: f64) -> f64 {
    // Adding zero makes minus zero zero.
    (value * 10.0).round() / 10.0 + 0.0
}

/// What a text may not have in XML 1.0 is replaced.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_element() {
        let mut svg = Svg::new(10.0);
        svg.text((1.0, -0.01), "a", Anchor::End, "</text>&\u{0}\u{1b}\"é");
        let document = svg.finish(5.25, "<b>", "");
        assert!(document.contains(
            r#"<text x="1" y="0" class="a" text-anchor="end">&lt;/text&gt;&amp;��"é</text>"#
        ));
        assert!(document.contains("<title>&lt;b&gt;</title>"));
        assert!(document.contains(r#"viewBox="0 0 10 5.3""#));
    }
}
