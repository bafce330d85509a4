//! Compares what a repository holds with what clients were told.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::write::{ChangeRecord, RecordQuery, change_graph};
use graph_store::{CallContext, GraphStore};
use oxrdf::{GraphName, NamedOrBlankNode, Quad, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use serde_json::Value;

use super::batches::{Batch, Step};
use crate::processes::PATIENCE;

/// Time after which a reader of records must have seen all of them.
const CAUGHT_UP: Duration = Duration::from_secs(60);

/// A reader of a repository, and of the records that a service returns.
pub(super) struct Checker {
    source: Source,
    /// The records that the service has returned: the sequence, and the number of objects.
    followed: Vec<(u64, usize)>,
    /// Batches whose last request is there although nobody was told so.
    found: HashSet<(String, u64)>,
    batches: Vec<Batch>,
}

/// Where what is stored is read.
enum Source {
    /// At an address of a repository.
    Statements(String),
    /// In backups that the service makes in a folder.
    Backups { folder: PathBuf, made: u64 },
}

/// What a repository holds.
struct Stored {
    /// The quads of each batch.
    batches: BTreeMap<String, BTreeSet<String>>,
    records: Vec<ChangeRecord>,
}

impl Checker {
    pub(super) fn new(server: &str, repository: &str) -> Self {
        Checker::of(Source::Statements(format!(
            "{server}/repositories/{repository}/statements"
        )))
    }

    /// Reads backups that the service makes in a folder.
    pub(super) fn of_backups(folder: PathBuf) -> Self {
        Checker::of(Source::Backups { folder, made: 0 })
    }

    fn of(source: Source) -> Self {
        Checker {
            source,
            followed: Vec::new(),
            found: HashSet::new(),
            batches: Vec::new(),
        }
    }

    /// Checks what is stored while no request is open.
    pub(super) fn check(&mut self, service: &str, batches: &[Batch]) {
        self.batches = batches.to_vec();
        self.follow(service);
        let stored = self.stored(service);
        let records = sizes(&stored.records);
        assert!(
            records.starts_with(&self.followed),
            "records were returned that are not next: {:?} of {records:?}",
            self.followed
        );
        let named: HashSet<&str> = batches.iter().map(|batch| batch.name.as_str()).collect();
        for batch in stored.batches.keys() {
            assert!(named.contains(batch.as_str()), "nobody has written {batch}");
        }
        let mut recorded = by_batch(&stored.records);
        for batch in batches {
            let quads = stored.batches.get(&batch.name);
            let recorded = recorded.remove(&batch.name).unwrap_or_default();
            self.check_batch(batch, quads.unwrap_or(&BTreeSet::new()), &recorded);
        }
        assert!(recorded.is_empty(), "records of nothing: {recorded:?}");
    }

    /// Checks what is stored once everything has ended: the service returns all records.
    pub(super) fn check_end(&mut self, service: &str) {
        let until = Instant::now() + CAUGHT_UP;
        let batches = std::mem::take(&mut self.batches);
        loop {
            self.check(service, &batches);
            let stored = sizes(&self.stored(service).records);
            if stored == self.followed {
                break;
            }
            let followed = self.followed.last();
            assert!(
                Instant::now() < until,
                "{stored:?} are not returned after {followed:?}"
            );
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn check_batch(
        &mut self,
        batch: &Batch,
        quads: &BTreeSet<String>,
        records: &[(&'static str, BTreeSet<String>)],
    ) {
        let mut steps: Vec<Step> = batch.done.clone();
        if *quads != batch.quads(steps.last()) {
            let is_open = batch
                .open
                .is_some_and(|open| *quads == batch.quads(Some(&open)));
            assert!(is_open, "{}", differs(batch, quads));
            steps.extend(batch.open);
        }
        if let Some(open) = batch.open {
            let key = (batch.name.clone(), open.stamp);
            if steps.last() == Some(&open) {
                self.found.insert(key);
            } else {
                let was_there = self.found.contains(&key);
                assert!(!was_there, "{} was there: {open:?}", batch.name);
            }
        }
        let kinds: Vec<&str> = steps.iter().map(|step| step.verb.kind()).collect();
        let recorded: Vec<&str> = records.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            recorded, kinds,
            "the records of {} differ from {batch:?}",
            batch.name
        );
        let ids = batch.ids();
        for (kind, objects) in records {
            assert!(
                *objects == ids,
                "{kind}: the record has other objects than {batch:?}"
            );
        }
    }

    /// Reads the records that the service has after those that it has returned.
    fn follow(&mut self, service: &str) {
        loop {
            let after = self.followed.last().map_or(0, |(sequence, _)| *sequence);
            let page = format!("{service}/changes?limit=1000&after={after}");
            let mut page = returned(&page);
            let text = page
                .body_mut()
                .with_config()
                .limit(1 << 30)
                .read_to_string();
            let page: Value = serde_json::from_str(&text.unwrap()).unwrap();
            let changes = page["changes"].as_array().unwrap();
            if changes.is_empty() {
                break;
            }
            self.followed.extend(changes.iter().map(|change| {
                let groups = change["objects"].as_array().unwrap().iter();
                let objects = groups
                    .map(|group| group["ids"].as_array().unwrap().len())
                    .sum();
                (change["sequence"].as_u64().unwrap(), objects)
            }));
        }
    }

    fn stored(&mut self, service: &str) -> Stored {
        let statements = match &mut self.source {
            Source::Statements(address) => address,
            Source::Backups { folder, made } => {
                *made += 1;
                return in_backup(service, folder, &format!("check-{made}"));
            }
        };
        let answer = ureq::get(statements.as_str()).header("accept", "application/n-quads");
        let answer = answer.config().timeout_global(Some(PATIENCE)).build();
        let mut answer = answer.call().expect("the quads are listed");
        let text = answer
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_string();
        let text = text.expect("the quads are listed");
        let mut stored = Stored {
            batches: BTreeMap::new(),
            records: Vec::new(),
        };
        let mut changes: Vec<Triple> = Vec::new();
        for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(text.as_bytes()) {
            let quad: Quad = quad.expect("N-Quads");
            if quad.graph_name == GraphName::from(change_graph::GRAPH) {
                changes.push(quad.into());
                continue;
            }
            stored.add(&quad);
        }
        stored.records = change_graph::records(changes).expect("whole records");
        stored
    }
}

impl Stored {
    fn add(&mut self, quad: &Quad) {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
            panic!("nobody has written {quad}");
        };
        let batch = batch_of(subject.as_str()).to_owned();
        let quads = self.batches.entry(batch).or_default();
        quads.insert(quad.to_string());
    }
}

/// Lets the service make a backup, and reads it.
fn in_backup(service: &str, folder: &Path, name: &str) -> Stored {
    let made = ureq::put(format!("{service}/backups/{name}"));
    let made = made.config().timeout_global(Some(PATIENCE)).build();
    made.send_empty().expect("a backup is made");
    let backup = folder.join(name);
    let store = ImageStore::open(&backup, &FolderOptions::default()).expect("it is whole");
    let mut builder = ImageBuilder::new();
    store.add_to(&mut builder).expect("the quads are listed");
    let image = builder.build().expect("an image in memory");
    let query = RecordQuery::After {
        sequence: 0,
        limit: usize::MAX,
    };
    let context = CallContext::new();
    let records = store.writer().expect("it is written to");
    let records = futures::executor::block_on(records.records(&query, &context));
    let mut stored = Stored {
        batches: BTreeMap::new(),
        records: records.expect("the records are listed"),
    };
    image.iter().for_each(|quad| stored.add(&quad));
    drop(store);
    std::fs::remove_dir_all(backup).expect("it is not needed any more");
    stored
}

/// Asks until there is an answer: a server that has just come up may fail for a moment.
fn returned(address: &str) -> ureq::http::Response<ureq::Body> {
    let until = Instant::now() + CAUGHT_UP;
    loop {
        let request = ureq::get(address).config();
        match request.timeout_global(Some(PATIENCE)).build().call() {
            Ok(answer) => return answer,
            Err(error) => assert!(Instant::now() < until, "{address}: {error}"),
        }
        thread::sleep(Duration::from_millis(500));
    }
}

/// The batch that an object is of.
fn batch_of(id: &str) -> &str {
    let place = id
        .strip_prefix("http://kills/")
        .and_then(|path| path.split_once('/'));
    place.unwrap_or_else(|| panic!("nobody has written {id}")).0
}

/// The sequence and the number of objects of each record.
fn sizes(records: &[ChangeRecord]) -> Vec<(u64, usize)> {
    let size = |record: &ChangeRecord| {
        record
            .said
            .changes
            .iter()
            .map(|of| of.objects.len())
            .sum::<usize>()
    };
    let sizes: Vec<(u64, usize)> = records.iter().map(|it| (it.sequence, size(it))).collect();
    let is_ascending = sizes.windows(2).all(|pair| pair[0].0 < pair[1].0);
    assert!(is_ascending, "two records have one sequence: {sizes:?}");
    sizes
}

/// The changes of each batch in the order of the records.
fn by_batch(records: &[ChangeRecord]) -> BTreeMap<String, Vec<(&'static str, BTreeSet<String>)>> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for record in records {
        let [changed] = record.said.changes.as_slice() else {
            panic!("every request does one thing: {record:?}");
        };
        let ids: BTreeSet<String> = changed
            .objects
            .iter()
            .map(|id| id.as_str().to_owned())
            .collect();
        let batch = batch_of(ids.first().expect("a record has objects")).to_owned();
        found
            .entry(batch)
            .or_default()
            .push((changed.kind.name(), ids));
    }
    found
}

/// Says what is stored of a batch that must not be.
fn differs(batch: &Batch, quads: &BTreeSet<String>) -> String {
    let expected = batch.quads(batch.done.last());
    let (missing, more) = (expected.difference(quads), quads.difference(&expected));
    let shown = |quads: Vec<&String>| {
        let some = quads.iter().take(4);
        (
            quads.len(),
            some.map(|quad| (*quad).clone()).collect::<Vec<_>>(),
        )
    };
    format!(
        "{batch:?}: {} quads are stored; missing {:?}, more {:?}",
        quads.len(),
        shown(missing.collect()),
        shown(more.collect())
    )
}
