//! Searches.

use super::aggregation::Aggregation;
use super::query::Query;
use super::value::Value;

/// A search over one index.
///
/// ```
/// use search_index::dsl::{Match, Query, Search, Sort};
///
/// let search = Search {
///     query: Some(Query::Match(Match::new("title", "red planet"))),
///     size: 5,
///     sort: vec![Sort::score(), Sort::field("id")],
///     ..Search::default()
/// };
/// let body = String::from_utf8(search.to_bytes())?;
/// assert!(body.starts_with(r#"{"query":{"match":{"title":{"query":"red planet"}}},"from":0,"size":5,"#));
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What hits match; everything if absent.
    pub query: Option<Query>,
    /// What hits match in addition, while aggregations are about everything that `query` matches.
    pub post_filter: Option<Query>,
    /// Number of hits to skip.
    pub from: u64,
    /// Maximum number of hits.
    pub size: u64,
    /// Sort keys; the last one should be unique.
    pub sort: Vec<Sort>,
    /// Values of the sort keys behind which hits begin; `None` where the document had no value.
    pub search_after: Option<Vec<Option<Value>>>,
    /// Least score of a hit.
    pub min_score: Option<f64>,
    /// Scores are worked out even if no sort key needs them.
    pub track_scores: bool,
    /// How hits are counted.
    pub total_hits: TotalHits,
    /// Aggregations over everything that `query` matches.
    pub aggregations: Vec<Aggregation>,
    /// Fields of the source that hits return; patterns are not.
    pub source: Vec<String>,
}

impl Default for Search {
    /// The ten best documents.
    fn default() -> Self {
        Search {
            query: None,
            post_filter: None,
            from: 0,
            size: 10,
            sort: Vec::new(),
            search_after: None,
            min_score: None,
            track_scores: false,
            total_hits: TotalHits::Exact,
            aggregations: Vec::new(),
            source: Vec::new(),
        }
    }
}

/// How hits are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TotalHits {
    /// All of them.
    #[default]
    Exact,
    /// Not at all.
    Off,
}

/// A sort key.
#[derive(Clone, Debug, PartialEq)]
pub enum Sort {
    /// The score, greatest first unless `ascending`.
    Score {
        /// Least score first.
        ascending: bool,
    },
    /// A field.
    Field(FieldSort),
}

/// A sort key that is a field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSort {
    /// The field.
    pub field: String,
    /// Greatest first.
    pub descending: bool,
    /// Which of several values counts: the least if ascending, else the greatest, if absent.
    pub mode: Option<SortMode>,
    /// Where documents without a value are.
    pub missing: Missing,
    /// The field of the embedded objects that have the value.
    pub nested: Option<String>,
}

impl Sort {
    /// Sorts by score, greatest first.
    #[must_use]
    pub fn score() -> Self {
        Sort::Score { ascending: false }
    }

    /// Sorts by a field in ascending order, documents without a value last.
    #[must_use]
    pub fn field(field: impl Into<String>) -> Self {
        Sort::Field(FieldSort {
            field: field.into(),
            descending: false,
            mode: None,
            missing: Missing::Last,
            nested: None,
        })
    }
}

/// Which of several values a document is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortMode {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Their sum; for numbers only.
    Sum,
    /// Their mean; for numbers only.
    Avg,
    /// The one in the middle; for numbers only.
    Median,
}

/// Where documents without a value are, whatever the direction (docs/search.md, "Order and pages").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Missing {
    /// Before all others.
    First,
    /// Behind all others.
    #[default]
    Last,
}
