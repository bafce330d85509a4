//! The range of a property from the kinds of its values.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use soml_core::datatype::Scalar;

use super::statistics::{Kind, Property, Reach, Statistics};

/// What the values of a property are declared to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InferredRange {
    /// A datatype by its SOML name.
    Datatype(&'static str),
    /// The class with this IRI.
    Class(String),
}

impl InferredRange {
    /// Returns whether it accepts any literal, or any IRI.
    pub(super) fn is_anything(&self) -> bool {
        matches!(self, InferredRange::Datatype("literal" | "iri"))
    }
}

/// Returns the range that accepts most of the values that the API can show, and the narrowest such;
/// `None` for a property that has only blank nodes.
pub(super) fn range(property: &Property, statistics: &Statistics) -> Option<InferredRange> {
    let of = |kind: &Kind| property.kinds.get(kind).copied().unwrap_or(0);
    let resources = of(&Kind::Object) + of(&Kind::Iri);
    let shown = property.values.saturating_sub(of(&Kind::Blank));
    if shown == 0 {
        return None;
    }
    Some(if resources * 2 > shown {
        class(property, statistics).map_or(InferredRange::Datatype("iri"), InferredRange::Class)
    } else {
        InferredRange::Datatype(datatype(&property.kinds))
    })
}

impl Property {
    /// Returns what instances have of the values that the API shows under a range.
    pub(super) fn reach(&self, range: &InferredRange) -> Reach {
        match range {
            InferredRange::Class(_) => self.objects,
            InferredRange::Datatype("iri") => self.iris,
            InferredRange::Datatype(_) => self.literals,
        }
    }
}

/// Returns the class with the fewest instances that all objects belong to.
fn class(property: &Property, statistics: &Statistics) -> Option<String> {
    let objects = property.kinds.get(&Kind::Object).copied().unwrap_or(0);
    let others = property.kinds.get(&Kind::Iri).copied().unwrap_or(0);
    // Where most IRIs are of no class, the IRIs themselves are what is worth having.
    if objects <= others {
        return None;
    }
    let covering = property
        .targets
        .iter()
        .filter(|(_, count)| **count == objects);
    covering
        .min_by_key(|(class, _)| {
            let counted = statistics.classes.get(*class);
            // Of a class and a superclass with the same instances, the subclass.
            let depth = Reverse(statistics.lineage(class).count());
            (counted.map_or(u64::MAX, |class| class.instances), depth)
        })
        .map(|(class, _)| class.clone())
}

fn datatype(kinds: &BTreeMap<Kind, u64>) -> &'static str {
    let is = |scalar: Scalar, iri: &str| iri == scalar.datatype_iri();
    let literals: Vec<&str> = kinds
        .keys()
        .filter_map(|kind| match kind {
            Kind::Literal(iri) => Some(iri.as_str()),
            _ => None,
        })
        .collect();
    let tagged = kinds.contains_key(&Kind::LangString);
    let all = |test: &dyn Fn(&str) -> bool| literals.iter().all(|iri| test(iri));
    if tagged {
        return match literals.as_slice() {
            [] => "langString",
            [single] if is(Scalar::String, single) => "stringOrLangString",
            _ => "literal",
        };
    }
    if let [single] = literals.as_slice() {
        return scalar(single).map_or("literal", Scalar::soml_name);
    }
    let numeric = |iri: &str| scalar(iri).is_some_and(Scalar::is_numeric);
    if all(&|iri| scalar(iri).is_some_and(Scalar::is_integer)) {
        "integer"
    } else if all(&|iri| numeric(iri) && !scalar(iri).is_some_and(Scalar::is_float)) {
        "decimal"
    } else if all(&numeric) {
        "double"
    } else if all(&|iri| {
        is(Scalar::Date, iri) || is(Scalar::Year, iri) || is(Scalar::YearMonth, iri)
    }) {
        "dateOrYearOrMonth"
    } else {
        "literal"
    }
}

/// Returns the scalar that values of a datatype fit.
fn scalar(iri: &str) -> Option<Scalar> {
    if iri == "http://www.w3.org/2001/XMLSchema#float" {
        return Some(Scalar::Double);
    }
    Scalar::from_datatype_iri(iri)
}
