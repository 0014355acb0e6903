//! The end of a request's time, by its pace's clock.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;

/// Ends when the time does.
pub(super) type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What `future` comes to, if it is there before `end`.
pub(super) async fn before<F: Future>(mut end: Option<Sleep>, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        match &mut end {
            Some(end) => end.as_mut().poll(cx).map(|()| None),
            None => Poll::Pending,
        }
    })
    .await
}
