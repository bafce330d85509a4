//! Stores over an image whose data arrived by random changes, merges, reopened folders and backups equal one
//! that is built fresh from the same quads.
//!
//! `HISTORIES` sets the number of histories of each test.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageBuilder, ImageError, ImageStore, Sync};
use graph_store::query::{Dataset, HydrationRequest, ObjectRef, Slot, Step};
use graph_store::write::{
    ChangeKind, ChangeRecord, ChangedObjects, NewRecord, QuadChange, QuadPattern, RecordQuery,
};
use graph_store::{CallContext, GraphStore, Statements, StoreError, WriteStore};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use proptest::prelude::*;

use crate::images::builder;
use crate::random_tests::setting;

const SUBJECTS: u8 = 6;
const PROPERTIES: u8 = 3;
const GRAPHS: u8 = 3;

fn node(name: &str, number: u8) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}{number}"))
}

fn graph(number: u8) -> GraphName {
    match number {
        0 => GraphName::DefaultGraph,
        number => node("graph", number).into(),
    }
}

fn object(number: u8) -> Term {
    let decimal = |text: &str| Literal::new_typed_literal(text, xsd::DECIMAL).into();
    match number {
        0..6 => node("s", number).into(),
        6 => Literal::new_simple_literal("").into(),
        7 => Literal::new_language_tagged_literal_unchecked("é", "fr").into(),
        8 => decimal("1.0"),
        9 => decimal("01.00"),
        10 => Literal::from(7).into(),
        11 => BlankNode::new_unchecked("o").into(),
        number => Literal::new_simple_literal(format!("text {number}")).into(),
    }
}

fn quad() -> impl Strategy<Value = Quad> {
    (0..SUBJECTS + 1, 0..PROPERTIES, 0..16_u8, 0..GRAPHS).prop_map(|(s, p, o, g)| {
        let subject: NamedOrBlankNode = match s {
            SUBJECTS => BlankNode::new_unchecked("s").into(),
            number => node("s", number).into(),
        };
        Quad::new(subject, node("p", p), object(o), graph(g))
    })
}

fn quads(most: usize) -> impl Strategy<Value = Vec<Quad>> {
    prop::collection::vec(quad(), 0..most)
}

/// What happens to a store.
#[derive(Clone, Debug)]
enum Event {
    Commit(Vec<Quad>, Vec<Quad>),
    /// A transaction that is not committed.
    RollBack(Vec<Quad>),
    Merge,
    Reopen,
    BackUp,
    Replace(Vec<Quad>),
    /// A merge while others commit.
    MergeBeside(Vec<Vec<Quad>>),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (quads(12), quads(12)).prop_map(|(removed, added)| Event::Commit(removed, added)),
        1 => quads(5).prop_map(Event::RollBack),
        2 => Just(Event::Merge),
        2 => Just(Event::Reopen),
        1 => Just(Event::BackUp),
        1 => quads(20).prop_map(Event::Replace),
        1 => prop::collection::vec(quads(6), 0..5).prop_map(Event::MergeBeside),
    ]
}

fn record(number: u64) -> NewRecord {
    NewRecord {
        request: format!("request {number}"),
        idempotency_key: number
            .is_multiple_of(3)
            .then(|| format!("key {}", number % 2)),
        digest: "digest".to_owned(),
        time: SystemTime::UNIX_EPOCH + Duration::from_secs(number),
        changes: vec![ChangedObjects {
            kind: ChangeKind::ALL[number as usize % 3],
            object_type: "Thing".to_owned(),
            objects: vec![node("s", 1), node("s", 2)],
        }],
    }
}

fn commit(
    store: &ImageStore,
    removed: &[Quad],
    added: &[Quad],
    number: u64,
) -> Result<ChangeRecord, StoreError> {
    let context = CallContext::new();
    let change = QuadChange {
        removed: removed.to_vec(),
        added: added.to_vec(),
    };
    block_on(async {
        let mut transaction = store.begin(&context).await?;
        transaction.apply(change, &context).await?;
        transaction.commit(record(number), &context).await
    })
}

/// A store, and what it must hold.
struct History {
    folder: Option<tempfile::TempDir>,
    options: FolderOptions,
    store: Option<ImageStore>,
    quads: HashSet<Quad>,
    records: Vec<ChangeRecord>,
}

impl History {
    fn new(folder: Option<FolderOptions>, first: &[Quad]) -> Self {
        let (folder, options) = match folder {
            Some(options) => (Some(tempfile::tempdir().expect("a folder")), options),
            None => (None, FolderOptions::default()),
        };
        let store = match &folder {
            Some(folder) => {
                assert!(!ImageStore::exists(folder).expect("a folder"));
                let store = ImageStore::create(folder, builder(first), &options);
                assert!(ImageStore::exists(folder).expect("a folder"));
                store.expect("a store in a folder")
            }
            None => ImageStore::new(builder(first).build().expect("an image")),
        };
        History {
            folder,
            options,
            store: Some(store),
            quads: first.iter().cloned().collect(),
            records: Vec::new(),
        }
    }

    fn store(&self) -> &ImageStore {
        self.store.as_ref().expect("a store is open")
    }

    fn commit(&mut self, removed: &[Quad], added: &[Quad]) {
        let number = self.records.len() as u64;
        let record = commit(self.store(), removed, added, number).expect("a commit");
        self.records.push(record);
        for quad in removed {
            self.quads.remove(quad);
        }
        self.quads.extend(added.iter().cloned());
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Commit(removed, added) => {
                let removed: Vec<Quad> = removed
                    .iter()
                    .filter(|quad| !added.contains(quad))
                    .cloned()
                    .collect();
                self.commit(&removed, added);
            }
            Event::RollBack(added) => {
                let context = CallContext::new();
                let change = QuadChange {
                    removed: Vec::new(),
                    added: added.clone(),
                };
                let mut transaction = block_on(self.store().begin(&context)).expect("a turn");
                block_on(transaction.apply(change, &context)).expect("a change");
            }
            Event::Merge => self.store().merge().expect("an image"),
            Event::Reopen => {
                let Some(folder) = &self.folder else { return };
                let refused = ImageStore::open(folder, &self.options);
                assert!(
                    matches!(refused, Err(ImageError::InUse { .. })),
                    "{refused:?}"
                );
                self.store = None;
                let opened = ImageStore::open(folder, &self.options);
                self.store = Some(opened.expect("the folder is opened again"));
            }
            Event::BackUp => {
                let folder = tempfile::tempdir().expect("a folder");
                let target = folder.path().join("backup");
                self.store().backup(&target).expect("a backup");
                let opened = ImageStore::open(&target, &self.options).expect("a backup is opened");
                equals(&opened, &self.quads);
                assert_eq!(records(&opened), self.records);
                commit(&opened, &[], &[], 1_000).expect("a backup is written to");
            }
            Event::Replace(quads) => {
                self.store().replace_data(builder(quads)).expect("an image");
                self.quads = quads.iter().cloned().collect();
            }
            Event::MergeBeside(commits) => {
                let store = self.store.take().expect("a store is open");
                let merged = std::thread::scope(|scope| {
                    let merge = scope.spawn(|| store.merge());
                    for added in commits {
                        let number = self.records.len() as u64;
                        let record = commit(&store, &[], added, number).expect("a commit");
                        self.records.push(record);
                        self.quads.extend(added.iter().cloned());
                    }
                    merge.join().expect("no panic")
                });
                merged.expect("an image");
                self.store = Some(store);
            }
        }
        assert_eq!(
            self.store().quads(),
            self.quads.len() as u64,
            "after {event:?}"
        );
    }
}

fn records(store: &ImageStore) -> Vec<ChangeRecord> {
    let all = RecordQuery::After {
        sequence: 0,
        limit: usize::MAX,
    };
    block_on(store.records(&all, &CallContext::new())).expect("records")
}

/// Checks that a store answers as one does that is built from the quads.
fn equals(store: &ImageStore, quads: &HashSet<Quad>) {
    let snapshot = store.snapshot();
    let held: Vec<Quad> = snapshot.iter().collect();
    assert_eq!(held.len(), quads.len(), "each quad once");
    assert_eq!(&held.into_iter().collect::<HashSet<Quad>>(), quads);
    let triples: HashSet<_> = quads
        .iter()
        .map(|quad| (&quad.subject, &quad.predicate, &quad.object))
        .collect();
    assert_eq!(snapshot.triples(), triples.len() as u64);
    let fresh = ImageStore::new(builder(quads).build().expect("an image"));
    assert_eq!(values(store), values(&fresh));
    assert_eq!(written(store), written(&fresh));
    for property in 0..PROPERTIES {
        let property = node("p", property);
        let listed = |store: &ImageStore| -> BTreeSet<String> {
            let snapshot = store.snapshot();
            let found = snapshot.of_property(&property);
            found
                .map(|statement| format!("{:?}", statement.expect("a statement")))
                .collect()
        };
        assert_eq!(listed(store), listed(&fresh));
    }
}

/// Returns the values of all objects in both directions, in all graphs and in each.
fn values(store: &ImageStore) -> Vec<BTreeSet<String>> {
    let nodes: Vec<ObjectRef> = (0..SUBJECTS)
        .map(|number| node("s", number).into())
        .collect();
    let slots: Vec<Slot> = (0..PROPERTIES)
        .flat_map(|property| [false, true].map(|inverse| (property, inverse)))
        .map(|(property, inverse)| {
            Slot::new(Step {
                predicate: node("p", property),
                inverse,
            })
        })
        .collect();
    let mut all = Vec::new();
    let graphs = [
        None,
        Some(vec![0]),
        Some(vec![1]),
        Some(vec![1, 2]),
        Some(vec![9]),
    ];
    for graphs in graphs {
        let graphs = graphs.map(|graphs: Vec<u8>| {
            let names = graphs.into_iter().map(|number| node("graph", number));
            names.collect()
        });
        let dataset = Dataset {
            graphs,
            ..Dataset::default()
        };
        let request = HydrationRequest {
            nodes: (&nodes).into(),
            slots: &slots,
            dataset: &dataset,
        };
        let found = block_on(store.hydrate(&request, &CallContext::new())).expect("values");
        for column in &found.columns {
            for place in 0..nodes.len() {
                let values = column.of(place);
                let distinct: BTreeSet<String> =
                    values.iter().map(|value| value.to_string()).collect();
                assert_eq!(distinct.len(), values.len(), "each value once");
                all.push(distinct);
            }
        }
    }
    all
}

/// Returns what a transaction reads.
fn written(store: &ImageStore) -> Vec<BTreeSet<String>> {
    let context = CallContext::new();
    let mut transaction = block_on(store.begin(&context)).expect("a transaction");
    let mut patterns = Vec::new();
    for number in 0..SUBJECTS {
        let object = node("s", number);
        patterns.push(QuadPattern::About(object.clone()));
        for property in 0..PROPERTIES {
            let predicate = node("p", property);
            let (subject, object) = (object.clone(), object.clone());
            patterns.push(QuadPattern::Links {
                predicate: predicate.clone(),
                object,
            });
            patterns.push(QuadPattern::Values { subject, predicate });
        }
        patterns.push(QuadPattern::Referrers {
            object,
            also: vec![node("p", 0)],
        });
    }
    let read = patterns.into_iter().map(|pattern| {
        let found = block_on(transaction.quads(&[pattern], &context)).expect("quads");
        found.iter().map(ToString::to_string).collect()
    });
    read.collect()
}

fn cases(usual: u32) -> ProptestConfig {
    let wanted = setting("HISTORIES", usual.into());
    ProptestConfig::with_cases(u32::try_from(wanted).expect("fewer than 2^32 histories"))
}

fn check(folder: Option<FolderOptions>, first: &[Quad], events: &[Event]) {
    let mut history = History::new(folder, first);
    for event in events {
        history.happen(event);
    }
    equals(history.store(), &history.quads);
    assert_eq!(records(history.store()), history.records);
    history.happen(&Event::Reopen);
    equals(history.store(), &history.quads);
    assert_eq!(records(history.store()), history.records);
}

proptest! {
    #![proptest_config(cases(200))]
    #[test]
    fn a_store_in_memory_is_as_if_built_fresh(
        first in quads(30), events in prop::collection::vec(event(), 0..12),
    ) {
        check(None, &first, &events);
    }
}

proptest! {
    #![proptest_config(cases(40))]
    #[test]
    fn a_store_in_a_folder_is_as_if_built_fresh(
        first in quads(30), events in prop::collection::vec(event(), 0..12),
    ) {
        check(Some(FolderOptions::default()), &first, &events);
    }

    #[test]
    fn so_is_one_that_is_synced_now_and_then(
        first in quads(30), events in prop::collection::vec(event(), 0..12),
    ) {
        let mut options = FolderOptions::default();
        options.sync = Sync::Interval(Duration::from_millis(3));
        check(Some(options), &first, &events);
    }

    #[test]
    fn so_is_one_that_merges_after_each_commit(
        first in quads(30), events in prop::collection::vec(event(), 0..12),
    ) {
        let mut options = FolderOptions::default();
        options.merge_after = 1;
        check(Some(options), &first, &events);
    }
}

#[test]
fn forgotten_records_stay_forgotten_and_sequences_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let options = FolderOptions::default();
    let store = ImageStore::create(&folder, ImageBuilder::new(), &options).unwrap();
    for number in 0..5 {
        commit(&store, &[], &[], number).unwrap();
    }
    let before = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
    let forgotten = block_on(store.forget_records(before, &CallContext::new())).unwrap();
    assert_eq!(forgotten, 5);
    drop(store);
    let store = ImageStore::open(&folder, &options).unwrap();
    assert_eq!(records(&store), []);
    store.merge().unwrap();
    drop(store);
    let store = ImageStore::open(&folder, &options).unwrap();
    assert_eq!(commit(&store, &[], &[], 6).unwrap().sequence, 6);
    let by_request = RecordQuery::Request("request 6".to_owned());
    let found = block_on(store.records(&by_request, &CallContext::new())).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn a_folder_is_created_once_and_opened_if_it_holds_data() {
    let folder = tempfile::tempdir().unwrap();
    let options = FolderOptions::default();
    let missing = ImageStore::open(folder.path().join("none"), &options);
    assert!(matches!(missing, Err(ImageError::HoldsNoData { .. })));
    let path = folder.path().join("new");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let store = ImageStore::create(&path, ImageBuilder::new(), &options).unwrap();
    assert!(store.is_empty() && store.is_durable());
    let again = ImageStore::create(&path, ImageBuilder::new(), &options);
    let error = again.unwrap_err();
    assert!(matches!(error, ImageError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("in use"), "{error}");
    drop(store);
    let again = ImageStore::create(&path, ImageBuilder::new(), &options);
    assert!(matches!(again, Err(ImageError::HoldsData { .. })));
    assert_eq!(
        std::fs::read_to_string(path.join("notes.txt")).unwrap(),
        "mine"
    );
    let store = ImageStore::open(&path, &options).unwrap();
    assert!(matches!(
        store.backup(&path),
        Err(ImageError::HoldsData { .. })
    ));
    let left = Path::new(&path).with_extension("partial");
    assert!(!left.exists());
}

#[test]
fn a_transaction_that_read_replaced_data_conflicts() {
    let store = ImageStore::new(ImageBuilder::new().build().unwrap());
    let context = CallContext::new();
    let transaction = block_on(store.begin(&context)).unwrap();
    store.replace_data(ImageBuilder::new()).unwrap();
    let committed = block_on(transaction.commit(record(1), &context));
    assert!(
        matches!(committed, Err(StoreError::Conflict)),
        "{committed:?}"
    );
}
