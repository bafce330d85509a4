//! Which of the stored values a field shows, and in which order.

use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{EnumId, LiteralRange, Range, Schema};

use super::lang::Spec;
use super::literal::{self as literals, compare, tag};
use super::scalar::{Shown, shown, shown_enum};

/// The scalar values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar(Scalar),
    Enum(EnumId),
}

impl Kind {
    pub(crate) fn of(range: Range) -> Option<Kind> {
        match range {
            Range::Scalar(scalar) => Some(Kind::Scalar(scalar)),
            Range::Enum(id) => Some(Kind::Enum(id)),
            Range::Literal(_) | Range::Object(_) => None,
        }
    }

    pub(crate) fn shown(self, schema: &Schema, term: &Term) -> Option<Shown> {
        match self {
            Kind::Scalar(scalar) => shown(scalar, term),
            Kind::Enum(id) => shown_enum(&schema[id], term),
        }
    }
}

/// What a single-valued field shows.
pub(crate) struct Single<T> {
    pub(crate) value: Option<T>,
    /// Nothing that is stored fits the range.
    pub(crate) ill_typed: bool,
    /// There are others.
    pub(crate) several: bool,
}

/// Chooses a scalar: of the wanted languages the first, of its values the smallest that fits.
pub(crate) fn single_scalar(
    schema: &Schema,
    kind: Kind,
    values: &[Term],
    spec: Option<&Spec>,
    accepted: &[String],
) -> Single<Shown> {
    let any = Spec::any();
    let groups = if kind == Kind::Scalar(Scalar::String) {
        spec.unwrap_or(&any).pick(values, tag, accepted)
    } else {
        vec![values.iter().collect()]
    };
    let of = |term: &&Term| kind.shown(schema, term);
    single(&groups, of, Shown::same, Shown::compare)
}

/// Chooses a literal in the same way.
pub(crate) fn single_literal(
    schema: &Schema,
    range: LiteralRange,
    values: &[Term],
    spec: Option<&Spec>,
    accepted: &[String],
) -> Single<Literal> {
    let any = Spec::any();
    let groups = spec.unwrap_or(&any).pick(values, tag, accepted);
    let of = |term: &&Term| literal(schema, range, term);
    single(&groups, of, |a, b| a == b, compare)
}

/// A literal of a range.
pub(crate) fn literal(schema: &Schema, range: LiteralRange, term: &Term) -> Option<Literal> {
    match term {
        Term::Literal(literal) if literals::belongs(schema, range, term) => Some(literal.clone()),
        _ => None,
    }
}

fn single<T>(
    groups: &[Vec<&Term>],
    value_of: impl Fn(&&Term) -> Option<T>,
    same: impl Fn(&T, &T) -> bool,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Single<T> {
    // Of listed languages the first that has values is the choice, as among preferences.
    let Some(group) = groups.iter().find(|group| !group.is_empty()) else {
        return Single {
            ill_typed: false,
            several: false,
            value: None,
        };
    };
    let mut distinct: Vec<T> = Vec::new();
    for value in group.iter().filter_map(&value_of) {
        if !distinct.iter().any(|known| same(known, &value)) {
            distinct.push(value);
        }
    }
    let ill_typed = group.iter().filter(|term| value_of(term).is_none()).count();
    let several = distinct.len() + ill_typed > 1;
    distinct.sort_by(&compare);
    let chosen = distinct.into_iter().next();
    Single {
        ill_typed: chosen.is_none() && ill_typed > 0,
        several,
        value: chosen,
    }
}

/// The values of a list before any order: each once; `None` for one that does not fit.
pub(crate) fn listed<T>(values: Vec<Option<T>>, same: impl Fn(&T, &T) -> bool) -> Vec<Option<T>> {
    let mut distinct: Vec<Option<T>> = Vec::new();
    for value in values {
        let known = value.as_ref().is_some_and(|value| {
            let before = distinct.iter().flatten();
            before.into_iter().any(|known| same(known, value))
        });
        if !known {
            distinct.push(value);
        }
    }
    distinct
}

/// The terms that a list shows: those of the wanted languages.
pub(crate) fn wanted(values: &[Term], spec: Option<&Spec>, accepted: &[String]) -> Vec<Term> {
    let Some(spec) = spec else {
        return values.to_vec();
    };
    let mut terms: Vec<Term> = Vec::new();
    for term in spec.pick(values, tag, accepted).into_iter().flatten() {
        if !terms.contains(term) {
            terms.push(term.clone());
        }
    }
    terms
}
