//! What kind of failure an error is.

use std::error::Error;
use std::io::ErrorKind;

use paceline_engine::Failure;

/// The kind of failure behind `error`, by the first input/output error in its chain of sources.
///
/// Anything that cannot be told apart is [`Failure::Broken`]: the request may have been processed.
pub(crate) fn failure(error: &(dyn Error + 'static)) -> Failure {
    core::iter::successors(Some(error), |error: &&(dyn Error + 'static)| {
        Error::source(*error)
    })
    .filter_map(|error| error.downcast_ref::<std::io::Error>())
    .find_map(|error| match error.kind() {
        ErrorKind::ConnectionRefused
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::AddrNotAvailable
        | ErrorKind::NotFound => Some(Failure::Connect),
        ErrorKind::TimedOut => Some(Failure::Timeout),
        _ => None,
    })
    .unwrap_or(Failure::Broken)
}
