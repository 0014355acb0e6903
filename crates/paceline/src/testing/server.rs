//! A limited server behind a real listener on loopback.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use paceline_sim::ServerSpec;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tower_service::Service;

use super::service::LimitedService;
use super::stats::Stats;

/// A [`LimitedService`] that speaks HTTP/1.1 on a free port of 127.0.0.1.
///
/// Dropping it stops it: it accepts nothing more, idle connections are closed, and a request that
/// is in flight still gets its answer.
#[derive(Debug)]
pub struct LimitedServer {
    address: SocketAddr,
    service: LimitedService,
    accepting: JoinHandle<()>,
    /// Connections watch for this to go away.
    _running: watch::Sender<()>,
}

impl LimitedServer {
    /// Serves what `spec` describes, without latency. `InvalidInput` if there is no such server,
    /// else whatever binding a port failed with.
    pub async fn start(spec: ServerSpec) -> io::Result<Self> {
        let service = LimitedService::new(spec);
        Self::serve(service.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?)
            .await
    }

    /// Serves a service that may have a latency, a handler or a script, on the current tokio
    /// runtime.
    pub async fn serve(service: LimitedService) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (running, stopped) = watch::channel(());
        let accepting = tokio::spawn(accept(listener, service.clone(), stopped));
        Ok(Self {
            address,
            service,
            accepting,
            _running: running,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path; a missing leading slash is added.
    pub fn url(&self, path: &str) -> String {
        format!(
            "http://{}/{}",
            self.address,
            path.strip_prefix('/').unwrap_or(path)
        )
    }

    /// What has reached the server so far.
    pub fn stats(&self) -> Stats {
        self.service.stats()
    }
}

impl Drop for LimitedServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, service: LimitedService, stopped: watch::Receiver<()>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, service.clone(), stopped.clone()));
            }
            // Out of file descriptors, as a rule: some will be closed.
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

async fn converse(stream: TcpStream, service: LimitedService, mut stopped: watch::Receiver<()>) {
    // Answers are small: waiting to fill a packet would add 40 ms to each. A failure costs only
    // that.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| answer(service.clone(), request));
    let mut connection = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    let mut stop = pin!(stopped.changed());
    let mut stopping = false;
    let ended = poll_fn(|context| {
        if !stopping && let Poll::Ready(_) = stop.as_mut().poll(context) {
            stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(context)
    });
    // A client that breaks off is no news to a server; the client's test will know.
    let _ = ended.await;
}

async fn answer(
    mut service: LimitedService,
    request: Request<Incoming>,
) -> Result<<LimitedService as Service<Request<()>>>::Response, Infallible> {
    let (parts, mut body) = request.into_parts();
    let answer = service.call(Request::from_parts(parts, ()));
    // An unread body would cost the client its connection.
    while let Some(Ok(_)) = body.frame().await {}
    answer.await
}

/// Long enough not to spin, short enough that no client gives up.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::super::{RetryAfter, Script};
    use super::*;

    /// Sends these bytes on one connection and reads until the server closes it.
    async fn talk(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(text.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .await
            .expect("it answers");
        answer
    }

    fn get(path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")
    }

    fn last(path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
    }

    fn statuses(answer: &str) -> Vec<&str> {
        answer
            .lines()
            .filter_map(|line| Some(line.split_once("HTTP/1.1 ")?.1))
            .collect()
    }

    #[tokio::test]
    async fn two_are_served_and_the_third_is_told_to_wait() {
        let spec = ServerSpec::token_bucket(0.001, 2).retry_after(RetryAfter::Ceil);
        let server = LimitedServer::start(spec).await.expect("a free port");
        let answer = talk(
            server.address(),
            &[get("/a"), get("/b"), last("/c")].concat(),
        )
        .await;
        assert_eq!(
            statuses(&answer),
            ["200 OK", "200 OK", "429 Too Many Requests"]
        );
        assert!(answer.contains("retry-after: 1000\r\n"), "{answer}");
        let stats = server.stats();
        assert_eq!(
            (stats.received, stats.served, stats.refused, stats.in_flight),
            (3, 2, 1, 0)
        );
    }

    #[tokio::test]
    async fn a_request_with_a_body_does_not_cost_the_connection() {
        let server = LimitedServer::start(ServerSpec::always())
            .await
            .expect("a free port");
        let body = "x".repeat(1_000_000);
        let post = format!(
            "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = talk(server.address(), &[post, last("/")].concat()).await;
        assert_eq!(statuses(&answer), ["429 Too Many Requests"; 2]);
    }

    #[tokio::test]
    async fn a_script_and_a_handler_work_over_http_too() {
        let service = LimitedService::scripted(Script::redirect("/b"));
        let service =
            service.handler(|parts| http::Response::new(parts.uri.path().to_owned().into()));
        let server = LimitedServer::serve(service).await.expect("a free port");
        let answer = talk(server.address(), &[get("/a"), last("/b")].concat()).await;
        assert_eq!(statuses(&answer), ["302 Found", "200 OK"]);
        assert!(
            answer.contains("location: /b\r\n") && answer.ends_with("/b"),
            "{answer}"
        );
    }

    #[tokio::test]
    async fn what_is_in_flight_is_answered_after_the_server_is_dropped() {
        let service = LimitedService::new(ServerSpec::open()).expect("a valid specification");
        let service = service.latency(Duration::from_millis(100));
        let server = LimitedServer::serve(service.clone())
            .await
            .expect("a free port");
        let address = server.address();
        let mut idle = TcpStream::connect(address).await.expect("it listens");
        idle.write_all(get("/").as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        while !answer.ends_with("served\n") {
            answer.push(char::from(idle.read_u8().await.expect("it answers")));
        }
        let in_flight = tokio::spawn(async move { talk(address, &get("/")).await });
        while service.stats().received < 2 {
            tokio::task::yield_now().await;
        }
        drop(server);
        assert_eq!(
            idle.read(&mut [0]).await.expect("closed, not broken off"),
            0
        );
        assert_eq!(statuses(&in_flight.await.expect("no panic")), ["200 OK"]);
        TcpStream::connect(address)
            .await
            .expect_err("nobody listens");
        assert_eq!(service.stats().in_flight, 0);
    }

    #[tokio::test]
    async fn urls_and_bad_specifications() {
        let server = LimitedServer::start(ServerSpec::open())
            .await
            .expect("a free port");
        let port = server.address().port();
        assert_eq!(
            server.url("/a?b=c"),
            format!("http://127.0.0.1:{port}/a?b=c")
        );
        assert_eq!(server.url("a"), format!("http://127.0.0.1:{port}/a"));
        let error = LimitedServer::start(ServerSpec::concurrency(0))
            .await
            .expect_err("no slot");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), "`max` must be at least 1, not 0");
    }
}
