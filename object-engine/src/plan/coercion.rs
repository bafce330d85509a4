//! Input coercion of what mutations write: from the values that clients send to the RDF terms that are stored.

use std::borrow::Cow;
use std::str::FromStr;

use graph_store::value::{LiteralTypes, Numbers, canonical_value};
use graphql_service::ErrorCode;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::lang::{LangValidation, is_tag};
use soml_core::schema::{LiteralRange, Property, Range, Schema};

use super::input::Input;
use super::number::without_exponent;
use super::regexes::SchemaRegexes;
use crate::code;
use crate::template::Template;

/// Why a value is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

type Result<T> = std::result::Result<T, Refused>;

fn invalid(message: impl Into<String>) -> Refused {
    Refused {
        code: code::VALUE_INVALID,
        message: message.into(),
    }
}

/// Coerces a value of a property; the rules of the property are not checked yet.
pub(super) fn coerce(schema: &Schema, property: &Property, input: &Input) -> Result<Term> {
    match property.range {
        Range::Scalar(scalar) => scalar_term(scalar, input),
        Range::Object(_) => scalar_term(Scalar::Iri, input),
        Range::Enum(id) => {
            let name = input.as_text().unwrap_or_default();
            let known = schema[id].values.iter().any(|value| value.name == name);
            if !known {
                return Err(invalid(format!(
                    "`{name}` is not a value of the enumeration"
                )));
            }
            Ok(Literal::new_simple_literal(name).into())
        }
        Range::Literal(range) => literal(schema, property, range, input),
    }
}

/// Checks a value against the rules of its property.
pub(super) fn check(
    schema: &Schema,
    property: &Property,
    regexes: &SchemaRegexes,
    term: &Term,
) -> Result<()> {
    let text = text_of(term);
    if let Some(prefix) = &property.prefix
        && !text.starts_with(prefix.as_str())
    {
        return Err(invalid(format!("`{text}` does not start with `{prefix}`")));
    }
    let pattern = property
        .pattern
        .as_deref()
        .filter(|text| Template::parse(schema, property.owner, text).is_none());
    for regex in property.regex.as_deref().into_iter().chain(pattern) {
        if !regexes.matches(regex, text)? {
            return Err(invalid(format!("`{text}` does not match `{regex}`")));
        }
    }
    if !property.values_in.is_empty()
        && !property
            .values_in
            .iter()
            .any(|allowed| is_allowed(schema, property, allowed, term))
    {
        let allowed = property.values_in.join(", ");
        return Err(invalid(format!("`{text}` is none of: {allowed}")));
    }
    check_language(schema, property, term)
}

pub(crate) fn text_of(term: &Term) -> &str {
    match term {
        Term::NamedNode(node) => node.as_str(),
        Term::Literal(literal) => literal.value(),
        _ => "",
    }
}

/// Returns the term of a value of a scalar.
fn scalar_term(scalar: Scalar, input: &Input) -> Result<Term> {
    let text = match input {
        Input::Boolean(value) if scalar == Scalar::Boolean => value.to_string(),
        Input::String(text) | Input::Enum(text) | Input::Number(text) => text.clone(),
        _ => {
            return Err(invalid(format!(
                "a value of `{}` is expected",
                scalar.soml_name()
            )));
        }
    };
    if scalar == Scalar::Iri {
        return match NamedNode::new(&text) {
            Ok(node) => Ok(node.into()),
            Err(error) => Err(invalid(format!("`{text}` is not an absolute IRI: {error}"))),
        };
    }
    if scalar == Scalar::String {
        return Ok(Literal::new_simple_literal(text).into());
    }
    scalar_literal(scalar, &text)
        .map(Term::from)
        .ok_or_else(|| invalid(format!("`{text}` is not a `{}`", scalar.soml_name())))
}

/// Returns the literal of a scalar that is not a string; numbers are in canonical form
/// (docs/writing.md, "Creating"), so that equal values are one triple in every store.
fn scalar_literal(scalar: Scalar, text: &str) -> Option<Literal> {
    let datatype = NamedNode::new_unchecked(scalar.datatype_iri());
    if !scalar.is_numeric() {
        let literal = Literal::new_typed_literal(text, datatype);
        let fits = canonical_value(scalar, literal.as_ref()).is_some();
        return fits.then_some(literal);
    }
    let written = if !scalar.is_float() {
        without_exponent(text)?
    } else if text.contains(['e', 'E']) && !f64::from_str(text).is_ok_and(f64::is_finite) {
        return None;
    } else {
        Cow::Borrowed(text)
    };
    let source = if scalar.is_float() {
        xsd::DOUBLE
    } else if written.contains('.') {
        xsd::DECIMAL
    } else {
        xsd::INTEGER
    };
    let source: Term = Literal::new_typed_literal(written, source).into();
    let mut out = Vec::new();
    canonical_value(scalar, &source)?.write(&mut out, scalar, Numbers::Exact);
    let quoted = String::from_utf8(out).expect("numbers are ASCII");
    Some(Literal::new_typed_literal(
        quoted.trim_matches('"'),
        datatype,
    ))
}

/// Returns the term of a `Literal_Input`.
fn literal(
    schema: &Schema,
    property: &Property,
    range: LiteralRange,
    input: &Input,
) -> Result<Term> {
    let Input::Object(members) = input else {
        return Err(invalid(
            "an object with `value`, and `lang` or `type` is expected",
        ));
    };
    let member = |name: &str| {
        let found = members.iter().find(|(key, _)| key == name);
        found.and_then(|(_, value)| value.as_text())
    };
    let text = member("value").unwrap_or_default();
    let types = LiteralTypes::new(schema, range);
    let lang = member("lang").filter(|lang| !lang.is_empty());
    // A literal with a language has the datatype `rdf:langString`
    // (<https://www.w3.org/TR/rdf11-concepts/#section-Graph-Literal>).
    if let (Some(_), Some(_)) = (lang, member("type")) {
        return Err(invalid("`lang` and `type` exclude each other"));
    }
    let literal = match (lang, member("type")) {
        (Some(lang), _) => tagged(text, lang)?,
        (None, Some(datatype)) => typed(schema, text, datatype)?,
        (None, None) => untyped(schema, property, &types, text)?,
    };
    if !types.accepts(&literal) {
        return Err(invalid(format!(
            "{literal} is not in the range of the property"
        )));
    }
    Ok(literal.into())
}

fn tagged(text: &str, lang: &str) -> Result<Literal> {
    let refused = || Refused {
        code: code::LANG_INVALID,
        message: format!("`{lang}` is not a language tag"),
    };
    if !is_tag(lang) {
        return Err(refused());
    }
    Literal::new_language_tagged_literal(text, lang).map_err(|_| refused())
}

/// Returns a literal of a datatype, which is given as an IRI or with a prefix of the schema.
fn typed(schema: &Schema, text: &str, datatype: &str) -> Result<Literal> {
    let iri = expanded(schema, datatype);
    let node = NamedNode::new(&iri)
        .map_err(|_| invalid(format!("`{datatype}` is not the IRI of a datatype")))?;
    match Scalar::from_datatype_iri(&iri) {
        Some(Scalar::String) | None => Ok(Literal::new_typed_literal(text, node)),
        Some(scalar) => scalar_literal(scalar, text)
            .ok_or_else(|| invalid(format!("`{text}` is not a `{}`", scalar.soml_name()))),
    }
}

/// Returns a literal for which neither language nor datatype is given: with the implicit language,
/// else as a string, else of the only datatype that fits (docs/writing.md, "Creating").
fn untyped(
    schema: &Schema,
    property: &Property,
    types: &LiteralTypes,
    text: &str,
) -> Result<Literal> {
    let config = &schema.config.lang;
    // The property is nearer than `config` (docs/first-schema.md, "`lang` of a property").
    let implicit = property.lang.implicit.as_ref().or(config.implicit.as_ref());
    let (with_tag, scalars) = match types {
        LiteralTypes::Any => (true, None),
        LiteralTypes::Some { tagged, scalars } => (*tagged, Some(scalars)),
    };
    if let (true, Some(tag)) = (with_tag, implicit) {
        return tagged(text, tag);
    }
    let Some(scalars) = scalars.filter(|scalars| !scalars.contains(&Scalar::String)) else {
        return Ok(Literal::new_simple_literal(text));
    };
    let fitting = scalars
        .iter()
        .filter_map(|scalar| scalar_literal(*scalar, text));
    let mut fitting: Vec<Literal> = fitting.collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) if with_tag => Err(Refused {
            code: code::LANG_INVALID,
            message: "a language tag is required: give `lang`".to_owned(),
        }),
        (None, _) => Err(invalid(format!(
            "`{text}` is not in the range of the property"
        ))),
        _ => Err(invalid(format!(
            "`{text}` has several possible datatypes: give `type`"
        ))),
    }
}

/// Returns the IRI that a name with a prefix of the schema stands for, or the text as it is.
pub(super) fn expanded(schema: &Schema, text: &str) -> String {
    let Some((prefix, local)) = text.split_once(':') else {
        return text.to_owned();
    };
    match schema.prefixes.namespace(prefix) {
        Some(namespace) if !local.starts_with("//") => format!("{namespace}{local}"),
        _ => text.to_owned(),
    }
}

/// Returns whether an entry of `valuesIn` stands for a value.
fn is_allowed(schema: &Schema, property: &Property, allowed: &str, term: &Term) -> bool {
    match (term, property.range) {
        (Term::NamedNode(node), _) => {
            let iri = expanded(schema, allowed);
            let relative = format!("{}{allowed}", schema.prefixes.base_iri);
            node.as_str() == iri || node.as_str() == relative
        }
        (Term::Literal(literal), Range::Scalar(scalar)) if scalar != Scalar::String => {
            let known = scalar_literal(scalar, allowed).map(Term::from);
            let value = known
                .as_ref()
                .and_then(|known| canonical_value(scalar, known));
            literal.value() == allowed
                || value.is_some_and(|v| Some(v) == canonical_value(scalar, term))
        }
        (Term::Literal(literal), _) => literal.value() == allowed,
        _ => false,
    }
}

/// Checks the language tag of a text against `lang.validate` (docs/writing.md, "What is checked").
/// Other literals of a union have no language to check.
fn check_language(schema: &Schema, property: &Property, term: &Term) -> Result<()> {
    let Range::Literal(_) = property.range else {
        return Ok(());
    };
    let Term::Literal(literal) = term else {
        return Ok(());
    };
    let Some(rule) = validation(schema, property).filter(|_| is_text(literal)) else {
        return Ok(());
    };
    if rule.allows(literal.language()) {
        return Ok(());
    }
    let names: Vec<String> = rule.allowed.iter().map(ToString::to_string).collect();
    let given = literal.language().unwrap_or("no language tag");
    Err(Refused {
        code: code::LANG_INVALID,
        message: format!(
            "{given} is not allowed here; allowed are: {}",
            names.join(", ")
        ),
    })
}

/// Returns whether a literal is a text, in some language or without one.
pub(crate) fn is_text(literal: &Literal) -> bool {
    literal.language().is_some() || literal.datatype() == xsd::STRING
}

/// Returns the rule for the languages of a property's values: its own, which is nearer, or that of `config`
/// (docs/first-schema.md, "`lang` of a property").
pub(crate) fn validation<'s>(
    schema: &'s Schema,
    property: &'s Property,
) -> Option<&'s LangValidation> {
    let own = property.lang.validate.as_ref();
    own.or(schema.config.lang.validate.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_number_is_the_one_that_is_given() {
        let stored = |scalar, text| {
            let literal = scalar_literal(scalar, text)?;
            Some(literal.value().to_owned())
        };
        let exact = stored(Scalar::Integer, "12345678901234567891e0");
        assert_eq!(exact.as_deref(), Some("12345678901234567891"));
        let exact = stored(Scalar::Decimal, "1.2345678901234567891e-2");
        assert_eq!(exact.as_deref(), Some("0.012345678901234567891"));
        assert_eq!(stored(Scalar::Decimal, "1e-400"), None);
        assert_eq!(stored(Scalar::Integer, "1.25e1"), None);
        assert_eq!(stored(Scalar::Double, "1e400"), None);
        assert!(stored(Scalar::Double, "1e-3").is_some());
    }
}
