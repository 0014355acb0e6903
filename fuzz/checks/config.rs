//! Whatever stands in `paceline.toml`, it is a configuration or a list of errors.

use paceline::config::Config;

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match Config::parse(text, "paceline.toml") {
        Ok(config) => {
            let _ = config.upstream_of("api.example.com", 443);
        }
        Err(errors) => assert!(errors.to_string().contains("paceline.toml")),
    }
}
