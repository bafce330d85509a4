//! Values as clients give them, as the terms that are stored, and which of them are equal.

use graph_store::value::{CanonicalValue, canonical_value};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Quad, Term};
use soml_core::datatype::Scalar;
use soml_core::lang::{LangItem, LangRange, LangValidation};
use soml_core::schema::{LiteralMember, LiteralRange, Property, Range, Schema};

use super::request::Given;

pub(super) type Code = &'static str;

const VALUE: Code = "VALUE_INVALID";
const LANG: Code = "LANG_INVALID";

/// Returns the term of a value that fits its property.
pub(super) fn term(schema: &Schema, property: &Property, given: &Given) -> Result<Term, Code> {
    let term = unchecked(schema, property, given)?;
    let text = match &term {
        Term::NamedNode(node) => node.as_str(),
        Term::Literal(literal) => literal.value(),
        _ => "",
    };
    let starts = |prefix: &String| text.starts_with(prefix.as_str());
    let matches = |regex: &String| regex::Regex::new(regex).expect("a pattern").is_match(text);
    let values_in = &property.values_in;
    if !property.prefix.as_ref().is_none_or(starts)
        || !property.regex.as_ref().is_none_or(matches)
        || !(values_in.is_empty() || values_in.iter().any(|value| value == text))
    {
        return Err(VALUE);
    }
    if language_fits(schema, property, &term) {
        Ok(term)
    } else {
        Err(LANG)
    }
}

/// Returns the term of a value, whatever the property says of its values.
pub(super) fn unchecked(schema: &Schema, property: &Property, given: &Given) -> Result<Term, Code> {
    match (property.range, given) {
        (Range::Object(_) | Range::Scalar(Scalar::Iri), Given::Text(text)) => {
            NamedNode::new(text).map(Term::from).map_err(|_| VALUE)
        }
        (Range::Scalar(scalar), Given::Text(text) | Given::Bare(text)) => {
            scalar_literal(scalar, text).map(Term::from).ok_or(VALUE)
        }
        (Range::Enum(_), Given::Bare(name)) => Ok(Literal::new_simple_literal(name).into()),
        (
            Range::Literal(range),
            Given::Literal {
                value,
                lang,
                datatype,
            },
        ) => {
            let (tagged, scalars) = members(schema, range);
            if let Some(lang) = lang {
                let literal = Literal::new_language_tagged_literal(value, lang);
                let literal = literal.map_err(|_| LANG)?;
                return tagged.then(|| literal.into()).ok_or(VALUE);
            }
            let implicit = property.lang.implicit.as_ref();
            let implicit = implicit.or(schema.config.lang.implicit.as_ref());
            if let (None, true, Some(tag)) = (datatype, tagged, implicit) {
                return Ok(Literal::new_language_tagged_literal_unchecked(value, tag).into());
            }
            let wanted = |scalar: &&Scalar| match datatype {
                Some(name) => name.strip_prefix("xsd:") == scalar.datatype_iri().split('#').nth(1),
                None => true,
            };
            if datatype.is_none() && scalars.contains(&Scalar::String) {
                return Ok(Literal::new_simple_literal(value).into());
            }
            let fitting = scalars.iter().filter(wanted);
            let fitting = fitting.filter_map(|scalar| scalar_literal(*scalar, value));
            let mut fitting: Vec<Literal> = fitting.collect();
            match (fitting.pop(), fitting.is_empty()) {
                (Some(literal), true) => Ok(literal.into()),
                (None, _) if datatype.is_none() && tagged => Err(LANG),
                _ => Err(VALUE),
            }
        }
        other => panic!("no value of the property: {other:?}"),
    }
}

/// Returns whether a range has texts with a language, and which datatypes it has.
fn members(schema: &Schema, range: LiteralRange) -> (bool, Vec<Scalar>) {
    match range {
        LiteralRange::LangString => (true, vec![]),
        LiteralRange::StringOrLangString => (true, vec![Scalar::String]),
        LiteralRange::Union(id) => {
            let members = &schema[id].members;
            let scalar = |member: &LiteralMember| match member {
                LiteralMember::Scalar(scalar) => Some(*scalar),
                LiteralMember::LangString => None,
            };
            let tagged = members.contains(&LiteralMember::LangString);
            (tagged, members.iter().filter_map(scalar).collect())
        }
        other => panic!("the generator makes no {other:?}"),
    }
}

/// Returns the literal of a scalar, numbers without signs and digits that say nothing.
fn scalar_literal(scalar: Scalar, text: &str) -> Option<Literal> {
    let whole = |least: i64, most: i64| {
        let number: i64 = text.parse().ok()?;
        (least..=most).contains(&number).then(|| number.to_string())
    };
    let lexical = match scalar {
        Scalar::String => return Some(Literal::new_simple_literal(text)),
        Scalar::Int => whole(i32::MIN.into(), i32::MAX.into())?,
        Scalar::Integer => whole(i64::MIN, i64::MAX)?,
        Scalar::PositiveInteger => whole(1, i64::MAX)?,
        Scalar::Boolean => ["true", "false"].contains(&text).then(|| text.to_owned())?,
        Scalar::Decimal => {
            text.parse::<f64>().ok()?;
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text.to_owned()
            }
        }
        Scalar::Date => {
            let day = regex::Regex::new(r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)$");
            let fits = day.expect("a pattern").is_match(text);
            fits.then(|| text.to_owned())?
        }
        other => panic!("the generator makes no {other:?}"),
    };
    let datatype = NamedNode::new_unchecked(scalar.datatype_iri());
    Some(Literal::new_typed_literal(lexical, datatype))
}

/// What the schema says about the languages of a property.
pub(super) fn languages<'s>(
    schema: &'s Schema,
    property: &'s Property,
) -> Option<&'s LangValidation> {
    let own = property.lang.validate.as_ref();
    let rule = own.or(schema.config.lang.validate.as_ref());
    rule.filter(|_| matches!(property.range, Range::Literal(_)))
}

/// The language of a text, empty without one; `None` for what is no text.
pub(super) fn tag(term: &Term) -> Option<String> {
    match term {
        Term::Literal(literal) if literal.language().is_some() => {
            literal.language().map(str::to_ascii_lowercase)
        }
        Term::Literal(literal) if literal.datatype() == xsd::STRING => Some(String::new()),
        _ => None,
    }
}

fn language_fits(schema: &Schema, property: &Property, term: &Term) -> bool {
    let (Some(rule), Some(tag)) = (languages(schema, property), tag(term)) else {
        return true;
    };
    let fits = |item: &LangItem| match item {
        LangItem::Any => true,
        LangItem::Include(LangRange::Untagged) => tag.is_empty(),
        LangItem::Include(LangRange::Tag(wanted)) => *wanted == tag,
        LangItem::Include(LangRange::Dialects(wanted)) => {
            tag == *wanted || tag.starts_with(&format!("{wanted}-"))
        }
        LangItem::Exclude(_) | LangItem::Browser => false,
    };
    rule.allowed.is_empty() || rule.allowed.iter().any(fits)
}

/// Returns whether two stored values of a property are shown alike.
pub(super) fn same(property: &Property, a: &Term, b: &Term) -> bool {
    match (canonical(property, a), canonical(property, b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn canonical<'t>(property: &Property, term: &'t Term) -> Option<CanonicalValue<'t>> {
    match (property.range, term) {
        (Range::Scalar(scalar), _) => canonical_value(scalar, term),
        (Range::Literal(_), Term::Literal(literal)) => Some(CanonicalValue::of_literal(literal)),
        _ => None,
    }
}

/// Returns a quad as a service writes it: whole numbers without signs and digits that say nothing.
pub(super) fn as_written(mut quad: Quad) -> Quad {
    let is_whole = |literal: &Literal| {
        let datatypes = [Scalar::Integer, Scalar::Int, Scalar::PositiveInteger];
        let datatype = Scalar::from_datatype_iri(literal.datatype().as_str());
        datatype.is_some_and(|datatype| datatypes.contains(&datatype))
    };
    if let Term::Literal(literal) = &quad.object
        && is_whole(literal)
    {
        let number: i64 = literal.value().parse().expect("a number");
        let datatype = literal.datatype().into_owned();
        quad.object = Literal::new_typed_literal(number.to_string(), datatype).into();
    }
    quad
}
