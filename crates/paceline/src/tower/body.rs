//! A response's body: while it streams, its request is in flight.

use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::driver::Permit;

pin_project! {
    /// A response's body. Its request stays in flight until it ends or is dropped.
    #[derive(Debug)]
    pub struct PacedBody<B> {
        #[pin]
        source: Source<B>,
    }
}

pin_project! {
    #[project = Projected]
    #[derive(Debug)]
    enum Source<B> {
        // As it comes from the service below.
        Streaming {
            #[pin]
            body: B,
            permit: Option<Permit>,
        },
        // Of a refusal that was kept while its request waited for another attempt.
        Kept { bytes: Option<Bytes> },
    }
}

impl<B> PacedBody<B> {
    pub(crate) const fn streaming(body: B, permit: Option<Permit>) -> Self {
        Self {
            source: Source::Streaming { body, permit },
        }
    }

    pub(crate) fn kept(bytes: Bytes) -> Self {
        Self {
            source: Source::Kept {
                bytes: Some(bytes).filter(|bytes| !bytes.is_empty()),
            },
        }
    }
}

impl<B: Body> Body for PacedBody<B> {
    type Data = PacedData<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.project().source.project() {
            Projected::Streaming { mut body, permit } => {
                let frame = core::task::ready!(body.as_mut().poll_frame(cx));
                // A body that is read to its end by its length may never be polled again.
                if !matches!(frame, Some(Ok(_))) || body.is_end_stream() {
                    *permit = None;
                }
                Poll::Ready(
                    frame.map(|frame| frame.map(|frame| frame.map_data(PacedData::Streaming))),
                )
            }
            Projected::Kept { bytes } => Poll::Ready(
                bytes
                    .take()
                    .map(|bytes| Ok(Frame::data(PacedData::Kept(bytes)))),
            ),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Streaming { body, .. } => body.is_end_stream(),
            Source::Kept { bytes } => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Streaming { body, .. } => body.size_hint(),
            Source::Kept { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
        }
    }
}

/// A piece of a [`PacedBody`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PacedData<D> {
    /// As it comes from the service below.
    Streaming(D),
    /// Of a response that was kept.
    Kept(Bytes),
}

impl<D: Buf> Buf for PacedData<D> {
    fn remaining(&self) -> usize {
        match self {
            Self::Streaming(data) => data.remaining(),
            Self::Kept(data) => data.remaining(),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Streaming(data) => data.chunk(),
            Self::Kept(data) => data.chunk(),
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Streaming(data) => data.advance(count),
            Self::Kept(data) => data.advance(count),
        }
    }

    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        match self {
            Self::Streaming(data) => data.copy_to_bytes(len),
            Self::Kept(data) => data.copy_to_bytes(len),
        }
    }
}
