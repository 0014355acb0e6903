//! The answer that is to be tried again, kept in case it turns out to be the last.

use core::time::Duration;

use ::reqwest::Body;
use http_body_util::{BodyExt, Limited};

use super::error::Last;
use super::within::{Sleep, before};

/// The most that is kept of a body. Messages about a refusal are a few hundred bytes; a page of
/// HTML fits.
const LONGEST: usize = 64 * 1024;

/// How long a body may take to arrive. It keeps its request in flight and holds up the next
/// attempt.
pub(super) const SLOWEST: Duration = Duration::from_secs(1);

/// The response with its body in memory, or its status. Either way the connection is free or closed
/// afterwards.
pub(super) async fn keep(
    response: http::Response<Body>,
    end: Sleep,
) -> Result<http::Response<Body>, Last> {
    let (parts, body) = response.into_parts();
    let status = parts.status;
    if http_body::Body::size_hint(&body).lower() > LONGEST as u64 {
        return Err(Last::Dropped(status));
    }
    let Some(Ok(collected)) = before(Some(end), Limited::new(body, LONGEST).collect()).await else {
        return Err(Last::Dropped(status));
    };
    let body = if collected.trailers().is_some() {
        Body::wrap(collected)
    } else {
        Body::from(collected.to_bytes())
    };
    Ok(http::Response::from_parts(parts, body))
}
