//! Images hold what was put into them, and nothing else is ever served.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use graph_store::Statements;
use graph_store::contract::quads;
use graph_store::image::{Fault, Image, ImageError};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use proptest::prelude::*;

use crate::images::builder;

fn texts<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> BTreeSet<String> {
    quads.into_iter().map(Quad::to_string).collect()
}

fn written(quads: &[Quad]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.image");
    builder(quads).write(&path).expect("a file is written");
    let names = fs::read_dir(folder.path()).expect("the folder");
    assert_eq!(names.count(), 1, "nothing is left beside the image");
    fs::read(&path).expect("the file")
}

/// Opens bytes as a file.
fn opened(bytes: &[u8]) -> Result<Image, ImageError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.image");
    fs::write(&path, bytes).expect("a file is written");
    Image::open(&path)
}

fn fault(opened: Result<Image, ImageError>) -> Fault {
    match opened {
        Err(ImageError::Unreadable { path, fault }) => {
            assert!(path.ends_with("data.image"));
            fault
        }
        other => panic!("{other:?}"),
    }
}

fn iri() -> impl Strategy<Value = NamedNode> {
    prop_oneof![
        (0..4, 0..30).prop_map(|(space, name)| format!("http://e/{space}/{name}")),
        "[a-c]:[/#:é0-9]{0,6}".prop_map(String::from),
        "x:[a-z]{0,300}",
    ]
    .prop_map(NamedNode::new_unchecked)
}

fn blank() -> impl Strategy<Value = BlankNode> {
    (0..5).prop_map(|name| BlankNode::new_unchecked(format!("b{name}")))
}

fn literal() -> impl Strategy<Value = Literal> {
    let text = prop_oneof![
        Just(String::new()),
        "[a-c]{1,2}",
        "-?0{0,2}[0-9]{1,3}(\\.[0-9]{0,2})?",
        "(NaN|-?INF|1e[0-9]{1,3}|true|false)",
        "20[0-9]{2}-0[1-9]-1[0-9](T0[0-9]:00:00)?(Z|[+]01:00)?",
        ".{0,20}",
    ];
    let datatypes = [
        xsd::STRING,
        xsd::INTEGER,
        xsd::DECIMAL,
        xsd::DOUBLE,
        xsd::FLOAT,
        xsd::INT,
        xsd::BOOLEAN,
        xsd::DATE,
        xsd::DATE_TIME,
        xsd::G_YEAR,
        xsd::DURATION,
    ];
    let typed = (text.clone(), proptest::sample::select(datatypes.to_vec()));
    let tagged = (text, proptest::sample::select(&["en", "de", "en-GB"][..]));
    prop_oneof![
        3 => typed.prop_map(|(text, datatype)| Literal::new_typed_literal(text, datatype)),
        1 => tagged.prop_map(|(text, tag)| {
            Literal::new_language_tagged_literal_unchecked(text, tag)
        }),
    ]
}

fn quad() -> impl Strategy<Value = Quad> {
    let subject = prop_oneof![
        5 => iri().prop_map(NamedOrBlankNode::from),
        1 => blank().prop_map(NamedOrBlankNode::from),
    ];
    let object = prop_oneof![
        3 => literal().prop_map(Term::from),
        2 => iri().prop_map(Term::from),
        1 => blank().prop_map(Term::from),
    ];
    let graph = prop_oneof![
        3 => Just(GraphName::DefaultGraph),
        2 => (0..3).prop_map(|name| NamedNode::new_unchecked(format!("http://g/{name}")).into()),
        1 => blank().prop_map(GraphName::from),
    ];
    let predicate = (0..6).prop_map(|name| NamedNode::new_unchecked(format!("http://p/{name}")));
    (subject, predicate, object, graph).prop_map(|(subject, predicate, object, graph)| {
        Quad::new(subject, predicate, object, graph)
    })
}

proptest! {
    #[test]
    fn an_image_holds_exactly_the_quads_that_were_added(
        quads in proptest::collection::vec(quad(), 0..120),
        repeated in 0_usize..10,
    ) {
        let mut added = quads.clone();
        added.extend(quads.iter().take(repeated).cloned());
        let image = builder(&added).build().unwrap();
        let held: Vec<Quad> = image.iter().collect();
        let wanted = texts(&quads);
        prop_assert_eq!(held.len(), wanted.len(), "each once");
        prop_assert_eq!(texts(&held), wanted);
        prop_assert_eq!(image.quads(), held.len() as u64);
        let triples: BTreeSet<String> = quads
            .iter()
            .map(|quad| oxrdf::Triple::from(quad.clone()).to_string())
            .collect();
        prop_assert_eq!(image.triples(), triples.len() as u64);
    }

    #[test]
    fn statements_are_listed_once_whatever_their_graphs(
        quads in proptest::collection::vec(quad(), 0..60),
    ) {
        let image = builder(&quads).build().unwrap();
        let wanted: BTreeSet<String> = quads
            .iter()
            .map(|quad| format!("{} {} {}", quad.subject, quad.predicate, quad.object))
            .collect();
        let properties: BTreeSet<&NamedNode> = quads.iter().map(|quad| &quad.predicate).collect();
        let mut of_properties = Vec::new();
        for property in properties {
            for statement in image.of_property(property) {
                let (subject, object) = statement.unwrap();
                of_properties.push(format!("{subject} {property} {object}"));
            }
        }
        prop_assert_eq!(of_properties.len(), wanted.len());
        prop_assert_eq!(of_properties.into_iter().collect::<BTreeSet<_>>(), wanted.clone());
        let subjects: HashSet<&NamedOrBlankNode> = quads.iter().map(|quad| &quad.subject).collect();
        let (mut about, mut named) = (Vec::new(), 0);
        for subject in subjects {
            let NamedOrBlankNode::NamedNode(subject) = subject else {
                continue;
            };
            let is_about = |text: &&String| text.starts_with(&format!("{subject} "));
            named += wanted.iter().filter(is_about).count();
            let mut each = |property: NamedNode, object: Term| {
                about.push(format!("{subject} {property} {object}"));
            };
            image.about(subject, &mut each).unwrap();
        }
        prop_assert_eq!(about.len(), named);
        prop_assert!(about.iter().all(|text| wanted.contains(text)));
    }

    #[test]
    fn the_same_quads_in_another_order_are_the_same_bytes_once_terms_are_sorted(
        quads in proptest::collection::vec(quad(), 0..60),
    ) {
        // Tags and prefixes are listed as they come, all else is sorted.
        let held = |quads: &[Quad]| -> Vec<String> {
            builder(quads).build().unwrap().iter().map(|quad| quad.to_string()).collect()
        };
        let mut reversed = quads.clone();
        reversed.reverse();
        prop_assert_eq!(held(&quads), held(&reversed));
    }
}

#[test]
fn an_image_without_quads_is_written_and_opened() {
    let image = opened(&written(&[])).unwrap();
    assert_eq!((image.quads(), image.terms()), (0, 0));
    assert_eq!(image.iter().count(), 0);
}

#[test]
fn what_is_written_is_opened() {
    let image = opened(&written(&quads())).unwrap();
    let held: Vec<Quad> = image.iter().collect();
    assert_eq!(texts(&held), texts(&quads()));
}

#[test]
fn a_torn_file_is_refused() {
    let whole = written(&quads());
    for length in 0..whole.len() {
        let fault = Image::from_bytes(&whole[..length]).unwrap_err();
        assert_eq!(fault, Fault::NotAnImage, "{length} of {}", whole.len());
    }
    assert_eq!(fault(opened(&whole[..whole.len() / 2])), Fault::NotAnImage);
}

#[test]
fn a_flipped_bit_is_never_served() {
    let whole = written(&quads());
    let wanted = texts(&quads());
    for at in 0..whole.len() {
        for bit in [0, 3, 7] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            // Bytes that only fill up say nothing.
            if let Ok(image) = Image::from_bytes(&bytes) {
                let held: Vec<Quad> = image.iter().collect();
                assert_eq!(texts(&held), wanted, "byte {at}, bit {bit}");
            }
        }
    }
}

#[test]
fn another_version_is_named() {
    let whole = written(&quads());
    let version_at = whole.len() - 36;
    let mut bytes = whole.clone();
    bytes[version_at..version_at + 4].copy_from_slice(&7_u32.to_ne_bytes());
    let footer_at = whole.len() - 40;
    let checksum = crc32fast::hash(&bytes[footer_at..footer_at + 28]);
    bytes[footer_at + 28..footer_at + 32].copy_from_slice(&checksum.to_ne_bytes());
    let fault = fault(opened(&bytes));
    assert_eq!(fault, Fault::Version { found: 7, known: 1 });
    // There is another way than to load the data again.
    assert!(fault.to_string().contains("soml dump"), "{fault}");
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("data.image");
    let error = builder(&quads()).write(&path).unwrap_err();
    assert!(matches!(error, ImageError::Io { .. }), "{error}");
    assert!(error.to_string().contains("data.image"), "{error}");

    let path = folder.path().join("data.image");
    builder(&quads()).write(&path).unwrap();
    // A folder is in the way of the new one.
    fs::create_dir(folder.path().join("data.image.partial")).unwrap();
    assert!(builder(&[]).write(&path).is_err());
    assert_eq!(Image::open(&path).unwrap().quads(), quads().len() as u64);
    assert!(Image::open(Path::new("no/such/image")).is_err());
}
