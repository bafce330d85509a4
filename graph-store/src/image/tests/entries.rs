//! What is written to the log is read from it, and nothing else is.

use std::time::Duration;

use oxrdf::{BlankNode, NamedOrBlankNode, Term};
use proptest::prelude::*;

use super::*;
use crate::image::log::{Origin, State, read_change, read_record, write_change, write_record};
use crate::write::{ChangeKind, ChangedObjects};

fn term() -> impl Strategy<Value = Term> {
    let text = "\\PC{0,6}";
    prop_oneof![
        text.prop_map(|text| NamedNode::new_unchecked(text).into()),
        text.prop_map(|text| BlankNode::new_unchecked(text).into()),
        text.prop_map(|text| Literal::new_simple_literal(text).into()),
        text.prop_map(|text| Literal::new_language_tagged_literal_unchecked(text, "en").into()),
        (text, text).prop_map(|(text, datatype)| {
            let datatype = NamedNode::new_unchecked(datatype);
            Literal::new_typed_literal(text, datatype).into()
        }),
    ]
}

fn any_quad() -> impl Strategy<Value = Quad> {
    let node = ("\\PC{0,4}", any::<bool>()).prop_map(|(text, is_blank)| {
        if is_blank {
            NamedOrBlankNode::from(BlankNode::new_unchecked(text))
        } else {
            NamedNode::new_unchecked(text).into()
        }
    });
    (node.clone(), "\\PC{0,3}", term(), prop::option::of(node)).prop_map(|(s, p, o, g)| {
        let graph = match g {
            None => GraphName::DefaultGraph,
            Some(NamedOrBlankNode::NamedNode(graph)) => graph.into(),
            Some(NamedOrBlankNode::BlankNode(graph)) => graph.into(),
        };
        Quad::new(s, NamedNode::new_unchecked(p), o, graph)
    })
}

fn any_record() -> impl Strategy<Value = ChangeRecord> {
    let group = (
        0..3_usize,
        "\\PC{0,4}",
        prop::collection::vec("\\PC{0,5}", 0..4),
    );
    let group = group.prop_map(|(kind, object_type, objects)| ChangedObjects {
        kind: ChangeKind::ALL[kind],
        object_type,
        objects: objects.into_iter().map(NamedNode::new_unchecked).collect(),
    });
    let said = (
        "\\PC{0,9}",
        prop::option::of("\\PC{0,9}"),
        (any::<bool>(), 0..1_u64 << 34, 0..1_000_000_000_u32),
        prop::collection::vec(group, 0..4),
    );
    (any::<u64>(), said).prop_map(|(sequence, (request, idempotency_key, time, changes))| {
        let span = Duration::new(time.1, time.2);
        let said = NewRecord {
            digest: request.clone(),
            request,
            idempotency_key,
            time: if time.0 {
                SystemTime::UNIX_EPOCH + span
            } else {
                SystemTime::UNIX_EPOCH - span
            },
            changes,
        };
        ChangeRecord { sequence, said }
    })
}

proptest! {
    #[test]
    fn changes_are_read_as_they_were_written(
        removed in prop::collection::vec(any_quad(), 0..8),
        added in prop::collection::vec(any_quad(), 0..8),
        sequence in any::<u64>(),
        flip in any::<prop::sample::Index>(),
    ) {
        let change = QuadChange { removed, added };
        let bytes = write_change(sequence, &change);
        prop_assert_eq!(read_change(sequence, &bytes), Some(change));
        prop_assert_eq!(read_change(sequence.wrapping_add(1), &bytes), None);
        let mut flipped = bytes.clone();
        flipped[flip.index(bytes.len())] ^= 4;
        prop_assert_eq!(read_change(sequence, &flipped), None);
        prop_assert_eq!(read_change(sequence, &bytes[..flip.index(bytes.len())]), None);
    }

    #[test]
    fn records_are_read_as_they_were_written(
        record in any_record(), flip in any::<prop::sample::Index>(),
    ) {
        let bytes = write_record(&record);
        prop_assert_eq!(read_record(record.sequence, &bytes), Some(record.clone()));
        let mut flipped = bytes.clone();
        flipped[flip.index(bytes.len())] ^= 32;
        prop_assert_eq!(read_record(record.sequence, &flipped), None);
    }

    #[test]
    fn states_are_read_as_they_were_written(generation in any::<u64>(), base in any::<u64>()) {
        let state = State { generation, base };
        prop_assert_eq!(State::read(&state.write()), Some(state));
    }

    #[test]
    fn origins_are_read_for_their_own_image_only(
        source in "\\PC{0,9}", history in any::<u64>(), generation in any::<u64>(),
    ) {
        let origin = Origin { source, history };
        let bytes = origin.write(generation);
        prop_assert_eq!(Origin::read(generation, &bytes), Some(origin));
        prop_assert_eq!(Origin::read(generation.wrapping_add(1), &bytes), None);
    }

    #[test]
    fn bytes_with_a_right_checksum_are_read_or_not(content in any::<Vec<u8>>(), sequence in 0..3_u64) {
        let mut bytes = content;
        bytes.insert(0, 1);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&sequence.to_le_bytes());
        hasher.update(&bytes);
        bytes.extend(hasher.finalize().to_le_bytes());
        let _ = (read_change(sequence, &bytes), read_record(sequence, &bytes));
    }
}
