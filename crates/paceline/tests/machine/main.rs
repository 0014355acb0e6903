//! Whole clients in processes of their own, which share a pace: who waits how long, and what a `kill -9` leaves behind.
//!
//! The processes are this test again, told by the environment what to do; what each does is written down with the time that
//! they share. The long runs:
//! `cargo test --release -p paceline --all-features --test machine -- --ignored --nocapture --test-threads 1`
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod crew;
mod diary;
mod fair;
mod many;
mod soak;
mod speed;
mod worker;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Two at once would take each other's time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(
    clippy::print_stdout,
    reason = "whoever runs the long tests wants to see what they did"
)]
fn report(line: &str) {
    println!("{line}");
}
