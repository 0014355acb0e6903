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
//! A request that costs more than itself says how much, as well as it knows, and its response's [`SettleCost`](crate::SettleCost)
//! takes the truth:
//!
//! ```
//! use http_body_util::BodyExt;
//! use paceline::{Cost, Pace, RequestOptions, SettleCost, tower::PacelineLayer};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! # let client = tower::service_fn(|_: http::Request<()>| async {
//! #     Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Full::<bytes::Bytes>::from("873")))
//! # });
//! let pace = Pace::builder("llm").limit("90000 tokens/m".parse()?).build();
//! let mut client = ServiceBuilder::new().layer(PacelineLayer::new(pace.clone())).service(client);
//!
//! let estimate = RequestOptions::new().cost(Cost::tokens(1200));
//! let request = http::Request::post("/chat").extension(estimate).body(())?;
//! let response = client.ready().await?.call(request).await?;
//! let settle = response.extensions().get::<SettleCost>().cloned().expect("a limit counts tokens");
//! let body = response.into_body().collect().await?.to_bytes();
//! settle.tokens(std::str::from_utf8(&body)?.parse()?); // the usage that the body ends with
//! assert_eq!(pace.snapshot().gates[0].limits[0].available, 90_000 - 873);
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
