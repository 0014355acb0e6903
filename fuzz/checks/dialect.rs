//! Whatever stands in a dialect, it is a dialect or a list of errors; and whatever a dialect says, what it makes of a
//! response has bounds.
//!
//! An input is a configuration with dialects, perhaps followed by a line of three hyphens and a response as `head` reads
//! them.

use core::str::FromStr;

use paceline::config::Config;
use paceline::response::dialect::Place;

use crate::head::Head;

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (text, response) = text.split_once("\n---\n").unwrap_or((text, RESPONSE));
    for line in text.lines() {
        let place = line.split_once('"').map_or(line, |(_, value)| value);
        is_written_as_read(place.split('"').next().unwrap_or(place));
    }
    match Config::parse(text, "paceline.toml") {
        Ok(config) => {
            for own in config.dialects.values() {
                for response in [response, RESPONSE] {
                    if let Some(response) = Head::parse(response.as_bytes()) {
                        response.check_bounds(&own.dialect);
                    }
                }
            }
        }
        Err(errors) => assert!(errors.to_string().contains("paceline.toml")),
    }
}

/// What a place is written as is the same place.
fn is_written_as_read(text: &str) {
    if let Ok(place) = text.parse::<Place>() {
        let written = place.to_string();
        assert_eq!(
            Place::from_str(&written).as_ref(),
            Ok(&place),
            "{text:?} is {written:?}"
        );
    }
}

/// A refusal with something of everything that dialects look at.
const RESPONSE: &str = r#"429 1746136878 0
date: Thu, 01 May 2025 22:01:18 GMT
retry-after: 7
x-shop-limit: 39/40
x-shop-left: 0, 12;w=60
x-shop-reset: 1746136938
x-shop: total=100; remaining=0; resets=41
x-shop-json: {"a": [{"left": 0, "reset": "5s"}], "b": "1:2"}

{"error": {"code": "throttled", "message": "Slow down", "retry": 2.5}, "cost": {"requested": 101, "actual": 46},
"status": {"limit": 2000, "left": 8, "rate": 100}, "errors": [{"code": "MAX", "wait": "3"}, {"code": 7, "wait": null}]}"#;
