//! The clauses of a search, with the meaning and the defaults that they have in OpenSearch
//! (<https://docs.opensearch.org/latest/query-dsl/>).

use super::options::{Fuzziness, MinimumShouldMatch};
use super::value::Value;

/// A clause of a search; what it matches and how much each match scores.
///
/// `boost` multiplies scores, 1 if absent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Query {
    /// Everything, with the same score.
    MatchAll {
        /// The score.
        boost: Option<f64>,
    },
    /// Nothing.
    MatchNone,
    /// A combination of clauses.
    Bool(Bool),
    /// Analysed text, or a value of another type.
    Match(Match),
    /// One value.
    Term(Term),
    /// Any of some values.
    Terms(Terms),
    /// Values between bounds.
    Range(Range),
    /// Any value.
    Exists(Exists),
    /// Documents by id.
    Ids(Ids),
    /// Terms that begin with a text.
    Prefix(Prefix),
    /// What a filter matches, with the same score.
    ConstantScore {
        /// The filter.
        filter: Box<Query>,
        /// The score.
        boost: Option<f64>,
    },
    /// The best of some clauses.
    DisMax(DisMax),
    /// Embedded objects.
    Nested(Nested),
}

/// A combination of clauses. Scores are the sum over `must` and `should`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bool {
    /// All of them match.
    pub must: Vec<Query>,
    /// All of them match, without a score.
    pub filter: Vec<Query>,
    /// As many of them match as `minimum_should_match` says.
    pub should: Vec<Query>,
    /// None of them matches.
    pub must_not: Vec<Query>,
    /// How many of `should` have to match; one if there is neither `must` nor `filter`, else none.
    pub minimum_should_match: Option<MinimumShouldMatch>,
    /// Factor of the score.
    pub boost: Option<f64>,
}

/// Analysed text: its terms match, as `operator` combines them.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The field.
    pub field: String,
    /// The text, or the value of a field that is not analysed.
    pub query: Value,
    /// How terms are combined, [`Operator::Or`] if absent.
    pub operator: Option<Operator>,
    /// How many of the terms have to match.
    pub minimum_should_match: Option<MinimumShouldMatch>,
    /// How far terms may be from those of the text.
    pub fuzziness: Option<Fuzziness>,
    /// Number of letters at the beginning that must be equal, 0 if absent.
    pub prefix_length: Option<u32>,
    /// How many similar terms each term expands to, 50 if absent.
    pub max_expansions: Option<u32>,
    /// Two exchanged letters are one error, as they are if absent.
    pub fuzzy_transpositions: Option<bool>,
    /// A value that does not fit the type of the field matches nothing, instead of being an error.
    pub lenient: Option<bool>,
    /// What a text without terms matches, [`ZeroTerms::None`] if absent.
    pub zero_terms_query: Option<ZeroTerms>,
    /// Factor of the score.
    pub boost: Option<f64>,
}

impl Match {
    /// Creates a clause without options.
    #[must_use]
    pub fn new(field: impl Into<String>, query: impl Into<Value>) -> Self {
        Match {
            field: field.into(),
            query: query.into(),
            operator: None,
            minimum_should_match: None,
            fuzziness: None,
            prefix_length: None,
            max_expansions: None,
            fuzzy_transpositions: None,
            lenient: None,
            zero_terms_query: None,
            boost: None,
        }
    }
}

/// How the terms of a text are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// All match.
    And,
    /// One matches.
    Or,
}

/// What a text matches of which the analyzer leaves no term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroTerms {
    /// Everything.
    All,
    /// Nothing.
    None,
}

/// One value of a field, or one term of analysed text.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The field.
    pub field: String,
    /// The value.
    pub value: Value,
    /// Upper and lower case of ASCII letters are the same.
    pub case_insensitive: bool,
    /// Factor of the score.
    pub boost: Option<f64>,
}

/// Any of some values; all matches have the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The field.
    pub field: String,
    /// The values.
    pub values: Vec<Value>,
    /// The score.
    pub boost: Option<f64>,
}

/// Values between bounds; all matches have the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The field.
    pub field: String,
    /// The least value.
    pub lower: Option<Bound>,
    /// The greatest value.
    pub upper: Option<Bound>,
    /// The score.
    pub boost: Option<f64>,
}

/// A bound of a [`Range`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The bound.
    pub value: Value,
    /// The bound itself matches.
    pub inclusive: bool,
}

/// Any value of a field; all matches have the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Exists {
    /// The field.
    pub field: String,
    /// The score.
    pub boost: Option<f64>,
}

/// Documents by id; all have the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ids {
    /// Ids of documents.
    pub values: Vec<String>,
    /// The score.
    pub boost: Option<f64>,
}

/// Terms that begin with a text, which is not analysed; all matches have the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefix {
    /// The field.
    pub field: String,
    /// The beginning.
    pub value: String,
    /// Upper and lower case of ASCII letters are the same.
    pub case_insensitive: bool,
    /// The score.
    pub boost: Option<f64>,
}

/// The score of the best clause, and a part of those of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct DisMax {
    /// The clauses, of which one or more match.
    pub queries: Vec<Query>,
    /// Factor of the scores of all but the best, 0 if absent.
    pub tie_breaker: Option<f64>,
    /// Factor of the score.
    pub boost: Option<f64>,
}

/// Documents with an embedded object that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    /// The field of the embedded objects.
    pub path: String,
    /// What one of them matches. Fields have their full names.
    pub query: Box<Query>,
    /// How the scores of several are combined, [`ScoreMode::Avg`] if absent.
    pub score_mode: Option<ScoreMode>,
}

/// How the scores of embedded objects become that of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScoreMode {
    /// Their mean.
    Avg,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// Their sum.
    Sum,
    /// None of them: 0.
    None,
}

impl Query {
    /// Calls `visit` with each clause directly inside of this one.
    pub fn for_each_inner<'q>(&'q self, mut visit: impl FnMut(&'q Query)) {
        match self {
            Query::Bool(all) => {
                let lists = [&all.must, &all.filter, &all.should, &all.must_not];
                lists.into_iter().flatten().for_each(visit);
            }
            Query::ConstantScore { filter, .. } => visit(filter),
            Query::DisMax(best) => best.queries.iter().for_each(visit),
            Query::Nested(nested) => visit(&nested.query),
            Query::MatchAll { .. }
            | Query::MatchNone
            | Query::Match(_)
            | Query::Term(_)
            | Query::Terms(_)
            | Query::Range(_)
            | Query::Exists(_)
            | Query::Ids(_)
            | Query::Prefix(_) => {}
        }
    }
}
