//! What is read of dialects that are right.

use super::*;

#[test]
fn statuses_that_refuse_by_themselves_or_by_a_rule_are_fine() {
    for text in [
        "statuses = [403, 418, 420, 429, 500, 503, 529]",
        "statuses = [477]\nwhen = [{ status = [477], class = 'overloaded' }]",
        "statuses = [200]\nwhen = [{ at = 'body: e', is = ['slow'], class = 'rate_limited' }]",
        "statuses = [200]\nalso = ['slack']",
    ] {
        let text = format!("[dialect.a]\n{text}");
        let config = Config::parse(&text, "own.toml");
        assert!(config.is_ok(), "{text}: {config:?}");
    }
}
