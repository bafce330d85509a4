//! Aggregations.

use std::cmp::Ordering;

use search_index::dsl::{Aggregation, AggregationKind, BucketOrder, Counted, TermsAggregation};
use search_index::engine::{AggregationAnswer, AggregationContent, Bucket};

use super::fields::Fields;
use super::matching::cell;
use super::tree::{Cell, Node};

/// The documents of an index, and what is known of its fields.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'i> {
    pub(crate) nodes: &'i [Node],
    pub(crate) fields: &'i Fields,
}

impl Whole<'_> {
    /// Answers aggregations of some documents or nested objects.
    pub(crate) fn aggregate(
        self,
        aggregations: &[Aggregation],
        found: &[&Node],
    ) -> Vec<AggregationAnswer> {
        let answer = |aggregation: &Aggregation| AggregationAnswer {
            name: aggregation.name.clone(),
            content: match &aggregation.kind {
                AggregationKind::Terms(terms) => {
                    self.terms(terms, &aggregation.aggregations, found)
                }
                AggregationKind::Nested { path } => {
                    let inside: Vec<&Node> =
                        found.iter().flat_map(|node| node.inside(path)).collect();
                    AggregationContent::Nested {
                        count: inside.len() as u64,
                        aggregations: self.aggregate(&aggregation.aggregations, &inside),
                    }
                }
                other => panic!("the naive judge does not know {other:?}"),
            },
        };
        aggregations.iter().map(answer).collect()
    }

    fn terms(
        self,
        terms: &TermsAggregation,
        inner: &[Aggregation],
        found: &[&Node],
    ) -> AggregationContent {
        let mut buckets: Vec<(Cell, Vec<&Node>)> = Vec::new();
        if terms.min_doc_count == 0 {
            let level = &self.fields[&terms.field].level;
            for node in self.nodes {
                let mut all = node.inside(level);
                all.extend(level.is_empty().then_some(node));
                for node in all {
                    for key in self.keys(terms, node) {
                        add(&mut buckets, key, None);
                    }
                }
            }
        }
        for node in found {
            for key in self.keys(terms, node) {
                add(&mut buckets, key, Some(node));
            }
        }
        let counted = buckets.into_iter().map(|(key, nodes)| {
            let count = match terms.counts {
                Counted::Documents => nodes.len() as u64,
                Counted::Roots => self.roots(&nodes),
            };
            (key, nodes, count)
        });
        let mut buckets: Vec<_> = counted
            .filter(|(.., count)| *count >= terms.min_doc_count)
            .collect();
        buckets.sort_by(|(a, _, of_a), (b, _, of_b)| {
            let by_count = match terms.order {
                BucketOrder::CountDescending => of_b.cmp(of_a),
                BucketOrder::CountAscending => of_a.cmp(of_b),
                BucketOrder::KeyAscending | BucketOrder::KeyDescending => Ordering::Equal,
            };
            let by_key = match terms.order {
                BucketOrder::KeyDescending => b.order(a),
                _ => a.order(b),
            };
            by_count.then(by_key)
        });
        let size = usize::try_from(terms.size).expect("a size");
        let rest = buckets.split_off(size.min(buckets.len()));
        let bucket = |(key, nodes, count): (Cell, Vec<&Node>, u64)| Bucket {
            key: key.value(),
            count,
            aggregations: self.aggregate(inner, &nodes),
        };
        AggregationContent::Buckets {
            buckets: buckets.into_iter().map(bucket).collect(),
            other: rest.iter().map(|(_, nodes, _)| nodes.len() as u64).sum(),
            error: 0,
        }
    }

    /// Returns how many documents nodes are part of.
    fn roots(self, nodes: &[&Node]) -> u64 {
        let mut roots = 0;
        for root in self.nodes {
            let mut has_some = false;
            root.for_each(&mut |inner| {
                has_some |= nodes.iter().any(|node| std::ptr::eq(*node, inner))
            });
            roots += u64::from(has_some);
        }
        roots
    }

    /// Returns the keys of the buckets that a document is in.
    fn keys(self, terms: &TermsAggregation, node: &Node) -> Vec<Cell> {
        let mut cells = node.cells(&terms.field).to_vec();
        cells.dedup_by(|a, b| a.order(b).is_eq());
        if let (true, Some(missing)) = (cells.is_empty(), &terms.missing) {
            cells.push(cell(missing, &self.fields[&terms.field].kind));
        }
        cells
    }
}

fn add<'n>(buckets: &mut Vec<(Cell, Vec<&'n Node>)>, key: Cell, node: Option<&'n Node>) {
    match buckets
        .iter_mut()
        .find(|(known, _)| known.order(&key).is_eq())
    {
        Some((_, nodes)) => nodes.extend(node),
        None => buckets.push((key, node.into_iter().collect())),
    }
}
