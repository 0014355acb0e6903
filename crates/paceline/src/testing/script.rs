//! What to answer, one request after the other.

use std::collections::VecDeque;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue, LOCATION};
use http::{Response, StatusCode};
use http_body_util::Full;

/// Answers in the order in which requests arrive; after the last one, requests are served (200, or
/// the handler).
///
/// `Script::status(503).then(200)` is "503, then 200"; `Script::status(429).header("retry-after",
/// "60")` is a refusal that names a minute; `Script::redirect("/b")` sends the client on.
#[derive(Clone, Debug)]
pub struct Script {
    earlier: VecDeque<Response<Full<Bytes>>>,
    last: Response<Full<Bytes>>,
    over: bool,
    forever: bool,
}

impl Script {
    /// First answers with `status`.
    ///
    /// # Panics
    ///
    /// If `status` is not from 100 to 999; so do the other methods that take one.
    pub fn status(status: u16) -> Self {
        Self::answer(with_status(status))
    }

    /// First answers 302 with this Location.
    ///
    /// # Panics
    ///
    /// If `location` has bytes that no header may have.
    pub fn redirect(location: &'static str) -> Self {
        Self::status(302).header(LOCATION.as_str(), location)
    }

    /// First answers with this.
    pub fn answer(response: Response<Full<Bytes>>) -> Self {
        Self {
            earlier: VecDeque::new(),
            last: response,
            over: false,
            forever: false,
        }
    }

    /// Then answers with `status`.
    #[must_use]
    pub fn then(self, status: u16) -> Self {
        self.then_answer(with_status(status))
    }

    /// Then answers 302 with this Location.
    #[must_use]
    pub fn then_redirect(self, location: &'static str) -> Self {
        self.then(302).header(LOCATION.as_str(), location)
    }

    /// Then answers with this.
    #[must_use]
    pub fn then_answer(mut self, response: Response<Full<Bytes>>) -> Self {
        self.earlier
            .push_back(core::mem::replace(&mut self.last, response));
        self
    }

    /// Adds a header to the answer named last.
    ///
    /// # Panics
    ///
    /// If the name is not in lower case, or either has bytes that no header may have.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.last.headers_mut().append(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
        self
    }

    /// Gives the answer named last `count` times in all; 0 is as 1.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.earlier.extend((1..count).map(|_| self.last.clone()));
        self
    }

    /// Gives the answer named last for ever.
    #[must_use]
    pub fn forever(mut self) -> Self {
        self.forever = true;
        self
    }

    /// The next answer; `None` once the script is over.
    pub(super) fn next_answer(&mut self) -> Option<Response<Full<Bytes>>> {
        if let Some(answer) = self.earlier.pop_front() {
            return Some(answer);
        }
        let answer = (!self.over).then(|| self.last.clone());
        self.over = !self.forever;
        answer
    }
}

fn with_status(status: u16) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(status).expect("a status is from 100 to 999");
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(mut script: Script, count: usize) -> Vec<Option<u16>> {
        (0..count)
            .map(|_| script.next_answer().map(|answer| answer.status().as_u16()))
            .collect()
    }

    #[test]
    fn answers_come_in_order_and_end() {
        let script = Script::status(503).times(2).then(200).then_redirect("/b");
        assert_eq!(
            statuses(script, 6),
            [Some(503), Some(503), Some(200), Some(302), None, None]
        );
    }

    #[test]
    fn the_last_answer_can_go_on_for_ever() {
        let script = Script::status(200).then(429).times(2).forever();
        assert_eq!(
            statuses(script, 5),
            [Some(200), Some(429), Some(429), Some(429), Some(429)]
        );
    }

    #[test]
    fn a_header_belongs_to_the_answer_named_last() {
        let mut script = Script::status(429)
            .header("retry-after", "60")
            .times(2)
            .then(429);
        let hints = (0..3).map(|_| {
            script
                .next_answer()
                .expect("scripted")
                .headers()
                .contains_key("retry-after")
        });
        assert_eq!(hints.collect::<Vec<_>>(), [true, true, false]);
        let redirect = Script::redirect("/b").next_answer().expect("scripted");
        assert_eq!(redirect.headers()["location"], "/b");
    }
}
