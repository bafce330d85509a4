//! Format 1 of a data folder stays readable for good: image, log and stored schemas.
//!
//! `tests/data/format-1` is such a folder, gzipped where it is not text, with the quads that it holds. It is never
//! written again: where these tests fail, the code is wrong.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flate2::read::GzDecoder;
use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::write::{
    ChangeKind, ChangeRecord, ChangedObjects, NewRecord, QuadChange, RecordQuery,
};
use graph_store::{CallContext, GraphStore};
use oxigraph::io::RdfFormat;
use oxigraph::model::{NamedNode, Quad};
use servers::config::Settings;
use servers::data_folder::DataFolder;
use servers::dump::DumpFormat;
use servers::schema_store::{Expected, FolderSchemaStore, SchemaStore};
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
    let folder = DataFolder::open(place.path(), &Settings::default().store).unwrap();
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
    assert_eq!(
        block_on(schemas.bound()).unwrap().as_deref(),
        Some("library")
    );
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

/// What the image holds: columns in each of their forms, several graphs, all classes of literals.
fn first_quads() -> Vec<Quad> {
    let mut text = String::new();
    for number in 0..200 {
        text.push_str(&format!(
            "e:{number} a e:Book ; e:title 'Title {number}', 'Titel {number}'@de ; e:pages {number} .\n"
        ));
    }
    let data = format!(
        "@prefix e: <http://e/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n{text}\n\
         e:1 e:price 1.50, 2.0e0, '007'^^xsd:integer, '12'^^xsd:byte, 'many'^^xsd:integer ; e:seen true, '1'^^xsd:boolean ;\n\
           e:on '2026-11-27'^^xsd:date, '2026-11-27T12:00:00Z'^^xsd:dateTime, '12:00:00'^^xsd:time, '2026'^^xsd:gYear,\n\
           '2026-11'^^xsd:gYearMonth ; e:note 'ünï𝄞', '', 'a\\n\\\"b\\\"\\u0000', '<p/>'^^e:Markup, 'x'@zh-hans-cn ;\n\
           e:next e:2, _:b0 ; e:link <https://example.org/path/to?query=1#fragment>, <urn:x:y> .\n\
         _:b0 e:next _:b1 . _:b1 e:next _:b0 ; e:title 'Nobody' .\n\
         e:g1 {{ e:1 e:title 'Title 1' . e:2 e:title 'Zwei'@de ; e:next e:1 . _:b0 e:in e:g1 }}\n\
         e:g2 {{ e:1 e:title 'Title 1' ; e:pages 1 }}\n\
         _:graph {{ e:3 e:pages 3 }}\n"
    );
    parsed(data.as_bytes(), RdfFormat::TriG)
}

/// What the log holds: two transactions, which remove and add.
fn changes() -> [QuadChange; 2] {
    let of = |text: &str| {
        parsed(
            format!("@prefix e: <http://e/> .\n{text}").as_bytes(),
            RdfFormat::TriG,
        )
    };
    [
        QuadChange {
            removed: of(
                "e:7 a e:Book ; e:title 'Title 7', 'Titel 7'@de ; e:pages 7 . e:g2 { e:1 e:pages 1 }",
            ),
            added: of("e:new-1 a e:Book ; e:title 'New' ; e:weight 1.0 ."),
        },
        QuadChange {
            removed: of("e:1 e:title 'Titel 1'@de . e:new-1 e:weight 1.0 ."),
            added: of(
                "e:1 e:title 'Erster Titel'@de . e:new-2 a e:Book ; e:by [ e:title 'Somebody' ] . e:g3 { e:1 e:seen false }",
            ),
        },
    ]
}

#[test]
#[ignore = "writes the folder that the other tests read, which is done once and for all"]
fn write_the_folder_of_format_1() {
    let place = TempDir::new().unwrap();
    let mut quads = first_quads();
    let mut builder = ImageBuilder::new();
    for quad in &quads {
        builder.add(quad.as_ref()).unwrap();
    }
    let store = ImageStore::create(place.path(), builder, &FolderOptions::default()).unwrap();
    let context = CallContext::new();
    let first = NewRecord {
        request: "request-1".to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    };
    for (change, said) in changes().into_iter().zip([first, record()]) {
        quads.retain(|quad| !change.removed.contains(quad));
        quads.extend(change.added.clone());
        block_on(async {
            let mut transaction = store.writer().unwrap().begin(&context).await.unwrap();
            transaction.apply(change, &context).await.unwrap();
            transaction.commit(said, &context).await.unwrap();
        });
    }
    drop(store);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let schemas = FolderSchemaStore::open(place.path().join("schemas")).unwrap();
        schemas.create("library", SCHEMA.into()).await.unwrap();
        schemas.create("Library", OTHER.into()).await.unwrap();
        schemas
            .set_rights(RIGHTS.into(), &Expected::default())
            .await
            .unwrap();
        schemas.set_bound(Some("library")).await.unwrap();
    });
    fs::create_dir_all(fixture().join("schemas/documents")).unwrap();
    for name in PACKED {
        let mut file = File::open(place.path().join(name)).unwrap();
        let packed = File::create_new(fixture().join(format!("{name}.gz"))).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::best());
        io::copy(&mut file, &mut packed).unwrap();
        packed.finish().unwrap();
    }
    for name in PLAIN {
        fs::copy(place.path().join(name), fixture().join(name)).unwrap();
    }
    let mut lines: Vec<String> = quads.iter().map(|quad| format!("{quad} .\n")).collect();
    lines.sort_unstable();
    fs::write(fixture().join("expected.nq"), lines.concat()).unwrap();
}
