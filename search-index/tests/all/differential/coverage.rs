//! What the searches of a run had in them.

use std::collections::BTreeMap;
use std::fmt;

use search_index::dsl::{
    Aggregation, AggregationKind, Bool, Counted, Match, Query, Search, Sort, TermsAggregation,
    Value,
};

use search_index::engine::Answer;

use super::naive::fields::Fields;

/// Number of searches of a run in which everything has to occur often enough.
pub(crate) const FULL_RUN: u64 = 2_000;

/// How often everything has to occur in such a run.
const OFTEN_ENOUGH: u64 = 20;

/// What the searches of a run had in them.
#[derive(Default)]
pub(crate) struct Coverage {
    pub(crate) searches: u64,
    /// Searches that an engine does not take.
    pub(crate) refused: u64,
    /// Searches that found something.
    pub(crate) found: u64,
    /// Searches that found something, but not everything.
    pub(crate) selective: u64,
    counts: BTreeMap<String, u64>,
}

impl Coverage {
    fn add(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    /// Counts what a search has in it.
    pub(crate) fn read(&mut self, search: &Search, fields: &Fields) {
        let mut found = Vec::new();
        let mut reader = Reader {
            fields,
            found: &mut found,
        };
        reader.search(search);
        found.sort();
        found.dedup();
        for what in found {
            self.add(what);
        }
    }

    /// Counts what a search found among all documents.
    pub(crate) fn count_hits(&mut self, answer: &Answer, documents: usize) {
        let total = answer
            .total
            .map_or(answer.hits.len() as u64, |total| total.value);
        self.found += u64::from(total > 0);
        self.selective += u64::from(total > 0 && total < documents as u64);
    }

    /// Counts a search that begins behind a hit.
    pub(crate) fn count_after(&mut self, after: Option<u64>) {
        if after.is_some() {
            self.add("search_after");
        }
    }

    /// Lists what every full run has to have and this one has too rarely.
    pub(crate) fn gaps(&self, with_fuzzy: bool) -> Vec<String> {
        let wanted = WANTED
            .iter()
            .filter(|what| with_fuzzy || !FUZZY.contains(what));
        let rare = wanted.filter_map(|what| {
            let count = self.counts.get(*what).copied().unwrap_or_default();
            let is_rare = count * FULL_RUN < OFTEN_ENOUGH * self.searches;
            is_rare.then(|| format!("{what}: {count}"))
        });
        rare.collect()
    }

    /// Returns how many of a hundred searches a number is.
    pub(crate) fn percent(&self, number: u64) -> u64 {
        number * 100 / self.searches.max(1)
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("found something", self.found),
            ("found some but not all", self.selective),
            ("refused", self.refused),
        ];
        writeln!(f, "{} searches", self.searches)?;
        for (what, number) in parts {
            writeln!(f, "{:>6} % {what}", self.percent(number))?;
        }
        for (what, count) in &self.counts {
            writeln!(f, "{count:>8} {what}")?;
        }
        Ok(())
    }
}

/// Reads one search.
struct Reader<'r> {
    fields: &'r Fields,
    found: &'r mut Vec<String>,
}

impl Reader<'_> {
    fn put(&mut self, what: impl Into<String>) {
        self.found.push(what.into());
    }

    /// Adds those of some features that are there.
    fn put_those(&mut self, features: &[(&str, bool)]) {
        for (what, _) in features.iter().filter(|(_, is_there)| *is_there) {
            self.put(*what);
        }
    }

    fn search(&mut self, search: &Search) {
        self.put_those(&[
            ("search without query", search.query.is_none()),
            ("post_filter", search.post_filter.is_some()),
            ("from", search.from > 0),
            ("size 0", search.size == 0),
            ("min_score", search.min_score.is_some()),
            ("track_scores", search.track_scores),
            (
                "totals off",
                search.total_hits == search_index::dsl::TotalHits::Off,
            ),
        ]);
        for query in search.query.iter().chain(&search.post_filter) {
            self.query(query);
        }
        for sort in &search.sort {
            self.sort(sort);
        }
        for aggregation in &search.aggregations {
            self.aggregation(aggregation, false);
        }
    }

    fn kind(&self, field: &str) -> &'static str {
        self.fields[field].kind.name(field)
    }

    fn clause(&mut self, name: &str, field: &str, boost: Option<f64>) {
        self.put(format!("{name} of {}", self.kind(field)));
        self.boost(name, boost);
    }

    fn boost(&mut self, name: &str, boost: Option<f64>) {
        if boost.is_some() {
            self.put(format!("{name} boost"));
        }
    }

    fn query(&mut self, query: &Query) {
        match query {
            Query::MatchAll { boost } => {
                self.put("match_all");
                self.boost("match_all", *boost);
            }
            Query::MatchNone => self.put("match_none"),
            Query::Bool(all) => self.combination(all),
            Query::Match(text) => self.text(text),
            Query::Term(term) => {
                self.clause("term", &term.field, term.boost);
                self.put_those(&[("term case_insensitive", term.case_insensitive)]);
            }
            Query::Terms(terms) => self.clause("terms", &terms.field, terms.boost),
            Query::Range(range) => {
                self.clause("range", &range.field, range.boost);
                let is = |inclusive| {
                    move |bound: &search_index::dsl::Bound| bound.inclusive == inclusive
                };
                self.put_those(&[
                    ("range gt", range.lower.as_ref().is_some_and(is(false))),
                    ("range gte", range.lower.as_ref().is_some_and(is(true))),
                    ("range lt", range.upper.as_ref().is_some_and(is(false))),
                    ("range lte", range.upper.as_ref().is_some_and(is(true))),
                ]);
            }
            Query::Exists(exists) => self.clause("exists", &exists.field, exists.boost),
            Query::Ids(ids) => {
                self.put("ids");
                self.boost("ids", ids.boost);
            }
            Query::Prefix(prefix) => {
                self.clause("prefix", &prefix.field, prefix.boost);
                self.put_those(&[("prefix case_insensitive", prefix.case_insensitive)]);
            }
            Query::ConstantScore { boost, .. } => {
                self.put("constant_score");
                self.boost("constant_score", *boost);
            }
            Query::DisMax(best) => {
                self.put("dis_max");
                self.boost("dis_max", best.boost);
                self.put_those(&[("dis_max tie_breaker", best.tie_breaker.is_some())]);
            }
            Query::Nested(nested) => {
                self.put(match nested.score_mode {
                    None => "nested".to_owned(),
                    Some(mode) => format!("nested score_mode {mode:?}"),
                });
                self.put_those(&[("nested of two levels", nested.path.contains('.'))]);
            }
            other => panic!("{other:?} is not counted"),
        }
        query.for_each_inner(|inner| self.query(inner));
    }

    fn combination(&mut self, all: &Bool) {
        self.boost("bool", all.boost);
        let lists = [&all.must, &all.filter, &all.should, &all.must_not];
        self.put_those(&[
            ("bool must", !all.must.is_empty()),
            ("bool filter", !all.filter.is_empty()),
            ("bool should", !all.should.is_empty()),
            ("bool must_not", !all.must_not.is_empty()),
            (
                "bool minimum_should_match",
                all.minimum_should_match.is_some(),
            ),
            (
                "bool without clauses",
                lists.iter().all(|list| list.is_empty()),
            ),
        ]);
    }

    fn text(&mut self, clause: &Match) {
        self.clause("match", &clause.field, clause.boost);
        if let Some(operator) = clause.operator {
            self.put(format!("match operator {operator:?}"));
        }
        if let Some(zero) = clause.zero_terms_query {
            self.put(format!("match zero_terms_query {zero:?}"));
        }
        self.put_those(&[
            (
                "match minimum_should_match",
                clause.minimum_should_match.is_some(),
            ),
            ("match lenient", clause.lenient.is_some()),
            ("match fuzziness", clause.fuzziness.is_some()),
            ("match prefix_length", clause.prefix_length.is_some()),
            ("match max_expansions", clause.max_expansions.is_some()),
            (
                "match fuzzy_transpositions",
                clause.fuzzy_transpositions.is_some(),
            ),
        ]);
    }

    fn sort(&mut self, sort: &Sort) {
        match sort {
            Sort::Score { ascending: true } => self.put("sort _score ascending"),
            Sort::Score { ascending: false } => self.put("sort _score"),
            Sort::Field(by) => {
                let direction = if by.descending {
                    "descending"
                } else {
                    "ascending"
                };
                self.put(format!("sort of {}", self.kind(&by.field)));
                self.put(format!("sort {direction} missing {:?}", by.missing));
                let mode = by
                    .mode
                    .map_or("default".to_owned(), |mode| format!("{mode:?}"));
                let nested = if by.nested.is_some() { " nested" } else { "" };
                self.put(format!("sort{nested} mode {mode}"));
            }
        }
    }

    fn aggregation(&mut self, aggregation: &Aggregation, is_inner: bool) {
        self.put_those(&[("aggregation of buckets", is_inner)]);
        match &aggregation.kind {
            AggregationKind::Terms(terms) => self.terms(terms),
            AggregationKind::Nested { path } => {
                let two = path.contains('.');
                self.put_those(&[
                    ("nested aggregation", true),
                    ("nested aggregation of two levels", two),
                ]);
            }
            other => panic!("{other:?} is not counted"),
        }
        for inner in &aggregation.aggregations {
            let is_inner = matches!(aggregation.kind, AggregationKind::Terms(_));
            self.aggregation(inner, is_inner);
        }
    }

    fn terms(&mut self, terms: &TermsAggregation) {
        self.put(format!("terms aggregation of {}", self.kind(&terms.field)));
        self.put(format!("terms aggregation order {:?}", terms.order));
        self.put_those(&[
            ("terms aggregation missing", terms.missing.is_some()),
            (
                "terms aggregation min_doc_count 0",
                terms.min_doc_count == 0,
            ),
            (
                "terms aggregation min_doc_count above 1",
                terms.min_doc_count > 1,
            ),
            ("terms aggregation size 1", terms.size == 1),
            (
                "terms aggregation counts roots",
                terms.counts == Counted::Roots,
            ),
            (
                "terms aggregation missing text",
                matches!(terms.missing, Some(Value::Text(_))),
            ),
        ]);
    }
}

/// What only runs between engines have that know it.
const FUZZY: &[&str] = &[
    "match fuzziness",
    "match prefix_length",
    "match max_expansions",
    "match fuzzy_transpositions",
];

/// What every full run has to have.
const WANTED: &[&str] = &[
    "search without query",
    "post_filter",
    "from",
    "size 0",
    "search_after",
    "min_score",
    "track_scores",
    "totals off",
    "match_all",
    "match_all boost",
    "match_none",
    "ids",
    "ids boost",
    "constant_score",
    "constant_score boost",
    "dis_max",
    "dis_max boost",
    "dis_max tie_breaker",
    "bool must",
    "bool filter",
    "bool should",
    "bool must_not",
    "bool minimum_should_match",
    "bool boost",
    "bool without clauses",
    "match boost",
    "match lenient",
    "match operator And",
    "match operator Or",
    "match zero_terms_query All",
    "match zero_terms_query None",
    "match minimum_should_match",
    "match fuzziness",
    "match prefix_length",
    "match max_expansions",
    "match fuzzy_transpositions",
    "term boost",
    "term case_insensitive",
    "terms boost",
    "range boost",
    "range gt",
    "range gte",
    "range lt",
    "range lte",
    "exists boost",
    "prefix boost",
    "prefix case_insensitive",
    "prefix of keyword",
    "prefix of text",
    "nested",
    "nested of two levels",
    "nested score_mode Avg",
    "nested score_mode Max",
    "nested score_mode Min",
    "nested score_mode Sum",
    "nested score_mode None",
    "sort _score",
    "sort _score ascending",
    "sort ascending missing First",
    "sort ascending missing Last",
    "sort descending missing First",
    "sort descending missing Last",
    "sort mode default",
    "sort mode Min",
    "sort mode Max",
    "sort mode Sum",
    "sort mode Avg",
    "sort mode Median",
    "sort nested mode default",
    "sort nested mode Min",
    "sort nested mode Max",
    "sort nested mode Sum",
    "sort nested mode Avg",
    "nested aggregation",
    "nested aggregation of two levels",
    "aggregation of buckets",
    "terms aggregation missing",
    "terms aggregation min_doc_count 0",
    "terms aggregation min_doc_count above 1",
    "terms aggregation counts roots",
    "terms aggregation size 1",
    "terms aggregation order CountAscending",
    "terms aggregation order CountDescending",
    "terms aggregation order KeyAscending",
    "terms aggregation order KeyDescending",
    "match of text",
    "match of keyword",
    "match of exact",
    "match of boolean",
    "match of integer",
    "match of long",
    "match of unsigned_long",
    "match of double",
    "match of date",
    "term of text",
    "term of keyword",
    "term of exact",
    "term of boolean",
    "term of integer",
    "term of long",
    "term of unsigned_long",
    "term of double",
    "term of date",
    "terms of text",
    "terms of keyword",
    "terms of exact",
    "terms of boolean",
    "terms of integer",
    "terms of long",
    "terms of unsigned_long",
    "terms of double",
    "terms of date",
    "exists of text",
    "exists of keyword",
    "exists of exact",
    "exists of boolean",
    "exists of integer",
    "exists of long",
    "exists of unsigned_long",
    "exists of double",
    "exists of date",
    "range of keyword",
    "range of exact",
    "range of integer",
    "range of long",
    "range of unsigned_long",
    "range of double",
    "range of date",
    "sort of keyword",
    "sort of exact",
    "sort of boolean",
    "sort of integer",
    "sort of long",
    "sort of unsigned_long",
    "sort of double",
    "sort of date",
    "terms aggregation of keyword",
    "terms aggregation of exact",
    "terms aggregation of boolean",
    "terms aggregation of integer",
    "terms aggregation of long",
    "terms aggregation of unsigned_long",
    "terms aggregation of double",
    "terms aggregation of date",
];
