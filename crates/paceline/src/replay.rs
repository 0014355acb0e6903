//! Bodies that can be sent again.

use bytes::Buf;

/// A request body that may be able to go out more than once.
///
/// A body of known bytes can; a stream goes once, so a request that carries one is not retried. Implement it for your own
/// body type; returning `None` is always right.
pub trait ReplayBody: Sized {
    /// The same body from its beginning, if that is possible.
    fn replay(&self) -> Option<Self>;
}

impl ReplayBody for () {
    fn replay(&self) -> Option<Self> {
        Some(())
    }
}

impl ReplayBody for String {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl<D: Buf + Clone> ReplayBody for http_body_util::Full<D> {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl<D> ReplayBody for http_body_util::Empty<D> {
    fn replay(&self) -> Option<Self> {
        Some(Self::new())
    }
}

/// Streams behind a box go once.
impl<D, E> ReplayBody for http_body_util::combinators::BoxBody<D, E> {
    fn replay(&self) -> Option<Self> {
        None
    }
}

/// Streams behind a box go once.
impl<D, E> ReplayBody for http_body_util::combinators::UnsyncBoxBody<D, E> {
    fn replay(&self) -> Option<Self> {
        None
    }
}

impl<L: ReplayBody, R: ReplayBody> ReplayBody for http_body_util::Either<L, R> {
    fn replay(&self) -> Option<Self> {
        match self {
            Self::Left(body) => body.replay().map(Self::Left),
            Self::Right(body) => body.replay().map(Self::Right),
        }
    }
}
