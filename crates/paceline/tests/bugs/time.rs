//! Instants that servers name, and clocks that do not agree about them.

use paceline::Reason;

use crate::lab::secs;
use crate::scene::{NOW, NOW_TEXT, Wall, gaps, keeps, says};

/// docker/hub-feedback#2459, openclaw/clawhub#409
#[tokio::test(start_paused = true)]
async fn a_timestamp_in_retry_after_is_not_a_wait_of_55_years() {
    for (later, millis) in [(60, ""), (60, "000"), (5, ""), (3600, ""), (86_400, "")] {
        let instant = format!("{}{millis}", NOW + later);
        let fields = [
            ("retry-after", &*instant),
            ("x-ratelimit-reset", &*instant),
            ("x-ratelimit-remaining", "0"),
        ];
        for fields in [&fields[..1], &fields[..2], &fields] {
            let lab = Wall::at(NOW).lab(says(1, 429, fields));
            assert!(lab.get("/").await.ok(), "{instant}");
            let gap = gaps(&lab)[0];
            assert!(keeps(gap, later as f64), "{instant}: {gap:?}");
        }
    }
    // An instant that is past is no usable hint, and one that is no instant near now is a long wait.
    let past = (NOW - 60).to_string();
    let lab = Wall::at(NOW).lab(says(1, 429, &[("retry-after", &past)]));
    assert!(lab.get("/").await.ok());
    assert!(gaps(&lab)[0] >= secs(0.01) && gaps(&lab)[0] < secs(1.0));
    let lab = Wall::at(NOW).lab(says(1, 429, &[("retry-after", "1234567890")]));
    let report = lab.get_within("/", secs(3600.0)).await;
    assert_eq!(report.outcome.stopped, Some(Reason::Deadline));
    assert_eq!(report.outcome.asked, Some(secs(1_234_567_890.0)));
    assert_eq!(lab.sent(), 1);
}

/// python-twitter-tools/twitter#324, bear/python-twitter#359, serenity-rs/serenity#698, discord/discord-api-docs#1069
#[tokio::test(start_paused = true)]
async fn a_local_clock_that_is_wrong_neither_shortens_nor_lengthens_the_wait() {
    let (epoch, date) = ((NOW + 60).to_string(), "Thu, 01 May 2025 22:02:18 GMT");
    let clocks = [NOW, NOW + 3600, NOW - 3600, NOW + 59, NOW + 400 * 86_400, 0];
    for local in clocks {
        for said in [
            &[
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", &*epoch),
            ][..],
            &[("x-ratelimit-reset", &epoch)],
            &[("retry-after", date)],
            &[("retry-after", &epoch)],
        ] {
            let fields: Vec<_> = said.iter().copied().chain([("date", NOW_TEXT)]).collect();
            let lab = Wall::at(local).lab(says(1, 429, &fields));
            assert!(lab.get("/").await.ok(), "{local}: {said:?}");
            let gap = gaps(&lab)[0];
            assert!(keeps(gap, 60.0), "{local}: {said:?}: {gap:?}");
        }
    }
}

/// discord/discord-api-docs#1069
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_during_the_wait_does_not_end_it() {
    let fields = [("retry-after", "Thu, 01 May 2025 22:02:18 GMT")];
    for later in [NOW + 3600, NOW - 3600, 0] {
        let wall = Wall::at(NOW);
        let lab = wall.lab(says(1, 429, &fields));
        let asking = tokio::spawn({
            let lab = lab.clone();
            async move { lab.get("/").await }
        });
        tokio::time::sleep(secs(10.0)).await;
        wall.set(later);
        assert!(asking.await.unwrap().ok());
        assert!(keeps(gaps(&lab)[0], 60.0), "{later}: {:?}", gaps(&lab));
    }
}
