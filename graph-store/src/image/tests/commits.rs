//! How many commits a second a store in a folder takes whose syncs are slow, by one writer and by many.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// Milliseconds that each sync takes longer than the disk does.
const DELAY: u64 = 5;
const WRITERS: u64 = 32;
const TURNS: usize = 3;
const TURN: Duration = Duration::from_secs(4);

/// What all turns of so many writers come to.
#[derive(Default)]
struct Commits {
    count: u64,
    syncs: u64,
    time: Duration,
}

impl Commits {
    /// Commits single quads by `writers` threads, to a new store.
    fn add_turn(&mut self, writers: u64) {
        let folder = tempfile::tempdir().unwrap();
        let (store, disk, _) = create(folder.path());
        disk.delay.store(DELAY, SeqCst);
        let (before, next) = (disk.syncs.load(SeqCst), AtomicU64::new(0));
        let started = Instant::now();
        thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(|| {
                    while started.elapsed() < TURN {
                        add(&store, next.fetch_add(1, SeqCst)).unwrap();
                    }
                });
            }
        });
        self.time += started.elapsed();
        self.syncs += disk.syncs.load(SeqCst) - before;
        let count = next.into_inner();
        assert_eq!(store.quads(), count);
        self.count += count;
    }

    fn per_second(&self) -> f64 {
        self.count as f64 / self.time.as_secs_f64()
    }

    fn per_sync(&self) -> f64 {
        self.count as f64 / self.syncs as f64
    }
}

#[test]
#[ignore = "needs a quiet machine: it measures"]
fn writers_share_slow_syncs() {
    let (mut one, mut many) = (Commits::default(), Commits::default());
    for _ in 0..TURNS {
        one.add_turn(1);
        many.add_turn(WRITERS);
    }
    println!("| writers | commits/s | commits a sync |\n|---:|---:|---:|");
    for (writers, commits) in [(1, &one), (WRITERS, &many)] {
        let (rate, shared) = (commits.per_second(), commits.per_sync());
        println!("| {writers} | {rate:.1} | {shared:.2} |");
    }
    println!("ratio {:.2}", many.per_second() / one.per_second());
    assert!(many.per_sync() > one.per_sync());
}
