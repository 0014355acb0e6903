//! Metrics for Prometheus, served while the command runs.

use core::convert::Infallible;
use core::time::Duration;
use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

use crate::output::Stop;

/// Waits are told apart from a hundredth of a second to ten minutes.
const WAIT_SECONDS: [f64; 12] = [
    0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
];

/// How often what was recorded is summed up, also when nobody asks: until then it takes memory.
const UPKEEP: Duration = Duration::from_secs(5);

/// A caller that takes longer to ask is dropped.
const PATIENCE: Duration = Duration::from_secs(10);

/// Records from now on, and serves `/metrics` on that address until the runtime ends. The address that is served.
///
/// # Errors
///
/// The address cannot be bound.
pub(super) async fn serve(address: SocketAddr) -> Result<SocketAddr, Stop> {
    let cannot = |error: &dyn core::fmt::Display| {
        Stop::open(format!("--metrics: {address} cannot be served: {error}"))
    };
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| cannot(&error))?;
    let bound = listener.local_addr().map_err(|error| cannot(&error))?;
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full("paceline_wait_seconds".into()), &WAIT_SECONDS)
        .and_then(PrometheusBuilder::install_recorder)
        .map_err(|error| cannot(&error))?;
    let keeping = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            keeping.run_upkeep();
        }
    });
    tokio::spawn(accept(listener, handle));
    Ok(bound)
}

async fn accept(listener: TcpListener, handle: PrometheusHandle) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, as a rule; others close theirs.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let handle = handle.clone();
        let service = service_fn(move |request| {
            let response = answer(&request, &handle);
            async move { Ok::<_, Infallible>(response) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}

fn answer(request: &Request<Incoming>, handle: &PrometheusHandle) -> Response<Full<Bytes>> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let (status, text) = match request.uri().path() {
        "/metrics" if is_read => (StatusCode::OK, handle.render()),
        "/metrics" => (StatusCode::METHOD_NOT_ALLOWED, "GET /metrics\n".into()),
        _ => (StatusCode::NOT_FOUND, "metrics are at /metrics\n".into()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
