//! One request and its answer: from its turn to the end of its body.

use std::io;

use http::StatusCode;
use paceline::{Outcome, Reason};
use url::Url;

use super::bodies::{Bodies, BodyFile};
use super::link;
use super::request::{Request, shown};
use super::results::{NOT_WRITTEN, Record, TOO_LARGE};
use super::resume::Resume;
use super::send::{Answer, Sender, Unanswered, describe};

/// What all requests of a run share.
pub(super) struct Work {
    pub(super) sender: Sender,
    pub(super) bodies: Option<Bodies>,
    pub(super) resume: Resume,
    pub(super) paginate: bool,
    pub(super) max_body: u64,
}

impl Work {
    /// Fills in the record; the page that follows, if that was asked for.
    pub(super) async fn exchange(
        &self,
        line: u64,
        page: u64,
        request: &Request,
        record: &mut Record,
    ) -> Option<Url> {
        let Answer {
            mut response,
            outcome,
        } = match self.sender.send(request).await {
            Ok(answer) => answer,
            Err(Unanswered {
                status,
                reason,
                error,
                outcome,
            }) => {
                record.status = status;
                record.went_through(&outcome);
                record.failed(reason.code(), error);
                return None;
            }
        };
        record.went_through(&outcome);
        let status = response.status();
        record.status = Some(status.as_u16());
        record.bytes = Some(0);
        let ok = status.as_u16() < 400 && !outcome.ends_refused;
        if let Err((reason, error)) = self.body(line, page, &mut response, ok, record).await {
            record.failed(reason, error);
            return None;
        }
        if !ok {
            let reason = outcome.stopped.unwrap_or(Reason::Final);
            let asked = outcome
                .asked
                .map(|asked| format!("; the upstream asked for {} s", asked.as_secs_f64()));
            let (status, asked) = (in_words(status, &outcome), asked.unwrap_or_default());
            record.failed(reason.code(), format!("{status}: {reason}{asked}"));
            return None;
        }
        record.ok = true;
        let next = self
            .paginate
            .then(|| link::next_page(response.headers(), response.url()))
            .flatten();
        if let Some(next) = &next {
            record.next = Some(Some(shown(next)));
        }
        next
    }

    /// Reads the body to its end, and keeps it if it is ok and there is a place for it.
    async fn body(
        &self,
        line: u64,
        page: u64,
        response: &mut reqwest::Response,
        ok: bool,
        record: &mut Record,
    ) -> Result<(), (&'static str, String)> {
        let written =
            |error: io::Error| (NOT_WRITTEN, format!("the body cannot be written: {error}"));
        let too_large = || {
            (
                TOO_LARGE,
                format!(
                    "the body is larger than {} bytes (--max-body)",
                    self.max_body
                ),
            )
        };
        // A length that is named is not waited for.
        if response
            .content_length()
            .is_some_and(|length| length > self.max_body)
        {
            return Err(too_large());
        }
        let mut file: Option<BodyFile> = match &self.bodies {
            Some(bodies) if ok => {
                let url = record.url.as_deref().and_then(|url| Url::parse(url).ok());
                let url = url.as_ref().unwrap_or_else(|| response.url());
                Some(bodies.create(line, page, url).map_err(written)?)
            }
            _ => None,
        };
        let mut bytes = 0_u64;
        loop {
            let part = match response.chunk().await {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(error) => {
                    let error = describe(&error.without_url());
                    return Err((
                        Reason::Failure.code(),
                        format!("the body broke off after {bytes} bytes: {error}"),
                    ));
                }
            };
            bytes += part.len() as u64;
            if bytes > self.max_body {
                return Err(too_large());
            }
            record.bytes = Some(bytes);
            if let Some(file) = &mut file {
                file.write(&part).await.map_err(written)?;
            }
        }
        if let Some(file) = file {
            record.file = Some(
                file.finish()
                    .await
                    .map_err(written)?
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        Ok(())
    }
}

/// A status with its phrase, if it has one; where it hides a refusal, that it does.
fn in_words(status: StatusCode, outcome: &Outcome) -> String {
    let mut words = status.as_u16().to_string();
    if let Some(phrase) = status.canonical_reason() {
        words += &format!(" {phrase}");
    }
    if outcome.ends_refused && status.as_u16() < 400 {
        words += ", read as a refusal";
    }
    words
}
