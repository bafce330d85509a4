//! Answers to searches.

use bytes::Bytes;

use crate::dsl::Value;

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// How long the engine took, in milliseconds.
    pub took: u64,
    /// How many documents match; `None` if they were not counted.
    pub total: Option<Total>,
    /// The greatest score; `None` if there is no hit or scores were not worked out.
    pub max_score: Option<f64>,
    /// The hits, in the order of the search.
    pub hits: Vec<Hit>,
    /// The aggregations, in the order of the search.
    pub aggregations: Vec<AggregationAnswer>,
}

/// How many documents match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Total {
    /// The number.
    pub value: u64,
    /// There may be more.
    pub is_lower_bound: bool,
}

/// A document that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The id of the document.
    pub id: String,
    /// How well it matches; `None` if scores were not worked out.
    pub score: Option<f64>,
    /// The values of the sort keys, which [`Search::search_after`](crate::dsl::Search::search_after)
    /// takes; `None` where the document has none. The greatest number of a type may be shown as `None`,
    /// and no `unsignedLong` as 0: engines sort what is missing as these.
    pub sort: Vec<Option<Value>>,
    /// A JSON object with at least the fields of [`Search::source`](crate::dsl::Search::source) that the
    /// document has, without white space between tokens that was not in the document.
    pub source: Bytes,
}

/// The answer to an aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregationAnswer {
    /// The name of the aggregation.
    pub name: String,
    /// The result.
    pub content: AggregationContent,
}

/// What an aggregation worked out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AggregationContent {
    /// Of [`Terms`](crate::dsl::AggregationKind::Terms).
    Buckets {
        /// The buckets, in the order of the aggregation.
        buckets: Vec<Bucket>,
        /// Number of documents, over all values, in buckets that were left out.
        other: u64,
        /// How much each count may be too low; 0 on one shard.
        error: u64,
    },
    /// Of [`Nested`](crate::dsl::AggregationKind::Nested) and [`Filter`](crate::dsl::AggregationKind::Filter).
    Nested {
        /// Number of embedded objects, or of documents.
        count: u64,
        /// The aggregations of them.
        aggregations: Vec<AggregationAnswer>,
    },
}

/// The documents with one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// The value.
    pub key: Value,
    /// Number of documents, or of embedded objects in an aggregation of these.
    pub count: u64,
    /// The aggregations of them.
    pub aggregations: Vec<AggregationAnswer>,
}
