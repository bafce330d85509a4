//! `typeCast`: values from their text, where their datatype is another than the declared one.

use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{Property, Range};

use super::graph::canonical;
use super::moment::Moment;
use super::number::{Number, XSD};
use super::scalar::{fits, is_string};

/// The values of a property, cast where the property says so, each once; what cannot be cast is as if
/// absent.
pub(crate) fn cast(property: &Property, values: Vec<Term>) -> Vec<Term> {
    let scalar = match property.range {
        Range::Scalar(scalar) => scalar,
        // The names of an enumeration are strings.
        Range::Enum(_) => Scalar::String,
        Range::Literal(_) | Range::Object(_) => return values,
    };
    if !property.type_cast {
        return values;
    }
    let mut distinct = Vec::new();
    let is_enum = matches!(property.range, Range::Enum(_));
    for term in values
        .iter()
        .filter_map(|term| cast_term(scalar, is_enum, term))
    {
        let term = canonical(&term);
        if !distinct.contains(&term) {
            distinct.push(term);
        }
    }
    distinct
}

fn cast_term(scalar: Scalar, is_enum: bool, term: &Term) -> Option<Term> {
    let literal = match term {
        Term::Literal(literal) => literal,
        Term::NamedNode(_) if scalar == Scalar::Iri => return Some(term.clone()),
        _ => return None,
    };
    let text = literal.value().trim_matches([' ', '\t', '\r', '\n']);
    let typed = |datatype: String| {
        let datatype = NamedNode::new_unchecked(datatype);
        Literal::new_typed_literal(text, datatype)
    };
    // Languages choose among texts, and not among names.
    if scalar == Scalar::String && is_string(literal) && !is_enum {
        return Some(term.clone());
    }
    if scalar == Scalar::String {
        return Some(Literal::new_simple_literal(literal.value()).into());
    }
    if scalar == Scalar::Iri {
        let absolute = text.contains("://") && !text.contains(' ');
        return absolute.then(|| NamedNode::new_unchecked(text).into());
    }
    if scalar.is_numeric() {
        if Number::from_literal(literal).is_some() {
            return Some(term.clone());
        }
        let name = match scalar {
            _ if scalar.is_float() => "double",
            Scalar::Decimal => "decimal",
            _ => "integer",
        };
        let value = typed(format!("{XSD}{name}"));
        return Number::from_literal(&value).map(|_| value.into());
    }
    if literal.datatype().as_str() == scalar.datatype_iri() {
        return Some(term.clone());
    }
    let value: Term = typed(scalar.datatype_iri().to_owned()).into();
    let lexical = match scalar {
        Scalar::Boolean => fits(scalar, &value),
        _ => Moment::parse(scalar, text).is_some(),
    };
    lexical.then_some(value)
}
