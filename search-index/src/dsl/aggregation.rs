//! Aggregations of what a search matches.

use super::query::Query;
use super::value::Value;

/// A named aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// Its name in the answer.
    pub name: String,
    /// What it computes.
    pub kind: AggregationKind,
    /// Aggregations of each of its buckets.
    pub aggregations: Vec<Aggregation>,
}

/// What an aggregation works out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AggregationKind {
    /// A bucket for each value of a field.
    Terms(TermsAggregation),
    /// One bucket with the embedded objects under a field.
    Nested {
        /// The field.
        path: String,
    },
    /// One bucket with those of the aggregated documents that a clause matches.
    Filter(Query),
}

/// A bucket for each value of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct TermsAggregation {
    /// The field.
    pub field: String,
    /// Maximum number of buckets.
    pub size: u64,
    /// Least number of documents of a bucket.
    pub min_doc_count: u64,
    /// The order of the buckets, which decides too which are left out.
    pub order: BucketOrder,
    /// The value of documents without one; these are left out if absent.
    pub missing: Option<Value>,
    /// What the buckets count.
    pub counts: Counted,
}

/// What buckets count, and are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Counted {
    /// The documents that are aggregated: under [`AggregationKind::Nested`], embedded objects.
    #[default]
    Documents,
    /// The objects of the index that these are part of, each once. Only under [`AggregationKind::Nested`].
    Roots,
}

/// The name of the aggregation inside of a bucket that counts [`Counted::Roots`] for OpenSearch. No
/// aggregation inside of one of these may have this name.
pub(crate) const ROOTS: &str = "$roots";

/// Number of buckets of a shard from which those with enough documents are chosen (docs/search.md,
/// "Facets").
const SHARD_BUCKETS: u64 = 10_000;

impl TermsAggregation {
    /// Returns how many buckets a shard chooses before those with too few documents are left out; `None` if
    /// that is for the engine to say.
    #[must_use]
    pub fn shard_size(&self) -> Option<u64> {
        let leaves_out = self.min_doc_count > 1;
        // A shard knows only its own counts, so it would leave out buckets that have enough
        // documents in all shards together.
        leaves_out.then(|| self.size.max(SHARD_BUCKETS))
    }

    /// Returns whether the engine of OpenSearch cannot tell which buckets have too few, as it compares the number of
    /// embedded objects: then all buckets of a shard are asked for.
    pub(crate) fn is_chosen_after(&self) -> bool {
        self.counts == Counted::Roots && self.min_doc_count > 1
    }
}

/// The order of buckets. Equal counts are in ascending order of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BucketOrder {
    /// Most documents first.
    #[default]
    CountDescending,
    /// Fewest documents first.
    CountAscending,
    /// Least key first.
    KeyAscending,
    /// Greatest key first.
    KeyDescending,
}

impl Aggregation {
    /// Calls `visit` with this aggregation and all inside of it.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Aggregation)) {
        visit(self);
        for inner in &self.aggregations {
            inner.for_each(visit);
        }
    }
}
