//! The site: a tree of pages behind a limit, on loopback.

use std::io;

use http::{Response, StatusCode};
use paceline::testing::{LimitedServer, LimitedService};

use super::rate::Rate;

/// Where a walk begins.
pub(super) const ROOT: &str = "/pages/0";

/// Links on a page.
const CHILDREN: u32 = 4;

/// Opens a site of `pages` pages on a free port. Page `n` answers with the paths of those below it,
/// one a line.
pub(super) async fn open(rate: &Rate, pages: u32) -> io::Result<LimitedServer> {
    let service = LimitedService::new(rate.server())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let service = service.handler(move |request| match page(request.uri.path(), pages) {
        Some(text) => Response::new(text.into()),
        None => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    });
    LimitedServer::serve(service).await
}

fn page(path: &str, pages: u32) -> Option<String> {
    let number: u32 = path.strip_prefix("/pages/")?.parse().ok()?;
    let first = number.checked_mul(CHILDREN)?.checked_add(1)?;
    let links = first..first.saturating_add(CHILDREN).min(pages);
    (number < pages).then(|| links.map(|link| format!("/pages/{link}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_but_the_root_is_linked_once() {
        for pages in [1, 2, 5, 6, 40] {
            let texts = (0..pages).map(|n| page(&format!("/pages/{n}"), pages).expect("a page"));
            let mut links: Vec<_> = texts
                .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
                .collect();
            links.push(ROOT.into());
            links.sort_unstable();
            let mut all: Vec<_> = (0..pages).map(|n| format!("/pages/{n}")).collect();
            all.sort_unstable();
            assert_eq!(links, all);
        }
        assert_eq!(page("/pages/40", 40), None);
        assert_eq!(page("/pages/4294967295", 40), None);
    }
}
