//! Clauses in a form that the engine answers, and answers rightly.
//!
//! A negative number is an error where the field has no sign; it is less than every value. OpenSearch 3.7 rounds
//! negative numbers of milliseconds in the wrong direction where a bound is rounded up: in `lte`, in `gt`, and in all
//! that is about one value. `gte` and `lt` are as they should be. It does not find the empty string where case is
//! ignored.

use super::fields::{Kind, is_instant};
use crate::dsl::{Bool, Bound, Query, Range, Search, Terms, Value};
use crate::engine::EngineError;
use crate::mapping::IndexDefinition;

/// Most ranges that stand for the values of one clause; the engine takes 1,024 clauses in all.
const MAX_RANGES: usize = 500;

/// Gives a search operands that the engine takes, and does not round.
pub(super) fn answerable(search: &mut Search, index: &IndexDefinition) -> Result<(), EngineError> {
    let mut queries = search.query.iter_mut().chain(&mut search.post_filter);
    queries.try_for_each(|query| rewrite(query, index))
}

fn rewrite(query: &mut Query, index: &IndexDefinition) -> Result<(), EngineError> {
    if let Some(other) = replacement(query, index) {
        *query = other;
    }
    if let Query::Range(range) = query
        && is_instant(index, &range.field)
    {
        for (bound, wanted) in [(&mut range.lower, true), (&mut range.upper, false)] {
            if let Some(bound) = bound
                && bound.inclusive != wanted
                && is_past(&bound.value)
            {
                *bound = next(&bound.value, wanted);
            }
        }
    }
    let other = match query {
        Query::Term(term) if is_past(&term.value) && is_instant(index, &term.field) => {
            Some(between(&term.field, &term.value, &term.value, term.boost))
        }
        Query::Match(clause) if is_past(&clause.query) && is_instant(index, &clause.field) => {
            let value = &clause.query;
            Some(between(&clause.field, value, value, clause.boost))
        }
        Query::Terms(terms)
            if terms.values.iter().any(is_past) && is_instant(index, &terms.field) =>
        {
            Some(any_of(terms)?)
        }
        _ => None,
    };
    if let Some(other) = other {
        *query = other;
    }
    let visit = |inner: &mut Query| rewrite(inner, index);
    match query {
        Query::Bool(all) => {
            let lists = [
                &mut all.must,
                &mut all.filter,
                &mut all.should,
                &mut all.must_not,
            ];
            lists.into_iter().flatten().try_for_each(visit)
        }
        Query::ConstantScore { filter, .. } => visit(filter),
        Query::DisMax(best) => best.queries.iter_mut().try_for_each(visit),
        Query::Nested(nested) => visit(&mut nested.query),
        _ => Ok(()),
    }
}

/// Returns whether a value is a negative number, as an instant before 1970 is.
fn is_past(value: &Value) -> bool {
    matches!(value, Value::Integer(millis) if *millis < 0)
}

/// Returns what stands for a clause with negative numbers for a field without a sign, or with an empty string whose
/// case is ignored; `None` for any other.
fn replacement(query: &Query, index: &IndexDefinition) -> Option<Query> {
    let is_unsigned = |field: &str| Kind::of(index, field) == Kind::Unsigned;
    let is_empty = |value: &Value| matches!(value, Value::Text(text) if text.is_empty());
    match query {
        Query::Term(term) if term.case_insensitive && is_empty(&term.value) => {
            let mut filter = term.clone();
            (filter.case_insensitive, filter.boost) = (false, None);
            Some(Query::ConstantScore {
                filter: Box::new(Query::Term(filter)),
                boost: term.boost,
            })
        }
        Query::Term(term) if is_past(&term.value) && is_unsigned(&term.field) => {
            Some(Query::MatchNone)
        }
        Query::Match(clause) if is_past(&clause.query) && is_unsigned(&clause.field) => {
            Some(Query::MatchNone)
        }
        Query::Terms(terms) if terms.values.iter().any(is_past) && is_unsigned(&terms.field) => {
            let mut terms = terms.clone();
            terms.values.retain(|value| !is_past(value));
            Some(Query::Terms(terms))
        }
        Query::Range(range) => {
            let is_negative =
                |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| is_past(&bound.value));
            let (lower, upper) = (is_negative(&range.lower), is_negative(&range.upper));
            if !(lower || upper) || !is_unsigned(&range.field) {
                return None;
            }
            let mut range = range.clone();
            if upper {
                return Some(Query::MatchNone);
            }
            range.lower = Some(Bound {
                value: Value::Integer(0),
                inclusive: true,
            });
            Some(Query::Range(range))
        }
        _ => None,
    }
}

/// Returns a clause for the values of another, of which some are before 1970.
fn any_of(terms: &Terms) -> Result<Query, EngineError> {
    let (past, others): (Vec<_>, Vec<_>) = terms.values.iter().cloned().partition(is_past);
    let past = past.iter().filter_map(|value| match value {
        Value::Integer(millis) => Some(*millis),
        _ => None,
    });
    let mut past: Vec<i64> = past.collect();
    past.sort_unstable();
    past.dedup();
    let runs: Vec<_> = past.chunk_by(|one, next| one + 1 == *next).collect();
    if runs.len() > MAX_RANGES {
        return Err(EngineError::Unsupported(format!(
            "`terms` has more than {MAX_RANGES} instants before 1970, which OpenSearch cannot find exactly"
        )));
    }
    let mut should: Vec<_> = runs
        .into_iter()
        .map(|run| {
            let (first, last) = (run[0], run[run.len() - 1]);
            let (first, last) = (Value::Integer(first), Value::Integer(last));
            between(&terms.field, &first, &last, None)
        })
        .collect();
    if !others.is_empty() {
        should.push(Query::Terms(Terms {
            field: terms.field.clone(),
            values: others,
            boost: None,
        }));
    }
    Ok(Query::ConstantScore {
        filter: Box::new(Query::Bool(Bool {
            should,
            ..Bool::default()
        })),
        boost: terms.boost,
    })
}

/// Returns a clause for the instants from one to another, both included.
fn between(field: &str, first: &Value, last: &Value, boost: Option<f64>) -> Query {
    Query::Range(Range {
        field: field.to_owned(),
        lower: Some(Bound {
            value: first.clone(),
            inclusive: true,
        }),
        upper: Some(next(last, false)),
        boost,
    })
}

/// Returns the bound one millisecond behind a value.
fn next(value: &Value, inclusive: bool) -> Bound {
    let value = match value {
        Value::Integer(millis) => Value::Integer(millis + 1),
        other => other.clone(),
    };
    Bound { value, inclusive }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::dsl::{Match, Nested, Term};
    use crate::mapping::{Indexes, MappingOptions};

    const SCHEMA: &str = "
id: /soml/sky
objects:
  Planet:
    search: yes
    props: {seen: {range: dateTime}, size: {range: long}, huge: {range: unsignedLong}, moons: {range: Moon, max: inf}}
  Moon: {search: yes, props: {seen: {range: dateTime}}}
";

    /// Returns a clause as it is sent.
    fn sent(query: Query) -> Result<Json, EngineError> {
        let loaded = soml_core::load(SCHEMA);
        let schema = loaded.schema.expect("the schema is valid");
        let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
        let definition = indexes.named("Planet").expect("planets");
        let mut search = Search {
            query: Some(query),
            ..Search::default()
        };
        answerable(&mut search, definition)?;
        Ok(search.to_json()["query"].clone())
    }

    fn range(field: &str, lower: (i64, bool), upper: (i64, bool)) -> Query {
        let bound = |(value, inclusive)| {
            Some(Bound {
                value: Value::Integer(value),
                inclusive,
            })
        };
        Query::Range(Range {
            field: field.to_owned(),
            lower: bound(lower),
            upper: bound(upper),
            boost: None,
        })
    }

    fn terms(values: impl IntoIterator<Item = i64>) -> Query {
        Query::Terms(Terms {
            field: "seen".to_owned(),
            values: values.into_iter().map(Value::Integer).collect(),
            boost: Some(2.0),
        })
    }

    #[test]
    fn bounds_before_1970_are_moved_to_the_side_that_is_not_rounded() {
        let found = sent(range("seen", (-9, false), (-5, true))).expect("a query");
        assert_eq!(found, json!({"range": {"seen": {"gte": -8, "lt": -4}}}));
        // Right as they are.
        let found = sent(range("seen", (-9, true), (-5, false))).expect("a query");
        assert_eq!(found, json!({"range": {"seen": {"gte": -9, "lt": -5}}}));
        let found = sent(range("seen", (0, false), (5, true))).expect("a query");
        assert_eq!(found, json!({"range": {"seen": {"gt": 0, "lte": 5}}}));
        // No instants.
        let found = sent(range("size", (-9, false), (-5, true))).expect("a query");
        assert_eq!(found, json!({"range": {"size": {"gt": -9, "lte": -5}}}));
    }

    #[test]
    fn one_instant_before_1970_is_the_range_of_its_millisecond() {
        let term = Query::Term(Term {
            field: "moons.seen".to_owned(),
            value: Value::Integer(-1),
            case_insensitive: false,
            boost: Some(3.0),
        });
        let nested = Query::Nested(Nested {
            path: "moons".to_owned(),
            query: Box::new(term),
            score_mode: None,
        });
        let found = sent(nested).expect("a query");
        let expected = json!({"range": {"moons.seen": {"gte": -1, "lt": 0, "boost": 3.0}}});
        assert_eq!(found["nested"]["query"], expected);
        let clause = Query::Match(Match::new("seen", Value::Integer(-7)));
        let found = sent(clause).expect("a query");
        assert_eq!(found, json!({"range": {"seen": {"gte": -7, "lt": -6}}}));
    }

    #[test]
    fn of_several_instants_neighbours_share_a_range() {
        let found = sent(terms([4, -3, -9, -2, -3, 0])).expect("a query");
        let any = json!([
            {"range": {"seen": {"gte": -9, "lt": -8}}},
            {"range": {"seen": {"gte": -3, "lt": -1}}},
            {"terms": {"seen": [4, 0]}},
        ]);
        let expected =
            json!({"constant_score": {"filter": {"bool": {"should": any}}, "boost": 2.0}});
        assert_eq!(found, expected);
        let found = sent(terms([4, 0])).expect("a query");
        assert_eq!(found, json!({"terms": {"seen": [4, 0], "boost": 2.0}}));
    }

    #[test]
    fn a_negative_number_is_less_than_all_without_a_sign() {
        let found = sent(range("huge", (-9, false), (5, true))).expect("a query");
        assert_eq!(found, json!({"range": {"huge": {"gte": 0, "lte": 5}}}));
        let found = sent(range("huge", (-9, false), (-5, true))).expect("a query");
        assert_eq!(found, json!({"match_none": {}}));
        let terms = Query::Terms(Terms {
            field: "huge".to_owned(),
            values: vec![Value::Integer(-1), Value::Integer(1)],
            boost: None,
        });
        let found = sent(terms).expect("a query");
        assert_eq!(found, json!({"terms": {"huge": [1]}}));
        let one = Query::Match(Match::new("huge", Value::Integer(-7)));
        assert_eq!(sent(one).expect("a query"), json!({"match_none": {}}));
    }

    #[test]
    fn more_instants_than_the_engine_takes_clauses_are_refused() {
        assert!(sent(terms((1..=500).map(|at| -2 * at))).is_ok());
        let refused = sent(terms((1..=501).map(|at| -2 * at)));
        assert!(
            matches!(refused, Err(EngineError::Unsupported(_))),
            "{refused:?}"
        );
        assert!(sent(terms((1..=10_000).map(|at| -at))).is_ok(), "one range");
    }
}
