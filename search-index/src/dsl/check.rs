//! Holds searches to their limits (docs/search.md, "Cost limits").

use std::cell::Cell;

use graphql_service::limits::exceeded;
use graphql_service::{ErrorCode, GraphqlError};

use super::aggregation::{Aggregation, AggregationKind};
use super::options::Fuzziness;
use super::query::{Bound, Query};
use super::search::Search;
use super::value::Value;
use crate::code;
use crate::limits::SearchLimits;

impl Search {
    /// Checks that the search stays within the limits.
    ///
    /// # Errors
    /// At the first limit that it exceeds.
    pub fn check(&self, limits: &SearchLimits) -> Result<(), GraphqlError> {
        let window = self.from.saturating_add(self.size);
        within(
            window,
            limits.window,
            code::LIMIT_WINDOW,
            "`from` and `size` together are too large",
        )?;
        within(
            self.sort.len(),
            limits.sort_keys,
            code::LIMIT_SORT_KEYS,
            "there are too many sort keys",
        )?;
        let clauses = ClauseLimits::new(limits);
        for query in self.query.iter().chain(&self.post_filter) {
            clauses.check(query, 1)?;
        }
        let after = self.search_after.iter().flatten().flatten();
        after
            .into_iter()
            .try_for_each(|value| text(value, limits))?;
        self.check_aggregations(limits)
    }

    fn check_aggregations(&self, limits: &SearchLimits) -> Result<(), GraphqlError> {
        let (mut number, mut buckets) = (0_u64, 0_u64);
        for aggregation in &self.aggregations {
            aggregation.for_each(&mut |_| number += 1);
            buckets = buckets.saturating_add(most_buckets(aggregation));
        }
        within(
            number,
            limits.aggregations,
            code::LIMIT_AGGREGATIONS,
            "there are too many aggregations",
        )?;
        within(
            buckets,
            limits.buckets,
            code::LIMIT_BUCKETS,
            "the aggregations ask for too many buckets",
        )
    }
}

/// Returns how many buckets an aggregation may have, those inside of it included.
fn most_buckets(aggregation: &Aggregation) -> u64 {
    let own = match &aggregation.kind {
        AggregationKind::Terms(terms) => terms.size,
        AggregationKind::Nested { .. } | AggregationKind::Filter(_) => 1,
    };
    let inner = aggregation
        .aggregations
        .iter()
        .map(most_buckets)
        .fold(0, u64::saturating_add);
    // Each bucket has all of those inside of it.
    own.saturating_mul(inner.saturating_add(1))
}

/// The clauses of a search, counted.
pub(crate) struct ClauseLimits<'l> {
    limits: &'l SearchLimits,
    /// Clauses that are left.
    clauses: Cell<usize>,
    /// Terms that are left for clauses to stand for.
    terms: Cell<u64>,
}

impl<'l> ClauseLimits<'l> {
    pub(crate) fn new(limits: &'l SearchLimits) -> Self {
        ClauseLimits {
            limits,
            clauses: Cell::new(limits.clauses),
            terms: Cell::new(limits.expanded_terms as u64),
        }
    }

    /// Returns how many similar terms a clause may stand for.
    pub(crate) fn most_expansions(&self) -> u32 {
        self.limits.expansions.try_into().unwrap_or(u32::MAX)
    }

    /// Counts a clause for each of some fields, without the clauses inside of it.
    ///
    /// # Errors
    /// At the first limit that is exceeded.
    pub(crate) fn count(&self, query: &Query, fields: usize) -> Result<(), GraphqlError> {
        let limits = self.limits;
        let clauses = self.clauses.get().checked_sub(fields).ok_or_else(|| {
            let message = "there are too many clauses";
            exceeded(code::LIMIT_CLAUSES, message, limits.clauses)
        })?;
        self.clauses.set(clauses);
        self.operands(query)?;
        let terms = query.expanded_terms().saturating_mul(fields as u64);
        let left = self.terms.get().checked_sub(terms).ok_or_else(|| {
            let used = limits.expanded_terms as u64 - self.terms.get();
            let message = too_many_terms(used.saturating_add(terms), limits.expanded_terms);
            exceeded(code::LIMIT_EXPANDED_TERMS, &message, limits.expanded_terms)
        })?;
        self.terms.set(left);
        Ok(())
    }

    fn check(&self, query: &Query, depth: usize) -> Result<(), GraphqlError> {
        let limits = self.limits;
        within(
            depth,
            limits.clause_depth,
            code::LIMIT_CLAUSE_DEPTH,
            "the clauses nest too deeply",
        )?;
        self.count(query, 1)?;
        let mut result = Ok(());
        query.for_each_inner(|inner| {
            if result.is_ok() {
                result = self.check(inner, depth + 1);
            }
        });
        result
    }

    fn operands(&self, query: &Query) -> Result<(), GraphqlError> {
        let limits = self.limits;
        match query {
            Query::Match(clause) => {
                text(&clause.query, limits)?;
                let expansions = clause.max_expansions.unwrap_or_default();
                let message = "`max_expansions` is too large";
                within(
                    expansions,
                    limits.expansions,
                    code::LIMIT_EXPANSIONS,
                    message,
                )?;
                match (&clause.query, clause.fuzziness) {
                    (Value::Text(words), Some(fuzziness)) if fuzziness != Fuzziness::Edits(0) => {
                        let message = "the text of a fuzzy clause is too long";
                        let limit = limits.fuzzy_text_length;
                        within(words.len(), limit, code::LIMIT_FUZZY_TEXT, message)
                    }
                    _ => Ok(()),
                }
            }
            Query::Term(term) => text(&term.value, limits),
            Query::Terms(terms) => {
                self.number_of_values(terms.values.len())?;
                terms
                    .values
                    .iter()
                    .try_for_each(|value| text(value, limits))
            }
            Query::Ids(ids) => {
                self.number_of_values(ids.values.len())?;
                ids.values.iter().try_for_each(|id| text_length(id, limits))
            }
            Query::Range(range) => {
                let bounds = [&range.lower, &range.upper].into_iter().flatten();
                bounds
                    .into_iter()
                    .try_for_each(|Bound { value, .. }| text(value, limits))
            }
            Query::Prefix(prefix) => text_length(&prefix.value, limits),
            Query::MatchAll { .. }
            | Query::MatchNone
            | Query::Bool(_)
            | Query::Exists(_)
            | Query::ConstantScore { .. }
            | Query::DisMax(_)
            | Query::Nested(_) => Ok(()),
        }
    }

    fn number_of_values(&self, number: usize) -> Result<(), GraphqlError> {
        within(
            number,
            self.limits.terms,
            code::LIMIT_TERMS,
            "a clause has too many values",
        )
    }
}

fn too_many_terms(terms: u64, limit: usize) -> String {
    format!(
        "up to this clause the search expands to {terms} terms, but may expand to {limit}: each \
         word of a fuzzy clause counts `max_expansions` times in each field and language; use fewer \
         words or a smaller `max_expansions`, or raise `search.limits.expandedTerms`"
    )
}

fn text(value: &Value, limits: &SearchLimits) -> Result<(), GraphqlError> {
    match value {
        Value::Text(text) => text_length(text, limits),
        _ => Ok(()),
    }
}

fn text_length(text: &str, limits: &SearchLimits) -> Result<(), GraphqlError> {
    within(
        text.len(),
        limits.text_length,
        code::LIMIT_TEXT,
        "a text is too long",
    )
}

/// Refuses what is above a limit.
fn within<N: TryInto<u64>>(
    number: N,
    limit: usize,
    code: ErrorCode,
    message: &str,
) -> Result<(), GraphqlError> {
    match number.try_into() {
        Ok(number) if number <= limit as u64 => Ok(()),
        _ => Err(exceeded(code, message, limit)),
    }
}
