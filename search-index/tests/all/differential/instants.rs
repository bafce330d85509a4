//! Clauses about instants, in a form that OpenSearch answers rightly.
//!
//! It rounds numbers of milliseconds before 1970 in the wrong direction where a bound is rounded up: in
//! `lte`, `gt`, and in everything that is about one value. `gte` and `lt` are as they should be.

use search_index::dsl::{Bool, Bound, Query, Range, Search, Value};

use super::naive::fields::{Fields, Kind};

/// Returns a search with bounds of instants that are not rounded.
pub(crate) fn unrounded(search: &Search, fields: &Fields) -> Search {
    let mut search = search.clone();
    for query in search.query.iter_mut().chain(&mut search.post_filter) {
        rewrite(query, fields);
    }
    search
}

fn rewrite(query: &mut Query, fields: &Fields) {
    let is_instant = |field: &str| fields[field].kind == Kind::Instant;
    match query {
        Query::Bool(all) => {
            let lists = [
                &mut all.must,
                &mut all.filter,
                &mut all.should,
                &mut all.must_not,
            ];
            for inner in lists.into_iter().flatten() {
                rewrite(inner, fields);
            }
        }
        Query::DisMax(best) => best
            .queries
            .iter_mut()
            .for_each(|inner| rewrite(inner, fields)),
        Query::ConstantScore { filter, .. } => rewrite(filter, fields),
        Query::Nested(nested) => rewrite(&mut nested.query, fields),
        Query::Range(range) if is_instant(&range.field) => {
            for (bound, wanted) in [(&mut range.lower, true), (&mut range.upper, false)] {
                if let Some(bound) = bound
                    && bound.inclusive != wanted
                {
                    bound.value = next(&bound.value);
                    bound.inclusive = wanted;
                }
            }
        }
        Query::Term(term) if is_instant(&term.field) => {
            *query = at(&term.field, &term.value, term.boost);
        }
        Query::Match(clause) if is_instant(&clause.field) => {
            *query = at(&clause.field, &clause.query, clause.boost);
        }
        Query::Terms(terms) if is_instant(&terms.field) => {
            let each = terms
                .values
                .iter()
                .map(|value| at(&terms.field, value, None));
            let any = Bool {
                should: each.collect(),
                ..Bool::default()
            };
            *query = Query::ConstantScore {
                filter: Box::new(Query::Bool(any)),
                boost: terms.boost,
            };
        }
        _ => {}
    }
}

/// Returns a clause for one instant.
fn at(field: &str, value: &Value, boost: Option<f64>) -> Query {
    let bound = |value: Value, inclusive| Some(Bound { value, inclusive });
    Query::Range(Range {
        field: field.to_owned(),
        lower: bound(value.clone(), true),
        upper: bound(next(value), false),
        boost,
    })
}

fn next(value: &Value) -> Value {
    match value {
        Value::Integer(millis) => Value::Integer(millis.saturating_add(1)),
        other => panic!("{other:?} is no instant"),
    }
}
