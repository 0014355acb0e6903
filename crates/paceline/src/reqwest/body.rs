//! A response's body that keeps its request in flight.

use core::pin::Pin;
use core::task::{Context, Poll, ready};

use ::reqwest::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::driver::Permit;

pin_project! {
    /// The body as it was; the permit goes when it has ended, failed or is dropped.
    struct InFlight {
        #[pin]
        body: Body,
        permit: Option<Permit>,
    }
}

/// `body`, whose request is in flight until it ends.
pub(super) fn in_flight(body: Body, permit: Permit) -> Body {
    if http_body::Body::is_end_stream(&body) {
        return body;
    }
    Body::wrap(InFlight {
        body,
        permit: Some(permit),
    })
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
        // Who knows the length may not ask for the end.
        if !matches!(frame, Some(Ok(_))) || this.body.is_end_stream() {
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
