//! Lines of input, one after the other: only as many are read as are worked on.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::request::{Request, Template};
use crate::args::FetchArgs;
use crate::output::Stop;

/// A line, or an argument.
#[derive(Debug)]
pub(super) struct Line {
    /// From 1; blank lines and comments count.
    pub(super) number: u64,
    /// What to send, or what is wrong with the line.
    pub(super) request: Result<Request, String>,
}

/// Where lines come from.
pub(super) enum Source {
    Arguments(Vec<String>),
    Reader(Box<dyn BufRead + Send>),
}

/// The longest line, so that a wrong file does not fill the memory. A line holds a request's body, if it has one.
const LONGEST_LINE: usize = 4 << 20;

/// Lines read before they are needed.
const AHEAD: usize = 16;

/// Opens the input.
///
/// # Errors
///
/// There is none, or it cannot be read.
pub(super) fn open(args: &FetchArgs) -> Result<Source, Stop> {
    let Some(path) = &args.input else {
        if args.urls.is_empty() {
            return Err(Stop::usage(
                "there is nothing to fetch; expected URLs, or --input FILE (- is standard input)",
            ));
        }
        return Ok(Source::Arguments(args.urls.clone()));
    };
    if path.as_os_str() == "-" {
        return Ok(Source::Reader(Box::new(BufReader::new(io::stdin()))));
    }
    let cannot = |error: io::Error| {
        Stop::usage(format!(
            "--input: {} cannot be read: {error}",
            path.display()
        ))
    };
    let file = File::open(path).map_err(cannot)?;
    if file.metadata().map_err(cannot)?.is_dir() {
        return Err(cannot(io::ErrorKind::IsADirectory.into()));
    }
    Ok(Source::Reader(Box::new(BufReader::new(file))))
}

/// The requests of a regular file: lines that are neither blank nor comments.
pub(super) fn count(path: &Path) -> Option<u64> {
    let file = File::open(path)
        .ok()
        .filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
    let mut lines = Lines::new(BufReader::new(file));
    let mut count = 0;
    while let Ok(Some((_, text))) = lines.next() {
        count += u64::from(text.map_or(true, |text| is_request(&text)));
    }
    Some(count)
}

impl Source {
    /// Reads on a thread of its own, because a terminal or a pipe may keep it waiting for ever.
    pub(super) fn read(self, template: Template) -> mpsc::Receiver<Line> {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let template = Arc::new(template);
        std::thread::spawn(move || match self {
            Self::Arguments(urls) => {
                for (number, url) in (1..).zip(urls) {
                    let request = template.request(url.trim());
                    if sender.blocking_send(Line { number, request }).is_err() {
                        break;
                    }
                }
            }
            Self::Reader(reader) => {
                let mut lines = Lines::new(reader);
                while let Some(line) = next_request(&mut lines, &template) {
                    if sender.blocking_send(line).is_err() {
                        break;
                    }
                }
            }
        });
        receiver
    }
}

fn next_request<R: BufRead>(lines: &mut Lines<R>, template: &Template) -> Option<Line> {
    loop {
        match lines.next() {
            Ok(Some((_, Ok(text)))) if !is_request(&text) => {}
            Ok(Some((number, text))) => {
                let request = text.and_then(|text| template.request(text.trim()));
                return Some(Line { number, request });
            }
            Ok(None) => return None,
            Err(error) => {
                lines.over = true;
                let number = lines.number + 1;
                let error = format!("the input cannot be read from here on: {error}");
                return Some(Line {
                    number,
                    request: Err(error),
                });
            }
        }
    }
}

fn is_request(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !text.starts_with('#')
}

/// Numbered lines of bounded length.
struct Lines<R> {
    reader: R,
    number: u64,
    over: bool,
}

type Numbered = (u64, Result<String, String>);

impl<R: BufRead> Lines<R> {
    const fn new(reader: R) -> Self {
        Self {
            reader,
            number: 0,
            over: false,
        }
    }

    /// The next line without its end.
    fn next(&mut self) -> io::Result<Option<Numbered>> {
        if self.over {
            return Ok(None);
        }
        let mut line = Vec::new();
        let mut length = 0_usize;
        loop {
            let some = match self.reader.fill_buf() {
                Ok(some) => some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = some.iter().position(|byte| *byte == b'\n');
            let part = &some[..end.unwrap_or(some.len())];
            length = length.saturating_add(part.len());
            if length <= LONGEST_LINE {
                line.extend_from_slice(part);
            }
            let (read, last) = (part.len() + usize::from(end.is_some()), some.is_empty());
            self.reader.consume(read);
            if last && length == 0 {
                self.over = true;
                return Ok(None);
            }
            if last || end.is_some() {
                self.over = last;
                break;
            }
        }
        self.number += 1;
        let text = if length > LONGEST_LINE {
            Err(format!("the line is longer than {LONGEST_LINE} bytes"))
        } else {
            String::from_utf8(line).map_err(|error| {
                format!(
                    "byte {} of the line is not UTF-8",
                    error.utf8_error().valid_up_to() + 1
                )
            })
        };
        let text = text.map(|text| match self.number {
            1 => text.trim_start_matches('\u{feff}').to_owned(),
            _ => text,
        });
        Ok(Some((self.number, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(u64, Result<String, String>)> {
        let mut lines = Lines::new(BufReader::with_capacity(7, bytes));
        core::iter::from_fn(|| {
            let template = Template::default();
            let line = next_request(&mut lines, &template)?;
            Some((line.number, line.request.map(|request| request.url.into())))
        })
        .collect()
    }

    #[test]
    fn blank_lines_and_comments_count_and_are_skipped() {
        let input = b"\xef\xbb\xbfhttp://a.example/1\r\n\n  # no\r\n\thttp://a.example/2 \n\nhttp://a.example/3";
        let found = lines(input);
        let url = |n| Ok(format!("http://a.example/{n}"));
        assert_eq!(found, [(1, url(1)), (4, url(2)), (6, url(3))]);
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n\n#"), []);
    }

    #[test]
    fn a_bad_line_fails_alone() {
        let mut input = b"http://a.example/\xff\n".to_vec();
        input.resize(input.len() + LONGEST_LINE + 1, b'x');
        input.extend(b"\nhttp://a.example/3\n");
        let found = lines(&input);
        assert_eq!(
            found[0],
            (1, Err("byte 18 of the line is not UTF-8".into()))
        );
        assert_eq!(
            found[1],
            (2, Err("the line is longer than 4194304 bytes".into()))
        );
        assert_eq!(found[2], (3, Ok("http://a.example/3".into())));
    }
}
