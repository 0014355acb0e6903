//! Who shares a quota: what tells one caller of an upstream from another.

use core::fmt;
use core::str::FromStr;

use http::HeaderName;

use super::text::{TextError, quote};

/// What errors and help texts say that a partition looks like.
pub(crate) const FORM: &str =
    "header:NAME, query:NAME or none (everybody shares), such as header:authorization";

/// A part of the request that tells who spends the quota. Its value is hashed, never stored or
/// logged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PartitionKey {
    /// The value of this header; requests without it share.
    Header(HeaderName),
    /// The value of this query parameter, by its name as it is sent; requests without it share.
    Query(String),
    /// Nothing: everybody shares. Stands alone.
    None,
}

impl FromStr for PartitionKey {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let wrong = |what: &str, expected: &str| {
            TextError::new(
                format!("{} is not a partition: {what}", quote(text)),
                expected,
            )
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None => Err(wrong("it is none of the three forms", FORM)),
            Some(("header", name)) => match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) => Ok(Self::Header(name)),
                Err(_) => Err(wrong(
                    &format!("{} is not a header name", quote(name)),
                    "a header name, such as header:authorization",
                )),
            },
            Some(("query", name)) => {
                let sent = |b: u8| b.is_ascii_graphic() && !matches!(b, b'&' | b'=' | b'#');
                match !name.is_empty() && name.bytes().all(sent) {
                    true => Ok(Self::Query(name.into())),
                    false => Err(wrong(
                        &format!("{} is not a parameter's name as it is sent", quote(name)),
                        "a query parameter's name, such as query:api_key",
                    )),
                }
            }
            Some((kind, _)) => Err(wrong(
                &format!("{} is neither header nor query", quote(kind)),
                FORM,
            )),
        }
    }
}

impl fmt::Display for PartitionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Query(name) => write!(f, "query:{name}"),
            Self::None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_printed() {
        for (text, canonical) in [
            ("header:Authorization", "header:authorization"),
            ("query:api_key", "query:api_key"),
            ("query:a:b", "query:a:b"),
            ("none", "none"),
        ] {
            let key: PartitionKey = text.parse().expect(text);
            assert_eq!(key.to_string(), canonical);
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_would_be_right() {
        const HEADER: &str = "a header name, such as header:authorization";
        const QUERY: &str = "a query parameter's name, such as query:api_key";
        for (text, wrong, expected) in [
            ("", "it is none of the three forms", FORM),
            ("authorization", "it is none of the three forms", FORM),
            ("None", "it is none of the three forms", FORM),
            ("cookie:a", "\"cookie\" is neither header nor query", FORM),
            ("header:", "\"\" is not a header name", HEADER),
            ("header:x y", "\"x y\" is not a header name", HEADER),
            ("header:ä", "\"ä\" is not a header name", HEADER),
            (
                "query:",
                "\"\" is not a parameter's name as it is sent",
                QUERY,
            ),
            (
                "query:a=b",
                "\"a=b\" is not a parameter's name as it is sent",
                QUERY,
            ),
        ] {
            let error = text.parse::<PartitionKey>().expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("{text:?} is not a partition: {wrong}; expected {expected}")
            );
        }
    }
}
