//! Random searches.

use search_index::dsl::{
    Aggregation, AggregationKind, BucketOrder, Counted, FieldSort, Missing, Search, Sort, SortMode,
    TermsAggregation, TotalHits, Value,
};
use test_support::random::Random;

use super::clauses::Clauses;
use super::operands::Pool;
use crate::differential::naive::fields::Kind;

/// Makes searches over the documents of an index.
pub(crate) struct Searches<'g, 'i> {
    pub(crate) random: &'g mut Random,
    pub(crate) pool: &'g Pool<'i>,
    pub(crate) fuzzy: usize,
}

impl Searches<'_, '_> {
    /// Makes a search without `min_score` and `search_after`, which depend on what it finds.
    pub(crate) fn search(&mut self) -> Search {
        let depth = *self.random.pick(&[1, 1, 1, 2, 2, 3]);
        let query = self
            .random
            .chance(93)
            .then(|| self.clauses().query("", depth));
        let post_filter = self.random.chance(14).then(|| self.clauses().query("", 1));
        let size = *self
            .random
            .pick(&[0, 1, 2, 3, 5, 5, 10, 10, 10, 10, 50, 50, 50]);
        Search {
            query,
            post_filter,
            from: if self.random.chance(15) {
                self.random.between(1, 5) as u64
            } else {
                0
            },
            size,
            sort: self.sort(),
            search_after: None,
            min_score: None,
            track_scores: self.random.chance(65),
            total_hits: if self.random.chance(5) {
                TotalHits::Off
            } else {
                TotalHits::Exact
            },
            aggregations: self.aggregations(),
            source: self.source(),
        }
    }

    fn clauses(&mut self) -> Clauses<'_, '_> {
        Clauses {
            random: self.random,
            pool: self.pool,
            fuzzy: self.fuzzy,
        }
    }

    /// Makes sort keys, of which `id` is the last.
    fn sort(&mut self) -> Vec<Sort> {
        let count = *self.random.pick(&[0, 1, 1, 1, 2, 3]);
        let mut keys: Vec<Sort> = (0..count).map(|_| self.sort_key()).collect();
        keys.push(Sort::field("id"));
        keys
    }

    fn sort_key(&mut self) -> Sort {
        if self.random.chance(22) {
            let ascending = self.random.chance(25);
            return Sort::Score { ascending };
        }
        let fields = self.pool.fields.iter();
        let whole = fields.filter(|(_, field)| !matches!(field.kind, Kind::Text(_)));
        let whole: Vec<_> = whole
            .map(|(name, field)| (name.as_str(), &field.kind))
            .collect();
        let (name, _) = Pool::pick(self.random, &whole);
        let field = &self.pool.fields[name];
        let is_nested = !field.level.is_empty();
        let mut modes = vec![SortMode::Min, SortMode::Max];
        if matches!(field.kind, Kind::Integer(_) | Kind::Double | Kind::Instant) {
            modes.extend([SortMode::Sum, SortMode::Avg]);
            // The engine has no median over nested objects.
            modes.extend((!is_nested).then_some(SortMode::Median));
        }
        Sort::Field(FieldSort {
            field: name.to_owned(),
            descending: self.random.chance(50),
            mode: self.random.maybe(60, |random| *random.pick(&modes)),
            missing: *self.random.pick(&[Missing::First, Missing::Last]),
            nested: is_nested.then(|| field.level.clone()),
        })
    }

    fn aggregations(&mut self) -> Vec<Aggregation> {
        if self.random.chance(50) {
            return Vec::new();
        }
        let count = self.random.between(1, 3);
        (0..count)
            .map(|at| self.aggregation(&format!("a{at}"), "", 2))
            .collect()
    }

    /// Makes an aggregation of documents, or of nested objects of a level.
    fn aggregation(&mut self, name: &str, level: &str, depth: usize) -> Aggregation {
        let levels = self.pool.levels_inside(level);
        if depth > 0 && !levels.is_empty() && self.random.chance(35) {
            let path = self.random.pick(&levels).clone();
            let count = *self.random.pick(&[1, 1, 2]);
            return Aggregation {
                name: name.to_owned(),
                aggregations: (0..count)
                    .map(|at| self.aggregation(&format!("{name}{at}"), &path, depth - 1))
                    .collect(),
                kind: AggregationKind::Nested { path },
            };
        }
        let mut fields = self.pool.of_level(level);
        fields.retain(|(_, kind)| !matches!(kind, Kind::Text(_)));
        let (field, _) = Pool::pick(self.random, &fields);
        let field = field.to_owned();
        const ORDERS: &[BucketOrder] = &[
            BucketOrder::CountDescending,
            BucketOrder::CountAscending,
            BucketOrder::KeyAscending,
            BucketOrder::KeyDescending,
        ];
        let pool = self.pool;
        let min_doc_count = *self.random.pick(&[1, 1, 1, 1, 1, 0, 2, 3]);
        // Together with empty buckets, OpenSearch adds one for nested objects of other levels; and an
        // integer that stands for a missing one is a floating-point number on its way.
        let missing = self.random.maybe(25, |random| pool.operand(random, &field));
        const EXACT: u64 = 1 << 53;
        let is_exact = |value: &Value| match value {
            Value::Integer(number) => number.unsigned_abs() <= EXACT,
            value => !matches!(value, Value::Unsigned(_)),
        };
        let missing = missing.filter(|value| min_doc_count > 0 && is_exact(value));
        let terms = TermsAggregation {
            size: *self.random.pick(&[1, 2, 5, 10, 10, 100]),
            min_doc_count,
            order: *self.random.pick(ORDERS),
            missing,
            field,
            counts: if level.is_empty() || self.random.chance(50) {
                Counted::Documents
            } else {
                Counted::Roots
            },
        };
        let has_inner = depth > 0 && self.random.chance(20);
        let inner = has_inner.then(|| self.aggregation(&format!("{name}i"), level, depth - 1));
        Aggregation {
            name: name.to_owned(),
            kind: AggregationKind::Terms(terms),
            aggregations: inner.into_iter().collect(),
        }
    }

    fn source(&mut self) -> Vec<String> {
        if self.random.chance(60) {
            return vec!["id".to_owned()];
        }
        let names: Vec<&String> = self
            .pool
            .fields
            .keys()
            .filter(|name| !name.contains(['$', '.']))
            .collect();
        let count = self.random.below(4);
        (0..count)
            .map(|_| (*self.random.pick(&names)).clone())
            .collect()
    }
}
