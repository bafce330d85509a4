//! Searches as typed values, with one JSON form: that of OpenSearch's query language.
//!
//! A [`Search`] is what an engine gets, whichever it is. Names of fields are those of the index, and
//! operands are in the form in which the index holds values; [`crate::sdl`] brings them there.
//! [`Search::to_bytes`] prints a search, and [`Search::check`] holds it to
//! [`SearchLimits`](crate::limits::SearchLimits).

mod aggregation;
mod check;
mod expansion;
mod json;
mod options;
mod query;
mod search;
mod value;

#[cfg(feature = "opensearch")]
pub(crate) use aggregation::ROOTS;
pub use aggregation::{Aggregation, AggregationKind, BucketOrder, Counted, TermsAggregation};
pub(crate) use check::ClauseLimits;
pub use expansion::EXPANSIONS;
pub use options::{Fuzziness, MinimumShouldMatch, OptionError};
pub use query::{
    Bool, Bound, DisMax, Exists, Ids, Match, Nested, Operator, Prefix, Query, Range, ScoreMode,
    Term, Terms, ZeroTerms,
};
pub use search::{FieldSort, Missing, Search, Sort, SortMode, TotalHits};
pub use value::Value;
