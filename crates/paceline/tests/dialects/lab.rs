//! A server that answers by a script in paused time, and a client that speaks its dialect.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use paceline::tower::{PacedBody, PacelineLayer};
use paceline::upstream::Upstream;
use paceline::{Outcome, Paceline, RequestOptions, dialect};
use tokio::time::{Instant, sleep};
use tower::{BoxError, Layer, ServiceExt, service_fn};

pub(crate) type Body = BoxBody<Bytes, std::io::Error>;

/// What arrived: its path, and when.
pub(crate) type Arrivals = Arc<Mutex<Vec<(String, Duration)>>>;

/// A client of an upstream that speaks this dialect, before `server`, which takes `latency` for each answer.
pub(crate) struct Lab<F> {
    pub(crate) paceline: Paceline,
    server: F,
    latency: Duration,
    pub(crate) arrivals: Arrivals,
    began: Instant,
}

impl<F> Lab<F>
where
    F: Fn(usize, &str) -> Response<Body> + Clone + Send + Sync + 'static,
{
    /// `server` is told which arrival it is, from 0, and its path.
    pub(crate) fn new(dialect: &str, server: F) -> Self {
        let mut upstream = Upstream::default();
        upstream.hosts = vec!["api.example".parse().expect("a host")];
        upstream.dialect = Some(dialect::named(dialect).expect("a dialect"));
        Self::of(upstream, server)
    }

    pub(crate) fn of(upstream: Upstream, server: F) -> Self {
        Self {
            paceline: Paceline::builder().upstream("api", upstream).build(),
            server,
            latency: Duration::from_millis(50),
            arrivals: Arc::default(),
            began: Instant::now(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.get_within(path, Duration::from_secs(3600)).await
    }

    pub(crate) async fn get_within(&self, path: &str, total: Duration) -> Got {
        self.ask(path, RequestOptions::new().total(total)).await
    }

    pub(crate) async fn ask(&self, path: &str, options: RequestOptions) -> Got {
        let (server, latency) = (self.server.clone(), self.latency);
        let (arrivals, began) = (Arc::clone(&self.arrivals), self.began);
        let service = service_fn(move |request: Request<()>| {
            let path = request.uri().path().to_owned();
            let nth = {
                let mut arrivals = arrivals.lock().expect("nobody panicked");
                arrivals.push((path.clone(), began.elapsed()));
                arrivals.len() - 1
            };
            let server = server.clone();
            async move {
                sleep(latency).await;
                Ok::<_, BoxError>(server(nth, &path))
            }
        });
        let client = PacelineLayer::new(self.paceline.clone()).layer(service);
        let request = Request::get(format!("https://api.example{path}"))
            .extension(options)
            .body(())
            .expect("a request");
        match client.oneshot(request).await {
            Ok(response) => Got::read(response).await,
            Err(error) => Got {
                status: 0,
                body: error.to_string(),
                outcome: error.outcome().clone(),
            },
        }
    }

    /// When each request arrived, in whole milliseconds.
    pub(crate) fn arrived(&self) -> Vec<u128> {
        let arrivals = self.arrivals.lock().expect("nobody panicked");
        arrivals.iter().map(|(_, at)| at.as_millis()).collect()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) outcome: Outcome,
}

impl Got {
    async fn read(response: Response<PacedBody<Body>>) -> Self {
        let (parts, body) = response.into_parts();
        let outcome = parts.extensions.get::<Outcome>().cloned();
        let mut body = Box::pin(body);
        let mut text = Vec::new();
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame.expect("a body that does not fail").into_data() {
                let mut data = data;
                use bytes::Buf as _;
                text.extend_from_slice(&data.copy_to_bytes(data.remaining()));
            }
        }
        Self {
            status: parts.status.as_u16(),
            body: String::from_utf8(text).expect("text"),
            outcome: outcome.expect("an outcome beside every response"),
        }
    }
}

/// An answer with these fields and this body.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Response<Body> {
    let body = Full::new(Bytes::from(body.to_owned()));
    with_body(
        status,
        headers,
        body.map_err(|never| match never {}).boxed(),
    )
}

pub(crate) fn with_body(status: u16, headers: &[(&str, &str)], body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status.try_into().expect("a status");
    for (name, value) in headers {
        response.headers_mut().append(
            HeaderName::from_bytes(name.as_bytes()).expect("a name"),
            HeaderValue::from_str(value).expect("a value"),
        );
    }
    response
}
