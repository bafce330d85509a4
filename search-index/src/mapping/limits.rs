//! Compares indexes with the limits of the engine.

use soml_core::Finding;
use soml_core::span::Span;

use super::definition::{Content, IndexDefinition, Leaf, ObjectFields};
use super::finding::FindingKind;
use super::scalar::ScalarIndex;

/// Fields of an index as the engine counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    fields: u64,
    nested: u64,
}

/// Returns a warning for each limit of the engine that creating the index would exceed.
pub(super) fn check(index: &IndexDefinition, span: Span) -> Vec<Finding> {
    let mut counts = Counts::default();
    count(&index.fields, &mut counts);
    let rows = [
        (
            FindingKind::TotalFields,
            "index.mapping.total_fields.limit",
            1_000,
            counts.fields,
            "fields",
        ),
        (
            FindingKind::NestedFields,
            "index.mapping.nested_fields.limit",
            50,
            counts.nested,
            "nested objects",
        ),
    ];
    let mut findings = Vec::new();
    for (kind, setting, default, number, what) in rows {
        let limit = index.settings.limit(setting, default);
        if number > limit {
            let message = format!(
                "the index of `{}` has {number} {what}, and the engine allows {limit}",
                index.name
            );
            let help = format!(
                "raise `{setting}` in `indexer.indexCreateSettings`, or lower `nestingLevel`"
            );
            findings.push(kind.at(Some(span), message).with_help(help));
        }
    }
    findings
}

fn count(object: &ObjectFields, counts: &mut Counts) {
    counts.fields += if object.id_only { 1 } else { 2 };
    for field in object.fields.values() {
        match &field.content {
            Content::Leaf(leaf) => counts.fields += leaf_fields(leaf),
            Content::Object(embedded) => {
                counts.fields += 1;
                counts.nested += u64::from(embedded.nested);
                count(&embedded.fields, counts);
            }
        }
    }
    counts.fields += u64::from(object.has_converted()) + u64::from(object.has_facts());
}

fn leaf_fields(leaf: &Leaf) -> u64 {
    match leaf {
        Leaf::Scalar {
            index: ScalarIndex::Text | ScalarIndex::Exact,
            ..
        } => 2,
        Leaf::Scalar { .. } => 1,
        Leaf::Language { languages, .. } => 2 + languages.len() as u64,
    }
}
