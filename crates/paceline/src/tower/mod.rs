//! A tower layer: every request that passes takes its turn, and is sent again when that helps.
//!
//! ```
//! use paceline::{Outcome, Pace, tower::PacelineLayer};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! # let client = tower::service_fn(|_: http::Request<()>| async {
//! #     Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Empty::<bytes::Bytes>::new()))
//! # });
//! let pace = Pace::builder("api").limit("10/s burst 50".parse()?).build();
//! let mut client = ServiceBuilder::new().layer(PacelineLayer::new(pace)).service(client);
//!
//! let response = client.ready().await?.call(http::Request::new(())).await?;
//! let outcome = response.extensions().get::<Outcome>().expect("beside every response");
//! assert_eq!(outcome.attempts, 1);
//! # Ok(())
//! # }
//! ```
//!
//! The turn is taken in `call`, never in `poll_ready`: only there is the request known, its route, its cost, its
//! credential. A permit is spent by each HTTP request that reaches the service below, so a layer that follows redirects
//! or pages belongs *above* this one.

mod body;
mod error;
mod future;
mod layer;
mod service;

pub use body::{PacedBody, PacedData};
pub use error::Error;
pub use future::ResponseFuture;
pub use layer::PacelineLayer;
pub use service::Paced;
