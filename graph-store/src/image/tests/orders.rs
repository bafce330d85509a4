//! Orders of objects that are kept over commits, merges and starts equal those that are sorted again.

use std::fs;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use call_context::Snapshots;
use call_context::trace::Trace;
use oxrdf::Term;
use oxrdf::vocab::rdf;
use proptest::prelude::*;
use soml_core::datatype::Scalar;

use super::*;
use crate::query::{
    Dataset, NodeCondition, OrderKey, OrderStep, Page, Position, Selection, SortBy, Step, Take,
    TypeTest, Window,
};
use crate::store::{GraphStore, Windowed};

fn node(name: &str, number: u8) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}{number}"))
}

fn property(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

fn graph(number: u8) -> GraphName {
    match number {
        0 => GraphName::DefaultGraph,
        number => node("graph", number).into(),
    }
}

/// Returns a quad about one of some objects: a type, a title, a reference or the name of what is referred to.
fn statement(subject: u8, kind: u8, value: u8, graph_number: u8) -> Quad {
    let text = |text: String| Literal::new_simple_literal(text);
    let (predicate, object): (NamedNode, Term) = match kind {
        0..3 => (rdf::TYPE.into_owned(), node("Type", value % 3).into()),
        // Some objects share a title.
        3..5 => (
            property("title"),
            text(format!("title {}", value % 7)).into(),
        ),
        5 => (
            property("title"),
            Literal::new_language_tagged_literal_unchecked(format!("Titel {value}"), "de").into(),
        ),
        6 => (property("title"), Literal::from(i64::from(value)).into()),
        7 => (property("author"), node("o", value).into()),
        _ => (property("wrote"), node("o", value).into()),
    };
    Quad::new(node("o", subject), predicate, object, graph(graph_number))
}

const OBJECTS: u8 = 8;

fn quads(most: usize) -> impl Strategy<Value = Vec<Quad>> {
    let one = (0..OBJECTS, 0..9_u8, 0..OBJECTS, 0..3_u8);
    let one = one.prop_map(|(subject, kind, value, graph)| statement(subject, kind, value, graph));
    prop::collection::vec(one, 0..most)
}

#[derive(Clone, Debug)]
enum Event {
    Commit(Vec<Quad>, Vec<Quad>),
    Merge,
    Reopen,
    /// Asks for pages of some order, so that it is kept.
    Ask(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (quads(8), quads(8)).prop_map(|(removed, added)| Event::Commit(removed, added)),
        1 => Just(Event::Merge),
        1 => Just(Event::Reopen),
        4 => (0..100_usize).prop_map(Event::Ask),
    ]
}

fn step(name: &str, inverse: bool) -> OrderStep {
    OrderStep::new(Step {
        predicate: property(name),
        inverse,
    })
}

fn by_title(mut path: Vec<OrderStep>, descending: bool) -> OrderKey {
    path.push(step("title", false));
    let by = SortBy::Scalar {
        scalar: Scalar::String,
        cast: false,
        lang: None,
    };
    OrderKey::new(path, by, descending)
}

fn of_type(types: &[u8]) -> NodeCondition {
    let types = types.iter().map(|number| node("Type", *number));
    NodeCondition::Instance(TypeTest::new(rdf::TYPE.into_owned(), types.collect()))
}

/// Returns selections in orders that may be kept.
fn selections() -> Vec<Selection> {
    let mut author = step("author", false);
    author.tests = vec![TypeTest::new(rdf::TYPE.into_owned(), vec![node("Type", 1)])];
    let orders = [
        vec![],
        vec![by_title(vec![], false)],
        vec![by_title(vec![], true)],
        vec![by_title(vec![author], false), by_title(vec![], true)],
        vec![by_title(vec![step("wrote", true)], false)],
        vec![OrderKey::new(
            vec![step("wrote", true), step("author", false)],
            SortBy::Iri,
            false,
        )],
    ];
    let conditions = [
        of_type(&[0]),
        of_type(&[1, 2]),
        NodeCondition::All(vec![of_type(&[0]), of_type(&[1])]),
    ];
    let graphs = [
        None,
        Some(vec![node("graph", 1)]),
        Some(vec![node("graph", 1), node("graph", 2)]),
    ];
    let mut all = Vec::new();
    for order in &orders {
        for condition in &conditions {
            for graphs in &graphs {
                all.push(Selection {
                    condition: condition.clone(),
                    order: order.clone(),
                    page: Page::default(),
                    dataset: Dataset {
                        graphs: graphs.clone(),
                        ..Dataset::default()
                    },
                });
            }
        }
    }
    all
}

/// Returns what a store answers about a selection: whole, in pages, as windows and as a number.
fn answers(
    store: &ImageStore,
    selection: &Selection,
    context: &CallContext,
) -> (Vec<String>, Vec<Windowed>, u64) {
    let page = |offset, limit| {
        let page = Page { offset, limit };
        let selection = Selection {
            page,
            ..selection.clone()
        };
        let found = block_on(store.select(&selection, context)).unwrap();
        let names: Vec<String> = found.iter().map(|id| id.node().to_string()).collect();
        names.join(" ")
    };
    let offsets = [0, 1, 3, 7, 20].map(|offset| page(Some(offset), Some(2)));
    let pages = [page(Some(0), None)].into_iter().chain(offsets).collect();
    let window =
        |window: &Window| block_on(store.select_window(selection, window, context)).unwrap();
    let whole = window(&Window::default());
    let positions: Vec<Position> = (whole.objects.iter().zip(&whole.keys))
        .map(|(id, keys)| Position {
            keys: keys.clone(),
            id,
        })
        .collect();
    let mut windows = vec![whole];
    let middle = positions.get(positions.len() / 2);
    for take in [Take::All, Take::First(2), Take::Last(2)] {
        let (after, before) = (positions.first().cloned(), middle.cloned());
        windows.push(window(&Window {
            after,
            before,
            take,
        }));
        windows.push(window(&Window {
            after: middle.cloned(),
            before: None,
            take,
        }));
    }
    let count = block_on(store.count(selection, context)).unwrap();
    (pages, windows, count)
}

fn of(quads: &std::collections::HashSet<Quad>) -> ImageStore {
    let mut builder = ImageBuilder::new();
    for quad in quads {
        builder.add(quad.as_ref()).unwrap();
    }
    let store = ImageStore::new(builder.build().unwrap());
    store.set_order_memory(0);
    store
}

/// Lets a store in a folder live through events; it must answer all the time as one that keeps nothing.
fn check(memory: usize, events: &[Event]) {
    let folder = tempfile::tempdir().unwrap();
    let options = FolderOptions::default();
    let store = ImageStore::create(&folder, ImageBuilder::new(), &options).unwrap();
    store.set_order_memory(memory);
    let (mut store, mut quads) = (Some(store), std::collections::HashSet::new());
    let (selections, context) = (selections(), CallContext::new());
    for selection in &selections {
        answers(store.as_ref().unwrap(), selection, &context);
    }
    for event in events {
        match event {
            Event::Commit(removed, added) => {
                let removed: Vec<Quad> = removed
                    .iter()
                    .filter(|quad| !added.contains(quad))
                    .cloned()
                    .collect();
                quads.retain(|quad| !removed.contains(quad));
                quads.extend(added.iter().cloned());
                let added = added.clone();
                let change = QuadChange { removed, added };
                commit(store.as_ref().unwrap(), change, "request").unwrap();
            }
            Event::Merge => store.as_ref().unwrap().merge().unwrap(),
            Event::Reopen => {
                drop(store.take());
                let opened = ImageStore::open(&folder, &options).unwrap();
                opened.set_order_memory(memory);
                store = Some(opened);
            }
            Event::Ask(number) => {
                let fresh = of(&quads);
                let places = [
                    number % selections.len(),
                    (number * 7 + 3) % selections.len(),
                ];
                for place in places {
                    let found = answers(store.as_ref().unwrap(), &selections[place], &context);
                    assert_eq!(found, answers(&fresh, &selections[place], &context));
                }
            }
        }
    }
    let fresh = of(&quads);
    for selection in &selections {
        let found = answers(store.as_ref().unwrap(), selection, &context);
        assert_eq!(found, answers(&fresh, selection, &context), "{selection:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn kept_orders_are_as_if_sorted_anew(events in prop::collection::vec(event(), 0..40)) {
        check(1 << 20, &events);
    }

    #[test]
    fn so_they_are_where_there_is_hardly_room(events in prop::collection::vec(event(), 0..40)) {
        check(40, &events);
    }
}

/// Returns a store of objects with titles, of two types in turns.
fn titled(folder: &Path, objects: u8) -> (ImageStore, FolderOptions) {
    let mut builder = ImageBuilder::new();
    for number in 0..objects {
        for quad in [
            statement(number, 0, number % 2, 0),
            statement(number, 3, number, 0),
        ] {
            builder.add(quad.as_ref()).unwrap();
        }
    }
    let options = FolderOptions::default();
    (
        ImageStore::create(folder, builder, &options).unwrap(),
        options,
    )
}

fn titles_of(ty: u8) -> Selection {
    Selection {
        condition: of_type(&[ty]),
        order: vec![by_title(vec![], false)],
        page: Page {
            offset: Some(0),
            limit: Some(5),
        },
        dataset: Dataset::default(),
    }
}

/// Returns how often a kind of work is done for a page.
fn work(store: &ImageStore, selection: &Selection, kind: &str) -> usize {
    let trace = Arc::new(Trace::default());
    let context = CallContext::new().with_trace(Arc::clone(&trace));
    block_on(store.select(selection, &context)).unwrap();
    trace
        .steps()
        .iter()
        .filter(|step| step.work == kind)
        .count()
}

fn add_title(store: &ImageStore, number: u8, title: u8) {
    let added = vec![statement(number, 3, title, 0)];
    let change = QuadChange {
        removed: Vec::new(),
        added,
    };
    commit(store, change, "title").unwrap();
}

#[test]
fn an_order_is_sorted_once_whatever_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = titled(folder.path(), 40);
    for ty in [0, 1] {
        assert_eq!(work(&store, &titles_of(ty), "sorts"), 1);
    }
    let added = vec![statement(100, 0, 0, 0), statement(100, 3, 1, 0)];
    let change = QuadChange {
        removed: Vec::new(),
        added,
    };
    commit(&store, change, "an object").unwrap();
    add_title(&store, 2, 6);
    // The other type is not concerned.
    for (ty, places) in [(1, 0), (0, 1), (0, 0)] {
        assert_eq!(work(&store, &titles_of(ty), "places"), places, "type {ty}");
    }
    add_title(&store, 4, 0);
    assert_eq!(work(&store, &titles_of(0), "sorts"), 0);
    store.merge().unwrap();
    for ty in [0, 1] {
        assert_eq!(work(&store, &titles_of(ty), "sorts"), 0, "after a merge");
    }
    add_title(&store, 2, 3);
    drop(store);
    for _ in 0..2 {
        let store = ImageStore::open(folder.path(), &options).unwrap();
        for ty in [0, 1] {
            assert_eq!(work(&store, &titles_of(ty), "sorts"), 0, "after a start");
        }
    }
}

#[test]
fn whoever_writes_much_lets_orders_follow() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = titled(folder.path(), 40);
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
    for round in 0..3 {
        for number in 0..4 {
            let object = 8 * round + 2 * number;
            add_title(&store, object, object + 1);
        }
        assert_eq!(work(&store, &titles_of(0), "places"), 0);
    }
    // No one asks for it.
    for object in (0..40).step_by(2) {
        add_title(&store, object, object + 2);
        add_title(&store, object, object + 3);
    }
    assert_eq!(work(&store, &titles_of(0), "places"), 1);
    // So much at once is sorted, when there is a page.
    let objects = (100..120).flat_map(|number| [0, 3].map(|kind| statement(number, kind, 0, 0)));
    let change = QuadChange {
        removed: Vec::new(),
        added: objects.collect(),
    };
    commit(&store, change, "objects").unwrap();
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
    assert_eq!(work(&store, &titles_of(0), "sorts"), 0);
}

#[test]
fn an_order_follows_changes_of_what_its_objects_are_linked_to() {
    let mut quads = Vec::new();
    for number in 0..6 {
        let other = 20 + number;
        quads.push(statement(number, 0, 0, 0));
        quads.push(statement(number, 7, other, 0));
        quads.push(statement(other, 8, number, 0));
        quads.push(statement(other, 7, other, 0));
        quads.push(statement(other, 3, number, 0));
    }
    let quads: std::collections::HashSet<Quad> = quads.into_iter().collect();
    let through = |path| vec![by_title(path, false)];
    let iri = vec![step("wrote", true), step("author", false)];
    let renamed = (statement(20, 3, 0, 0), statement(20, 3, 6, 0));
    let other_author = (statement(20, 7, 20, 0), statement(20, 7, 26, 0));
    for (order, (removed, added)) in [
        (through(vec![step("author", false)]), renamed.clone()),
        (through(vec![step("wrote", true)]), renamed.clone()),
        (
            through(vec![step("wrote", true), step("author", false)]),
            renamed,
        ),
        (vec![OrderKey::new(iri, SortBy::Iri, false)], other_author),
    ] {
        let store = of(&quads);
        store.set_order_memory(1 << 20);
        let selection = Selection {
            order,
            ..titles_of(0)
        };
        let before = answers(&store, &selection, &CallContext::new());
        let change = QuadChange {
            removed: vec![removed],
            added: vec![added],
        };
        commit(&store, change, "a change").unwrap();
        for (kind, times) in [("places", 1), ("sorts", 0)] {
            assert_eq!(
                work(&store, &selection, kind),
                times,
                "{kind}: {selection:?}"
            );
        }
        let after = answers(&store, &selection, &CallContext::new());
        assert_ne!(after, before);
        let fresh = of(&store.snapshot().iter().collect());
        assert_eq!(after, answers(&fresh, &selection, &CallContext::new()));
    }
}

#[test]
fn an_order_of_changed_data_is_there_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = titled(folder.path(), 40);
    let added = vec![statement(100, 0, 0, 0), statement(100, 3, 1, 0)];
    let removed = vec![statement(4, 0, 0, 0)];
    commit(&store, QuadChange { removed, added }, "a change").unwrap();
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
    let before = answers(&store, &titles_of(0), &CallContext::new());
    drop(store);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(work(&store, &titles_of(0), "sorts"), 0);
    assert_eq!(answers(&store, &titles_of(0), &CallContext::new()), before);
}

#[test]
fn an_order_is_there_after_the_end_of_a_process_that_closes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = titled(folder.path(), 40);
    drop(store);
    let options = FolderOptions {
        save_orders_every: Duration::from_millis(1),
        ..options
    };
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
    let path = folder.path().join("orders");
    while !path.exists() {
        std::thread::yield_now();
    }
    let killed = tempfile::tempdir().unwrap();
    let orders = killed.path().join("orders");
    let (other, _) = titled(killed.path(), 40);
    drop(other);
    fs::copy(path, orders).unwrap();
    let store = ImageStore::open(killed.path(), &FolderOptions::default()).unwrap();
    assert_eq!(work(&store, &titles_of(0), "sorts"), 0);
}

#[test]
fn orders_of_a_folder_are_made_again_where_their_file_is_of_no_use() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = titled(folder.path(), 40);
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
    drop(store);
    let path = folder.path().join("orders");
    let content = fs::read(&path).unwrap();
    let mut changed = content.clone();
    changed[content.len() / 2] ^= 1;
    let other = tempfile::tempdir().unwrap();
    let (store, _) = titled(other.path(), 39);
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
    drop(store);
    let foreign = fs::read(other.path().join("orders")).unwrap();
    for useless in [&changed[..], &content[..content.len() - 1], b"", &foreign] {
        fs::write(&path, useless).unwrap();
        let store = ImageStore::open(folder.path(), &options).unwrap();
        assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
        drop(store);
        assert_eq!(fs::read(&path).unwrap(), content, "it is written again");
    }
    fs::remove_file(&path).unwrap();
    let store = ImageStore::open(folder.path(), &options).unwrap();
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1);
}

#[test]
fn a_full_disk_and_other_data_leave_no_orders() {
    let folder = tempfile::tempdir().unwrap();
    let (store, options) = titled(folder.path(), 10);
    let path = folder.path().join("orders");
    work(&store, &titles_of(0), "sorts");
    options.disk.is_full.store(true, SeqCst);
    drop(store);
    assert!(!path.exists());
    options.disk.is_full.store(false, SeqCst);
    let store = ImageStore::open(folder.path(), &options).unwrap();
    work(&store, &titles_of(0), "sorts");
    store.set_order_memory(0);
    store.set_order_memory(1 << 20);
    assert_eq!(work(&store, &titles_of(0), "sorts"), 1, "there was no room");
    drop(store);
    assert!(path.exists());
    let store = ImageStore::open(folder.path(), &options).unwrap();
    store.replace_data(ImageBuilder::new()).unwrap();
    assert!(!path.exists());
    assert_eq!(
        block_on(store.count(&titles_of(0), &CallContext::new())).unwrap(),
        0
    );
}

#[test]
fn readers_of_old_data_see_them_while_an_order_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = titled(folder.path(), 40);
    let pinned = || {
        let context = CallContext::new().with_snapshots(Arc::new(Snapshots::new()));
        let before = answers(&store, &titles_of(0), &context);
        (context, before)
    };
    let mut all = Vec::new();
    for round in 0..10 {
        all.push(pinned());
        add_title(&store, 2 * round, round + 1);
        if round == 5 {
            store.merge().unwrap();
        }
        for (context, before) in &all {
            assert_eq!(&answers(&store, &titles_of(0), context), before);
        }
    }
    std::thread::scope(|scope| {
        let readers = [0, 1].map(|_| {
            scope.spawn(|| {
                for _ in 0..50 {
                    let (context, before) = pinned();
                    assert_eq!(answers(&store, &titles_of(0), &context), before);
                }
            })
        });
        for round in 0..50 {
            add_title(&store, 2 * (round % 10), round);
        }
        store.merge().unwrap();
        for reader in readers {
            reader.join().unwrap();
        }
    });
    let quads = store.snapshot().iter().collect();
    let context = CallContext::new();
    assert_eq!(
        answers(&store, &titles_of(0), &context),
        answers(&of(&quads), &titles_of(0), &context)
    );
}
