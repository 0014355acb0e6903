//! Bodies that the upstream's dialect understands.

use paceline::Verdict;
use paceline::response::dialect::{Dialect, Effect, Test, When};

use super::*;

/// Refuses with status 200 and a word in the body.
fn hides_refusals() -> Dialect {
    let mut dialect = Dialect::default();
    dialect.when.push(When {
        statuses: vec![200],
        at: Some("body: error".parse().unwrap()),
        test: Test::Is(vec!["ratelimited".into()]),
        then: Effect {
            class: Some(Verdict::RateLimited),
            ..Effect::default()
        },
    });
    dialect
}

fn pace() -> Pace {
    Pace::builder("t")
        .limit("1/d burst 100".parse().unwrap())
        .policy(quick())
        .dialect(hides_refusals())
        .build()
}

fn json(body: &str) -> Say {
    let say = say(200).header("content-type", "application/json");
    say.body(body.to_owned())
}

#[tokio::test]
async fn a_refusal_in_a_body_is_sent_again_and_the_answer_comes_back_whole() {
    let script = [json(r#"{"error":"ratelimited"}"#), json(r#"{"ok":true}"#)];
    let (pace, upstream) = (pace(), Upstream::start(script).await);
    let response = paced(pace.clone())
        .get(upstream.url("/"))
        .send()
        .await
        .unwrap();
    let outcome = seen(&response);
    assert_eq!((outcome.attempts, outcome.refused), (2, 1));
    assert_eq!(response.text().await.unwrap(), r#"{"ok":true}"#);
    assert_eq!((spent(&pace), in_flight(&pace)), (2, 0));
}

#[tokio::test]
async fn a_long_body_comes_back_whole_and_is_in_flight_until_its_end() {
    let long = format!(r#"{{"items":"{}"}}"#, "x".repeat(1 << 20));
    let (pace, upstream) = (pace(), Upstream::start([json(&long)]).await);
    let response = paced(pace.clone())
        .get(upstream.url("/"))
        .send()
        .await
        .unwrap();
    assert_eq!(in_flight(&pace), 1);
    assert_eq!(response.text().await.unwrap(), long);
    assert_eq!(in_flight(&pace), 0);
}
