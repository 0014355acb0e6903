//! Gates that are found from responses, over real HTTP.

use paceline::GatesBy;
use paceline::dialect::Gates;
use paceline::response::dialect::Dialect;

use super::*;

/// Buckets are named in responses; each channel has its own.
fn pace() -> Pace {
    let dialect = Dialect {
        bucket: Some("x-ratelimit-bucket".parse().unwrap()),
        ..Dialect::default()
    };
    let mut gates = Gates::new(GatesBy::Bucket);
    gates.resources = vec!["channels".into()];
    Pace::builder("t")
        .dialect(dialect)
        .find_gates(gates)
        .build()
}

fn left(remaining: u64, reset: &str) -> Say {
    say(200)
        .header("x-ratelimit-limit", 5)
        .header("x-ratelimit-remaining", remaining)
        .header("x-ratelimit-reset-after", reset)
        .header("x-ratelimit-bucket", "messages")
}

/// One channel's window is spent, for all that is done in it; another channel's is not.
#[tokio::test]
async fn a_bucket_that_is_spent_holds_its_channel_and_no_other() {
    let (pace, upstream) = (
        pace(),
        Upstream::start([left(0, "1.5"), left(4, "1.5"), left(4, "5"), left(3, "5")]).await,
    );
    let client = paced(pace.clone());
    let get = async |path: &str| {
        let response = client.get(upstream.url(path)).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), "status 200");
    };
    get("/channels/1000/messages").await;
    let spent = Instant::now();
    let (held, free) = tokio::join!(
        async {
            get("/channels/1000/messages").await;
            spent.elapsed()
        },
        async {
            get("/channels/2000/messages").await;
            spent.elapsed()
        }
    );
    assert!(free < Duration::from_millis(1400), "{free:?}");
    assert!(held >= Duration::from_millis(1450), "{held:?}");
    get("/channels/2000/messages/7").await;
    let names: Vec<_> = pace
        .snapshot()
        .gates
        .into_iter()
        .map(|gate| gate.name)
        .collect();
    let names: Vec<_> = names.iter().map(|name| &**name).collect();
    assert_eq!(names, ["t", "t messages #1", "t messages #2"]);
    assert_eq!(in_flight(&pace), 0);
}
