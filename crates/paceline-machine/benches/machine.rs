//! What a reading of the clock, a ring and a look at the folder cost.
//!
//! `cargo bench -p paceline-machine --bench machine`

fn main() {
    #[cfg(unix)]
    divan::main();
}

#[cfg(unix)]
mod machine {
    use std::path::PathBuf;

    use divan::Bencher;
    use paceline_machine::{Bell, Bells, BootClock, BootId, Folder, Rung, sweep};

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder for temporary files");
        let path = dir.path().join("state");
        let _ = Folder::open(&path).expect("a folder of our own");
        (dir, path)
    }

    #[divan::bench(sample_size = 1000)]
    fn clock(bencher: Bencher<'_, '_>) {
        let clock = BootClock::new().expect("Unix");
        bencher.bench_local(|| clock.now());
    }

    /// The standard library's, to compare with.
    #[divan::bench(sample_size = 1000)]
    fn clock_instant() -> std::time::Instant {
        std::time::Instant::now()
    }

    #[divan::bench]
    fn boot_id() -> BootId {
        BootId::read().expect("Unix")
    }

    #[divan::bench]
    fn folder_that_is_there(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        bencher.bench_local(|| Folder::open(&path).expect("it was opened before"));
    }

    #[divan::bench]
    fn folder_and_its_key(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        bencher.bench_local(|| {
            let mut folder = Folder::open(&path).expect("it was opened before");
            folder.key().expect("it is there")
        });
    }

    #[divan::bench]
    fn bell_hung_and_taken_down(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        bencher.bench_local(|| Bell::hang(&path, || {}).expect("there is room"));
    }

    /// With its thread, which has to be woken or is still awake.
    #[divan::bench(sample_size = 10)]
    fn ring_kept_open(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        let bell = Bell::hang(&path, || {}).expect("there is room");
        let mut bells = Bells::new(&path);
        bencher.bench_local(|| assert_eq!(bells.ring(bell.number()).ok(), Some(Rung::Heard)));
    }

    /// Its thread hears nothing for now, as one that is busy: what the ring itself costs. The pipe does not fill.
    #[divan::bench(sample_size = 10)]
    fn ring_kept_open_of_a_busy_bell(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let bell = Bell::hang(&path, move || {
            let _ = busy.recv();
        })
        .expect("there is room");
        let mut bells = Bells::new(&path);
        bencher.bench_local(|| assert_eq!(bells.ring(bell.number()).ok(), Some(Rung::Heard)));
        drop(free);
    }

    #[divan::bench]
    fn ring_not_open_yet(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        let bell = Bell::hang(&path, || {}).expect("there is room");
        bencher
            .with_inputs(|| Bells::new(&path))
            .bench_local_values(|mut bells| {
                assert_eq!(bells.ring(bell.number()).ok(), Some(Rung::Heard));
                bells
            });
    }

    #[divan::bench]
    fn alive_kept_open(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        let bell = Bell::hang(&path, || {}).expect("there is room");
        let mut bells = Bells::new(&path);
        bells.ring(bell.number()).expect("it hangs");
        bencher.bench_local(|| assert_eq!(bells.is_alive(bell.number()).ok(), Some(true)));
    }

    #[divan::bench]
    fn alive_not_open(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        let bell = Bell::hang(&path, || {}).expect("there is room");
        let mut bells = Bells::new(&path);
        bencher.bench_local(|| assert_eq!(bells.is_alive(bell.number()).ok(), Some(true)));
    }

    #[divan::bench]
    fn sweep_of_200_living(bencher: Bencher<'_, '_>) {
        let (_dir, path) = folder();
        let _bells: Vec<_> = (0..200)
            .map(|_| Bell::hang(&path, || {}).expect("there is room"))
            .collect();
        bencher.bench_local(|| assert_eq!(sweep(&path).ok(), Some(0)));
    }
}
