//! A clock that stands still until a test moves it.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use paceline_engine::{Timestamp, WallTime};

use crate::clock::{Clock, Sleep};

/// A clock that stands still until a test moves it; clones are the same clock.
///
/// It needs no runtime of a certain kind and no paused one: whoever waits on it, a future or a parked thread, is woken when
/// it is moved. So code that waits for half a minute is tested in microseconds:
///
/// ```
/// use std::time::Duration;
///
/// use paceline::testing::VirtualClock;
/// use paceline::{Pace, Timestamp};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let clock = VirtualClock::new();
/// let pace = Pace::builder("api").limit_text("1/30s")?.clock(clock.clone()).build();
/// pace.acquire(&pace.want()).await?.sending();
///
/// let second = tokio::spawn({
///     let pace = pace.clone();
///     async move { pace.acquire(&pace.want()).await }
/// });
/// tokio::task::yield_now().await; // it stands in line now
///
/// let half_a_minute = Timestamp::ZERO + Duration::from_secs(30);
/// assert_eq!(clock.advance_to_next(), Some(half_a_minute));
/// assert!(second.await?.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where a thread is to wait (`acquire_blocking`), [`wait_for_sleepers`](Self::wait_for_sleepers) tells when it does.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    shared: Arc<Shared>,
}

impl VirtualClock {
    /// At its origin, the wall clock at the start of 2025 (UTC).
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the time, and the wall clock with it, and wakes everybody whose time has come. They see the time after the
    /// move: move in smaller steps, or by [`advance_to_next`](Self::advance_to_next), to be exact about each.
    pub fn advance(&self, by: Duration) {
        self.shared.move_to(|state| Some(state.now + by));
    }

    /// Moves the time to the earliest instant that somebody sleeps until, and returns it; `None` if nobody does.
    pub fn advance_to_next(&self) -> Option<Timestamp> {
        self.shared.move_to(|state| {
            let ((next, _), _) = state.sleepers.first_key_value()?;
            Some(*next)
        })
    }

    /// Sets the wall clock, which goes on from there. Nobody is woken: nothing is scheduled by it.
    pub fn set_wall(&self, wall: WallTime) {
        let mut state = self.shared.lock();
        state.wall = wall;
        state.wall_set = state.now;
    }

    /// How many futures and threads sleep until an instant. Of those who wait for one pace, one does for all.
    pub fn sleepers(&self) -> usize {
        self.shared.lock().sleepers.len()
    }

    /// Blocks the calling thread until at least `count` sleep, for tests with threads: a time that is moved before they do is
    /// not waited for.
    ///
    /// # Panics
    ///
    /// After ten seconds of real time, because a test that hangs says nothing.
    pub fn wait_for_sleepers(&self, count: usize) {
        let (state, waited) = self
            .shared
            .asleep
            .wait_timeout_while(self.shared.lock(), PATIENCE, |state| {
                state.sleepers.len() < count
            })
            .unwrap_or_else(PoisonError::into_inner);
        let asleep = state.sleepers.len();
        drop(state);
        assert!(
            !waited.timed_out(),
            "waited for {count} sleepers, and there are {asleep}"
        );
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.shared.lock().now
    }

    fn wall(&self) -> WallTime {
        let state = self.shared.lock();
        let since = state.now.since(state.wall_set);
        WallTime(state.wall.0.saturating_add(since))
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep {
        Box::pin(Sleeping {
            at,
            entry: None,
            shared: Arc::clone(&self.shared),
        })
    }

    fn park_until(&self, at: Option<Timestamp>) {
        let Some(at) = at else {
            return std::thread::park();
        };
        // A thread that is woken between these two lines does not park: unparking leaves a token.
        if let Some(entry) = self
            .shared
            .sleep(at, Sleeper::Thread(std::thread::current()))
        {
            std::thread::park();
            self.shared.lock().sleepers.remove(&entry);
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    asleep: Condvar,
}

#[derive(Debug)]
struct State {
    now: Timestamp,
    wall: WallTime,
    /// When the wall clock was at `wall`.
    wall_set: Timestamp,
    sleepers: BTreeMap<Entry, Sleeper>,
    next_entry: u64,
}

/// Until when, and a number that makes it unique.
type Entry = (Timestamp, u64);

#[derive(Debug)]
enum Sleeper {
    Future(Waker),
    Thread(Thread),
}

impl Default for State {
    fn default() -> Self {
        Self {
            now: Timestamp::ZERO,
            wall: WallTime(START_OF_2025),
            wall_set: Timestamp::ZERO,
            sleepers: BTreeMap::new(),
            next_entry: 0,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the time forward to where `to` says, and wakes those whose time has come once the lock is released.
    fn move_to(&self, to: impl FnOnce(&State) -> Option<Timestamp>) -> Option<Timestamp> {
        let mut state = self.lock();
        let now = to(&state)?.max(state.now);
        state.now = now;
        let still_asleep = match now.as_nanos().checked_add(1) {
            Some(later) => state.sleepers.split_off(&(Timestamp::from_nanos(later), 0)),
            None => BTreeMap::new(),
        };
        let woken = core::mem::replace(&mut state.sleepers, still_asleep);
        drop(state);
        for sleeper in woken.into_values() {
            match sleeper {
                Sleeper::Future(waker) => waker.wake(),
                Sleeper::Thread(thread) => thread.unpark(),
            }
        }
        Some(now)
    }

    /// Notes a sleeper, unless its time has come.
    fn sleep(&self, at: Timestamp, sleeper: Sleeper) -> Option<Entry> {
        let mut state = self.lock();
        if at <= state.now {
            return None;
        }
        let entry = (at, state.next_entry);
        state.next_entry += 1;
        state.sleepers.insert(entry, sleeper);
        drop(state);
        self.asleep.notify_all();
        Some(entry)
    }
}

/// The wait of a future.
struct Sleeping {
    at: Timestamp,
    entry: Option<Entry>,
    shared: Arc<Shared>,
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wake_up();
        self.entry = self
            .shared
            .sleep(self.at, Sleeper::Future(cx.waker().clone()));
        if self.entry.is_none() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Sleeping {
    fn wake_up(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.shared.lock().sleepers.remove(&entry);
        }
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.wake_up();
    }
}

const START_OF_2025: Duration = Duration::from_secs(1_735_689_600);
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Wake;
    use std::thread;

    use super::*;
    use crate::{Pace, Permit, Reason};

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(secs)
    }

    fn one_a_second(clock: &VirtualClock) -> Pace {
        let pace = Pace::builder("api").limit("1/s".parse().expect("a limit"));
        let pace = pace.clock(clock.clone()).build();
        send(pace.acquire_blocking(&pace.want()).expect("the first"));
        pace
    }

    fn send(mut permit: Permit) {
        permit.sending();
    }

    /// A task that a test polls itself, and that counts how often it was woken.
    struct Task<F: Future> {
        future: Pin<Box<F>>,
        wakes: Arc<Wakes>,
    }

    #[derive(Default)]
    struct Wakes(Mutex<usize>, Condvar);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
            self.1.notify_all();
        }
    }

    impl<F: Future> Task<F> {
        fn new(future: F) -> Self {
            Self {
                future: Box::pin(future),
                wakes: Arc::default(),
            }
        }

        fn poll(&mut self) -> Poll<F::Output> {
            let waker = Waker::from(Arc::clone(&self.wakes));
            self.future.as_mut().poll(&mut Context::from_waker(&waker))
        }

        fn wakes(&self) -> usize {
            *self.wakes.0.lock().unwrap()
        }

        fn wait_for_wakes(&self, count: usize) {
            let Wakes(woken, bell) = &*self.wakes;
            let woken = bell
                .wait_timeout_while(woken.lock().unwrap(), PATIENCE, |own| *own < count)
                .unwrap();
            assert!(!woken.1.timed_out(), "woken {} times", woken.0);
        }
    }

    #[test]
    fn a_sleeper_is_woken_once_at_its_instant_and_not_a_nanosecond_before() {
        let clock = VirtualClock::new();
        let mut task = Task::new(clock.sleep_until(at(30)));
        assert!(task.poll().is_pending());
        clock.advance(Duration::from_secs(30) - Duration::from_nanos(1));
        assert_eq!((task.wakes(), task.poll()), (0, Poll::Pending));
        clock.advance(Duration::from_nanos(1));
        assert_eq!((task.wakes(), task.poll()), (1, Poll::Ready(())));
        assert_eq!(clock.sleepers(), 0);
    }

    #[test]
    fn the_clock_jumps_from_sleeper_to_sleeper_and_forgets_those_that_were_dropped() {
        let clock = VirtualClock::new();
        let shared = clock.clone();
        let mut tasks = [3, 1, 2].map(|secs| Task::new(shared.sleep_until(at(secs))));
        for task in &mut tasks {
            assert!(task.poll().is_pending() && task.poll().is_pending());
        }
        assert_eq!(clock.sleepers(), 3);
        assert_eq!(clock.advance_to_next(), Some(at(1)));
        let [three, one, two] = tasks;
        drop(two);
        assert_eq!((one.wakes(), three.wakes()), (1, 0));
        assert_eq!(clock.advance_to_next(), Some(at(3)));
        assert_eq!((clock.advance_to_next(), clock.now()), (None, at(3)));
    }

    #[test]
    fn the_wall_clock_is_set_and_goes_on_from_there() {
        let clock = VirtualClock::new();
        clock.advance(Duration::from_secs(5));
        assert_eq!(clock.wall().0, START_OF_2025 + Duration::from_secs(5));
        clock.set_wall(WallTime(Duration::from_secs(100)));
        clock.advance(Duration::from_secs(5));
        assert_eq!(clock.wall(), WallTime(Duration::from_secs(105)));
    }

    #[test]
    fn the_end_of_time_is_reached_without_overflow() {
        let clock = VirtualClock::new();
        let mut task = Task::new(clock.sleep_until(Timestamp::MAX));
        assert!(task.poll().is_pending());
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert_eq!((clock.now(), task.wakes()), (Timestamp::MAX, 1));
    }

    #[test]
    fn a_parked_thread_is_woken_when_its_time_comes() {
        let clock = VirtualClock::new();
        let pace = one_a_second(&clock);
        let waiter = thread::spawn(move || pace.acquire_blocking(&pace.want()).map(send));
        clock.wait_for_sleepers(1);
        clock.advance(Duration::from_millis(999));
        assert_eq!((clock.sleepers(), waiter.is_finished()), (1, false));
        assert_eq!(clock.advance_to_next(), Some(at(1)));
        assert!(waiter.join().expect("no panic").is_ok());
    }

    #[test]
    fn a_thread_that_may_not_start_at_its_deadline_stops_then() {
        let clock = VirtualClock::new();
        let pace = one_a_second(&clock);
        let limits = ["1/s", "1 in flight"].map(|limit| limit.parse().expect("a limit"));
        pace.change_limits(0, limits.to_vec());
        clock.advance(Duration::from_secs(1));
        let mut in_flight = pace.acquire_blocking(&pace.want()).expect("a second later");
        in_flight.sending();
        let want = pace.want().deadline(at(5));
        let waiter = thread::spawn(move || pace.acquire_blocking(&want).map(send));
        clock.wait_for_sleepers(1);
        let mut wakes = Vec::new();
        while !waiter.is_finished() {
            wakes.extend(clock.advance_to_next());
            thread::yield_now();
        }
        let stopped = waiter.join().expect("no panic").expect_err("no time left");
        assert_eq!(stopped.reason, Reason::Deadline);
        assert_eq!(wakes, [at(2), at(5)]);
    }

    #[test]
    fn a_blocking_and_an_async_waiter_stand_in_one_line() {
        let clock = VirtualClock::new();
        let pace = one_a_second(&clock);
        let (order, served) = mpsc::channel();
        let blocking = |name: &'static str| {
            let (pace, order) = (pace.clone(), order.clone());
            thread::spawn(move || {
                send(pace.acquire_blocking(&pace.want()).expect("admitted"));
                order.send((name, pace.now())).expect("listened to");
            })
        };
        let waiting = |count| {
            while pace.snapshot().waiting < count {
                thread::yield_now();
            }
        };

        let first = blocking("first, a thread");
        clock.wait_for_sleepers(1);
        let mut second = Task::new(pace.acquire(&pace.want()));
        assert!(second.poll().is_pending());
        let third = blocking("third, a thread");
        waiting(3);

        clock.advance(Duration::from_secs(1));
        first.join().expect("no panic");
        // Whoever kept the time for all, somebody still does.
        clock.wait_for_sleepers(1);
        clock.advance(Duration::from_secs(1));
        second.wait_for_wakes(1);
        let Poll::Ready(permit) = second.poll() else {
            panic!("its turn has come")
        };
        send(permit.expect("admitted"));
        order
            .send(("second, a future", pace.now()))
            .expect("listened to");
        clock.wait_for_sleepers(1);
        clock.advance(Duration::from_secs(1));
        third.join().expect("no panic");
        assert_eq!(
            served.try_iter().collect::<Vec<_>>(),
            [
                ("first, a thread", at(1)),
                ("second, a future", at(2)),
                ("third, a thread", at(3)),
            ]
        );
    }
}
