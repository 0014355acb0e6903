//! What holds for any response: bounds, in every dialect that is built in, and changes to a head that must not change what
//! is read where no dialect is spoken.
//!
//! An input is text: a line with status, seconds and nanoseconds of the wall clock, then one `name: value` a line, then
//! perhaps an empty line and a body. A value has no line feed, so that this says all that a response can.

use core::time::Duration;

use http::header::{AGE, HeaderName, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use paceline::dialect;
use paceline::response::{self, dialect::Dialect};
use paceline::{Answer, Flags, Observation, Scope, Verdict, WallTime};

/// A response, its fields in order.
pub(crate) struct Head<'a> {
    status: StatusCode,
    wall: WallTime,
    fields: Vec<(HeaderName, HeaderValue)>,
    body: Option<&'a [u8]>,
}

pub(crate) fn check(data: &[u8]) {
    let Some(head) = Head::parse(data) else {
        return;
    };
    for own in dialect::all() {
        head.check_bounds(&own.dialect);
    }
    let read = head.read();
    head.check_bounds(&Dialect::PLAIN);
    heeds_its_verdict(&head, &read);
    unrelated_fields_change_nothing(&head, &read);
    blanks_around_values_change_nothing(&head, &read);
    one_list_is_several_lines(&head, &read);
    plain_lists_are_several_lines(&head, &read);
    copies_are_one(&head, &read);
    order_moves_no_wait(&head, &read);
    age_leaves_the_hint_alone(&head, &read);
    another_hint_shortens_nothing(&head, &read);
}

impl<'a> Head<'a> {
    pub(crate) fn parse(data: &'a [u8]) -> Option<Self> {
        let end = data.windows(2).position(|two| two == b"\n\n");
        let (head, body) = data.split_at(end.unwrap_or(data.len()));
        let mut lines = head.split(|&byte| byte == b'\n');
        let mut first = str::from_utf8(lines.next()?).ok()?.split(' ');
        let status = first.next()?.parse().ok()?;
        let seconds = first.next().and_then(|seconds| seconds.parse().ok())?;
        let nanos: u32 = first.next().map_or(Some(0), |nanos| nanos.parse().ok())?;
        let fields = lines.take(MOST_LINES).filter_map(|line| {
            let (name, value) = line.split_at_checked(line.iter().position(|&b| b == b':')?)?;
            let value = HeaderValue::from_bytes(value[1..].trim_ascii_start()).ok()?;
            Some((HeaderName::from_bytes(name).ok()?, value))
        });
        Some(Self {
            status: StatusCode::from_u16(status).ok()?,
            wall: WallTime(Duration::new(seconds, nanos % 1_000_000_000)),
            fields: fields.collect(),
            body: body.get(2..),
        })
    }

    /// In any dialect a response is read in one way, and justifies no wait without a bound.
    pub(crate) fn check_bounds(&self, dialect: &Dialect) {
        let headers = headers(&self.fields);
        let read = || dialect.read(self.status, &headers, self.body, self.wall);
        let first = read();
        assert_eq!(first, read(), "the same response is read in the same way");
        if self.body.is_none() {
            let empty = dialect.read(self.status, &headers, Some(b""), self.wall);
            assert_eq!(first, empty, "an empty body says as little as none");
        }
        is_bounded(self, &first);
    }

    fn read(&self) -> Observation {
        self.read_fields(&self.fields)
    }

    /// The same response with other fields, where no dialect is spoken.
    fn read_fields(&self, fields: &[(HeaderName, HeaderValue)]) -> Observation {
        Dialect::PLAIN.read(self.status, &headers(fields), self.body, self.wall)
    }

    /// The same response with one more field.
    fn read_with(&self, name: HeaderName, value: &'static str) -> Observation {
        let mut fields = self.fields.clone();
        fields.push((name, HeaderValue::from_static(value)));
        self.read_fields(&fields)
    }

    fn values<'h>(&'h self, name: &'h HeaderName) -> impl Iterator<Item = &'h [u8]> {
        let fields = self.fields.iter().filter(move |(own, _)| own == name);
        fields.map(|(_, value)| value.as_bytes())
    }

    /// The same fields, where those named so are one line with commas.
    fn joined(&self, name: &HeaderName) -> Vec<(HeaderName, HeaderValue)> {
        let value = self.values(name).collect::<Vec<_>>().join(&b", "[..]);
        let value = HeaderValue::from_bytes(&value).expect("of values");
        let mut fields = self.fields.clone();
        let at = fields.iter().position(|(own, _)| own == name);
        fields.retain(|(own, _)| own != name);
        fields.insert(at.expect("is there"), (name.clone(), value));
        fields
    }

    /// Names of which there are several lines.
    fn repeated(&self) -> Vec<HeaderName> {
        let mut names: Vec<_> = self.fields.iter().map(|(name, _)| name.clone()).collect();
        names.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
        names.dedup();
        names.retain(|name| self.values(name).count() > 1);
        names
    }

    /// Whether nothing was left out for want of room.
    fn is_small(&self, read: &Observation) -> bool {
        let commas = self.fields.iter().flat_map(|(_, value)| value.as_bytes());
        let commas = commas.filter(|&&byte| byte == b',').count();
        self.fields.len() + commas < MOST_WINDOWS / 2 && read.flags.iter().count() < Flags::MOST
    }
}

fn headers(fields: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name, value.clone());
    }
    headers
}

fn is_bounded(head: &Head<'_>, read: &Observation) {
    let longest = Duration::from_secs(response::LONGEST_SECONDS);
    let is_wait = |wait: Duration| wait <= longest && !wait.is_zero();
    assert_eq!(read.answer, Answer::Status(head.status.as_u16()));
    assert!(read.wait.is_none_or(is_wait));
    assert!(read.retry_after.is_none_or(|hint| hint <= longest));
    assert!(read.windows.len() <= MOST_WINDOWS);
    assert!(read.flags.iter().count() <= Flags::MOST);
    for window in &read.windows {
        assert!(window.reset.is_none_or(|reset| reset <= longest));
        assert!(window.length.is_none_or(|length| length <= longest));
        assert!(window.remaining_milli < 1000);
        assert!(window.refill.is_none_or(is_wait));
    }
    assert_eq!(read.binding().is_some(), !read.windows.is_empty());
    let bucket = read.bucket.as_deref().unwrap_or_default();
    assert!(bucket.chars().count() <= LONGEST_NAME);
}

/// What the status alone promises, and what a wait needs.
fn heeds_its_verdict(head: &Head<'_>, read: &Observation) {
    match head.status.as_u16() {
        200..=299 => assert_eq!(read.verdict, Verdict::Ok),
        429 => assert_eq!(read.verdict, Verdict::RateLimited),
        503 | 529 => assert_eq!(read.verdict, Verdict::Overloaded),
        300..=399 => assert!(!read.verdict.is_refusal()),
        401 => assert_eq!(read.wait, None),
        _ => {}
    }
    let hint = read.retry_after.filter(|hint| !hint.is_zero());
    if read.verdict.is_refusal() {
        assert_eq!(read.scope, Scope::Gate);
        if hint.is_some() {
            assert_eq!(read.wait, hint);
        }
    } else if read.wait.is_some() {
        assert_eq!(read.scope, Scope::Gate);
        assert!(read.windows.iter().any(|window| window.is_exhausted()));
    }
    let resets = read.windows.iter().filter_map(|window| window.reset);
    assert!(read.wait.is_none() || read.wait == hint || read.wait <= resets.max());
}

fn unrelated_fields_change_nothing(head: &Head<'_>, read: &Observation) {
    let unrelated = [("content-type", "text/plain"), ("x-request-id", "0, 1;r=0")];
    let mut fields = head.fields.clone();
    for (name, value) in unrelated {
        let field = (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
        fields.insert(fields.len() / 2, field.clone());
        fields.insert(0, field);
    }
    assert_eq!(head.read_fields(&fields), *read);
}

fn blanks_around_values_change_nothing(head: &Head<'_>, read: &Observation) {
    let mut fields = head.fields.clone();
    for (_, value) in &mut fields {
        let wide = [b" \t", value.as_bytes(), b"\t "].concat();
        *value = HeaderValue::from_bytes(&wide).expect("a value and blanks");
    }
    assert_eq!(head.read_fields(&fields), *read);
}

/// RFC 9651 section 4.2: the lines of a structured field are one list.
fn one_list_is_several_lines(head: &Head<'_>, read: &Observation) {
    for name in head.repeated() {
        if matches!(name.as_str(), "ratelimit" | "ratelimit-policy") {
            assert_eq!(head.read_fields(&head.joined(&name)), *read, "{name}");
        }
    }
}

/// Numbers in several lines and numbers that a proxy joined mean the same.
fn plain_lists_are_several_lines(head: &Head<'_>, read: &Observation) {
    for name in head.repeated() {
        let is_number = |value: &[u8]| !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        if is_first_counted(&name) || !head.values(&name).all(is_number) {
            continue;
        }
        assert_same(&head.read_fields(&head.joined(&name)), read, &name);
    }
}

/// Fields of which one number is expected, so that a list of them is not read.
fn is_first_counted(name: &HeaderName) -> bool {
    let name = name.as_str();
    name == "date" || name == "age" || MILLISECONDS.iter().any(|end| name.ends_with(end))
}

fn copies_are_one(head: &Head<'_>, read: &Observation) {
    if !head.is_small(read) {
        return;
    }
    let mut fields = head.fields.clone();
    let structured = |name: &str| matches!(name, "ratelimit" | "ratelimit-policy");
    let copied = head
        .fields
        .iter()
        .filter(|(name, _)| !structured(name.as_str()));
    fields.extend(copied.cloned());
    assert_same(&head.read_fields(&fields), read, &"copies");
}

fn order_moves_no_wait(head: &Head<'_>, read: &Observation) {
    if !head.is_small(read) {
        return;
    }
    // Lines of one name keep their order: of several dates the first counts.
    let mut fields = head.fields.clone();
    fields.sort_by(|(one, _), (other, _)| other.as_str().cmp(one.as_str()));
    let sorted = head.read_fields(&fields);
    assert_eq!(sorted.verdict, read.verdict);
    assert_eq!(sorted.retry_after, read.retry_after);
    assert_eq!(sorted.wait, read.wait);
}

/// What came out of a cache says nothing about what is left.
fn age_leaves_the_hint_alone(head: &Head<'_>, read: &Observation) {
    let mut fields = head.fields.clone();
    fields.insert(0, (AGE, HeaderValue::from_static("7")));
    let cached = head.read_fields(&fields);
    assert!(cached.windows.is_empty());
    assert_eq!(cached.retry_after, read.retry_after);
    if !cached.verdict.is_refusal() {
        assert_eq!(cached.wait, None);
    }
}

fn another_hint_shortens_nothing(head: &Head<'_>, read: &Observation) {
    let more = head.read_with(RETRY_AFTER, "86400");
    assert!(more.retry_after >= read.retry_after);
    assert!(!read.verdict.is_refusal() || more.verdict.is_refusal());
}

fn assert_same(one: &Observation, other: &Observation, what: &dyn core::fmt::Debug) {
    assert_eq!(one.verdict, other.verdict, "{what:?}");
    assert_eq!(one.retry_after, other.retry_after, "{what:?}");
    assert_eq!(one.wait, other.wait, "{what:?}");
    assert_eq!(one.windows, other.windows, "{what:?}");
}

/// More lines than any head has that is worth a try.
const MOST_LINES: usize = 200;

const MOST_WINDOWS: usize = 64;

const LONGEST_NAME: usize = 128;

const MILLISECONDS: [&str; 3] = ["-ms", "x-amz-retry-after", "-retryafter"];
