//! Storms on real threads, and clients that behave badly: nobody waits for ever, nothing leaks.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use paceline::{Pace, PaceBuilder};
use tokio::runtime::Runtime;

/// Far more than any of this takes.
const FOR_EVER: Duration = Duration::from_secs(10);

fn threads(workers: usize) -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("a runtime")
}

fn pace(limits: &[&str]) -> Pace {
    let limit = |pace: PaceBuilder, limit: &&str| pace.limit_text(limit).expect("a limit");
    limits
        .iter()
        .fold(Pace::builder("storm").seed(1), limit)
        .build()
}

fn assert_nothing_is_left(pace: &Pace) {
    let snapshot = pace.snapshot();
    assert_eq!(snapshot.waiting, 0, "{snapshot:?}");
    assert_eq!(snapshot.gates[0].in_flight, 0, "{snapshot:?}");
}

/// What `work` comes to on a thread of its own, which must not take for ever.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(FOR_EVER).expect("stuck")
}

#[test]
fn a_storm_of_cancelled_waits_leaves_nobody_behind() {
    for limits in [
        &["3 in flight"][..],
        &["5000/s burst 5"],
        &["4 in flight", "8000/s burst 3"],
    ] {
        let pace = pace(limits);
        let storm = pace.clone();
        let served = in_time(move || {
            threads(8).block_on(async move {
                let served = Arc::new(AtomicUsize::new(0));
                let mut set = tokio::task::JoinSet::new();
                for number in 0..3000_u64 {
                    let (pace, served) = (storm.clone(), Arc::clone(&served));
                    set.spawn(async move {
                        let patience = Duration::from_micros(number * 7919 % 3000);
                        let acquire = pace.acquire(&pace.want());
                        let granted = tokio::select! {
                            granted = acquire => granted,
                            () = tokio::time::sleep(patience), if number % 3 != 0 => return,
                        };
                        let mut permit = granted.expect("nobody is refused");
                        if number % 2 == 0 {
                            permit.sending();
                        }
                        if number % 5 == 0 {
                            tokio::task::yield_now().await;
                        }
                        served.fetch_add(1, Ordering::Relaxed);
                        if number % 7 == 0 {
                            std::thread::spawn(move || drop(permit));
                        }
                    });
                }
                while set.join_next().await.is_some() {}
                served.load(Ordering::Relaxed)
            })
        });
        assert!(served >= 1000, "{served} of those who were patient");
        let began = Instant::now();
        while pace.snapshot().gates[0].in_flight > 0 && began.elapsed() < FOR_EVER {
            std::thread::yield_now();
        }
        assert_nothing_is_left(&pace);
    }
}

#[test]
fn threads_and_tasks_stand_in_one_line_and_a_runtime_may_end_before_it() {
    let pace = pace(&["2 in flight", "2000/s burst 2"]);
    let doomed = threads(2);
    for _ in 0..200 {
        let pace = pace.clone();
        doomed.spawn(async move {
            loop {
                let permit = pace.acquire(&pace.want()).await;
                tokio::task::yield_now().await;
                drop(permit);
            }
        });
    }
    let blocking = (0..8).map(|_| {
        let pace = pace.clone();
        std::thread::spawn(move || {
            for _ in 0..25 {
                let mut permit = pace.acquire_blocking(&pace.want()).expect("admitted");
                permit.sending();
            }
        })
    });
    let blocking: Vec<_> = blocking.collect();
    let storm = pace.clone();
    in_time(move || {
        let lasting = threads(2);
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let pace = storm.clone();
                lasting.spawn(async move { pace.acquire(&pace.want()).await.map(drop) })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        drop(doomed);
        for task in tasks {
            lasting.block_on(task).expect("no panic").expect("admitted");
        }
        blocking
            .into_iter()
            .for_each(|thread| thread.join().expect("no panic"));
    });
    assert_nothing_is_left(&pace);
}

/// Polls once.
async fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

#[tokio::test(start_paused = true)]
async fn who_never_looks_does_not_keep_the_time_for_others() {
    let pace = pace(&["10/s burst 1"]);
    drop(
        pace.acquire(&pace.want())
            .await
            .map(|mut permit| permit.sending()),
    );
    let unpolled = pace.acquire(&pace.want());
    let second = pace.acquire(&pace.want());
    let granted = tokio::time::timeout(FOR_EVER, second).await;
    drop(granted.expect("woken").expect("admitted"));
    drop(unpolled);
    assert_nothing_is_left(&pace);
}

#[tokio::test(start_paused = true)]
async fn who_stops_looking_does_not_keep_the_time_for_others() {
    let pace = pace(&["10/s burst 1"]);
    drop(
        pace.acquire(&pace.want())
            .await
            .map(|mut permit| permit.sending()),
    );
    let other = tokio::spawn({
        let pace = pace.clone();
        async move { pace.acquire(&pace.want()).await.map(drop) }
    });
    // The last one that was polled keeps the time; a task that is busy otherwise polls no more.
    let mut busy = pace.acquire(&pace.want());
    tokio::task::yield_now().await;
    assert!(once(&mut busy).await.is_pending());
    let mut busy_too = pace.acquire(&pace.want());
    assert!(once(&mut busy_too).await.is_pending());
    let began = tokio::time::Instant::now();
    let other = tokio::time::timeout(FOR_EVER, other).await.expect("woken");
    other.expect("no panic").expect("admitted");
    // It was third in line.
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}

/// The smallest of executors: a task lives as long as somebody holds a waker of it.
struct Task(#[expect(dead_code, reason = "it is only held")] Mutex<Option<Work>>);

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_that_holds_the_last_of_its_task_is_not_dropped_under_the_lock() {
    let pace = pace(&["1 in flight"]);
    in_time(move || {
        let want = pace.want();
        let _held = pace.acquire_blocking(&want).expect("admitted");
        let mut moved = pace.acquire(&want);
        // A task that has a place in line of its own, and looked at the other one once.
        let mut own = pace.acquire(&want);
        let task = Arc::new(Task(Mutex::new(Some(Box::pin(async move {
            let granted = poll_fn(|cx| Pin::new(&mut own).poll(cx)).await;
            drop(granted);
        })))));
        let waker = Waker::from(Arc::clone(&task));
        assert!(
            Pin::new(&mut moved)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop((waker, task));
        // Now its waker is all that is left of it.
        let other = Waker::noop();
        assert!(
            Pin::new(&mut moved)
                .poll(&mut Context::from_waker(other))
                .is_pending()
        );
        assert_eq!(pace.snapshot().waiting, 1);
    });
}
