//! A response's body: while it streams, its request is in flight.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::driver::Permit;
use crate::peek::{Peeked, Piece};

pin_project! {
    /// A response's body. Its request stays in flight until it ends or is dropped.
    pub struct PacedBody<B>
    where
        B: Body,
    {
        #[pin]
        source: Source<B>,
        permit: Option<Permit>,
    }
}

pin_project! {
    #[project = Projected]
    enum Source<B>
    where
        B: Body,
    {
        // As it comes from the service below.
        Fresh {
            #[pin]
            body: B,
        },
        // The same, and its dialect has read the beginning.
        Peeked { body: Peeked<B> },
        // Of a refusal that was kept while its request waited for another attempt.
        Kept { bytes: Option<Bytes> },
    }
}

impl<B: Body> PacedBody<B> {
    pub(crate) const fn fresh(body: B) -> Self {
        Self::of(Source::Fresh { body })
    }

    pub(crate) const fn peeked(body: Peeked<B>) -> Self {
        Self::of(Source::Peeked { body })
    }

    pub(crate) fn kept(bytes: Bytes) -> Self {
        Self::of(Source::Kept {
            bytes: Some(bytes).filter(|bytes| !bytes.is_empty()),
        })
    }

    const fn of(source: Source<B>) -> Self {
        Self {
            source,
            permit: None,
        }
    }

    /// The permit goes when the body has ended, failed or is dropped.
    pub(crate) fn holding(self, permit: Option<Permit>) -> Self {
        Self { permit, ..self }
    }
}

impl<B: Body> Body for PacedBody<B> {
    type Data = PacedData<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.project();
        let (frame, ended) = match this.source.project() {
            Projected::Fresh { mut body } => {
                let frame = ready!(body.as_mut().poll_frame(cx));
                let frame = frame.map(|frame| frame.map(|own| own.map_data(PacedData::Streaming)));
                (frame, body.is_end_stream())
            }
            Projected::Peeked { body } => {
                let frame = ready!(body.poll_frame(cx));
                let piece = |piece| match piece {
                    Piece::Read(bytes) => PacedData::Kept(bytes),
                    Piece::Rest(data) => PacedData::Streaming(data),
                };
                let frame = frame.map(|frame| frame.map(|own| own.map_data(piece)));
                (frame, body.is_end_stream())
            }
            Projected::Kept { bytes } => {
                let frame = bytes
                    .take()
                    .map(|own| Ok(Frame::data(PacedData::Kept(own))));
                (frame, true)
            }
        };
        // A body that is read to its end by its length may never be polled again.
        if ended || !matches!(frame, Some(Ok(_))) {
            *this.permit = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Fresh { body } => body.is_end_stream(),
            Source::Peeked { body } => body.is_end_stream(),
            Source::Kept { bytes } => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Fresh { body } => body.size_hint(),
            Source::Peeked { body } => body.size_hint(),
            Source::Kept { bytes } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
        }
    }
}

impl<B: Body> fmt::Debug for PacedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacedBody")
            .field("permit", &self.permit)
            .finish_non_exhaustive()
    }
}

/// A piece of a [`PacedBody`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PacedData<D> {
    /// As it comes from the service below.
    Streaming(D),
    /// Of a response that was kept, or that its dialect has read.
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
