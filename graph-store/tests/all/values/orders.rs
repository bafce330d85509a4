//! The order of objects by what their fields show.

use std::cmp::Ordering;

use graph_store::query::{Domain, OrderKey, OrderStep, Selection, SortBy};
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;

use super::number::Number;
use super::reference::{Patterns, Reference, Value, is_number, is_string, value_of};

/// What is compared; a missing value comes first.
#[derive(Debug)]
enum Key {
    Missing,
    Boolean(bool),
    Number(Number),
    /// Without a time zone as if in UTC.
    Instant(i128),
    Text(String),
}

impl Key {
    fn compare(&self, other: &Key) -> Ordering {
        match (self, other) {
            (Key::Boolean(a), Key::Boolean(b)) => a.cmp(b),
            (Key::Number(a), Key::Number(b)) => a.compare(b).expect("no NaN is shown"),
            (Key::Instant(a), Key::Instant(b)) => a.cmp(b),
            (Key::Text(a), Key::Text(b)) => a.chars().cmp(b.chars()),
            (Key::Missing, Key::Missing) => Ordering::Equal,
            (Key::Missing, _) => Ordering::Less,
            (_, Key::Missing) => Ordering::Greater,
            (a, b) => panic!("{a:?} and {b:?} are no keys of one order"),
        }
    }
}

/// Returns all objects of a selection, whatever its page, in its order.
pub(super) fn ordered(
    reference: &Reference,
    selection: &Selection,
    patterns: &Patterns,
) -> Vec<NamedNode> {
    let objects = reference.objects(&selection.condition, patterns);
    let keys = |node: NamedNode| {
        let keys = selection.order.iter();
        let keys: Vec<Key> = keys.map(|key| key_of(reference, &node, key)).collect();
        (keys, node)
    };
    let mut keyed: Vec<(Vec<Key>, NamedNode)> = objects.into_iter().map(keys).collect();
    keyed.sort_by(|(a, of_a), (b, of_b)| {
        for (key, (a, b)) in selection.order.iter().zip(a.iter().zip(b)) {
            let ordering = a.compare(b);
            let ordering = if key.descending {
                ordering.reverse()
            } else {
                ordering
            };
            if ordering.is_ne() {
                return ordering;
            }
        }
        of_a.as_str().chars().cmp(of_b.as_str().chars())
    });
    keyed.into_iter().map(|(_, node)| node).collect()
}

fn key_of(reference: &Reference, node: &NamedNode, key: &OrderKey) -> Key {
    let [way] = key.ways.as_slice() else {
        panic!("one way for all objects");
    };
    let start = Term::from(node.clone());
    if way.by == SortBy::Iri {
        let end = way
            .path
            .iter()
            .try_fold(start, |at, step| object(reference, &at, step));
        return end.map_or(Key::Missing, |end| text(&end));
    }
    let (last, steps) = way.path.split_last().expect("a step to the values");
    let end = steps
        .iter()
        .try_fold(start, |at, step| object(reference, &at, step));
    let values = end.map(|end| {
        let values = reference.values(&end, &last.step);
        values.into_iter().cloned().collect::<Vec<Term>>()
    });
    shown(&way.by, &values.unwrap_or_default())
}

fn text(node: &Term) -> Key {
    match node {
        Term::NamedNode(node) => Key::Text(node.as_str().to_owned()),
        other => panic!("{other} is no object"),
    }
}

/// Returns the object that a field of one object shows: the smallest of its types.
fn object(reference: &Reference, node: &Term, step: &OrderStep) -> Option<Term> {
    let values = reference.values(node, &step.step).into_iter();
    let objects = values.filter(|value| {
        let is_instance = |test| reference.is_instance(value, test);
        value.is_named_node() && step.tests.iter().all(is_instance)
    });
    objects.min_by(|a, b| text(a).compare(&text(b))).cloned()
}

/// Returns the value that a field of one value shows of several.
fn shown(by: &SortBy, values: &[Term]) -> Key {
    match by {
        SortBy::Scalar { scalar, cast, .. } if *scalar == Scalar::String => {
            string(values, *cast).map_or(Key::Missing, Key::Text)
        }
        SortBy::Scalar { scalar, cast, .. } => {
            let keys = values
                .iter()
                .filter_map(|value| scalar_key(*scalar, *cast, value));
            keys.min_by(Key::compare).unwrap_or(Key::Missing)
        }
        SortBy::Enum { names, cast } => {
            let literals = values.iter().filter_map(literal);
            let texts = literals
                .filter(|literal| *cast || (is_string(literal) && literal.language().is_none()));
            let known = texts.filter(|text| names.iter().any(|name| name == text.value()));
            let smallest = known.map(|text| Key::Text(text.value().to_owned()));
            smallest.min_by(Key::compare).unwrap_or(Key::Missing)
        }
        other => panic!("no order is by {other:?}"),
    }
}

fn literal(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// Returns the string that is shown: one without a language tag before others, then the smallest of the
/// smallest tag.
fn string(values: &[Term], cast: bool) -> Option<String> {
    let literals = values.iter().filter_map(literal);
    let strings = literals.filter(|literal| cast || is_string(literal));
    let keyed = strings.map(|literal| {
        let tag = literal.language().map(str::to_lowercase);
        (tag, literal.value().to_owned())
    });
    keyed.min().map(|(_, text)| text)
}

/// Returns the key of a value, if it is one of a scalar.
fn scalar_key(scalar: Scalar, cast: bool, value: &Term) -> Option<Key> {
    let domain = if cast {
        Domain::Cast(scalar)
    } else if is_number(scalar) {
        Domain::Number
    } else {
        Domain::Typed(scalar)
    };
    Some(match value_of(domain, value)? {
        Value::Text(text) => Key::Text(text),
        Value::Boolean(value) => Key::Boolean(value),
        Value::Moment(moment) => Key::Instant(moment.instant),
        Value::Number(number) => {
            let finite = number.plain().is_some();
            let fits = finite && (scalar != Scalar::Integer || number.is_whole());
            return fits.then_some(Key::Number(number));
        }
    })
}
