//! Whatever stands in a scenario, as TOML, JSON or JSON Lines, it is a scenario or an error.

use paceline_sim::{Scenario, ScenarioError};

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    says_why(&Scenario::from_toml(text));
    says_why(&Scenario::from_json(text));
    for (_, read) in Scenario::from_json_lines(text) {
        says_why(&read);
    }
}

fn says_why(read: &Result<Scenario, ScenarioError>) {
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}
