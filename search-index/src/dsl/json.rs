//! The JSON form of searches: OpenSearch's query language.

use serde_json::{Map, Value as Json, json};

use super::aggregation::{
    Aggregation, AggregationKind, BucketOrder, Counted, ROOTS, TermsAggregation,
};
use super::query::{
    Bool, Bound, DisMax, Match, Nested, Operator, Prefix, Query, Range, ScoreMode, Term, Terms,
    ZeroTerms,
};
use super::search::{FieldSort, Missing, Search, Sort, SortMode, TotalHits};

impl Search {
    /// Returns the body of a search request.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut body = Members::default();
        body.put_some("query", self.query.as_ref().map(Query::to_json));
        body.put_some("post_filter", self.post_filter.as_ref().map(Query::to_json));
        body.put("from", self.from);
        body.put("size", self.size);
        if !self.sort.is_empty() {
            body.put("sort", list(&self.sort, sort));
        }
        body.put_some(
            "search_after",
            self.search_after.as_ref().map(|after| json!(after)),
        );
        body.put_some("min_score", self.min_score);
        if self.track_scores {
            body.put("track_scores", true);
        }
        body.put("track_total_hits", self.total_hits == TotalHits::Exact);
        if !self.aggregations.is_empty() {
            body.put("aggs", aggregations(&self.aggregations));
        }
        // Without `_source`, hits would carry whole documents.
        if self.source.is_empty() {
            body.put("_source", false)
        } else {
            body.put("_source", self.source.as_slice())
        }
        body.into()
    }

    /// Returns the body of a search request as JSON text.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_json().to_string().into_bytes()
    }
}

impl Query {
    /// Returns the clause in OpenSearch's query language.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let (name, content) = match self {
            Query::MatchAll { boost } => ("match_all", Members::default().boosted(*boost)),
            Query::MatchNone => ("match_none", json!({})),
            Query::Bool(all) => ("bool", bool_clause(all)),
            Query::Match(text) => ("match", under(&text.field, match_clause(text))),
            Query::Term(term) => ("term", under(&term.field, term_clause(term))),
            Query::Terms(terms) => ("terms", terms_clause(terms)),
            Query::Range(range) => ("range", under(&range.field, range_clause(range))),
            Query::Exists(exists) => (
                "exists",
                Members::of("field", exists.field.as_str()).boosted(exists.boost),
            ),
            Query::Ids(ids) => (
                "ids",
                Members::of("values", ids.values.as_slice()).boosted(ids.boost),
            ),
            Query::Prefix(prefix) => ("prefix", under(&prefix.field, prefix_clause(prefix))),
            Query::ConstantScore { filter, boost } => (
                "constant_score",
                Members::of("filter", filter.to_json()).boosted(*boost),
            ),
            // The best of none, which the engine does not take: `queries` needs an entry.
            Query::DisMax(best) if best.queries.is_empty() => {
                ("match_none", Members::default().into())
            }
            Query::DisMax(best) => ("dis_max", dis_max(best)),
            Query::Nested(nested) => ("nested", nested_clause(nested)),
        };
        under(name, content)
    }
}

/// An object whose members are in the order in which they are put there.
#[derive(Default)]
struct Members(Map<String, Json>);

impl Members {
    fn of(key: &str, value: impl Into<Json>) -> Self {
        let mut members = Members::default();
        members.put(key, value);
        members
    }

    fn put(&mut self, key: &str, value: impl Into<Json>) {
        self.0.insert(key.to_owned(), value.into());
    }

    fn put_some(&mut self, key: &str, value: Option<impl Into<Json>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Adds a boost and ends the object.
    fn boosted(mut self, boost: Option<f64>) -> Json {
        self.put_some("boost", boost);
        self.into()
    }
}

impl From<Members> for Json {
    fn from(members: Members) -> Self {
        Json::Object(members.0)
    }
}

/// Returns an object with one member.
fn under(key: &str, value: Json) -> Json {
    Members::of(key, value).into()
}

fn list<T>(items: &[T], item: impl Fn(&T) -> Json) -> Vec<Json> {
    items.iter().map(item).collect()
}

fn bool_clause(all: &Bool) -> Json {
    let mut members = Members::default();
    let lists = [
        ("must", &all.must),
        ("filter", &all.filter),
        ("should", &all.should),
        ("must_not", &all.must_not),
    ];
    for (key, queries) in lists {
        if !queries.is_empty() {
            members.put(key, list(queries, Query::to_json));
        }
    }
    let minimum = all.minimum_should_match.as_ref();
    members.put_some("minimum_should_match", minimum.map(ToString::to_string));
    members.boosted(all.boost)
}

fn match_clause(text: &Match) -> Json {
    let mut members = Members::of("query", json!(text.query));
    let operator = text.operator.map(|operator| match operator {
        Operator::And => "and",
        Operator::Or => "or",
    });
    members.put_some("operator", operator);
    members.put_some(
        "fuzziness",
        text.fuzziness.map(|fuzziness| fuzziness.to_string()),
    );
    members.put_some("prefix_length", text.prefix_length);
    members.put_some("max_expansions", text.max_expansions);
    members.put_some("fuzzy_transpositions", text.fuzzy_transpositions);
    let minimum = text.minimum_should_match.as_ref();
    members.put_some("minimum_should_match", minimum.map(ToString::to_string));
    members.put_some("lenient", text.lenient);
    let zero = text.zero_terms_query.map(|zero| match zero {
        ZeroTerms::All => "all",
        ZeroTerms::None => "none",
    });
    members.put_some("zero_terms_query", zero);
    members.boosted(text.boost)
}

fn term_clause(term: &Term) -> Json {
    let mut members = Members::of("value", json!(term.value));
    members.put_some("case_insensitive", term.case_insensitive.then_some(true));
    members.boosted(term.boost)
}

fn terms_clause(terms: &Terms) -> Json {
    Members::of(&terms.field, json!(terms.values)).boosted(terms.boost)
}

fn range_clause(range: &Range) -> Json {
    let mut members = Members::default();
    let mut bound = |bound: &Option<Bound>, exclusive, inclusive| {
        if let Some(bound) = bound {
            let key = if bound.inclusive {
                inclusive
            } else {
                exclusive
            };
            members.put(key, json!(bound.value));
        }
    };
    bound(&range.lower, "gt", "gte");
    bound(&range.upper, "lt", "lte");
    members.boosted(range.boost)
}

fn prefix_clause(prefix: &Prefix) -> Json {
    let mut members = Members::of("value", prefix.value.as_str());
    members.put_some("case_insensitive", prefix.case_insensitive.then_some(true));
    members.boosted(prefix.boost)
}

fn dis_max(best: &DisMax) -> Json {
    let mut members = Members::of("queries", list(&best.queries, Query::to_json));
    members.put_some("tie_breaker", best.tie_breaker);
    members.boosted(best.boost)
}

fn nested_clause(nested: &Nested) -> Json {
    let mut members = Members::of("path", nested.path.as_str());
    members.put("query", nested.query.to_json());
    let mode = nested.score_mode.map(|mode| match mode {
        ScoreMode::Avg => "avg",
        ScoreMode::Max => "max",
        ScoreMode::Min => "min",
        ScoreMode::Sum => "sum",
        ScoreMode::None => "none",
    });
    members.put_some("score_mode", mode);
    members.into()
}

fn sort(sort: &Sort) -> Json {
    let order = |descending| if descending { "desc" } else { "asc" };
    match sort {
        Sort::Score { ascending } => json!({"_score": {"order": order(!ascending)}}),
        Sort::Field(FieldSort {
            field,
            descending,
            mode,
            missing,
            nested,
        }) => {
            let mut members = Members::of("order", order(*descending));
            let missing = match missing {
                Missing::First => "_first",
                Missing::Last => "_last",
            };
            members.put("missing", missing);
            let mode = mode.map(|mode| match mode {
                SortMode::Min => "min",
                SortMode::Max => "max",
                SortMode::Sum => "sum",
                SortMode::Avg => "avg",
                SortMode::Median => "median",
            });
            members.put_some("mode", mode);
            members.put_some("nested", nested.as_ref().map(|path| json!({"path": path})));
            under(field, members.into())
        }
    }
}

fn aggregations(all: &[Aggregation]) -> Json {
    let mut members = Members::default();
    for aggregation in all {
        let mut content = match &aggregation.kind {
            AggregationKind::Terms(terms) => Members::of("terms", terms_aggregation(terms)),
            AggregationKind::Nested { path } => Members::of("nested", json!({"path": path})),
            AggregationKind::Filter(query) => Members::of("filter", query.to_json()),
        };
        let inner = inner_aggregations(aggregation);
        content.put_some("aggs", inner);
        members.put(&aggregation.name, content);
    }
    members.into()
}

/// Returns the aggregations of each bucket, with the one that counts roots.
fn inner_aggregations(aggregation: &Aggregation) -> Option<Json> {
    let counts_roots = matches!(
        &aggregation.kind,
        AggregationKind::Terms(terms) if terms.counts == Counted::Roots
    );
    if aggregation.aggregations.is_empty() && !counts_roots {
        return None;
    }
    let mut inner = aggregations(&aggregation.aggregations);
    if counts_roots {
        // Buckets of nested objects count these; `reverse_nested` leads back to the documents, each
        // once.
        inner[ROOTS] = json!({"reverse_nested": {}});
    }
    Some(inner)
}

fn terms_aggregation(terms: &TermsAggregation) -> Json {
    let mut members = Members::of("field", terms.field.as_str());
    let size = if terms.is_chosen_after() {
        terms.shard_size().unwrap_or(terms.size)
    } else {
        terms.size
    };
    members.put("size", size);
    members.put("min_doc_count", terms.min_doc_count);
    if let Some(size) = terms.shard_size() {
        members.put("shard_size", size);
    }
    let count = match terms.counts {
        Counted::Documents => "_count",
        Counted::Roots => ROOTS,
    };
    let (by, direction) = match terms.order {
        BucketOrder::CountDescending => (count, "desc"),
        BucketOrder::CountAscending => (count, "asc"),
        BucketOrder::KeyAscending => ("_key", "asc"),
        BucketOrder::KeyDescending => ("_key", "desc"),
    };
    members.put("order", json!({by: direction}));
    members.put_some("missing", terms.missing.as_ref().map(|value| json!(value)));
    members.into()
}
