//! What a provider's quotas go by, and so which gate a request is found.

use http::Method;
use paceline_engine::{FindGates, GatesBy, RouteKey};

use super::path::names_an_object;
use crate::partition::PartitionKeyer;
use crate::upstream::RouteMatch;

/// What a provider's quotas go by where it has many: gates are found for them while requests are under way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gates {
    /// Whether routes, buckets that responses name, or objects have a quota each.
    pub by: GatesBy,
    /// Segments of paths that are followed by an object with quotas of its own: `channels` in `/channels/123/messages`.
    /// The first one in a path counts.
    pub resources: Vec<Box<str>>,
    /// Requests whose route is not told by their path alone; the first that matches counts.
    pub routes: Vec<KnownRoute>,
}

/// What is known about some requests before any response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownRoute {
    /// Which requests.
    pub matcher: RouteMatch,
    /// The bucket that they are in, unless a response says otherwise. Without one, they are one route.
    pub bucket: Option<Box<str>>,
}

/// By what the gate of a request is found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GateShape<'a> {
    /// The method and the path, `*` for objects in it; or the pattern that joins several. None where objects alone count.
    pub route: Option<String>,
    /// The object with quotas of its own, after the segment that says what it is.
    pub object: Option<(&'a str, &'a str)>,
}

impl Gates {
    /// Quotas that go by this, with nothing known.
    pub const fn new(by: GatesBy) -> Self {
        Self {
            by,
            resources: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// The same for the engine.
    pub(crate) fn find(&self, cold_start: Option<u64>) -> FindGates {
        let known = self.routes.iter();
        FindGates {
            by: self.by,
            cold_start,
            known: known
                .map(|route| route.bucket.clone().unwrap_or_default())
                .collect(),
        }
    }

    /// The route of a request; `path` is what is sent, without the query.
    pub(crate) fn route(&self, keyer: &PartitionKeyer, method: &Method, path: &str) -> RouteKey {
        let matches = |route: &KnownRoute| route.matcher.matches(method, path);
        let known = self.routes.iter().position(matches);
        let bucket = known.filter(|index| self.routes[*index].bucket.is_some());
        let path_key = match (self.by, known) {
            (GatesBy::Resource, _) => 0,
            (_, Some(index)) if bucket.is_none() => {
                keyer.number([&b"route"[..], &index.to_le_bytes()])
            }
            _ => {
                let of_method = core::iter::once(method.as_str().as_bytes());
                keyer.number(of_method.chain(plain(path)))
            }
        };
        RouteKey {
            path: path_key,
            resource: self
                .resource(path)
                .map(|(resource, object)| keyer.number([resource.as_bytes(), object.as_bytes()])),
            known: bucket.and_then(|index| u16::try_from(index).ok()),
        }
    }

    /// The same in words: requests of which this is the same share a gate, unless a response names their buckets.
    pub fn shape<'a>(&'a self, method: &Method, path: &'a str) -> GateShape<'a> {
        let known = self
            .routes
            .iter()
            .find(|route| route.matcher.matches(method, path));
        let route = match (self.by, known) {
            (GatesBy::Resource, _) => None,
            (
                _,
                Some(KnownRoute {
                    matcher,
                    bucket: None,
                }),
            ) => Some(matcher.to_string()),
            _ => {
                let segments = plain(path).map(String::from_utf8_lossy);
                let segments: Vec<_> = segments.collect();
                Some(format!("{method} {}", segments.join("/")))
            }
        };
        GateShape {
            route,
            object: self.resource(path),
        }
    }

    fn resource<'a>(&'a self, path: &'a str) -> Option<(&'a str, &'a str)> {
        let mut segments = path.split('/');
        let resource = segments.find(|own| self.resources.iter().any(|known| **known == **own))?;
        let object = segments.next().filter(|object| !object.is_empty())?;
        Some((resource, object))
    }
}

/// A path's segments, objects without their names.
fn plain(path: &str) -> impl Iterator<Item = &[u8]> {
    path.split('/')
        .map(|segment| match names_an_object(segment) {
            true => b"*",
            false => segment.as_bytes(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(gates: &Gates, requests: &[(&Method, &str)]) -> Vec<RouteKey> {
        let keyer = PartitionKeyer::random();
        let key = |(method, path): &(&Method, &str)| gates.route(&keyer, method, path);
        requests.iter().map(key).collect()
    }

    #[test]
    fn a_route_is_a_method_and_a_path_without_its_objects() {
        let gates = Gates::new(GatesBy::Endpoint);
        let keys = keys(
            &gates,
            &[
                (&Method::GET, "/users/123/posts"),
                (&Method::GET, "/users/456/posts"),
                (&Method::POST, "/users/123/posts"),
                (&Method::GET, "/users/123"),
                (&Method::GET, "/users/123/"),
            ],
        );
        assert_eq!(keys[0], keys[1]);
        for other in &keys[2..] {
            assert_ne!(keys[0], *other);
        }
        assert_ne!(keys[3], keys[4]);
        assert_eq!((keys[0].resource, keys[0].known), (None, None));
    }

    #[test]
    fn the_shape_of_a_request_says_what_its_route_goes_by() {
        let mut gates = Gates::new(GatesBy::Bucket);
        gates.resources = vec!["channels".into()];
        gates.routes = vec![KnownRoute {
            matcher: "* /files/**".parse().unwrap(),
            bucket: None,
        }];
        let shape = |path| {
            let shape = gates.shape(&Method::GET, path);
            (shape.route.unwrap(), shape.object)
        };
        assert_eq!(
            shape("/api/channels/7/messages/8"),
            (
                "GET /api/channels/*/messages/*".into(),
                Some(("channels", "7"))
            )
        );
        assert_eq!(shape("/files/a"), ("* /files/**".into(), None));
        let mut objects = Gates::new(GatesBy::Resource);
        objects.resources = vec!["v0".into()];
        let shape = objects.shape(&Method::GET, "/v0/app1/Tasks");
        assert_eq!((shape.route, shape.object), (None, Some(("v0", "app1"))));
    }

    #[test]
    fn the_first_object_with_quotas_of_its_own_is_kept() {
        let mut gates = Gates::new(GatesBy::Bucket);
        gates.resources = vec!["channels".into(), "guilds".into()];
        let get = |path| (&Method::GET, path);
        let keys = keys(
            &gates,
            &[
                get("/api/channels/1/messages/7"),
                get("/api/channels/1/messages/8"),
                get("/api/channels/2/messages/7"),
                get("/api/guilds/1/channels"),
                get("/api/users/@me"),
                get("/api/channels/"),
            ],
        );
        assert_eq!(keys[0], keys[1]);
        assert_eq!(keys[0].path, keys[2].path);
        assert_ne!(keys[0].resource, keys[2].resource);
        assert!(keys[3].resource.is_some() && keys[3].resource != keys[0].resource);
        assert_eq!((keys[4].resource, keys[5].resource), (None, None));
    }

    #[test]
    fn where_objects_alone_count_all_that_is_done_with_one_is_one_route() {
        let mut gates = Gates::new(GatesBy::Resource);
        gates.resources = vec!["v0".into()];
        let keys = keys(
            &gates,
            &[
                (&Method::GET, "/v0/app1/Tasks"),
                (&Method::PATCH, "/v0/app1/People/rec1"),
                (&Method::GET, "/v0/app2/Tasks"),
            ],
        );
        assert_eq!(keys[0], keys[1]);
        assert_ne!(keys[0], keys[2]);
    }

    #[test]
    fn a_bucket_that_is_known_leaves_routes_apart_and_a_pattern_alone_joins_them() {
        let known = |matcher: &str, bucket: Option<&str>| KnownRoute {
            matcher: matcher.parse().unwrap(),
            bucket: bucket.map(Into::into),
        };
        let mut gates = Gates::new(GatesBy::Bucket);
        gates.routes = vec![
            known("* /files/**", None),
            known("* /search/**", Some("search")),
            known("* /**", Some("core")),
        ];
        let keys = keys(
            &gates,
            &[
                (&Method::GET, "/files/a.txt"),
                (&Method::PUT, "/files/b/c.txt"),
                (&Method::GET, "/search/code"),
                (&Method::GET, "/repos/a/b"),
                (&Method::GET, "/repos/a/c"),
            ],
        );
        assert_eq!(keys[0], keys[1]);
        let known: Vec<_> = keys.iter().map(|key| key.known).collect();
        assert_eq!(known, [None, None, Some(1), Some(2), Some(2)]);
        assert_ne!(keys[3].path, keys[4].path);
        let names = gates.find(None).known;
        assert_eq!((&*names[1], &*names[2]), ("search", "core"));
    }
}
