//! Format 1 of a data folder stays readable for good: image, log and stored schemas.
//!
//! `tests/data/format-1` is such a folder, gzipped where it is not text, with the quads that it holds: an image with
//! columns in each of their forms and several graphs, a log of two transactions, schemas, rights and a binding. It is
//! never written again: where these tests fail, the code is wrong.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flate2::read::GzDecoder;
use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageStore};
use graph_store::write::{ChangeKind, ChangeRecord, ChangedObjects, NewRecord, RecordQuery};
use graph_store::{CallContext, GraphStore};
use object_service::folder::{DataFolder, DataFolderOptions};
use oxrdf::NamedNode;
use oxrdfio::RdfFormat;
use rdf_load::DumpFormat;
use schema_registry::{SchemaStore, ServiceKind};
use tempfile::TempDir;

use super::{canonical, dump, parsed};
use crate::command_line::{code, err, soml};

const PACKED: [&str; 2] = ["data-1.image", "changes.redb"];

const PLAIN: [&str; 4] = [
    "schemas/bound.yaml",
    "schemas/rights.yaml",
    "schemas/documents/library.yaml",
    "schemas/documents/library%1.yaml",
];

const SCHEMA: &str = "id: /soml/library\nobjects: {Book: {}}\n";
const OTHER: &str = "id: /soml/Library\nobjects: {}\n";
const RIGHTS: &str = "rbac: {roles: {}}\n";

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1")
}

/// Puts the folder where it can be opened.
fn unpacked() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("schemas/documents")).unwrap();
    for name in PACKED {
        let packed = File::open(fixture().join(format!("{name}.gz"))).unwrap();
        let mut file = File::create(folder.path().join(name)).unwrap();
        io::copy(&mut GzDecoder::new(packed), &mut file).unwrap();
    }
    for name in PLAIN {
        fs::copy(fixture().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// The quads of the folder.
fn expected() -> Vec<String> {
    let text = fs::read(fixture().join("expected.nq")).unwrap();
    canonical(parsed(&text, RdfFormat::NQuads))
}

/// What the second of its two transactions has recorded; numbers in an image have the byte order of the machine.
fn record() -> NewRecord {
    let objects = |names: &[&str]| {
        let iri = |name: &&str| NamedNode::new(format!("http://e/{name}")).unwrap();
        names.iter().map(iri).collect()
    };
    let changed = |kind, names: &[&str]| ChangedObjects {
        kind,
        object_type: "Book".to_owned(),
        objects: objects(names),
    };
    NewRecord {
        request: "request-2".to_owned(),
        idempotency_key: Some("key 2".to_owned()),
        digest: "9c1185a5".to_owned(),
        time: SystemTime::UNIX_EPOCH + Duration::new(1_790_000_000, 123_456_789),
        changes: vec![
            changed(ChangeKind::Created, &["new-1", "new-2"]),
            changed(ChangeKind::Updated, &["1"]),
            changed(ChangeKind::Deleted, &["7"]),
        ],
    }
}

#[cfg(target_endian = "little")]
#[test]
fn a_folder_of_format_1_is_read() {
    let place = unpacked();
    let folder = DataFolder::open(place.path(), &DataFolderOptions::default()).unwrap();
    let store = folder.image.as_ref();
    let text = dump(store, DumpFormat::NQuads, false);
    assert_eq!(canonical(parsed(&text, RdfFormat::NQuads)), expected());

    let query = RecordQuery::After {
        sequence: 0,
        limit: 10,
    };
    let context = CallContext::new();
    let records = block_on(store.writer().unwrap().records(&query, &context)).unwrap();
    let sequences: Vec<u64> = records.iter().map(|record| record.sequence).collect();
    assert_eq!(sequences, [1, 2]);
    let last = ChangeRecord {
        sequence: 2,
        said: record().grouped(),
    };
    assert_eq!(records[1], last);
    let key = RecordQuery::IdempotencyKey("key 2".to_owned());
    let found = block_on(store.writer().unwrap().records(&key, &context)).unwrap();
    assert_eq!(found, [last]);

    let schemas = &folder.schemas;
    let text = |id| block_on(schemas.get(id)).unwrap().unwrap().text;
    assert_eq!((&*text("library"), &*text("Library")), (SCHEMA, OTHER));
    assert_eq!(&*block_on(schemas.rights()).unwrap().unwrap().text, RIGHTS);
    let bound = block_on(schemas.binding(ServiceKind::Objects)).unwrap();
    assert_eq!(bound.id(), Some("library"));
}

#[cfg(target_endian = "little")]
#[test]
fn a_folder_of_format_1_is_dumped_and_goes_on() {
    let place = unpacked();
    let data = place.path().display().to_string();
    let dumped = soml(&["dump", "--data-dir", &data]);
    assert_eq!(code(&dumped), Some(0), "{}", err(&dumped));
    assert_eq!(
        canonical(parsed(&dumped.stdout, RdfFormat::NQuads)),
        expected()
    );
    // What is merged is the same.
    let store = ImageStore::open(place.path(), &FolderOptions::default()).unwrap();
    store.merge().unwrap();
    drop(store);
    let merged = soml(&["dump", "--data-dir", &data]);
    assert_eq!(
        canonical(parsed(&merged.stdout, RdfFormat::NQuads)),
        expected()
    );
}
