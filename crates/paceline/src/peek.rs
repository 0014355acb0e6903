//! Reading the beginning of a body that a dialect understands, without taking it from whoever asked for it.
//!
//! Refusals hide in bodies, and nobody should be served before that is known. So a body that may hold one is read up to a
//! bound of size and time before the answer is told to the gates; what was read comes first when the caller reads it.

use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::pace::Pace;

/// Messages about a refusal are a few hundred bytes. Of a longer body nothing is understood.
const LONGEST: usize = 64 * 1024;

/// Whether the body of a response must be looked at: its dialect reads such bodies, and it is text with an end.
///
/// An event stream has none, and a compressed one would have to be decoded first.
pub(crate) fn is_needed(pace: &Pace, status: StatusCode, headers: &HeaderMap) -> bool {
    if !pace.dialect().wants_body(status) || headers.contains_key(CONTENT_ENCODING) {
        return false;
    }
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return true;
    };
    let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
    ["json", "xml", "text/plain", "javascript"]
        .iter()
        .any(|word| kind.contains(word))
}

/// A body of which the beginning was read.
#[derive(Debug)]
pub(crate) struct Peeked<B: Body> {
    bytes: BytesMut,
    trailers: Option<HeaderMap>,
    error: Option<B::Error>,
    ended: bool,
    rest: Pin<Box<B>>,
}

impl<B: Body> Peeked<B> {
    pub(crate) fn new(body: B) -> Self {
        Self {
            bytes: BytesMut::new(),
            trailers: None,
            error: None,
            ended: false,
            rest: Box::pin(body),
        }
    }

    /// Reads on; ready with whether all of it was read.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        while !self.ended && self.bytes.len() <= LONGEST && self.error.is_none() {
            match ready!(self.rest.as_mut().poll_frame(cx)) {
                None => self.ended = true,
                Some(Err(error)) => self.error = Some(error),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.bytes.put(data),
                    Err(frame) => self.trailers = frame.into_trailers().ok(),
                },
            }
        }
        Poll::Ready(self.ended)
    }

    /// What was read, if it is all there is.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.ended.then_some(&self.bytes)
    }

    /// The next piece: what was read, then the rest.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<PieceFrame<B>>> {
        if !self.bytes.is_empty() {
            let bytes = core::mem::take(&mut self.bytes).freeze();
            return Poll::Ready(Some(Ok(Frame::data(Piece::Read(bytes)))));
        }
        if let Some(trailers) = self.trailers.take() {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        if let Some(error) = self.error.take() {
            self.ended = true;
            return Poll::Ready(Some(Err(error)));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        let frame = ready!(self.rest.as_mut().poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(Piece::Rest))))
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        let nothing_read = self.bytes.is_empty() && self.trailers.is_none() && self.error.is_none();
        nothing_read && (self.ended || self.rest.is_end_stream())
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        let read = self.bytes.len() as u64;
        let rest = if self.ended {
            SizeHint::with_exact(0)
        } else {
            self.rest.size_hint()
        };
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}

/// What a body's next piece is, or what went wrong.
pub(crate) type PieceFrame<B> = Result<Frame<Piece<<B as Body>::Data>>, <B as Body>::Error>;

/// A piece of a body of which the beginning was read.
#[derive(Debug)]
pub(crate) enum Piece<D> {
    Read(Bytes),
    Rest(D),
}
