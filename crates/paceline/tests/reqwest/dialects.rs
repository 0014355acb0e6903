//! Bodies that the upstream's dialect understands.

use paceline::response::dialect::{CostRule, Dialect, Effect, Test, When};
use paceline::{Cost, Unit, Verdict};

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

/// A prepaid permit that reserved 40, a redirect, a refusal that says what it would cost, and an answer.
#[tokio::test]
async fn what_an_answer_did_cost_is_charged_once_whatever_came_before() {
    let mut dialect = hides_refusals();
    let place = |place: &str| format!("body: cost.{place}").parse().unwrap();
    dialect.costs.push(CostRule {
        unit: Unit::Other("points".into()),
        requested: Some(place("requested")),
        actual: vec![place("actual")],
    });
    let pace = Pace::builder("t")
        .limit("1/d burst 100".parse().unwrap())
        .limit("1 points/d burst 100".parse().unwrap())
        .policy(quick())
        .dialect(dialect)
        .build();
    let script = [
        say(307).header("location", "/b"),
        json(r#"{"error":"ratelimited","cost":{"requested":50}}"#),
        json(r#"{"cost":{"requested":50,"actual":7}}"#),
    ];
    let upstream = Upstream::start(script).await;
    let permit = pace.acquire(&pace.want().cost(Cost::points(40))).await;
    let options = RequestOptions::new()
        .cost(Cost::points(30))
        .total(Duration::from_secs(20))
        .prepaid(Prepaid::new(permit.unwrap()));
    let get = paced(pace.clone()).get(upstream.url("/a"));
    let response = get.with_extension(options).send().await.unwrap();
    let outcome = seen(&response);
    assert_eq!(
        (outcome.attempts, outcome.redirects, outcome.refused),
        (2, 1, 1)
    );
    let points = || pace.snapshot().gates[0].limits[1].available;
    assert_eq!((spent(&pace), points()), (3, 93));
    let settle = response.extensions().get::<paceline::SettleCost>().cloned();
    settle.unwrap().points(99);
    assert!(response.text().await.unwrap().contains(r#""actual":7"#));
    assert_eq!((spent(&pace), points(), in_flight(&pace)), (3, 93, 0));
}

#[tokio::test]
async fn the_outcome_says_that_the_last_answer_refused_whatever_its_status() {
    let script = [
        json(r#"{"error":"ratelimited"}"#),
        json(r#"{"ok":true}"#),
        say(429),
    ];
    let upstream = Upstream::start(script).await;
    let client = paced(pace());
    let mut said = Vec::new();
    for _ in 0..3 {
        // A POST is not sent again.
        let response = client.post(upstream.url("/")).send().await.unwrap();
        let outcome = seen(&response);
        said.push((outcome.status, outcome.ends_refused));
    }
    assert_eq!(
        said,
        [(Some(200), true), (Some(200), false), (Some(429), true)]
    );
}

/// A page that says "too many requests" is where some send whomever they refuse.
#[tokio::test]
async fn a_redirect_that_refuses_is_not_followed() {
    let mut dialect = Dialect::default();
    dialect.when.push(When {
        statuses: vec![302],
        at: Some("location".parse().unwrap()),
        test: Test::Contains(vec!["/too-many".into()]),
        then: Effect {
            class: Some(Verdict::RateLimited),
            ..Effect::default()
        },
    });
    let pace = Pace::builder("t").policy(quick()).dialect(dialect).build();
    let script = [
        say(302).header("location", "/too-many"),
        say(302).header("location", "/elsewhere"),
        say(200),
    ];
    let upstream = Upstream::start(script).await;
    let client = paced(pace);
    let response = client.post(upstream.url("/a")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), seen(&response).redirects),
        (302, 0)
    );
    let response = client.post(upstream.url("/b")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), seen(&response).redirects),
        (200, 1)
    );
    assert_eq!(upstream.lines(), ["POST /a", "POST /b", "GET /elsewhere"]);
}
