//! Gates that are found from responses: which route a request takes, and what its upstream's quotas go by.

use minicbor::{Decode, Encode};

/// The route of a request, as far as an upstream's quotas may tell routes apart: hashes, so that nothing of a path is kept.
///
/// Requests of one route share a gate, until a response names the bucket that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[allow(
    clippy::exhaustive_structs,
    reason = "made by whoever sees the request; a further part would be a further kind of quota"
)]
pub struct RouteKey {
    /// Method and path without what names an object.
    #[n(0)]
    pub path: u64,
    /// The object whose own quota it is; `None` where objects share quotas.
    #[n(1)]
    pub resource: Option<u64>,
    /// The bucket that it is taken to be in until a response says otherwise, by its place in [`FindGates::known`].
    #[n(2)]
    pub known: Option<u16>,
}

/// What an upstream's quotas go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GatesBy {
    /// Each route has its own.
    Endpoint,
    /// Responses name them; several routes may share one.
    Bucket,
    /// Each object has its own, whatever is done with it.
    Resource,
}

impl GatesBy {
    /// All of them, for whoever reads the word.
    pub const ALL: [Self; 3] = [Self::Endpoint, Self::Bucket, Self::Resource];

    /// The word used in dialects.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Bucket => "bucket",
            Self::Resource => "resource",
        }
    }
}

/// How a pace line finds gates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "plain settings, made by whoever reads a dialect"
)]
pub struct FindGates {
    /// What quotas go by.
    pub by: GatesBy,
    /// The most under way at a gate that was just found, before the first request has been served. Where responses name
    /// buckets, one that nothing names goes alone.
    pub cold_start: Option<u64>,
    /// Names of buckets that are known before any response.
    pub known: Vec<Box<str>>,
}
