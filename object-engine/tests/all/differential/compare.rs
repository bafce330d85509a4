//! Whether an answer is the expected one, in value space.
//!
//! Lists whose order nothing settles compare as multisets; all others exactly. Errors compare by
//! code and path; an index into a list of unsettled order stands for any index.

use serde_json::Value;

use crate::differential::generate::AGGREGATE;
use crate::differential::reference::{Answer, CURSOR, Fault, Out, Removal, Segment};

/// Says how an answer differs from the expected one.
pub(crate) fn difference(expected: &Answer, actual: &Value) -> Option<String> {
    let (removed, given): (Vec<&Value>, Vec<&Value>) =
        errors(actual).partition(|error| code(error) == REMOVED);
    let given = actual_faults(given);
    let (data, faults, removals) = match expected {
        Answer::Refused(codes) => {
            let refused = actual.get("data").is_none()
                && given.iter().any(|e| codes.contains(&e.code.as_str()));
            return (!refused).then(|| format!("the request must be refused with {codes:?}"));
        }
        Answer::Data(data, faults, removals) => (data, faults, removals),
    };
    let Some(actual) = actual.get("data") else {
        return Some("the request must be answered".to_owned());
    };
    if !same(data, actual) {
        return Some("the data differ".to_owned());
    }
    let mut removals = removals.clone();
    removals.sort();
    let removed = actual_removals(removed);
    if removals != removed {
        return Some(format!(
            "other fields are left out:\n  expected {removals:?}\n  but got  {removed:?}"
        ));
    }
    let free = warnings_inside_nulls(data, actual, faults, &given);
    let settled = |fault: &&Fault| fault.code != WARNING || !free.contains(&starred(fault));
    let faults: Vec<Fault> = faults.iter().filter(settled).cloned().collect();
    let null = |fault: &Fault| null_in_expected(data, fault);
    let expected: Vec<(String, String)> = normalized(data, &faults, null);
    if let Some(fault) = given.iter().find(|fault| misplaced(fault, actual)) {
        return Some(format!("no null stands where {fault:?} says"));
    }
    let given: Vec<Fault> = given.iter().filter(settled).cloned().collect();
    let given = normalized(data, &given, |fault| null_in_actual(actual, fault));
    (expected != given)
        .then(|| format!("the errors differ:\n  expected {expected:?}\n  but got  {given:?}"))
}

/// The code of the warning that is given once for each field of a document.
const WARNING: &str = "MULTIPLE_VALUES";

/// The path of an error, each index as any.
fn starred(fault: &Fault) -> String {
    let segments = fault.path.iter().map(|segment| match segment {
        Segment::Key(key) => key.as_str(),
        Segment::Index(_) => "*",
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The fields of which one side warns inside of what became null. The order of a list that nothing
/// settles decides whether execution gets there, and no other object is warned of then.
fn warnings_inside_nulls(
    expected: &Out,
    actual: &Value,
    faults: &[Fault],
    given: &[Fault],
) -> Vec<String> {
    let in_expected = |fault: &&Fault| {
        let mut at = expected;
        fault.path.iter().any(|segment| {
            let next = match (at, segment) {
                (Out::Object(members), Segment::Key(key)) => {
                    members.iter().find(|(k, _)| k == key).map(|(_, out)| out)
                }
                (Out::List { items, .. }, Segment::Index(index)) => items.get(*index),
                _ => None,
            };
            at = next.unwrap_or(at);
            next.is_none()
        })
    };
    let in_actual = |fault: &&Fault| {
        let mut at = actual;
        fault.path.iter().any(|segment| {
            let next = match segment {
                Segment::Key(key) => at.get(key),
                Segment::Index(index) => at.get(*index),
            };
            at = next.unwrap_or(at);
            next.is_none()
        })
    };
    let expected = faults.iter().filter(in_expected);
    let warnings = expected.chain(given.iter().filter(in_actual));
    warnings
        .filter(|fault| fault.code == WARNING)
        .map(starred)
        .collect()
}

/// The code of the errors that name what is left out.
const REMOVED: &str = "ACCESS_FIELD_REMOVED";

fn errors(answer: &Value) -> impl Iterator<Item = &Value> {
    let errors = answer.get("errors").and_then(Value::as_array);
    errors.into_iter().flatten()
}

fn code(error: &Value) -> &str {
    let code = error["extensions"]["code"].as_str();
    code.expect("every error has a code")
}

fn actual_removals(errors: Vec<&Value>) -> Vec<Removal> {
    let removal = |error: &Value| {
        let message = error["message"].as_str().expect("a text").to_owned();
        assert!(error["locations"][0]["line"].is_u64(), "{error}");
        let path = error["path"].as_array().expect("a path");
        let key = |key: &Value| key.as_str().expect("a response key").to_owned();
        let path = path.iter().map(key).collect();
        Removal { message, path }
    };
    let mut removals: Vec<Removal> = errors.into_iter().map(removal).collect();
    removals.sort();
    removals
}

fn actual_faults(errors: Vec<&Value>) -> Vec<Fault> {
    let fault = |error: &Value| {
        let path = error.get("path").and_then(Value::as_array);
        let segment = |part: &Value| match part.as_u64() {
            Some(index) => Segment::Index(usize::try_from(index).expect("a small index")),
            None => Segment::Key(part.as_str().expect("a key").to_owned()),
        };
        let path = path.map(|path| path.iter().map(segment).collect());
        Fault {
            code: code(error).to_owned(),
            path: path.unwrap_or_default(),
        }
    };
    let mut faults: Vec<Fault> = errors.into_iter().map(fault).collect();
    faults.retain(|fault| {
        !matches!(fault.path.first(), Some(Segment::Key(key)) if key.starts_with(AGGREGATE))
    });
    faults
}

/// Returns whether two values are the same in value space.
fn same(expected: &Out, actual: &Value) -> bool {
    match (expected, actual) {
        (Out::Leaf(expected), actual) => same_leaf(expected, actual),
        (Out::Object(members), Value::Object(actual)) => {
            let mut pairs = members.iter().zip(actual);
            members.len() == actual.len()
                && pairs.all(|((key, value), (other, actual))| key == other && same(value, actual))
        }
        (Out::List { items, ordered }, Value::Array(actual)) => {
            if items.len() != actual.len() {
                return false;
            }
            if *ordered {
                return items
                    .iter()
                    .zip(actual)
                    .all(|(item, actual)| same(item, actual));
            }
            let mut left: Vec<&Value> = actual.iter().collect();
            items.iter().all(|item| {
                let position = left.iter().position(|actual| same(item, actual));
                position
                    .map(|position| left.swap_remove(position))
                    .is_some()
            })
        }
        _ => false,
    }
}

fn same_leaf(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            // Answers are read by a parser that is off by a bit now and then: so is this one then.
            let a: Value = serde_json::from_str(&a.to_string()).expect("a number");
            a.as_f64() == b.as_f64() && a.is_f64() == b.is_f64()
        }
        _ if *expected == CURSOR => actual.is_string(),
        _ => expected == actual,
    }
}

/// Returns whether an error other than a warning points at something that is not null.
fn misplaced(fault: &Fault, data: &Value) -> bool {
    let mut at = data;
    for segment in &fault.path {
        let next = match segment {
            Segment::Key(key) => at.get(key),
            Segment::Index(index) => at.get(*index),
        };
        match next {
            // What is around became null, and the value with it.
            None => return !at.is_null(),
            Some(next) => at = next,
        }
    }
    fault.code != WARNING && !at.is_null()
}

/// The length of the path to the null that an error lies inside of.
fn null_in_expected(data: &Out, fault: &Fault) -> Option<usize> {
    let mut at = data;
    for (length, segment) in fault.path.iter().enumerate() {
        at = match (at, segment) {
            (Out::Leaf(Value::Null), _) => return Some(length),
            (Out::Object(members), Segment::Key(key)) => {
                members.iter().find(|(k, _)| k == key).map(|(_, out)| out)?
            }
            (Out::List { items, .. }, Segment::Index(index)) => items.get(*index)?,
            _ => return None,
        };
    }
    None
}

/// The length of the path to the null that an error lies inside of.
fn null_in_actual(data: &Value, fault: &Fault) -> Option<usize> {
    let mut at = data;
    for (length, segment) in fault.path.iter().enumerate() {
        at = match segment {
            _ if at.is_null() => return Some(length),
            Segment::Key(key) => at.get(key)?,
            Segment::Index(index) => at.get(*index)?,
        };
    }
    None
}

/// Errors in a form that compares: sorted, indices of unsettled lists left open. Of errors inside
/// of what became null only that there are some counts, since execution may stop at the first.
fn normalized(
    expected: &Out,
    faults: &[Fault],
    null: impl Fn(&Fault) -> Option<usize>,
) -> Vec<(String, String)> {
    let mut normal: Vec<(String, String)> = faults
        .iter()
        .map(|fault| normal_fault(expected, fault, null(fault)))
        .collect();
    // Where nulls go up, execution may stop at any of the errors below.
    let nulls = normal.iter().filter(|(code, _)| code != WARNING);
    let paths: Vec<String> = nulls.map(|(_, path)| path.clone() + "/").collect();
    normal.retain(|(_, path)| {
        let below = |other: &&String| path.starts_with(other.as_str());
        !paths.iter().any(|other| below(&other))
    });
    normal.sort();
    let inside = |(code, path): &(String, String), other: &(String, String)| {
        code == "inside" && code == &other.0 && path == &other.1
    };
    normal.dedup_by(|a, b| inside(a, b));
    normal
}

/// The code of an error, or that it is inside of a null, and its path up to there.
fn normal_fault(expected: &Out, fault: &Fault, null: Option<usize>) -> (String, String) {
    let mut path = String::new();
    let mut out = Some(expected);
    for (length, segment) in fault.path.iter().enumerate() {
        if null == Some(length) {
            return ("inside".to_owned(), path);
        }
        path.push('/');
        match segment {
            Segment::Key(key) => {
                path.push_str(key);
                out = match out {
                    Some(Out::Object(members)) => {
                        members.iter().find(|(k, _)| k == key).map(|(_, out)| out)
                    }
                    _ => None,
                };
            }
            Segment::Index(index) => {
                // Which of the objects is warned of is free.
                let any = fault.code == WARNING;
                let settled = path_is_settled(out) && !any;
                path.push_str(&if settled {
                    index.to_string()
                } else {
                    "*".to_owned()
                });
                out = match out {
                    Some(Out::List { items, ordered }) if *ordered => items.get(*index),
                    Some(Out::List { items, .. }) => items.iter().find(|i| is_branch(i)),
                    _ => None,
                };
            }
        }
    }
    (fault.code.clone(), path)
}

fn is_branch(out: &Out) -> bool {
    !matches!(out, Out::Leaf(_))
}

fn path_is_settled(out: Option<&Out>) -> bool {
    matches!(out, Some(Out::List { ordered: true, .. }))
}
