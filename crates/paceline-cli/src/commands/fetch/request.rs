//! A request, the one for the page that follows, and what may be printed of it.

use bytes::Bytes;
use http::Method;
use http::header::{self, HeaderMap, HeaderName};
use url::Url;

/// A request, before it is sent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    /// May hold userinfo; print [`shown`] instead.
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

impl Request {
    /// The request for the page that this one's answer names.
    ///
    /// To another origin it carries none of the headers that were typed but those that only say
    /// what form is wanted: any of them may be a credential.
    pub(super) fn page(&self, next: Url) -> Self {
        let method = match self.method {
            Method::HEAD => Method::HEAD,
            _ => Method::GET,
        };
        let mut url = next;
        let mut headers = self.headers.clone();
        if url.origin() == self.url.origin() {
            // It keeps the credentials of the line. Both fail only for URLs without a host.
            let _ = url.set_username(self.url.username());
            let _ = url.set_password(self.url.password());
        } else {
            headers = HeaderMap::new();
            for name in HARMLESS {
                headers.extend(
                    self.headers
                        .get_all(&name)
                        .iter()
                        .map(|value| (name.clone(), value.clone())),
                );
            }
        }
        headers.remove(header::CONTENT_TYPE);
        Self {
            method,
            url,
            headers,
            body: None,
        }
    }
}

/// What another origin may know.
const HARMLESS: [HeaderName; 3] = [header::ACCEPT, header::ACCEPT_LANGUAGE, header::USER_AGENT];

/// The URL as it may be printed: without credentials, and without the fragment, which is never
/// sent.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Both fail only for URLs without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::super::template::Template;
    #[test]
    fn a_page_elsewhere_gets_no_credentials() {
        let line =
            r#"{"url":"http://me:pw@a.example/","headers":{"X-Key":"k","Accept":"text/plain"}}"#;
        let request = Template::default().request(line).unwrap();
        let same = request.page("http://a.example/2".parse().unwrap());
        assert_eq!(
            (same.url.as_str(), &same.headers["x-key"]),
            ("http://me:pw@a.example/2", &"k".parse().unwrap())
        );
        for elsewhere in [
            "https://a.example/2",
            "http://a.example:81/2",
            "http://b.example/2",
        ] {
            let page = request.page(elsewhere.parse().unwrap());
            assert_eq!(page.url.as_str(), elsewhere);
            assert_eq!(page.headers.keys().collect::<Vec<_>>(), ["accept"]);
        }
    }
}
