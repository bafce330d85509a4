//! Which data a store says that it has.

use std::time::Duration;

use call_context::CallContext;
use futures::executor::block_on;

use super::{add, quad};
use crate::image::{FolderOptions, ImageBuilder, ImageStore, Sync};
use crate::store::{DataVersion, GraphStore};
use crate::write::ChangesSince;

fn built(numbers: &[u64]) -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for number in numbers {
        builder.add(quad(*number).as_ref()).expect("a quad");
    }
    builder
}

fn in_memory(numbers: &[u64]) -> ImageStore {
    ImageStore::new(built(numbers).build().expect("an image"))
}

fn version(store: &ImageStore) -> DataVersion {
    store.version().expect("the store knows its data")
}

#[test]
fn equal_data_have_one_version_and_others_have_others() {
    let (one, same, other) = (
        in_memory(&[1, 2, 3]),
        in_memory(&[3, 1, 2]),
        in_memory(&[1, 2]),
    );
    assert_eq!(version(&one), version(&same));
    assert_ne!(version(&one), version(&other));
    let before = version(&one);
    add(&one, 9).expect("added");
    let changed = version(&one);
    assert_ne!(changed, before);
    assert_eq!(changed.sequence, 1);
    // Whatever was changed there was not changed here.
    add(&same, 8).expect("added");
    assert_ne!(version(&same), changed);
}

#[test]
fn a_folder_has_the_same_version_when_it_is_opened_again_and_after_a_merge() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, options) = (folder.path().join("data"), FolderOptions::default());
    let store = ImageStore::create(&path, built(&[1, 2]), &options).expect("created");
    let created = version(&store);
    add(&store, 3).expect("added");
    let changed = version(&store);
    assert_ne!(changed, created);
    drop(store);
    let store = ImageStore::open(&path, &options).expect("opened");
    assert_eq!(version(&store), changed);
    store.merge().expect("merged");
    assert_eq!(version(&store), changed, "nothing has changed");
    drop(store);
    let store = ImageStore::open(&path, &options).expect("opened");
    assert_eq!(version(&store), changed, "nor has it when it is read again");
    add(&store, 4).expect("added");
    let changed = version(&store);
    store.merge().expect("merged");
    add(&store, 5).expect("added");
    let later = version(&store);
    assert_ne!(later, changed);
    drop(store);
    let store = ImageStore::open(&path, &options).expect("opened");
    assert_eq!(version(&store), later);
    let changed = later;
    store.replace_data(built(&[7])).expect("replaced");
    let replaced = version(&store);
    assert_ne!(replaced, changed, "sequences go on, and all is new");
    drop(store);
    let store = ImageStore::open(&path, &options).expect("opened");
    assert_eq!(version(&store), replaced);
}

#[test]
fn other_changes_after_a_backup_are_another_version_though_they_are_as_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let options = FolderOptions::default();
    let store = ImageStore::create(path("data"), built(&[1, 2]), &options).expect("created");
    let before = version(&store);
    for copy in ["same", "other"] {
        store.backup(path(copy)).expect("a backup");
    }
    add(&store, 3).expect("added");
    let copy_with = |name: &str, number| {
        let copy = ImageStore::open(path(name), &options).expect("opened");
        assert_eq!(version(&copy), before);
        add(&copy, number).expect("added");
        version(&copy)
    };
    assert_eq!(copy_with("same", 3), version(&store));
    let other = copy_with("other", 4);
    assert_eq!(other.sequence, version(&store).sequence);
    assert_ne!(other, version(&store));
    // What comes later does not make them one.
    let store_and_copy = [
        store,
        ImageStore::open(path("other"), &options).expect("opened"),
    ];
    let [one, other] = store_and_copy.map(|store| {
        add(&store, 5).expect("added");
        version(&store)
    });
    assert_eq!(one.sequence, other.sequence);
    assert_ne!(one, other);
}

#[test]
fn what_readers_see_before_it_is_synced_is_another_version() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, mut options) = (folder.path().join("data"), FolderOptions::default());
    options.sync = Sync::Interval(Duration::from_secs(3_600));
    let store = ImageStore::create(&path, built(&[1, 2]), &options).expect("created");
    let before = version(&store);
    add(&store, 3).expect("added");
    let changed = version(&store);
    assert_eq!((store.quads(), changed.sequence), (3, 1));
    assert_ne!(changed, before);
    drop(store);
    let store = ImageStore::open(&path, &options).expect("opened");
    assert_eq!(version(&store), changed, "closing has synced it");
}

#[test]
fn data_that_are_put_in_place_again_are_not_those_of_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, options) = (folder.path().join("data"), FolderOptions::default());
    let context = CallContext::new();
    for store in [
        ImageStore::create(&path, built(&[1]), &options).expect("created"),
        in_memory(&[1]),
    ] {
        add(&store, 2).expect("added");
        let writer = store.writer().expect("written to");
        let before = block_on(writer.position(&context)).expect("a position");
        store.replace_data(built(&[1])).expect("replaced");
        let since = |position| block_on(writer.changes_since(position, 10, &context));
        assert_eq!(since(&before).expect("an answer"), ChangesSince::Unknown);
        let after = block_on(writer.position(&context)).expect("a position");
        assert_eq!(
            since(&after).expect("an answer"),
            ChangesSince::Known(Vec::new())
        );
        add(&store, 3).expect("added");
        let ChangesSince::Known(changes) = since(&after).expect("an answer") else {
            panic!("they are of the same data");
        };
        assert_eq!(changes.len(), 1);
    }
    let store = ImageStore::open(&path, &options).expect("opened");
    let position = block_on(store.writer().expect("written to").position(&context));
    let position = position.expect("a position");
    assert_eq!(
        (position.sequence, position.origin.ends_with("+1")),
        (2, true),
        "{position:?}"
    );
}
