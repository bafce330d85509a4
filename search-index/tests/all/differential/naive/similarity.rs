//! Scores of terms after BM25, with the statistics and the rounding of Lucene.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{FieldInfo, Fields, Kind};
use super::tree::{Cell, Node};

/// What is counted of a field over all documents of its level.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldStatistics {
    /// How many have a term.
    documents: u64,
    /// How many terms they have together.
    length: u64,
    /// How many have each term.
    frequencies: BTreeMap<String, u64>,
}

/// The statistics of all fields by full name.
pub(crate) type Statistics = BTreeMap<String, FieldStatistics>;

/// Counts the terms of all documents.
pub(crate) fn statistics(nodes: &[Node], fields: &Fields) -> Statistics {
    let mut all = Statistics::new();
    for node in nodes {
        count(node, fields, &mut all);
    }
    all
}

fn count(node: &Node, fields: &Fields, all: &mut Statistics) {
    for (field, cells) in &node.values {
        let terms: Vec<String> = cells.iter().filter_map(term).collect();
        if terms.is_empty() {
            continue;
        }
        let distinct: BTreeSet<&String> = terms.iter().collect();
        let of_field = all.entry(field.clone()).or_default();
        of_field.documents += 1;
        of_field.length += if is_text(&fields[field]) {
            terms.len() as u64
        } else {
            // Whole values are counted once.
            distinct.len() as u64
        };
        for term in distinct {
            *of_field.frequencies.entry(term.clone()).or_default() += 1;
        }
    }
    for child in &node.children {
        count(child, fields, all);
    }
}

/// Returns the term of a value; numbers have none.
fn term(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        Cell::Boolean(value) => Some(value.to_string()),
        Cell::Integer(_) | Cell::Double(_) => None,
    }
}

fn is_text(field: &FieldInfo) -> bool {
    matches!(field.kind, Kind::Text(_))
}

/// Scores a term of a field in a document; `None` if the document does not have it.
pub(crate) fn score(
    node: &Node,
    (name, field): (&str, &FieldInfo),
    wanted: &Cell,
    statistics: &Statistics,
) -> Option<f32> {
    let cells = node.cells(name);
    let found = cells
        .iter()
        .filter(|cell| cell.order(wanted).is_eq())
        .count();
    if found == 0 {
        return None;
    }
    let Some(wanted) = term(wanted) else {
        return Some(1.0);
    };
    let of_field = &statistics[name];
    let (documents, having) = (
        of_field.documents as f64,
        of_field.frequencies[&wanted] as f64,
    );
    let idf = (1.0 + (documents - having + 0.5) / (having + 0.5)).ln() as f32;
    // Only text has lengths and counts.
    let (frequency, length) = if is_text(field) {
        (found as f32, quantised(cells.len()) as f32)
    } else {
        (1.0, 1.0)
    };
    let mean = (of_field.length as f64 / documents) as f32;
    let (k1, b) = (1.2_f32, 0.75_f32);
    let weight = (1.0 + k1) * idf;
    let inverse = 1.0 / (k1 * ((1.0 - b) + b * length / mean));
    Some(weight - weight / (1.0 + frequency * inverse))
}

/// Returns a length as it comes back from the one byte in which Lucene keeps it: exact up to 40, then
/// with four significant bits above 24.
fn quantised(length: usize) -> usize {
    const EXACT: usize = 24;
    let Some(above) = length.checked_sub(EXACT).filter(|above| *above >= 16) else {
        return length;
    };
    let bits = usize::BITS - above.leading_zeros();
    let cut = bits - 4;
    EXACT + (above >> cut << cut)
}
