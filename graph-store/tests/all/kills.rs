//! A process that is killed while it writes, merges and backs up leaves a folder that opens to exactly what it
//! answered.
//!
//! The process is this test program again, which runs [`child`]. Three clients commit requests of 1 to 20,000
//! triples, many of which remove what an earlier request added; another one merges and backs up without a
//! pause. `KILLS` sets how often it is killed, `KILLS_SEED` the seed of the moments.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::write::{NewRecord, QuadChange, RecordQuery};
use graph_store::{CallContext, WriteStore};
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad};

use crate::random_tests::setting;

const CLIENTS: u64 = 3;
/// Where the killed process keeps its data.
const FOLDER: &str = "KILLED_FOLDER";
/// Kills after which a folder is left for an empty one, so that reading it stays quick.
const KILLS_OF_FOLDER: u64 = 20;
/// The longest that opening may take, built without optimization.
const OPENED_IN: Duration = Duration::from_secs(60);
/// How long the test waits for what the process must say, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// A few random numbers; the quality does not matter.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn options() -> FolderOptions {
    let mut options = FolderOptions::default();
    options.merge_after = 5_000;
    options
}

/// Returns the quads of a request.
fn quads(request: &str, size: u64) -> Vec<Quad> {
    let subject = NamedNode::new_unchecked(format!("http://r/{request}"));
    let quads = (0..size).map(|number| {
        let property = NamedNode::new_unchecked(format!("http://p/{}", number % 7));
        let graph = match number % 5 {
            0 => NamedNode::new_unchecked("http://g").into(),
            _ => GraphName::DefaultGraph,
        };
        Quad::new(
            subject.clone(),
            property,
            Literal::from(number as i64),
            graph,
        )
    });
    quads.collect()
}

/// Says something to the process that will kill this one.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n#{line}").expect("somebody listens");
    out.flush().expect("somebody listens");
}

/// Commits request after request.
fn write(store: &ImageStore, client: u64, seed: u64) {
    let mut random = Random(seed * 31 + client + 1);
    let mut before: Vec<(String, u64)> = Vec::new();
    let context = CallContext::new();
    for number in 0.. {
        let size = match random.below(20) {
            0 => 1 + random.below(20_000),
            1..4 => 1 + random.below(1_000),
            _ => 1 + random.below(10),
        };
        let request = format!("{seed}-{client}-{number}");
        let old = (random.below(3) == 0).then(|| before.pop()).flatten();
        let named = old.as_ref().map_or("-", |(old, _)| old);
        say(&format!("begin {request} {size} {named}"));
        let change = QuadChange {
            removed: old.map_or(Vec::new(), |(old, size)| quads(&old, size)),
            added: quads(&request, size),
        };
        let record = NewRecord {
            request: request.clone(),
            idempotency_key: None,
            digest: String::new(),
            time: SystemTime::now(),
            changes: Vec::new(),
        };
        let committed = block_on(async {
            let mut transaction = store.begin(&context).await?;
            transaction.apply(change, &context).await?;
            transaction.commit(record, &context).await
        });
        let record = committed.expect("the disk works");
        say(&format!("done {request} {}", record.sequence));
        before.push((request, size));
    }
}

#[test]
#[ignore = "it is started by the other test, and killed"]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let data = folder.join("data");
    let store = if ImageStore::exists(&data).expect("a folder") {
        ImageStore::open(&data, &options())
    } else {
        ImageStore::create(&data, ImageBuilder::new(), &options())
    };
    let store = store.expect("a store in a folder");
    say("opened");
    let seed = setting("KILLS_SEED", 1);
    let backups = AtomicU64::new(0);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let store = &store;
            scope.spawn(move || write(store, client, seed));
        }
        loop {
            store.merge().expect("an image");
            let number = backups.fetch_add(1, Ordering::Relaxed);
            let target = folder.join(format!("backup-{number}"));
            let _ = std::fs::remove_dir_all(&target);
            store.backup(&target).expect("a backup");
            say(&format!("backup {}", target.display()));
        }
    });
}

/// A request, and how many triples it adds.
struct Request {
    size: u64,
    /// The request whose triples it removes.
    removes: Option<String>,
    is_done: bool,
}

/// What the killed processes said.
#[derive(Default)]
struct Said {
    requests: HashMap<String, Request>,
    sequences: HashMap<String, u64>,
    backup: Option<PathBuf>,
    is_open: bool,
}

impl Said {
    fn hear(&mut self, line: &str) {
        let Some(line) = line.strip_prefix('#') else {
            return;
        };
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["opened"] => self.is_open = true,
            ["begin", request, size, removes] => {
                let request = (*request).to_owned();
                let said = Request {
                    size: size.parse().expect("a number"),
                    removes: (*removes != "-").then(|| (*removes).to_owned()),
                    is_done: false,
                };
                self.requests.insert(request, said);
            }
            ["done", request, sequence] => {
                self.requests
                    .get_mut(*request)
                    .expect("it has begun")
                    .is_done = true;
                let sequence = sequence.parse().expect("a number");
                self.sequences.insert((*request).to_owned(), sequence);
            }
            ["backup", path] => self.backup = Some(PathBuf::from(path)),
            // The last line may be torn.
            _ => {}
        }
    }
}

/// A process that ends with the test, however that ends.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        self.0.kill().expect("it is killed");
        self.0.wait().expect("it has ended");
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(folder: &Path, seed: u64) -> (Killed, BufReader<ChildStdout>) {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["kills::child", "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env("KILLS_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program starts");
    let out = child.stdout.take().expect("it is piped");
    (Killed(child), BufReader::new(out))
}

/// Returns how many triples there are of each request.
fn counts(store: &ImageStore) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for quad in store.snapshot().iter() {
        let NamedOrBlankNode::NamedNode(subject) = quad.subject else {
            panic!("a blank node");
        };
        let request = subject.as_str().trim_start_matches("http://r/");
        *counts.entry(request.to_owned()).or_default() += 1;
    }
    counts
}

/// Checks what a folder holds: the latest one all that was answered, a backup nothing in part.
fn check(store: &ImageStore, said: &Said, is_latest: bool) {
    let counts = counts(store);
    let all = RecordQuery::After {
        sequence: 0,
        limit: usize::MAX,
    };
    let records = block_on(store.records(&all, &CallContext::new())).expect("records");
    for (place, record) in records.iter().enumerate() {
        assert_eq!(record.sequence, place as u64 + 1, "no gaps");
    }
    let sequences: HashMap<&str, u64> = records
        .iter()
        .map(|record| (record.said.request.as_str(), record.sequence))
        .collect();
    let mut wanted: HashMap<&str, u64> = HashMap::new();
    for record in &records {
        let request = record.said.request.as_str();
        let known = &said.requests[request];
        if let Some(removed) = &known.removes {
            wanted.remove(removed.as_str());
        }
        wanted.insert(request, known.size);
    }
    let held: HashMap<&str, u64> = counts
        .iter()
        .map(|(request, count)| (request.as_str(), *count))
        .collect();
    assert_eq!(
        held, wanted,
        "each request with a record is there as a whole"
    );
    if is_latest {
        for (request, sequence) in &said.sequences {
            assert_eq!(sequences.get(request.as_str()), Some(sequence), "{request}");
        }
        let done = said.requests.values().filter(|request| request.is_done);
        assert_eq!(done.count(), said.sequences.len());
    }
}

#[test]
fn a_killed_process_leaves_what_it_answered() {
    let (kills, seed) = (setting("KILLS", 4), setting("KILLS_SEED", 1));
    let mut random = Random(seed + 88_172_645_463_325_252);
    let mut folder = tempfile::tempdir().expect("a folder");
    let mut said = Said::default();
    let (mut longest, mut begun, mut answered) = (Duration::ZERO, 0, 0);
    for kill in 0..kills {
        if kill > 0 && kill % KILLS_OF_FOLDER == 0 {
            folder = tempfile::tempdir().expect("a folder");
            begun += said.requests.len();
            answered += said.sequences.len();
            said = Said::default();
        }
        said.is_open = false;
        let lines = thread::scope(|scope| {
            let (mut child, out) = started(folder.path(), seed * 1_000 + kill);
            let (sender, heard) = std::sync::mpsc::channel();
            let reader = scope.spawn(move || {
                let lines = out.lines().map_while(Result::ok);
                let lines = lines.inspect(|line| {
                    if line == "#opened" || line.starts_with("#done ") {
                        let _ = sender.send(());
                    }
                });
                lines.collect::<Vec<String>>()
            });
            heard.recv_timeout(PATIENCE).expect("the folder is opened");
            if kill == 0 {
                heard.recv_timeout(PATIENCE).expect("a request is answered");
            }
            let most = if random.below(2) == 0 { 100 } else { 1_500 };
            thread::sleep(Duration::from_millis(random.below(most)));
            child.kill();
            reader.join().expect("no panic")
        });
        lines.iter().for_each(|line| said.hear(line));
        assert!(said.is_open);
        let began = Instant::now();
        let store = ImageStore::open(folder.path().join("data"), &options());
        let store = store.unwrap_or_else(|error| panic!("kill {kill}: {error:?}"));
        longest = longest.max(began.elapsed());
        check(&store, &said, true);
        drop(store);
        if let Some(backup) = said.backup.take() {
            let store = ImageStore::open(&backup, &options());
            let store = store.unwrap_or_else(|error| panic!("kill {kill}: {error:?}"));
            check(&store, &said, false);
        }
    }
    assert!(longest < OPENED_IN, "opened in {longest:?}");
    begun += said.requests.len();
    answered += said.sequences.len();
    assert!(answered > 0, "nothing was written");
    println!(
        "{kills} kills, {begun} requests begun, {answered} answered, opened in at most {longest:?}"
    );
}
