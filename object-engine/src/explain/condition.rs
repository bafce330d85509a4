//! Conditions as text for people, in a notation of their own.
//!
//! Not in SPARQL, which only some stores are sent, and then with more in it than a condition; what is
//! sent stands in the steps of the trace.

use std::fmt::Display;

use graph_store::query::{
    Comparison, Constant, Dataset, Domain, NodeCondition, Operator, Quantifier, Step, TagRange,
    TermCondition, TypeTest, ValueCondition, ValueTest,
};
use oxrdf::vocab::rdf;

/// Maximum number of listed graphs, IRIs or constants.
const MAX_LISTED: usize = 20;

/// Prints which objects a condition selects, and from which graphs.
pub(super) fn objects(condition: &NodeCondition, dataset: &Dataset) -> String {
    let from = match dataset.graphs.as_deref() {
        None => String::new(),
        Some([]) => " from no graph".to_owned(),
        Some(graphs) => format!(" from {}", list(graphs)),
    };
    format!("{}{from}", node(condition))
}

/// Prints a condition on a value.
pub(super) fn value(condition: &ValueCondition) -> String {
    match condition {
        ValueCondition::Node(condition) => format!("that is ({})", node(condition)),
        ValueCondition::Term(condition) => term(condition),
    }
}

/// Prints a step along a property.
pub(super) fn step(step: &Step) -> String {
    format!("{}{}", if step.inverse { "^" } else { "" }, step.predicate)
}

fn node(condition: &NodeCondition) -> String {
    match condition {
        NodeCondition::All(parts) if parts.is_empty() => "any object".to_owned(),
        NodeCondition::All(parts) => joined(parts, " and ", node),
        NodeCondition::Any(parts) if parts.is_empty() => "no object".to_owned(),
        NodeCondition::Any(parts) => format!("({})", joined(parts, " or ", node)),
        NodeCondition::Not(inner) => format!("not ({})", node(inner)),
        NodeCondition::OneOf(ids) => format!("id in ({})", list(ids)),
        NodeCondition::Iri(condition) => format!("id {}", test(condition)),
        NodeCondition::Instance(test) => instance(test),
        NodeCondition::Values {
            step: along,
            quantifier,
            condition,
        } => {
            let quantifier = match quantifier {
                Quantifier::Some => "some",
                Quantifier::Every => "every",
            };
            format!("{quantifier} {} {}", step(along), value(condition))
        }
    }
}

fn instance(test: &TypeTest) -> String {
    let alternative = |(property, types): &_| {
        let (property, types): (&oxrdf::NamedNode, &Vec<_>) = (property, types);
        if *property == rdf::TYPE {
            format!("instance of {}", list(types))
        } else {
            format!("instance by {property} of {}", list(types))
        }
    };
    match &*test.alternatives {
        [] => "no object".to_owned(),
        [single] => alternative(single),
        several => format!("({})", joined(several, " or ", alternative)),
    }
}

fn term(condition: &TermCondition) -> String {
    match condition {
        TermCondition::All(parts) if parts.is_empty() => "of any value".to_owned(),
        TermCondition::All(parts) => joined(parts, " and ", term),
        TermCondition::Any(parts) if parts.is_empty() => "of no value".to_owned(),
        TermCondition::Any(parts) => format!("({})", joined(parts, " or ", term)),
        TermCondition::Not(inner) => format!("not ({})", term(inner)),
        TermCondition::Value(condition) => test(condition),
        TermCondition::Lang { include, exclude } => {
            let mut text = match include.as_slice() {
                [] => "in any language".to_owned(),
                include => format!("in language {}", joined(include, ", ", tag)),
            };
            if !exclude.is_empty() {
                text.push_str(&format!(" but {}", joined(exclude, ", ", tag)));
            }
            text
        }
        TermCondition::Datatype(condition) => format!("datatype {}", test(condition)),
    }
}

fn tag(range: &TagRange) -> String {
    match range {
        TagRange::Tag(tag) => tag.clone(),
        TagRange::Dialects(tag) => format!("{tag}~"),
        TagRange::Untagged => "none".to_owned(),
    }
}

fn test(test: &ValueTest) -> String {
    let conversion = match test.domain {
        Domain::Iri | Domain::Text | Domain::Number | Domain::Typed(_) => String::new(),
        Domain::Lexical => "as text ".to_owned(),
        Domain::Cast(scalar) => format!("cast to {} ", scalar.soml_name()),
    };
    let operator = match &test.operator {
        Operator::Compare(comparison, with) => {
            format!("{} {}", symbol(*comparison), constant(test.domain, with))
        }
        Operator::In(constants) => format!("in ({})", constants_of(test.domain, constants)),
        Operator::NotIn(constants) => format!("not in ({})", constants_of(test.domain, constants)),
        Operator::Matches(regex, negated) => format!(
            "{} {:?}{}",
            if *negated {
                "does not match"
            } else {
                "matches"
            },
            regex.pattern,
            if regex.case_insensitive {
                ", ignoring case"
            } else {
                ""
            },
        ),
    };
    format!("{conversion}{operator}")
}

fn symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn constants_of(domain: Domain, constants: &[Constant]) -> String {
    let texts: Vec<String> = constants
        .iter()
        .take(MAX_LISTED + 1)
        .map(|of| constant(domain, of))
        .collect();
    shortened(&texts, constants.len())
}

fn constant(domain: Domain, constant: &Constant) -> String {
    match constant {
        Constant::Iri(iri) => iri.to_string(),
        Constant::Literal(literal) if domain == Domain::Number => literal.value().to_owned(),
        Constant::Literal(literal) => literal.to_string(),
    }
}

fn list(items: &[impl Display]) -> String {
    let texts: Vec<String> = items
        .iter()
        .take(MAX_LISTED + 1)
        .map(ToString::to_string)
        .collect();
    shortened(&texts, items.len())
}

/// Joins the first texts, and says how many there are beside them.
fn shortened(texts: &[String], all: usize) -> String {
    let listed = &texts[..texts.len().min(MAX_LISTED)];
    let text = listed.join(", ");
    match all - listed.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

fn joined<T>(parts: &[T], word: &str, print: impl Fn(&T) -> String) -> String {
    parts.iter().map(print).collect::<Vec<_>>().join(word)
}
