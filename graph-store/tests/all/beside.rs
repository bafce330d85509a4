//! What reads over an image cost beside writes and merges, in one run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::query::{Dataset, HydrationRequest, ObjectRef, Slot, Step};
use graph_store::write::{NewRecord, QuadChange};
use graph_store::{CallContext, GraphStore, LocalStore, WriteStore};
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

const PARTS: usize = 250_000;
const WHOLES: usize = 5_000;
const READS: usize = 60_000;

fn property(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

fn part(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/part/{number}"))
}

fn whole(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/whole/{number}"))
}

fn quad(subject: usize, name: &str, object: impl Into<Term>) -> Quad {
    Quad::new(
        part(subject),
        property(name),
        object,
        GraphName::DefaultGraph,
    )
}

fn name(number: usize, version: usize) -> Quad {
    let text = Literal::from(format!("part {number} in version {version}"));
    quad(number, "name", text)
}

fn built() -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for number in 0..PARTS {
        for quad in [
            quad(number, "type", property("Part")),
            name(number, 0),
            quad(number, "size", Literal::from(number as i64)),
            quad(number, "partOf", whole(number % WHOLES)),
        ] {
            builder.add(quad.as_ref()).expect("room for a few quads");
        }
    }
    builder
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Reads a part and the parts of a whole; returns how long that took.
fn read(store: &ImageStore, random: &mut Random) -> Duration {
    let slot = |name, inverse| {
        Slot::new(Step {
            predicate: property(name),
            inverse,
        })
    };
    let parts: [ObjectRef; 1] = [part(random.below(PARTS)).into()];
    let wholes: [ObjectRef; 1] = [whole(random.below(WHOLES)).into()];
    let forward = [
        slot("name", false),
        slot("size", false),
        slot("partOf", false),
    ];
    let backward = [slot("partOf", true)];
    let dataset = Dataset::default();
    let started = Instant::now();
    let mut count = 0;
    for (nodes, slots) in [(&parts, &forward[..]), (&wholes, &backward[..])] {
        let request = HydrationRequest {
            nodes: nodes.into(),
            slots,
            dataset: &dataset,
        };
        let found = store.hydrate_now(&request, &CallContext::new());
        let found = found.expect("it works on this thread").expect("values");
        count += found
            .columns
            .iter()
            .map(|column| column.values.len())
            .sum::<usize>();
    }
    let took = started.elapsed();
    assert!(count > PARTS / WHOLES);
    took
}

/// Changes the name of a part.
fn write(store: &ImageStore, random: &mut Random, versions: &mut [usize]) {
    let number = random.below(PARTS);
    let version = versions[number];
    versions[number] += 1;
    let change = QuadChange {
        removed: vec![name(number, version)],
        added: vec![name(number, version + 1)],
    };
    commit(store, change);
}

fn commit(store: &ImageStore, change: QuadChange) {
    let record = NewRecord {
        request: String::new(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    };
    let context = CallContext::new();
    let committed = block_on(async {
        let mut transaction = store.begin(&context).await?;
        transaction.apply(change, &context).await?;
        transaction.commit(record, &context).await
    });
    committed.expect("a commit");
}

/// Returns the median and the 99th percentile.
fn figures(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

#[expect(clippy::print_stdout, reason = "the figures are for people to read")]
fn measure(kind: &str, store: &ImageStore) {
    let mut random = Random(88_172_645_463_325_252);
    let mut versions = vec![0; PARTS];
    let reads = |store: &ImageStore, random: &mut Random| -> Vec<Duration> {
        (0..READS).map(|_| read(store, random)).collect()
    };
    reads(store, &mut random);
    let (quiet, quiet_p99) = figures(reads(store, &mut random));
    let mut beside = Vec::new();
    let started = Instant::now();
    for number in 0..READS {
        if number % 9 == 0 {
            write(store, &mut random, &mut versions);
        }
        beside.push(read(store, &mut random));
    }
    let all = started.elapsed();
    let writes = READS.div_ceil(9);
    let each = (all - beside.iter().sum::<Duration>()) / writes as u32;
    let (beside, beside_p99) = figures(beside);
    // A processor that waits for a disk reads more slowly afterwards, whatever was written.
    let mut paused = Vec::new();
    for number in 0..READS {
        if number % 9 == 0 {
            std::thread::sleep(each);
        }
        paused.push(read(store, &mut random));
    }
    let (paused, paused_p99) = figures(paused);
    println!(
        "{kind}: quiet {quiet:?}, p99 {quiet_p99:?}; with pauses {paused:?}, p99 {paused_p99:?}; one write in ten \
         {beside:?}, p99 {beside_p99:?}: {:.2} of the throughput, {:.2} of that with pauses; a write {each:?}",
        quiet.as_secs_f64() / beside.as_secs_f64(),
        paused.as_secs_f64() / beside.as_secs_f64()
    );
    let is_done = AtomicBool::new(false);
    let (during, merges) = std::thread::scope(|scope| {
        let merging = scope.spawn(|| {
            let mut merges = 0;
            while !is_done.load(Ordering::Relaxed) {
                store.merge().expect("an image");
                merges += 1;
            }
            merges
        });
        let mut times = reads(store, &mut random);
        times.extend(reads(store, &mut random));
        is_done.store(true, Ordering::Relaxed);
        (times, merging.join().expect("no panic"))
    });
    let (during, during_p99) = figures(during);
    println!("{kind}: during {merges} merges {during:?}, p99 {during_p99:?}");
    let large: Vec<Quad> = (PARTS..PARTS + 20_000)
        .map(|number| name(number, 0))
        .collect();
    let change = QuadChange {
        removed: Vec::new(),
        added: large,
    };
    let started = Instant::now();
    commit(store, change);
    println!(
        "{kind}: 20,000 quads are committed in {:?}",
        started.elapsed()
    );
}

#[test]
#[ignore = "needs a quiet machine: it measures"]
fn reads_stay_fast_beside_writes_and_merges() {
    let store = ImageStore::new(built().build().expect("an image"));
    measure("memory", &store);
    let folder = tempfile::tempdir().expect("a folder");
    let options = FolderOptions::default();
    let store = ImageStore::create(&folder, built(), &options).expect("a store in a folder");
    measure("folder", &store);
    drop(store);
    let started = Instant::now();
    let store = ImageStore::open(&folder, &options).expect("the folder is opened again");
    println!(
        "folder: {} quads are opened in {:?}",
        store.quads(),
        started.elapsed()
    );
    assert!(block_on(store.probe(&CallContext::new())).is_ok());
}
