//! Syncs that are slow or fail, and disks that are full.

use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::image::Sync;

/// How long a test waits for what must happen, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Syncs wait until this is dropped.
struct Held<'d>(&'d Disk);

impl<'d> Held<'d> {
    fn new(disk: &'d Disk) -> Self {
        disk.is_held.store(true, SeqCst);
        Held(disk)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.is_held.store(false, SeqCst);
    }
}

/// Waits until something is so.
fn comes_to(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "it does not happen");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn commits_that_wait_are_synced_together() {
    let folder = tempfile::tempdir().unwrap();
    let (store, disk, _) = create(folder.path());
    let before = disk.syncs.load(SeqCst);
    for number in 0..10 {
        add(&store, number).unwrap();
    }
    let alone = disk.syncs.load(SeqCst) - before;
    assert!((10..=11).contains(&alone), "{alone} syncs for 10 commits");
    let before = disk.syncs.load(SeqCst);
    let (clients, rounds) = (32, 10);
    for round in 1..=rounds {
        thread::scope(|scope| {
            let held = Held::new(&disk);
            for client in 0..clients {
                let store = &store;
                scope.spawn(move || add(store, round * 1_000 + client).unwrap());
            }
            comes_to(|| store.shared.begun().data.quads() == 10 + round * clients);
            drop(held);
        });
    }
    let together = disk.syncs.load(SeqCst) - before;
    // That of the first commit is held, and the next one is of all others.
    assert!(
        together <= 3 * rounds,
        "{together} syncs for {rounds} times {clients} commits"
    );
    let commits = 10 + clients * rounds;
    assert_eq!(store.quads(), commits);
    assert_eq!(records(&store), (1..=commits).collect::<Vec<_>>());
}

#[test]
fn nobody_reads_what_is_not_synced() {
    let folder = tempfile::tempdir().unwrap();
    let (store, disk, _) = create(folder.path());
    add(&store, 1).unwrap();
    thread::scope(|scope| {
        let held = Held::new(&disk);
        let first = scope.spawn(|| add(&store, 2));
        comes_to(|| store.shared.begun().data.quads() == 2);
        // The next transaction sees it, and readers do not.
        let context = CallContext::new();
        let transaction = block_on(store.begin(&context)).unwrap();
        assert_eq!((store.quads(), records(&store)), (1, vec![1]));
        assert!(!first.is_finished());
        block_on(transaction.roll_back());
        drop(held);
        assert_eq!(first.join().unwrap().unwrap().sequence, 2);
        assert_eq!((store.quads(), records(&store)), (2, vec![1, 2]));
    });
}

#[test]
fn a_commit_that_cannot_be_synced_is_taken_back_with_those_that_go_on_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let (store, disk, options) = create(folder.path());
    add(&store, 1).unwrap();
    disk.fails_to_sync.store(true, SeqCst);
    let (first, second, third) = thread::scope(|scope| {
        let held = Held::new(&disk);
        let before = disk.syncs.load(SeqCst);
        let first = scope.spawn(|| add(&store, 2));
        // It is being synced, without what comes after it.
        comes_to(|| disk.syncs.load(SeqCst) > before);
        let second = scope.spawn(|| add(&store, 3));
        comes_to(|| store.shared.begun().data.quads() == 3);
        let context = CallContext::new();
        let open = block_on(store.begin(&context)).unwrap();
        drop(held);
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        let third = block_on(open.commit(record("third"), &context));
        (first, second, third)
    });
    // It was written, and no one knows whether it is on the disk.
    assert!(
        matches!(first, Err(StoreError::OutcomeUnknown(_))),
        "{first:?}"
    );
    assert!(matches!(second, Err(StoreError::Conflict)), "{second:?}");
    assert!(matches!(third, Err(StoreError::Conflict)), "{third:?}");
    assert_eq!(store.quads(), 1);
    let refused = add(&store, 4);
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    disk.fails_to_sync.store(false, SeqCst);
    assert_eq!(add(&store, 5).unwrap().sequence, 2);
    drop(store);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    let held: Vec<Quad> = store.snapshot().iter().collect();
    assert_eq!((held.len(), records(&store)), (2, vec![1, 2]));
    assert!(held.contains(&quad(1)) && held.contains(&quad(5)));
}

#[test]
fn a_full_disk_refuses_commits_and_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (store, disk, options) = create(folder.path());
    add(&store, 1).unwrap();
    disk.is_full.store(true, SeqCst);
    for _ in 0..3 {
        let refused = add(&store, 2);
        let Err(StoreError::DiskFull(error)) = refused else {
            panic!("{refused:?}");
        };
        let causes = causes(error.as_ref());
        assert!(causes.contains("no storage space"), "{causes}");
        assert!(causes.contains("changes.redb"), "{causes}");
        assert_eq!(store.quads(), 1);
    }
    let error = store.merge().unwrap_err();
    assert!(causes(&error).contains("no storage space"));
    let target = folder.path().join("backup");
    assert!(store.backup(&target).is_err());
    assert!(!target.exists() && !target.with_extension("unfinished").exists());
    let error = store.replace_data(ImageBuilder::new()).unwrap_err();
    assert!(causes(&error).contains("no storage space"));
    assert_eq!(store.quads(), 1);
    disk.is_full.store(false, SeqCst);
    assert_eq!(add(&store, 3).unwrap().sequence, 2);
    assert_eq!(records(&store), [1, 2]);
    store.merge().unwrap();
    drop(store);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!((store.quads(), records(&store)), (2, vec![1, 2]));
}

#[test]
fn what_was_answered_before_its_sync_is_kept_until_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let options = FolderOptions {
        sync: Sync::Interval(Duration::from_millis(5)),
        ..FolderOptions::default()
    };
    let disk = Arc::clone(&options.disk);
    let store = ImageStore::create(folder.path(), ImageBuilder::new(), &options).unwrap();
    add(&store, 1).unwrap();
    disk.is_full.store(true, SeqCst);
    // It is taken, since no one has found out yet.
    let mut taken = 1;
    let started = Instant::now();
    let refused = loop {
        assert!(started.elapsed() < PATIENCE, "nobody finds out");
        match add(&store, taken + 1) {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert!(matches!(refused, StoreError::DiskFull(_)), "{refused:?}");
    assert_eq!(store.quads(), taken);
    disk.is_full.store(false, SeqCst);
    comes_to(|| add(&store, taken + 1).is_ok());
    drop(store);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(store.quads(), taken + 1);
    assert_eq!(records(&store), (1..=taken + 1).collect::<Vec<_>>());
}

#[test]
fn changes_are_merged_when_they_are_many() {
    let folder = tempfile::tempdir().unwrap();
    let options = FolderOptions {
        merge_after: 20,
        ..FolderOptions::default()
    };
    let store = ImageStore::create(folder.path(), ImageBuilder::new(), &options).unwrap();
    let mut number = 0;
    let started = Instant::now();
    while store.snapshot().image.quads() == 0 {
        assert!(started.elapsed() < PATIENCE, "nothing is merged");
        number += 1;
        add(&store, number).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
    assert!(number >= 20);
    assert_eq!(store.quads(), number);
    drop(store);
    let images = std::fs::read_dir(folder.path()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_str().unwrap().contains("image")
    });
    assert_eq!(images.count(), 1, "the old image is gone");
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(store.quads(), number);
    assert!(store.snapshot().image.quads() > 0);
}

#[test]
#[ignore = "needs a disk of about 12 MB, mounted at the folder that SMALL_DISK names"]
fn a_disk_that_fills_up_refuses_commits_until_there_is_room() {
    let disk = std::env::var_os("SMALL_DISK").expect("the folder of a small disk");
    let disk = Path::new(&disk);
    let ballast = disk.join("ballast");
    std::fs::write(&ballast, vec![7; 4 << 20]).unwrap();
    let folder = disk.join("data");
    let (store, _, options) = create(&folder);
    let many = |from: u64| {
        let context = CallContext::new();
        let change = QuadChange {
            removed: Vec::new(),
            added: (from..from + 1_000).map(quad).collect(),
        };
        block_on(async {
            let mut transaction = store.begin(&context).await?;
            transaction.apply(change, &context).await?;
            let record = record(&from.to_string());
            transaction.commit(record, &context).await
        })
    };
    let mut from = 0;
    let refused = loop {
        match many(from) {
            Ok(_) => from += 1_000,
            Err(error) => break error,
        }
    };
    assert!(
        causes(&refused).contains("No space left"),
        "{}",
        causes(&refused)
    );
    for _ in 0..3 {
        let refused = many(from).unwrap_err();
        assert!(
            causes(&refused).contains("No space left"),
            "{}",
            causes(&refused)
        );
        assert_eq!(store.quads(), from);
    }
    std::fs::remove_file(&ballast).unwrap();
    many(from).unwrap();
    let count = records(&store).len() as u64;
    assert_eq!((store.quads(), count), (from + 1_000, from / 1_000 + 1));
    drop(store);
    let store = ImageStore::open(&folder, &options).unwrap();
    assert_eq!(store.quads(), from + 1_000);
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
}
