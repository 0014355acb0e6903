//! Records that were written once and must be read by every later version: `records/format-1.hex`, a section a line.
//!
//! It is never written again. A later format, or a part that this one has not, gets a file beside it.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use paceline_engine::{
    Attempts, Cost, Engine, GateSet, Joined, Observation, Owner, Priority, Reason, Sent, Timestamp,
    Unit, Verdict, Want, Window,
};

type Record = BTreeMap<u32, Vec<u8>>;

const FORMAT_1: &str = include_str!("records/format-1.hex");

fn at(millis: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(millis)
}

fn record(text: &str) -> Record {
    let lines = text
        .lines()
        .map(|line| line.split_once(' ').expect("a number and bytes"));
    let section = |(section, hex): (&str, &str)| {
        let digits = hex.as_bytes().chunks(2);
        let byte = |digits| {
            let digits = str::from_utf8(digits).expect("ASCII");
            u8::from_str_radix(digits, 16).expect("a byte")
        };
        (
            section.parse().expect("a number"),
            digits.map(byte).collect(),
        )
    };
    lines.map(section).collect()
}

/// A program that starts: a gate with limits, and one without.
fn engine(owner: u64) -> Engine {
    let mut engine = Engine::new(1000, owner);
    let limits = ["10/s burst 5", "100/m", "1000 tokens/m", "30 in flight"];
    let limits = limits.map(|text| text.parse().expect("a limit"));
    engine.add_gate(at(0), "api", limits.to_vec());
    engine.add_gate(at(0), "search", Vec::new());
    engine.share(Owner::new(NonZeroU64::new(owner).expect("not zero")));
    engine
}

#[test]
fn a_record_of_format_1_is_read() {
    let record = record(FORMAT_1);
    let mut engine = engine(9);
    assert_eq!(engine.load(&record), Ok(true));
    let now = engine.latest();
    assert_eq!(now, at(12_600));

    let all = engine.snapshot(now);
    assert_eq!((all.gates.len(), all.waiting), (2, 2));
    let [api, search] = &all.gates[..] else {
        panic!("{all:?}");
    };
    assert_eq!((&*api.name, api.in_flight), ("api", 5));
    let available: Vec<_> = api.limits.iter().map(|own| own.available).collect();
    assert_eq!(available, [0, 95, 500, 25]);
    assert_eq!(api.reason, Some(Reason::Limit));

    assert_eq!((&*search.name, search.in_flight), ("search", 0));
    assert_eq!(search.belief.refusals, 2);
    assert!(search.belief.interval.is_some());
    assert_eq!(search.asked, Some(Duration::from_secs(20)));
    assert_eq!(search.windows.len(), 1);
    assert_eq!(search.windows[0].remaining, 7);

    // Whoever wrote it is gone: its requests are over, its places free, its limits stay with us.
    engine.enroll(now).finish();
    engine.gone(now, Owner::new(NonZeroU64::MIN)).for_each(drop);
    let all = engine.snapshot(now);
    assert_eq!((all.gates[0].in_flight, all.waiting), (0, 0));
    let mut record = record;
    engine.save(now, 1, &mut record);
    let mut third = self::engine(11);
    assert_eq!(third.load(&record), Ok(true));
    assert_eq!(third.snapshot(now).gates, all.gates);
    assert_eq!(all.gates[0].limits.len(), 4);
    assert_eq!(third.owners(), engine.owners());
}

/// How it was written.
#[test]
#[ignore = "it would be another record of the same format: for a file beside it"]
#[expect(clippy::disallowed_methods, reason = "a file is written, by hand")]
fn write_a_record() {
    let mut lines = String::new();
    for (section, bytes) in written() {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        lines += &format!("{section} {hex}\n");
    }
    std::fs::write("tests/records/new.hex", lines).expect("a file");
}

#[test]
fn a_record_that_is_written_now_is_read() {
    let mut engine = engine(9);
    assert_eq!(engine.load(&written()), Ok(true));
    assert_eq!(engine.snapshot(engine.latest()).waiting, 2);
}

fn written() -> Record {
    let mut engine = engine(1);
    engine.enroll(at(0)).finish();
    let search = Want::new(GateSet::one(1));
    for n in 0..40 {
        let sent = send(&mut engine, at(300 * n), &search);
        answer(
            &mut engine,
            at(300 * n + 100),
            sent,
            &Observation::status(Verdict::Ok, 200),
        );
    }
    let mut refused = Observation::status(Verdict::RateLimited, 429);
    let sent = send(&mut engine, at(12_000), &search);
    answer(&mut engine, at(12_100), sent, &refused);
    let sent = send(&mut engine, at(12_500), &search);
    refused.wait = Some(Duration::from_secs(20));
    let mut window = Window::unknown();
    window.unit = Unit::Other("points".into());
    (window.remaining, window.reset) = (Some(7), Some(Duration::from_secs(30)));
    refused.windows.push(window);
    answer(&mut engine, at(12_600), sent, &refused);

    let api = Want::new(GateSet::one(0)).cost(Cost::tokens(100));
    for _ in 0..5 {
        send(&mut engine, at(12_600), &api);
    }
    for priority in [Priority::Normal, Priority::Interactive] {
        let want = api.clone().priority(priority).deadline(at(60_000));
        let joined = engine.join(at(12_600), &want, None, &Attempts::default(), at(0));
        assert!(matches!(joined, Joined::Waiting(..)));
    }
    let mut record = Record::new();
    engine.save(at(12_600), 1, &mut record);
    record
}

fn send(engine: &mut Engine, now: Timestamp, want: &Want) -> Sent {
    match engine.join(now, want, None, &Attempts::default(), now) {
        Joined::Admitted(sent) => sent,
        _ => panic!("it is not open at {now:?}"),
    }
}

fn answer(engine: &mut Engine, now: Timestamp, mut sent: Sent, seen: &Observation) {
    engine.settle(now, &mut sent, seen).for_each(drop);
    engine.finish(now, sent).for_each(drop);
}
