//! A response's body that keeps its request in flight.

use core::pin::Pin;
use core::task::{Context, Poll, ready};

use ::reqwest::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::driver::Permit;
use crate::peek::{Peeked, Piece};

pin_project! {
    /// The body as it was; the permit goes when it has ended, failed or is dropped.
    struct InFlight {
        #[pin]
        body: Body,
        // What is still to come, if its length is known.
        left: Option<u64>,
        permit: Option<Permit>,
    }
}

/// `body` of `length` bytes if that is known; its request is in flight until it ends.
pub(super) fn in_flight(body: Body, length: Option<u64>, permit: Permit) -> Body {
    if http_body::Body::is_end_stream(&body) {
        return body;
    }
    Body::wrap(InFlight {
        body,
        left: length,
        permit: Some(permit),
    })
}

/// A body of which the beginning was read, as a body again.
pub(super) fn peeked(body: Peeked<Body>) -> Body {
    Body::wrap(Whole(body))
}

struct Whole(Peeked<Body>);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = ::reqwest::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ::reqwest::Error>>> {
        let frame = ready!(self.0.poll_frame(cx));
        let bytes = |piece| match piece {
            Piece::Read(bytes) | Piece::Rest(bytes) => bytes,
        };
        Poll::Ready(frame.map(|frame| frame.map(|own| own.map_data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl http_body::Body for InFlight {
    type Data = Bytes;
    type Error = ::reqwest::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ::reqwest::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        if let (Some(left), Some(Ok(frame))) = (&mut *this.left, &frame) {
            *left = left.saturating_sub(frame.data_ref().map_or(0, |data| data.len() as u64));
        }
        // Who knows the length may not ask for the end, and a body that could have been compressed does not say it.
        let ended = this.body.is_end_stream() || *this.left == Some(0);
        if ended || !matches!(frame, Some(Ok(_))) {
            *this.permit = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
