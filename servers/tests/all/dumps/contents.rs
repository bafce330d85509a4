//! What a dump holds: exactly the quads of its store, whatever they are.

use std::fs;
use std::sync::Arc;

use futures::executor::block_on;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::write::{NewRecord, QuadChange};
use graph_store::{CallContext, GraphStore};
use oxigraph::store::Store;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use oxrdfio::RdfFormat;
use rdf_load::DumpFormat;
use servers::store::DataStore;
use tempfile::TempDir;

use super::{canonical, dump, loaded, parsed};
use crate::random::Random;
use crate::sparql_server::SparqlServer;

/// Datasets that are tried with each kind of store.
const ROUNDS: u64 = 60;

/// IRIs, among them those that a prefix could shorten wrongly.
const IRIS: [&str; 12] = [
    "http://e/a",
    "http://e/b#c",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
    "http://www.w3.org/2001/XMLSchema#",
    "http://www.w3.org/2001/XMLSchema#a.b.",
    "http://www.w3.org/2000/01/rdf-schema#-x~!$&'()*+,;=",
    "http://www.w3.org/2000/01/rdf-schema#a/b?c=%20",
    "http://www.w3.org/2002/07/owl#%41",
    "urn:x:ü:𝄞",
    "mailto:somebody@example.org",
    "http://e/with:colons::",
    "tag:e,2026:x",
];

const TEXTS: [&str; 12] = [
    "",
    "plain",
    "\"quotes\" 'and' \\ backslashes \\",
    "lines\nof\r\ntext\ttabs",
    "\u{0}\u{1}\u{b}\u{1f}\u{7f}\u{85}\u{2028}\u{feff}",
    "ünï𝄞 \u{10ffff}",
    "<http://e/> . # no comment",
    "\"\"\"",
    "_:b0",
    "1",
    "  white space  ",
    "@en",
];

const TAGS: [&str; 4] = ["en", "de-at-1996", "zh-hans-cn", "x-private"];

const TYPED: [(&str, &str); 16] = [
    ("1", "http://www.w3.org/2001/XMLSchema#integer"),
    ("+007", "http://www.w3.org/2001/XMLSchema#integer"),
    (
        "99999999999999999999999999",
        "http://www.w3.org/2001/XMLSchema#integer",
    ),
    ("seven", "http://www.w3.org/2001/XMLSchema#integer"),
    (" 1 ", "http://www.w3.org/2001/XMLSchema#integer"),
    ("1.", "http://www.w3.org/2001/XMLSchema#decimal"),
    (".50", "http://www.w3.org/2001/XMLSchema#decimal"),
    ("1E3", "http://www.w3.org/2001/XMLSchema#double"),
    ("NaN", "http://www.w3.org/2001/XMLSchema#double"),
    ("1.0e+3", "http://www.w3.org/2001/XMLSchema#double"),
    ("true", "http://www.w3.org/2001/XMLSchema#boolean"),
    ("TRUE", "http://www.w3.org/2001/XMLSchema#boolean"),
    (
        "2026-11-27T24:00:00.000+14:00",
        "http://www.w3.org/2001/XMLSchema#dateTime",
    ),
    ("0000", "http://www.w3.org/2001/XMLSchema#gYear"),
    (
        "<p>\"x\"</p>",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral",
    ),
    ("x", "http://e/type#t.1"),
];

fn iri(random: &mut Random) -> NamedNode {
    NamedNode::new(IRIS[random.below(IRIS.len())]).unwrap()
}

fn blank(random: &mut Random) -> BlankNode {
    BlankNode::new(["b0", "1", "c.d", "e-f"][random.below(4)]).unwrap()
}

fn literal(random: &mut Random) -> Literal {
    let text = TEXTS[random.below(TEXTS.len())];
    match random.below(4) {
        0 => Literal::new_simple_literal(text),
        1 => {
            let tag = TAGS[random.below(TAGS.len())];
            Literal::new_language_tagged_literal(text, tag).unwrap()
        }
        _ => {
            let (text, datatype) = TYPED[random.below(TYPED.len())];
            Literal::new_typed_literal(text, NamedNode::new(datatype).unwrap())
        }
    }
}

fn quad(random: &mut Random) -> Quad {
    let subject: NamedOrBlankNode = match random.below(4) {
        0 => blank(random).into(),
        _ => iri(random).into(),
    };
    let object: Term = match random.below(5) {
        0 => blank(random).into(),
        1 => iri(random).into(),
        _ => literal(random).into(),
    };
    let graph: GraphName = match random.below(6) {
        0 => blank(random).into(),
        1 | 2 => iri(random).into(),
        _ => GraphName::DefaultGraph,
    };
    Quad::new(subject, iri(random), object, graph)
}

fn quads(random: &mut Random, most: usize) -> Vec<Quad> {
    let count = random.below(most + 1);
    (0..count).map(|_| quad(random)).collect()
}

/// Makes sure that dumps of a store, loaded again, are the same data.
fn check(store: &dyn GraphStore, expected: &[String], round: u64) {
    let folder = TempDir::new().unwrap();
    for (name, format, is_gzipped) in [
        ("a.nq", DumpFormat::NQuads, false),
        ("b.trig", DumpFormat::TriG, false),
        ("c.nq.gz", DumpFormat::NQuads, true),
        ("d.trig.gz", DumpFormat::TriG, true),
    ] {
        let text = dump(store, format, is_gzipped);
        let path = folder.path().join(name);
        fs::write(&path, &text).unwrap();
        let text = super::unpacked(&path);
        let syntax = match format {
            DumpFormat::NQuads => RdfFormat::NQuads,
            DumpFormat::TriG => RdfFormat::TriG,
        };
        let shown = String::from_utf8(text.clone()).unwrap();
        assert_eq!(
            canonical(parsed(&text, syntax)),
            expected,
            "{round} {name}:\n{shown}"
        );
        if expected.is_empty() {
            // The loader would say that the file has nothing.
            continue;
        }
        let again = loaded(&path);
        assert_eq!(
            canonical(again.snapshot().iter()),
            expected,
            "{round} {name}:\n{shown}"
        );
    }
}

fn image(quads: &[Quad]) -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for quad in quads {
        builder.add(quad.as_ref()).unwrap();
    }
    builder
}

/// Changes a store by a transaction, as mutations do.
fn change(store: &ImageStore, removed: &[Quad], added: &[Quad]) {
    let context = CallContext::new();
    let writer = store.writer().unwrap();
    let change = QuadChange {
        removed: removed.to_vec(),
        added: added.to_vec(),
    };
    let record = NewRecord {
        request: "r".to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time: std::time::SystemTime::now(),
        changes: Vec::new(),
    };
    block_on(async {
        let mut transaction = writer.begin(&context).await.unwrap();
        transaction.apply(change, &context).await.unwrap();
        transaction.commit(record, &context).await.unwrap();
    });
}

#[test]
fn a_dump_of_an_image_with_changes_is_its_data() {
    for round in 0..ROUNDS {
        let mut random = Random::new(round);
        let before = quads(&mut random, 25);
        let added = quads(&mut random, 10);
        let removed: Vec<Quad> = before
            .iter()
            .filter(|_| random.below(3) == 0)
            .cloned()
            .collect();
        let mut after = before.clone();
        after.retain(|quad| !removed.contains(quad));
        after.extend(added.clone());
        let expected = canonical(after);

        let store = ImageStore::new(image(&before).build().unwrap());
        change(&store, &removed, &added);
        check(&store, &expected, round);

        let folder = TempDir::new().unwrap();
        let path = folder.path().join("data");
        let options = FolderOptions::default();
        let store = ImageStore::create(&path, image(&before), &options).unwrap();
        change(&store, &removed, &added);
        drop(store);
        check(
            &ImageStore::open(&path, &options).unwrap(),
            &expected,
            round,
        );
    }
}

#[test]
fn a_dump_of_a_sparql_server_is_its_data_without_records() {
    for round in 0..ROUNDS / 4 {
        let store = Store::new().unwrap();
        store.extend(quads(&mut Random::new(round), 30)).unwrap();
        let expected = canonical(store.iter().map(Result::unwrap));
        for graph in ["urn:graph-store:changes", "urn:graph-store:probe:0123"] {
            let node = NamedNode::new("urn:graph-store:x").unwrap();
            let graph = NamedNode::new(graph).unwrap();
            let record = Quad::new(node.clone(), node.clone(), node, graph);
            store.insert(&record).unwrap();
        }
        let server = SparqlServer::of_store(store);
        let store = DataStore::connect(&server.options()).unwrap().graph_store();
        check(store.as_ref(), &expected, round);
    }
}

#[test]
fn a_dump_holds_what_was_there_when_it_began() {
    let (before, after) = (quad(&mut Random::new(1)), quad(&mut Random::new(2)));
    let store = Arc::new(ImageStore::new(
        image(std::slice::from_ref(&before)).build().unwrap(),
    ));
    struct Meanwhile {
        store: Arc<ImageStore>,
        added: Quad,
        found: Vec<Quad>,
    }
    #[async_trait::async_trait(?Send)]
    impl graph_store::QuadSink for Meanwhile {
        async fn take(&mut self, quads: Vec<Quad>) -> std::ops::ControlFlow<()> {
            // Whoever takes its time keeps no writer waiting.
            let (store, added) = (Arc::clone(&self.store), self.added.clone());
            let writing = std::thread::spawn(move || change(&store, &[], &[added]));
            writing.join().unwrap();
            self.found.extend(quads);
            std::ops::ControlFlow::Continue(())
        }
    }
    let mut sink = Meanwhile {
        store: Arc::clone(&store),
        added: after,
        found: Vec::new(),
    };
    let exporter = store.exporter().unwrap();
    block_on(exporter.export(&mut sink, &CallContext::new())).unwrap();
    assert_eq!(sink.found, [before]);
    assert_eq!(store.quads(), 2);
}
