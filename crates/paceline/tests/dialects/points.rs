//! Points that come back steadily: what a query costs, what is left and how fast it comes back stand in every body.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use http::Response;
use paceline::{Cost, RequestOptions};
use tokio::time::Instant;

use crate::lab::{Body, Lab, answer};

/// A bucket of 1,000 points, 50 back in every second, as Shopify describes its own.
struct Points {
    left: f64,
    at: Instant,
    refused: usize,
}

const HOLDS: f64 = 1000.0;
const BACK_PER_S: f64 = 50.0;

impl Points {
    fn full() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            left: HOLDS,
            at: Instant::now(),
            refused: 0,
        }))
    }

    fn query(&mut self, cost: f64) -> Response<Body> {
        let now = Instant::now();
        let back = (now - self.at).as_secs_f64() * BACK_PER_S;
        (self.left, self.at) = ((self.left + back).min(HOLDS), now);
        let enough = cost <= self.left;
        if enough {
            self.left -= cost;
        } else {
            self.refused += 1;
        }
        let errors = match enough {
            true => "",
            false => r#""errors":[{"extensions":{"code":"THROTTLED"}}],"#,
        };
        let left = self.left.floor();
        let status = format!(
            r#""maximumAvailable":{HOLDS},"currentlyAvailable":{left},"restoreRate":{BACK_PER_S}"#
        );
        let cost = format!(r#""requestedQueryCost":{cost},"throttleStatus":{{{status}}}"#);
        let body = format!(r#"{{{errors}"extensions":{{"cost":{{{cost}}}}}}}"#);
        answer(200, &[("content-type", "application/json")], &body)
    }
}

fn options() -> RequestOptions {
    RequestOptions::new().total(Duration::from_secs(3600))
}

/// `queries` of 100 points each, eight at once, and how long they took.
async fn ask(points: &Arc<Mutex<Points>>, queries: usize, options: RequestOptions) -> Duration {
    let server = Arc::clone(points);
    let lab = Lab::new("shopify-graphql", move |_, _| {
        server.lock().expect("nobody panicked").query(100.0)
    });
    let began = Instant::now();
    let one = |_| async {
        let got = lab.ask("/graphql.json", options.clone()).await;
        assert!(!got.body.contains("THROTTLED"), "{got:?}");
    };
    stream::iter(0..queries).for_each_concurrent(8, one).await;
    began.elapsed()
}

/// 6,000 points, of which 1,000 are there: 100 s and one way there and back.
#[tokio::test(start_paused = true)]
async fn points_that_a_query_names_are_spent_as_they_come_back_without_a_refusal() {
    let points = Points::full();
    let cost = Cost::default().and("points", 100);
    let elapsed = ask(&points, 60, options().cost(cost)).await;
    assert_eq!(points.lock().expect("nobody panicked").refused, 0);
    let elapsed = elapsed.as_secs_f64();
    assert!((100.0..=103.0).contains(&elapsed), "{elapsed}");
}

/// The first answer tells what a query is taken for; whoever names nothing waits for as much.
#[tokio::test(start_paused = true)]
async fn points_that_nobody_names_are_spent_as_they_come_back_without_a_refusal() {
    let points = Points::full();
    let elapsed = ask(&points, 60, options()).await;
    assert_eq!(points.lock().expect("nobody panicked").refused, 0);
    let elapsed = elapsed.as_secs_f64();
    assert!((100.0..=103.0).contains(&elapsed), "{elapsed}");
}
