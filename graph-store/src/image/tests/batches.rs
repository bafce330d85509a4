//! Quads that are added in batches.

use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Term};
use proptest::prelude::*;

use super::*;
use crate::image::QuadBatch;

fn named(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

/// Quads whose terms share texts and differ in kind.
fn quads() -> impl Strategy<Value = Vec<Quad>> {
    let quad = (0..6_u8, 0..3_u8, 0..6_u8, 0..8_u8, 0..3_u8);
    let quad = quad.prop_map(|(subject, property, object, kind, graph)| {
        let text = object.to_string();
        let object: Term = match kind {
            0 => Literal::new_language_tagged_literal_unchecked(text, "en").into(),
            1 => Literal::new_language_tagged_literal_unchecked(text, "de").into(),
            2 => Literal::new_typed_literal(text, named("0")).into(),
            3 => Literal::new_typed_literal(text, named("1")).into(),
            4 => BlankNode::new_unchecked(text).into(),
            5 => named(&text).into(),
            _ => Literal::from(text).into(),
        };
        let subject: NamedOrBlankNode = match subject {
            0 => BlankNode::new_unchecked("0").into(),
            subject => named(&subject.to_string()).into(),
        };
        let graph = match graph {
            0 => GraphName::DefaultGraph,
            1 => BlankNode::new_unchecked("1").into(),
            _ => named("graph").into(),
        };
        Quad::new(subject, named(&property.to_string()), object, graph)
    });
    proptest::collection::vec(quad, 0..60)
}

fn bytes(builder: ImageBuilder) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = builder.build().unwrap();
    image.write_to(&mut bytes).unwrap();
    bytes
}

proptest! {
    #[test]
    fn an_image_does_not_depend_on_how_quads_are_added(quads in quads(), length in 1..30_usize) {
        let mut one_by_one = ImageBuilder::new();
        let mut in_batches = ImageBuilder::new();
        for quads in quads.chunks(length) {
            let mut batch = QuadBatch::new();
            for quad in quads {
                one_by_one.add(quad.as_ref()).unwrap();
                batch.push(quad.as_ref()).unwrap();
            }
            let kept: Vec<Quad> = batch.iter().map(|quad| quad.into_owned()).collect();
            prop_assert_eq!(&kept, quads);
            prop_assert_eq!(batch.len(), quads.len());
            in_batches.add_batch(&batch).unwrap();
        }
        prop_assert_eq!(bytes(in_batches), bytes(one_by_one));
    }
}

/// More quads of a property than one thread sorts and writes.
#[test]
fn large_properties_keep_their_quads() {
    let mut builder = ImageBuilder::new();
    let mut wanted = Vec::new();
    for (property, count) in [("a", 3), ("b", 100_000), ("c", 200), ("d", 90_000)] {
        for number in 0..count {
            let subject = named(&(number * 7_919 % count).to_string());
            let object = named(&(number % 1_000).to_string());
            let quad = Quad::new(subject, named(property), object, GraphName::DefaultGraph);
            builder.add(quad.as_ref()).unwrap();
            wanted.push(quad.to_string());
        }
    }
    let image = builder.build().unwrap();
    let mut quads: Vec<String> = image.iter().map(|quad| quad.to_string()).collect();
    quads.sort_unstable();
    wanted.sort_unstable();
    wanted.dedup();
    assert!(quads == wanted, "{} of {}", quads.len(), wanted.len());
}

#[test]
fn items_are_taken_in_order_until_one_fails() {
    for bytes in [0, crate::image::WORTH_A_THREAD] {
        let mut taken = Vec::new();
        let result = crate::image::pipelined(bytes, 0..10, |item| {
            taken.push(item);
            match item {
                5 => Err(std::io::Error::other("no room")),
                _ => Ok(()),
            }
        });
        assert!(result.is_err());
        assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
        let mut count = 0;
        let all = crate::image::pipelined(bytes, 0..10, |_| {
            count += 1;
            Ok(())
        });
        assert!(all.is_ok());
        assert_eq!(count, 10);
    }
}
