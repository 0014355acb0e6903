//! The two clients that walk the site. Everything else about the walks is the same.

use core::time::Duration;

use paceline::Paceline;
use reqwest::header::RETRY_AFTER;
use reqwest_middleware::ClientWithMiddleware;

/// What an independent request waits before its second, third and fourth attempt, unless the server
/// names a time.
const WAITS: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// A hint beyond this is not obeyed: nobody waits so long for a page.
const LONGEST_HINT: u64 = 60;

#[derive(Clone, Debug)]
pub(super) enum Client {
    /// Each request retries alone, as in most programs.
    Independent(reqwest::Client),
    /// All requests keep one pace.
    Paced(ClientWithMiddleware),
}

impl Client {
    pub(super) fn independent() -> reqwest::Result<Self> {
        builder().build().map(Self::Independent)
    }

    /// With nothing configured.
    pub(super) fn paced() -> reqwest::Result<Self> {
        paceline::reqwest::client(builder(), Paceline::new()).map(Self::Paced)
    }

    /// The text of a page; `None` if it was given up.
    pub(super) async fn page(&self, url: &str) -> Option<String> {
        match self {
            Self::Independent(client) => page_alone(client, url).await,
            Self::Paced(client) => text(client.get(url).send().await.ok()?).await,
        }
    }
}

/// A proxy would stand between the clients and the loopback, and retries below would be nobody's.
fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .no_proxy()
        .retry(reqwest::retry::never())
}

async fn page_alone(client: &reqwest::Client, url: &str) -> Option<String> {
    for wait in WAITS {
        let hint = match client.get(url).send().await {
            Ok(response) if response.status().is_success() => return text(response).await,
            Ok(response) => hint(&response),
            Err(_) => None,
        };
        tokio::time::sleep(hint.unwrap_or(wait)).await;
    }
    text(client.get(url).send().await.ok()?).await
}

/// A `Retry-After` of zero says nothing.
fn hint(response: &reqwest::Response) -> Option<Duration> {
    let seconds = response
        .headers()
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .parse()
        .ok()?;
    (1..=LONGEST_HINT)
        .contains(&seconds)
        .then(|| Duration::from_secs(seconds))
}

async fn text(response: reqwest::Response) -> Option<String> {
    match response.status().is_success() {
        true => response.text().await.ok(),
        false => None,
    }
}
