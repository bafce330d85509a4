//! Conditions as filter expressions.

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, Variable};
use soml_core::datatype::Scalar;
use spargebra::algebra::{Expression, Function, GraphPattern};

use super::moment::{compare_moment, is_moment, is_temporal};
use super::number::{self, canonical, compare_literal, is_well_formed_number};
use super::{Builder, balanced, bgp, triple};
use crate::query::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Regex, TagRange,
    TermCondition, TypeTest, ValueCondition, ValueTest,
};

/// Returns the IRI of a constant.
pub(super) fn iri(constant: &Constant) -> Option<NamedNode> {
    match constant {
        Constant::Iri(iri) => Some(iri.clone()),
        Constant::Literal(_) => None,
    }
}

pub(super) fn is_iri(variable: &Variable) -> Expression {
    call(Function::IsIri, [variable.clone().into()])
}

pub(super) fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::FunctionCall(function, arguments.into())
}

pub(super) fn boolean(value: bool) -> Expression {
    Expression::Literal(Literal::from(value))
}

pub(super) fn if_else(condition: Expression, yes: Expression, no: Expression) -> Expression {
    Expression::If(Box::new(condition), Box::new(yes), Box::new(no))
}

/// Joins conditions; constants are folded, since RDF4J fails where it has to do so itself.
pub(super) fn and(left: Expression, right: Expression) -> Expression {
    match (constant_of(&left), constant_of(&right)) {
        (Some(false), _) | (_, Some(false)) => boolean(false),
        (Some(true), _) => right,
        (_, Some(true)) => left,
        (None, None) => Expression::And(Box::new(left), Box::new(right)),
    }
}

pub(super) fn or(left: Expression, right: Expression) -> Expression {
    match (constant_of(&left), constant_of(&right)) {
        (Some(true), _) | (_, Some(true)) => boolean(true),
        (Some(false), _) => right,
        (_, Some(false)) => left,
        (None, None) => Expression::Or(Box::new(left), Box::new(right)),
    }
}

/// Returns the truth value of a constant expression.
fn constant_of(expression: &Expression) -> Option<bool> {
    match expression {
        Expression::Literal(literal) if literal.datatype() == xsd::BOOLEAN => {
            Some(literal.value() == "true")
        }
        _ => None,
    }
}

/// Negates; an error counts as false, so its negation is true.
///
/// The negation is inside COALESCE, since RDF4J fails where it simplifies an argument of COALESCE
/// itself.
pub(super) fn not(expression: Expression) -> Expression {
    match expression {
        exists @ Expression::Exists(_) => Expression::Not(Box::new(exists)),
        other if constant_of(&other).is_some() => boolean(constant_of(&other) == Some(false)),
        other => {
            let negated = Expression::Not(Box::new(other));
            Expression::Coalesce(vec![negated, boolean(true)])
        }
    }
}

pub(super) fn equal(left: Expression, right: Expression) -> Expression {
    Expression::Equal(Box::new(left), Box::new(right))
}

fn all(expressions: impl IntoIterator<Item = Expression>) -> Option<Expression> {
    balanced(expressions.into_iter().collect(), and)
}

fn any(expressions: impl IntoIterator<Item = Expression>) -> Expression {
    balanced(expressions.into_iter().collect(), or).unwrap_or_else(|| boolean(false))
}

/// Returns the expression of a condition on a value; `None` when every value satisfies it.
pub(super) fn value_condition(
    builder: &mut Builder,
    value: &Variable,
    condition: &ValueCondition,
) -> Option<Expression> {
    match condition {
        ValueCondition::Node(inner) => {
            let inner = node_condition(builder, value, inner);
            Some(inner.into_iter().fold(is_iri(value), and))
        }
        ValueCondition::Term(inner) => {
            let inner = term_condition(builder, value, inner);
            Some(inner.into_iter().fold(is_value(value), and))
        }
    }
}

/// Tests for what fields can display: blank nodes are neither objects nor values.
fn is_value(variable: &Variable) -> Expression {
    let blank = call(Function::IsBlank, [variable.clone().into()]);
    Expression::Not(Box::new(blank))
}

/// Returns the expression of a condition on a node; `None` when every node satisfies it.
pub(super) fn node_condition(
    builder: &mut Builder,
    node: &Variable,
    condition: &NodeCondition,
) -> Option<Expression> {
    Some(match condition {
        NodeCondition::All(parts) => {
            let parts: Vec<_> = parts
                .iter()
                .filter_map(|part| node_condition(builder, node, part))
                .collect();
            return all(parts);
        }
        NodeCondition::Any(parts) => {
            let parts: Vec<_> = parts
                .iter()
                .map(|part| node_condition(builder, node, part).unwrap_or_else(|| boolean(true)))
                .collect();
            any(parts)
        }
        NodeCondition::Not(inner) => {
            not(node_condition(builder, node, inner).unwrap_or_else(|| boolean(true)))
        }
        NodeCondition::OneOf(ids) => is_one_node(builder, node, ids),
        NodeCondition::Iri(test) => value_test(builder, node.clone().into(), test),
        NodeCondition::Instance(test) => instance(builder, node, test),
        NodeCondition::Values {
            step,
            quantifier,
            condition,
        } => {
            let value = builder.variable();
            let pattern = triple(node, step, &value);
            let (member, inner) = match condition.as_ref() {
                ValueCondition::Node(inner) => {
                    (is_iri(&value), node_condition(builder, &value, inner))
                }
                ValueCondition::Term(inner) => {
                    (is_value(&value), term_condition(builder, &value, inner))
                }
            };
            match quantifier {
                Quantifier::Some => exists(pattern, inner.into_iter().fold(member, and)),
                Quantifier::Every => {
                    let violated = not(inner.unwrap_or_else(|| boolean(true)));
                    not(exists(pattern, and(member, violated)))
                }
            }
        }
    })
}

fn exists(pattern: GraphPattern, expr: Expression) -> Expression {
    Expression::Exists(Box::new(GraphPattern::Filter {
        expr,
        inner: Box::new(pattern),
    }))
}

pub(super) fn is_one_of(subject: Expression, ids: &[NamedNode]) -> Expression {
    if ids.is_empty() {
        return boolean(false);
    }
    let ids = ids.iter().cloned().map(Expression::NamedNode).collect();
    Expression::In(Box::new(subject), ids)
}

/// Tests whether a variable is bound to one of some IRIs.
pub(super) fn is_one_node(builder: &Builder, variable: &Variable, ids: &[NamedNode]) -> Expression {
    if ids.is_empty() {
        return boolean(false);
    }
    let ids = ids.iter().cloned().map(Expression::NamedNode).collect();
    is_listed(builder, variable.clone().into(), ids)
}

/// Tests whether a term is one of some constants.
///
/// RDF4J substitutes an IRI that a filter compares with a variable for the variable, and then finds
/// nothing if the filter also has an `EXISTS`. It does not do so with a list of two.
fn is_listed(builder: &Builder, subject: Expression, mut listed: Vec<Expression>) -> Expression {
    if builder.portable
        && let [single @ Expression::NamedNode(_)] = listed.as_slice()
    {
        listed.push(single.clone());
    }
    Expression::In(Box::new(subject), listed)
}

fn instance(builder: &mut Builder, node: &Variable, test: &TypeTest) -> Expression {
    any(test.alternatives.iter().map(|(property, types)| {
        if let [single] = types.as_slice() {
            let pattern = bgp(node, property, single.clone().into());
            return Expression::Exists(Box::new(pattern));
        }
        let ty = builder.variable();
        let filter = is_one_node(builder, &ty, types);
        exists(bgp(node, property, ty.into()), filter)
    }))
}

fn term_condition(
    builder: &Builder,
    value: &Variable,
    condition: &TermCondition,
) -> Option<Expression> {
    let subject = || Expression::from(value.clone());
    Some(match condition {
        TermCondition::All(parts) => {
            return all(parts
                .iter()
                .filter_map(|part| term_condition(builder, value, part)));
        }
        TermCondition::Any(parts) => any(parts
            .iter()
            .map(|part| term_condition(builder, value, part).unwrap_or_else(|| boolean(true)))),
        TermCondition::Not(inner) => {
            not(term_condition(builder, value, inner).unwrap_or_else(|| boolean(true)))
        }
        TermCondition::Value(test) => value_test(builder, subject(), test),
        TermCondition::Lang { include, exclude } => {
            let literal = call(Function::IsLiteral, [subject()]);
            let wanted = (!include.is_empty()).then(|| any(include.iter().map(|r| tag(value, r))));
            let unwanted = exclude.iter().map(|range| not(tag(value, range)));
            return all([literal].into_iter().chain(wanted).chain(unwanted));
        }
        TermCondition::Datatype(test) => {
            // A literal with a language tag has no datatype in answers.
            let untagged = equal(call(Function::Lang, [subject()]), text(""));
            and(
                untagged,
                value_test(builder, call(Function::Datatype, [subject()]), test),
            )
        }
    })
}

fn tag(value: &Variable, range: &TagRange) -> Expression {
    let lang = || call(Function::Lang, [value.clone().into()]);
    match range {
        TagRange::Tag(tag) => equal(call(Function::LCase, [lang()]), text(tag)),
        TagRange::Dialects(tag) => call(Function::LangMatches, [lang(), text(tag)]),
        TagRange::Untagged => equal(lang(), text("")),
    }
}

pub(super) fn text(value: &str) -> Expression {
    Expression::Literal(Literal::new_simple_literal(value))
}

fn value_test(builder: &Builder, subject: Expression, test: &ValueTest) -> Expression {
    let moments = match test.domain {
        Domain::Typed(scalar) | Domain::Cast(scalar) if builder.portable => Some(scalar),
        _ => None,
    };
    let subject = match test.domain {
        // The comparison uses the lexical form itself.
        Domain::Cast(scalar) if builder.portable && is_temporal(scalar) => trimmed(subject),
        // Strings are compared by their lexical forms, which every literal has.
        Domain::Cast(Scalar::String) => subject,
        Domain::Cast(scalar) => cast(builder, subject, scalar),
        _ => subject,
    };
    let guard = membership(builder, &subject, test);
    let compared = match test.domain {
        Domain::Text | Domain::Lexical | Domain::Cast(Scalar::String) => {
            call(Function::Str, [subject.clone()])
        }
        _ => subject.clone(),
    };
    let operation = match &test.operator {
        Operator::Compare(comparison, constant) => {
            compare(builder, moments, &compared, *comparison, constant)
        }
        Operator::In(constants) => equals_some(builder, moments, &compared, constants),
        Operator::NotIn(constants) if constants.is_empty() => return guard,
        Operator::NotIn(constants) => not(equals_some(builder, moments, &compared, constants)),
        Operator::Matches(regex, negated) => {
            let matches = matches(call(Function::Str, [subject]), regex);
            if *negated { not(matches) } else { matches }
        }
    };
    and(guard, operation)
}

/// Tests whether a term belongs to the domain of a test, as far as its comparison does not find out.
fn membership(builder: &Builder, subject: &Expression, test: &ValueTest) -> Expression {
    let guard = guard(subject, test.domain);
    if !builder.portable {
        return guard;
    }
    // A comparison with an ill-formed value is an error, which a negation makes true.
    let is_negated = matches!(
        test.operator,
        Operator::Compare(Comparison::NotEqual, _) | Operator::NotIn(_)
    );
    let guard = match test.domain {
        Domain::Number => and(guard, is_well_formed_number(subject)),
        Domain::Cast(scalar) if is_temporal(scalar) => is_moment(scalar, subject),
        Domain::Typed(scalar) if is_negated && is_temporal(scalar) => {
            and(guard, is_moment(scalar, subject))
        }
        Domain::Typed(Scalar::Boolean) if is_negated => {
            and(guard, is_well_formed(subject, "(true|false|0|1)"))
        }
        _ => guard,
    };
    match test.operator {
        // A few servers sort NaN after every other number.
        Operator::Compare(comparison, _) if is_order(comparison) => {
            let name = call(Function::Str, [subject.clone()]);
            and(guard, not(equal(name, text("NaN"))))
        }
        _ => guard,
    }
}

/// Tests whether a string matches. Servers find a fixed string faster than what a regular expression describes.
fn matches(subject: Expression, regex: &Regex) -> Expression {
    let (function, fixed) = match regex.pattern.strip_prefix('^') {
        Some(rest) => (Function::StrStarts, rest),
        None => (Function::Contains, regex.pattern.as_str()),
    };
    let is_fixed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | ',' | ':' | '/');
    if !regex.case_insensitive && fixed.chars().all(is_fixed) {
        return call(function, [subject, text(fixed)]);
    }
    let mut arguments = vec![subject, text(&regex.pattern)];
    if regex.case_insensitive {
        arguments.push(text("i"));
    }
    Expression::FunctionCall(Function::Regex, arguments)
}

/// The form of an absolute IRI.
const IRI: &str = r#"^[A-Za-z][A-Za-z0-9+.-]*:([^\s<>"{}|^`\\%]|%[0-9A-Fa-f]{2})*$"#;

/// Casts a term; an error if its lexical form does not fit.
fn cast(builder: &Builder, subject: Expression, scalar: Scalar) -> Expression {
    let stored = trimmed(subject.clone());
    let to = |datatype: NamedNode, text| call(Function::Custom(datatype), [text]);
    if scalar == Scalar::Iri {
        // Fuseki makes an IRI of any string, resolved against its own address.
        let is_iri = call(Function::Regex, [stored.clone(), text(IRI)]);
        let absolute = call(Function::Iri, [stored]);
        let none = to(xsd::INTEGER.into_owned(), text("none"));
        return if_else(is_iri, absolute, none);
    }
    // Servers cast other forms too: Oxigraph also those of numbers in Rust.
    let written = |form: &str| {
        let is_written = is_well_formed(&stored, form);
        if_else(is_written, stored.clone(), text("none"))
    };
    let from_text = if scalar.is_integer() {
        // RDF4J casts only what fits into 32 bits to `xsd:integer`.
        to(xsd::DECIMAL.into_owned(), written(number::INTEGER))
    } else if scalar.is_float() {
        to(xsd::DOUBLE.into_owned(), written(number::FLOAT))
    } else {
        to(NamedNode::new_unchecked(scalar.datatype_iri()), stored)
    };
    if !scalar.is_numeric() {
        return from_text;
    }
    let is_number = call(Function::IsNumeric, [subject.clone()]);
    let is_number = if builder.portable {
        and(is_number, is_well_formed_number(&subject))
    } else {
        is_number
    };
    if_else(is_number, subject, from_text)
}

/// Returns whether a comparison is an order comparison.
fn is_order(comparison: Comparison) -> bool {
    !matches!(comparison, Comparison::Equal | Comparison::NotEqual)
}

/// Tests whether a lexical form matches a regular expression, but for the white space around it.
pub(super) fn is_well_formed(subject: &Expression, pattern: &str) -> Expression {
    let stored = call(Function::Str, [subject.clone()]);
    let pattern = format!(r"^[ \t\n\r]*{pattern}[ \t\n\r]*$");
    call(Function::Regex, [stored, text(&pattern)])
}

/// Returns the trimmed lexical form of a term; not every store trims when casting.
fn trimmed(subject: Expression) -> Expression {
    let around = text("^[ \t\n\r]+|[ \t\n\r]+$");
    let stored = call(Function::Str, [subject]);
    call(Function::Replace, [stored, around, text("")])
}

/// Tests whether a term belongs to a domain.
fn guard(subject: &Expression, domain: Domain) -> Expression {
    let datatype = || call(Function::Datatype, [subject.clone()]);
    match domain {
        Domain::Iri => call(Function::IsIri, [subject.clone()]),
        Domain::Text => is_one_of(
            datatype(),
            &[xsd::STRING.into_owned(), rdf::LANG_STRING.into_owned()],
        ),
        Domain::Lexical => call(Function::IsLiteral, [subject.clone()]),
        Domain::Number => call(Function::IsNumeric, [subject.clone()]),
        Domain::Cast(Scalar::Iri) => call(Function::IsIri, [subject.clone()]),
        Domain::Cast(_) => call(Function::IsLiteral, [subject.clone()]),
        Domain::Typed(scalar) => equal(
            datatype(),
            NamedNode::new_unchecked(scalar.datatype_iri()).into(),
        ),
    }
}

fn equals_some(
    builder: &Builder,
    moments: Option<Scalar>,
    subject: &Expression,
    constants: &[Constant],
) -> Expression {
    // Most constants fit into one list; the others need an expression each.
    let (mut listed, mut others) = (Vec::new(), Vec::new());
    for constant in constants {
        match constant {
            Constant::Iri(iri) => listed.push(iri.clone().into()),
            Constant::Literal(literal)
                if number::is_listed(literal) && !moments.is_some_and(is_temporal) =>
            {
                listed.push(canonical(literal).into_owned().into());
            }
            Constant::Literal(_) => {
                others.push(compare(
                    builder,
                    moments,
                    subject,
                    Comparison::Equal,
                    constant,
                ));
            }
        }
    }
    if !listed.is_empty() {
        others.push(is_listed(builder, subject.clone(), listed));
    }
    any(others)
}

/// Compares with a constant; `moments` says whether dates and times are compared by lexical form.
fn compare(
    builder: &Builder,
    moments: Option<Scalar>,
    subject: &Expression,
    comparison: Comparison,
    constant: &Constant,
) -> Expression {
    if let (Some(scalar), Constant::Literal(literal)) = (moments, constant)
        && let Some(compared) = compare_moment(scalar, subject, comparison, literal)
    {
        return compared;
    }
    match constant {
        Constant::Iri(iri) if builder.portable && comparison == Comparison::Equal => {
            is_listed(builder, subject.clone(), vec![iri.clone().into()])
        }
        Constant::Iri(iri) => operation(subject.clone(), comparison, iri.clone().into()),
        Constant::Literal(literal) => compare_literal(subject, comparison, literal),
    }
}

pub(super) fn operation(left: Expression, comparison: Comparison, right: Expression) -> Expression {
    let (left, right) = (Box::new(left), Box::new(right));
    match comparison {
        Comparison::Equal => Expression::Equal(left, right),
        Comparison::NotEqual => not(Expression::Equal(left, right)),
        Comparison::Less => Expression::Less(left, right),
        Comparison::LessOrEqual => Expression::LessOrEqual(left, right),
        Comparison::Greater => Expression::Greater(left, right),
        Comparison::GreaterOrEqual => Expression::GreaterOrEqual(left, right),
    }
}
