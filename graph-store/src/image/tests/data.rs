//! Which data a store says that it has.

use super::{add, quad};
use crate::image::{FolderOptions, ImageBuilder, ImageStore};
use crate::store::{DataVersion, GraphStore};

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
    store.replace_data(built(&[7])).expect("replaced");
    assert_ne!(version(&store), changed, "sequences go on, and all is new");
}
