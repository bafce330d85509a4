//! Whether two engines answered alike.
//!
//! Ids, totals, order, sort values and buckets are equal, sums and means to 1e-9, and scores to 1e-3.
//! Documents whose scores are that close may change places, as the rounding of sums decides. Scores of
//! searches that do not ask for any are not compared.

use search_index::dsl::{Search, Sort, SortMode, Value};
use search_index::engine::{AggregationAnswer, AggregationContent, Answer, Hit};
use serde_json::{Map, Value as Json};

/// Greatest relative difference of scores.
const SCORE: f64 = 1e-3;

/// Greatest relative difference of numbers that are worked out.
const NUMBER: f64 = 1e-9;

/// Returns how two answers to a search differ.
pub(crate) fn difference(search: &Search, one: &Answer, other: &Answer) -> Option<String> {
    if one.total != other.total {
        return Some(format!("total: {:?} and {:?}", one.total, other.total));
    }
    if search.track_scores && !is_same_score(one.max_score, other.max_score) {
        return Some(format!(
            "max_score: {:?} and {:?}",
            one.max_score, other.max_score
        ));
    }
    hits(search, &one.hits, &other.hits)
        .or_else(|| aggregations(&one.aggregations, &other.aggregations))
}

fn is_near(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() <= tolerance * one.abs().max(other.abs())
}

fn is_same_score(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_near(one, other, SCORE),
        (one, other) => one == other,
    }
}

fn hits(search: &Search, one: &[Hit], other: &[Hit]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} hits and {}", one.len(), other.len()));
    }
    for (at, (one, other)) in one.iter().zip(other).enumerate() {
        if one.sort.len() != search.sort.len() || other.sort.len() != search.sort.len() {
            return Some(format!("hit {at}: the number of sort values"));
        }
        let each = search.sort.iter().zip(one.sort.iter().zip(&other.sort));
        let mut is_tie = false;
        for (sort, (a, b)) in each {
            if !is_same_key(sort, a.as_ref(), b.as_ref()) {
                if is_tie {
                    break;
                } else {
                    return Some(format!("hit {at}: sort {a:?} and {b:?}"));
                }
            }
            is_tie |= matches!(sort, Sort::Score { .. }) && a != b;
        }
        if search.track_scores && !is_same_score(one.score, other.score) {
            return Some(format!(
                "hit {at}: score {:?} and {:?}",
                one.score, other.score
            ));
        }
        if one.id != other.id {
            if is_tie {
                continue;
            } else {
                return Some(format!("hit {at}: id {} and {}", one.id, other.id));
            }
        }
        if !search.source.is_empty() && picked(one, search) != picked(other, search) {
            return Some(format!("hit {at}: sources of {}", one.id));
        }
    }
    None
}

/// Returns the value of a sort key; `None` for what engines give in place of a number that is missing.
fn without_end(value: Option<&Value>) -> Option<&Value> {
    const ENDS: [i64; 4] = [i32::MIN as i64, i32::MAX as i64, i64::MIN, i64::MAX];
    value.filter(|value| match value {
        Value::Integer(number) => !ENDS.contains(number),
        Value::Unsigned(number) => *number != u64::MAX,
        Value::Text(text) => !matches!(text.as_str(), "Infinity" | "-Infinity"),
        Value::Double(_) | Value::Boolean(_) => true,
    })
}

fn is_same_key(sort: &Sort, one: Option<&Value>, other: Option<&Value>) -> bool {
    let (one, other) = (without_end(one), without_end(other));
    let tolerance = match sort {
        Sort::Score { .. } => SCORE,
        Sort::Field(by) => match by.mode {
            Some(SortMode::Sum | SortMode::Avg | SortMode::Median) => NUMBER,
            _ => 0.0,
        },
    };
    match (one, other) {
        (Some(Value::Double(one)), Some(Value::Double(other))) => is_near(*one, *other, tolerance),
        (one, other) => is_same_value(one, other),
    }
}

/// Returns whether two values are the same. Engines may answer with numbers for Booleans.
fn is_same_value(one: Option<&Value>, other: Option<&Value>) -> bool {
    let plain = |value: &Value| match value {
        Value::Boolean(value) => Value::Integer((*value).into()),
        Value::Unsigned(number) => {
            i64::try_from(*number).map_or(Value::Unsigned(*number), Value::Integer)
        }
        value => value.clone(),
    };
    one.map(plain) == other.map(plain)
}

/// Returns the fields of the source of a hit that a search asks for.
fn picked(hit: &Hit, search: &Search) -> Map<String, Json> {
    let mut source: Map<String, Json> = serde_json::from_slice(&hit.source).expect("JSON");
    source.retain(|name, _| search.source.contains(name));
    source
}

fn aggregations(one: &[AggregationAnswer], other: &[AggregationAnswer]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} aggregations and {}", one.len(), other.len()));
    }
    let mut each = one.iter().zip(other);
    each.find_map(|(one, other)| {
        let why = if one.name == other.name {
            content(&one.content, &other.content)
        } else {
            Some(format!("name {}", other.name))
        };
        why.map(|why| format!("aggregation {}: {why}", one.name))
    })
}

fn content(one: &AggregationContent, other: &AggregationContent) -> Option<String> {
    match (one, other) {
        (
            AggregationContent::Nested {
                count: one,
                aggregations: inner,
            },
            AggregationContent::Nested {
                count: other,
                aggregations: of_other,
            },
        ) => {
            if one == other {
                aggregations(inner, of_other)
            } else {
                Some(format!("{one} and {other} nested objects"))
            }
        }
        (
            AggregationContent::Buckets {
                buckets: one,
                other: rest,
                error,
            },
            AggregationContent::Buckets {
                buckets: other,
                other: rest_of_other,
                error: error_of_other,
            },
        ) => {
            let counts: Vec<_> = one
                .iter()
                .map(|bucket| (&bucket.key, bucket.count))
                .collect();
            let others: Vec<_> = other
                .iter()
                .map(|bucket| (&bucket.key, bucket.count))
                .collect();
            let is_same = counts.len() == others.len()
                && counts
                    .iter()
                    .zip(&others)
                    .all(|((key, count), (other, of_other))| {
                        is_same_value(Some(key), Some(other)) && count == of_other
                    });
            if !is_same || (rest, error) != (rest_of_other, error_of_other) {
                return Some(format!(
                    "{counts:?}, {rest} in others, error {error}; and {others:?}, {rest_of_other} in others, error {error_of_other}"
                ));
            }
            let mut each = one.iter().zip(other);
            each.find_map(|(one, other)| aggregations(&one.aggregations, &other.aggregations))
        }
        _ => Some("of different kinds".to_owned()),
    }
}
