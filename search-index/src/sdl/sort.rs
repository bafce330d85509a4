//! Sort keys, and the values of `search_after` that go with them.

use graphql_service::error::GraphqlError;

use super::arguments::{Place, choice};
use super::guard::Guard;
use super::input::Input;
use super::target::{Found, Member, Target, member};
use crate::code;
use crate::dsl::{FieldSort, Missing, Sort, SortMode, Value};
use crate::mapping::{IntegerType, ObjectFields, ScalarIndex};

/// A sort key, and how the values of its field are indexed; `None` for the score.
pub(super) struct Key {
    pub(super) sort: Sort,
    index: Option<ScalarIndex>,
}

type Result<T> = std::result::Result<T, GraphqlError>;

/// Reads the sort keys of a search; the score if there are none. `id` is the last one, so that
/// pages neither repeat nor skip hits (docs/search.md, "Order and pages").
pub(super) fn keys(
    object: &ObjectFields,
    given: Option<&Input>,
    place: Place,
    guard: Guard<'_>,
) -> Result<Vec<Key>> {
    let given = given.map(Input::items).unwrap_or_default();
    let mut keys = Vec::with_capacity(given.len() + 2);
    for input in given {
        let (name, options) = place.only("a sort key", input)?;
        keys.push(match name {
            "_score" => Key {
                sort: Sort::Score {
                    ascending: choice(options, "order", ORDERS) == Some(false),
                },
                index: None,
            },
            _ => by_field(object, name, options, place, guard)?,
        });
    }
    if keys.is_empty() {
        keys.push(Key {
            sort: Sort::score(),
            index: None,
        });
    }
    let is_id = |key: &Key| matches!(&key.sort, Sort::Field(by) if by.field == "id");
    if !keys.iter().any(is_id) {
        keys.push(Key {
            sort: Sort::field("id"),
            index: Some(ScalarIndex::Keyword),
        });
    }
    Ok(keys)
}

/// Whether greater values come first.
const ORDERS: &[(&str, bool)] = &[("ASC", false), ("DESC", true)];

fn by_field(
    object: &ObjectFields,
    name: &str,
    options: &Input,
    place: Place,
    guard: Guard<'_>,
) -> Result<Key> {
    let (found, options) = find(object, name, options, place)?;
    // An order by what is hidden in some objects would reveal it (docs/search.md, "With security
    // on").
    guard.require_all(&found, name)?;
    const MISSING: &[(&str, Missing)] = &[("_first", Missing::First), ("_last", Missing::Last)];
    const MODES: &[(&str, SortMode)] = &[
        ("MIN", SortMode::Min),
        ("MAX", SortMode::Max),
        ("SUM", SortMode::Sum),
        ("AVG", SortMode::Avg),
        ("MEDIAN", SortMode::Median),
    ];
    let mode = choice(options, "mode", MODES);
    // Engines sort by nested objects without a median.
    if let (Some(SortMode::Median), Some(_)) = (mode, &found.nested) {
        let message = format!("`{name}` sorts by several embedded objects, which have no median");
        return Err(place.error(code::OPTION_INVALID, message));
    }
    Ok(Key {
        sort: Sort::Field(FieldSort {
            field: found.target.whole_path(),
            descending: choice(options, "order", ORDERS).unwrap_or(false),
            mode,
            missing: choice(options, "missing", MISSING).unwrap_or_default(),
            nested: found.nested,
        }),
        index: Some(match found.target {
            Target::Values(..) => found.target.index(),
            Target::BuiltIn(..) | Target::Whole(_) => ScalarIndex::Keyword,
        }),
    })
}

fn find<'i, 'v>(
    object: &'i ObjectFields,
    name: &str,
    options: &'v Input,
    place: Place,
) -> Result<(Found<'i>, &'v Input)> {
    match member(object, name) {
        Some(Member::Target(target)) => Ok((Found::new(object, name, target), options)),
        Some(Member::Object(embedded)) => {
            let (key, options) = place.only("a sort key", options)?;
            let (found, options) = find(&embedded.fields, key, options, place)?;
            Ok((found.under(object, name, embedded), options))
        }
        None => {
            let message = format!("`{name}` is not a sort key");
            Err(place.error(code::CLAUSE_INVALID, message))
        }
    }
}

/// Reads `search_after`: one value for each sort key, as `sort` of a hit shows it.
pub(super) fn after(keys: &[Key], given: &Input, place: Place) -> Result<Vec<Option<Value>>> {
    let invalid = |message: String| place.error(code::SEARCH_AFTER_INVALID, message);
    let values = given.items();
    if values.len() != keys.len() {
        let (keys, values) = (keys.len(), values.len());
        let message =
            format!("`search_after` has {values} values for {keys} sort keys, `id` included");
        return Err(invalid(message));
    }
    let value = |(key, input): (&Key, &Input)| {
        let value = match input.text() {
            // As OpenSearch shows a number that is missing.
            Some("Infinity" | "-Infinity") if key.index == Some(ScalarIndex::Double) => Some(None),
            Some(text) => after_value(key.index, text).map(Some),
            // Every object has a score.
            None => key.index.is_some().then_some(None),
        };
        value.ok_or_else(|| {
            let shown: String = input.text().unwrap_or("null").chars().take(80).collect();
            invalid(format!(
                "`{shown}` in `search_after` is not a value of its sort key"
            ))
        })
    };
    keys.iter().zip(values).map(value).collect()
}

/// Returns whether values are sorted as keywords.
fn is_keyword(index: ScalarIndex) -> bool {
    matches!(
        index,
        ScalarIndex::Text | ScalarIndex::Keyword | ScalarIndex::Exact | ScalarIndex::Time
    )
}

/// Reads a value as an engine returned it for sorting.
fn after_value(index: Option<ScalarIndex>, text: &str) -> Option<Value> {
    let double = || {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Value::Double)
    };
    match index {
        None => double(),
        Some(ScalarIndex::Double) => double(),
        Some(ScalarIndex::Integer(IntegerType::UnsignedLong)) => {
            let number: u64 = text.parse().ok()?;
            Some(i64::try_from(number).map_or(Value::Unsigned(number), Value::Integer))
        }
        // The engine sorts Booleans as 0 and 1, and means of integers are rounded.
        Some(ScalarIndex::Integer(_) | ScalarIndex::Instant | ScalarIndex::Boolean) => {
            text.parse().ok().map(Value::Integer)
        }
        Some(index) => is_keyword(index).then(|| Value::Text(text.to_owned())),
    }
}
