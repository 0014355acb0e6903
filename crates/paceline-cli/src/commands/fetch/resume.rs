//! What an earlier run has done already.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;
use url::Url;

use super::request::{Request, shown};

/// The requests that are ok in a results file, by line and URL, each with its next page.
#[derive(Debug, Default)]
pub(super) struct Resume {
    /// A hash stands for line and URL, so that millions of lines fit; two that collide are less
    /// likely than a broken disk.
    done: HashMap<u64, Option<Box<str>>>,
    hasher: RandomState,
}

/// How much of the file is whole lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) bytes: u64,
    /// The last line is whole, and only its end is missing.
    pub(super) ends_open: bool,
}

/// Where to begin with a line.
#[derive(Debug)]
pub(super) enum Begin {
    /// Nothing is left to do.
    Nowhere,
    /// With this request, the page of this number.
    At(Box<Request>, u64),
}

/// As much as is kept of a line.
#[derive(Deserialize)]
struct Earlier {
    line: u64,
    url: Option<String>,
    ok: bool,
    next: Option<Box<str>>,
}

/// How every result line begins.
const BEGINNING: &[u8] = b"{\"line\":";

/// No result line is longer; what is, is something else.
const LONGEST_RESULT: u64 = 1 << 20;

impl Resume {
    /// Reads a results file. Lines that are no results are passed over; a last one that was cut off
    /// is not whole.
    ///
    /// # Errors
    ///
    /// It cannot be read, or ends with something that is no part of a result: whoever adds to it
    /// would have to cut that off.
    pub(super) fn read(file: &File) -> io::Result<(Self, Whole)> {
        Self::read_from(BufReader::new(file))
    }

    fn read_from(mut reader: impl BufRead) -> io::Result<(Self, Whole)> {
        let mut resume = Self::default();
        let mut whole = Whole {
            bytes: 0,
            ends_open: false,
        };
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader
                .by_ref()
                .take(LONGEST_RESULT)
                .read_until(b'\n', &mut line)? as u64;
            if read == 0 {
                return Ok((resume, whole));
            }
            let earlier = serde_json::from_slice::<Earlier>(&line).ok();
            let ended = line.ends_with(b"\n") || read == LONGEST_RESULT;
            if !ended && earlier.is_none() && !is_cut_off(&line) {
                let foreign =
                    "its last line is not a result; expected the --results of a run before";
                return Err(io::Error::new(io::ErrorKind::InvalidData, foreign));
            }
            if ended || earlier.is_some() {
                whole.bytes += read;
                whole.ends_open = !ended;
            }
            if let Some(Earlier {
                line,
                url: Some(url),
                ok: true,
                next,
            }) = earlier
            {
                let key = resume.key(line, &url);
                resume.done.insert(key, next);
            }
        }
    }

    /// Where to begin with the line that asks for `request`: at the first page that is not done.
    pub(super) fn begin(&self, line: u64, mut request: Request, paginate: bool) -> Begin {
        // Each step is one result of the earlier run: a loop in the file ends with their number.
        for page in 1..=self.done.len() as u64 + 1 {
            let next = match self.done.get(&self.key(line, &shown(&request.url))) {
                None => return Begin::At(Box::new(request), page),
                Some(next) => next.as_ref().filter(|_| paginate),
            };
            match next.and_then(|next| Url::parse(next).ok()) {
                Some(next) => request = request.page(next),
                None => return Begin::Nowhere,
            }
        }
        Begin::Nowhere
    }

    fn key(&self, line: u64, url: &str) -> u64 {
        self.hasher.hash_one((line, url))
    }
}

/// Whether these bytes may be the beginning of a result line.
fn is_cut_off(line: &[u8]) -> bool {
    line.iter().zip(BEGINNING).all(|(own, all)| own == all)
}

#[cfg(test)]
mod tests {
    use super::super::template::Template;
    use super::*;

    fn begin(resume: &Resume, line: u64, url: &str) -> Option<(String, u64)> {
        match resume.begin(line, Template::default().request(url).unwrap(), true) {
            Begin::Nowhere => None,
            Begin::At(request, page) => Some((request.url.into(), page)),
        }
    }

    #[test]
    fn what_is_ok_is_done_and_a_walk_goes_on_where_it_ended() {
        let file = concat!(
            r#"{"line":1,"url":"http://a/1","ok":true,"more":[]}"#,
            "\n",
            r#"{"line":2,"url":"http://a/2","ok":false}"#,
            "\n",
            r#"{"line":3,"url":"http://a/3","ok":true,"next":"http://a/3b"}"#,
            "\n",
            "not a result\n\n",
            r#"{"line":4,"url":"http://a/4","ok":true,"next":"http://a/4"}"#,
            "\n",
        );
        let (resume, whole) = Resume::read_from(file.as_bytes()).unwrap();
        assert_eq!(
            whole,
            Whole {
                bytes: file.len() as u64,
                ends_open: false
            }
        );
        assert_eq!(begin(&resume, 1, "http://me:pw@a/1"), None);
        assert_eq!(
            begin(&resume, 1, "http://a/other"),
            Some(("http://a/other".into(), 1))
        );
        assert_eq!(
            begin(&resume, 2, "http://a/2"),
            Some(("http://a/2".into(), 1))
        );
        assert_eq!(
            begin(&resume, 3, "http://a/3"),
            Some(("http://a/3b".into(), 2))
        );
        assert_eq!(begin(&resume, 4, "http://a/4"), None);
    }

    #[test]
    fn a_last_line_that_was_cut_off_is_taken_off() {
        let whole = "{\"line\":1,\"url\":\"http://a/1\",\"ok\":true}";
        for (file, bytes, ends_open, done) in [
            (
                format!("{whole}\n{{\"line\":2,\"url\":\"http"),
                whole.len() + 1,
                false,
                1,
            ),
            (whole.to_owned(), whole.len(), true, 1),
            ("{\"line".to_owned(), 0, false, 0),
            (String::new(), 0, false, 0),
        ] {
            let (resume, whole) = Resume::read_from(file.as_bytes()).unwrap();
            assert_eq!(
                whole,
                Whole {
                    bytes: bytes as u64,
                    ends_open
                },
                "{file}"
            );
            assert_eq!(resume.done.len(), done, "{file}");
        }
    }

    #[test]
    fn what_is_no_results_file_is_not_cut() {
        for file in ["notes", "a\nb", "{\"url\":", "[", "\u{0}"] {
            let error = Resume::read_from(file.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{file}");
        }
    }
}
