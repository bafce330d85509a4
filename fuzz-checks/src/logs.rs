//! Logs of data folders: any bytes are refused, or open to what was there after some commit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore, check_log_entry};
use graph_store::write::{NewRecord, QuadChange};
use graph_store::{CallContext, WriteStore};
use oxrdf::{GraphName, Literal, NamedNode, Quad};

/// How many commits the log holds that inputs change.
const COMMITS: u32 = 4;

/// The files of a folder.
type Files = Vec<(String, Vec<u8>)>;

/// Reads the input as an entry of the log, as the log itself, and as changes of a right one.
///
/// A change is four bytes: where, which is three, and what.
pub fn run(input: &[u8]) {
    check_log_entry(1, input);
    static FILES: OnceLock<Files> = OnceLock::new();
    let files = FILES.get_or_init(files);
    check(files, input);
    let log = files.iter().find(|(name, _)| is_log(name));
    let mut bytes = log.expect("a folder has a log").1.clone();
    for change in input.chunks_exact(4).take(16) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]);
        let at = usize::try_from(at).expect("an offset") % bytes.len();
        bytes[at] ^= change[3];
    }
    check(files, &bytes);
}

fn is_log(name: &str) -> bool {
    name == "changes.redb"
}

fn quad(number: u32) -> Quad {
    let node = |text: String| NamedNode::new_unchecked(text);
    Quad::new(
        node(format!("http://e/{number}")),
        node("http://e/p".to_owned()),
        Literal::from(i64::from(number)),
        GraphName::DefaultGraph,
    )
}

/// Opens a folder with another log.
fn check(files: &Files, log: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let content = if is_log(name) { log } else { content };
        fs::write(folder.path().join(name), content).expect("a file is written");
    }
    let Ok(store) = ImageStore::open(folder.path(), &FolderOptions::default()) else {
        return;
    };
    let held: BTreeSet<String> = store
        .snapshot()
        .iter()
        .map(|quad| quad.to_string())
        .collect();
    let is_whole = (0..=COMMITS).any(|last| {
        let quads = (1..=last).map(|number| quad(number).to_string());
        held == quads.collect()
    });
    assert!(is_whole, "{held:?} is served");
}

/// Returns the files of a folder with some commits.
fn files() -> Files {
    let folder = tempfile::tempdir().expect("a folder");
    let options = FolderOptions::default();
    let store = ImageStore::create(folder.path(), ImageBuilder::new(), &options);
    let store = store.expect("a store in a folder");
    for number in 1..=COMMITS {
        commit(&store, number);
    }
    drop(store);
    read(folder.path())
}

fn commit(store: &ImageStore, number: u32) {
    let context = CallContext::new();
    let change = QuadChange {
        removed: Vec::new(),
        added: vec![quad(number)],
    };
    let record = NewRecord {
        request: number.to_string(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    };
    let committed = block_on(async {
        let mut transaction = store.begin(&context).await?;
        transaction.apply(change, &context).await?;
        transaction.commit(record, &context).await
    });
    committed.expect("a commit");
}

fn read(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).expect("the folder");
    let files = entries.map(|entry| {
        let entry = entry.expect("a file");
        let name = entry.file_name().into_string().expect("a name");
        (name, fs::read(entry.path()).expect("the file"))
    });
    files.filter(|(name, _)| name != "lock").collect()
}
