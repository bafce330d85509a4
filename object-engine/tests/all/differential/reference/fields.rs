//! Which of the stored values a field shows, and in which order.

use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{EnumId, LiteralRange, Range, Schema};

use super::lang::Spec;
use super::literal::{self as literals, compare, tag};
use super::scalar::{Shown, is_string, shown, shown_enum};

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

/// Chooses a scalar: among texts by language, then the smallest that fits.
pub(crate) fn single_scalar(
    schema: &Schema,
    kind: Kind,
    values: &[Term],
    spec: Option<&Spec>,
    accepted: &[String],
) -> Single<Shown> {
    let choice = if kind == Kind::Scalar(Scalar::String) {
        choose(values, spec, accepted, is_text)
    } else {
        (values.iter().collect(), Vec::new())
    };
    let of = |term: &&Term| kind.shown(schema, term);
    single(choice, of, Shown::same, Shown::compare)
}

/// Chooses a literal in the same way.
pub(crate) fn single_literal(
    schema: &Schema,
    range: LiteralRange,
    values: &[Term],
    spec: Option<&Spec>,
    accepted: &[String],
) -> Single<Literal> {
    let fits = |term: &Term| literal(schema, range, term).is_some();
    let choice = choose(values, spec, accepted, fits);
    let of = |term: &&Term| literal(schema, range, term);
    single(choice, of, |a, b| a == b, compare)
}

/// The values of which a field shows the smallest that fits, and those that stand behind them.
type Choice<'v> = (Vec<&'v Term>, Vec<&'v Term>);

fn choose<'v>(
    values: &'v [Term],
    spec: Option<&Spec>,
    accepted: &[String],
    fits: impl Fn(&Term) -> bool,
) -> Choice<'v> {
    let some = |test: &dyn Fn(&Term) -> bool| -> Vec<&'v Term> {
        values.iter().filter(|value| test(value)).collect()
    };
    let of_least_tag = |values: Vec<&'v Term>| -> Vec<&'v Term> {
        let least = values.iter().map(|value| tag(value)).min();
        let least = |value: &&Term| Some(tag(value)) == least;
        values.into_iter().filter(least).collect()
    };
    let Some(spec) = spec else {
        // As `ANY`, where what is no text counts among what has no tag.
        let fitting = some(&|v| fits(v));
        if fitting.is_empty() {
            return (of_least_tag(values.iter().collect()), Vec::new());
        }
        return (
            of_least_tag(fitting),
            some(&|v| !fits(v) && tag(v).is_none()),
        );
    };
    let numbers_and_such = |good: bool| some(&|v| !is_text(v) && fits(v) == good);
    let stand_in = |good: bool| {
        some(&|v| is_text(v) && tag(v).is_none() && spec.takes_untagged() && fits(v) == good)
    };
    for good in [true, false] {
        let texts = some(&|v| is_text(v) && fits(v) == good);
        let chosen = spec.one(&texts, tag, accepted);
        let mut others = numbers_and_such(false);
        if !chosen.is_empty() {
            if good {
                others.extend(numbers_and_such(true));
            }
            return (chosen, others);
        }
        let rest = [stand_in(good), numbers_and_such(good)].concat();
        if !rest.is_empty() {
            return (rest, if good { others } else { Vec::new() });
        }
    }
    (Vec::new(), Vec::new())
}

fn is_text(term: &Term) -> bool {
    matches!(term, Term::Literal(literal) if is_string(literal))
}

/// A literal of a range.
pub(crate) fn literal(schema: &Schema, range: LiteralRange, term: &Term) -> Option<Literal> {
    match term {
        Term::Literal(literal) if literals::belongs(schema, range, term) => Some(literal.clone()),
        _ => None,
    }
}

fn single<T>(
    (chosen, others): Choice<'_>,
    value_of: impl Fn(&&Term) -> Option<T>,
    same: impl Fn(&T, &T) -> bool,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Single<T> {
    let read = |terms: &[&Term]| {
        let mut distinct: Vec<T> = Vec::new();
        for value in terms.iter().filter_map(&value_of) {
            if !distinct.iter().any(|known| same(known, &value)) {
                distinct.push(value);
            }
        }
        distinct.sort_by(&compare);
        distinct
    };
    let all = [chosen.as_slice(), &others].concat();
    let ill_typed = all.iter().filter(|term| value_of(term).is_none()).count();
    let several = read(&all).len() + ill_typed > 1;
    let first = read(&chosen).into_iter().next();
    let value = first.or_else(|| read(&others).into_iter().next());
    Single {
        ill_typed: value.is_none() && ill_typed > 0,
        several,
        value,
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

/// The terms that a list shows: texts of the wanted languages, and whatever is no text.
pub(crate) fn wanted(
    values: &[Term],
    spec: Option<&Spec>,
    accepted: &[String],
    fits: impl Fn(&Term) -> bool,
) -> Vec<Term> {
    let Some(spec) = spec else {
        return values.to_vec();
    };
    let (texts, rest): (Vec<&Term>, Vec<&Term>) = values.iter().partition(|v| is_text(v));
    let of = |texts: Vec<&Term>| {
        let picked = spec.pick(&texts, |term| tag(term), accepted);
        let mut terms: Vec<Term> = Vec::new();
        for term in picked.into_iter().flatten() {
            if !terms.contains(term) {
                terms.push((*term).clone());
            }
        }
        if terms.is_empty() && spec.takes_untagged() {
            let untagged = texts.into_iter().filter(|term| tag(term).is_none());
            terms = untagged.cloned().collect();
        }
        terms
    };
    let mut shown = if spec.is_choice() {
        let (good, bad): (Vec<&Term>, Vec<&Term>) = texts.into_iter().partition(|v| fits(v));
        let chosen = of(good);
        if chosen.is_empty() { of(bad) } else { chosen }
    } else {
        of(texts)
    };
    shown.extend(rest.into_iter().cloned());
    shown
}
