//! Conditions as what facts decide.

use oxrdf::NamedNode;

use super::key::is_ordered;
use crate::query::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Step, TermCondition,
    ValueCondition, ValueTest,
};

/// A fact about an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// It satisfies a condition.
    Holds(NodeCondition),
    /// It has values, of which the keys are known.
    Values(ValuePath),
}

/// Values at the end of some steps; without any, the IRI of the object itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValuePath {
    /// From the object to its values.
    pub steps: Vec<PathStep>,
    /// What keys of the values are made for.
    pub domain: Domain,
}

/// A step to values of which some count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathStep {
    /// The step.
    pub step: Step,
    /// Which of the values count; `None` for all.
    pub condition: Option<ValueCondition>,
}

/// A condition that facts decide, in which a fact is its position in a list, and `P` is what values are compared
/// with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decided<P> {
    /// All hold; true when empty.
    All(Vec<Decided<P>>),
    /// At least one holds; false when empty.
    Any(Vec<Decided<P>>),
    /// Does not hold.
    Not(Box<Decided<P>>),
    /// A condition holds.
    Holds(usize),
    /// One of the values passes a comparison.
    Value(usize, P),
}

impl<P> Decided<P> {
    /// The condition that every object satisfies.
    pub const TRUE: Self = Decided::All(Vec::new());

    /// Replaces what values are compared with, given the facts that have them.
    pub fn map<Q>(&self, with: &mut impl FnMut(usize, &P) -> Q) -> Decided<Q> {
        let mut each = |parts: &[Decided<P>]| parts.iter().map(|part| part.map(with)).collect();
        match self {
            Decided::All(parts) => Decided::All(each(parts)),
            Decided::Any(parts) => Decided::Any(each(parts)),
            Decided::Not(inner) => Decided::Not(Box::new(inner.map(with))),
            Decided::Holds(fact) => Decided::Holds(*fact),
            Decided::Value(fact, operand) => Decided::Value(*fact, with(*fact, operand)),
        }
    }
}

/// Which objects of a type someone sees, or something of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// None.
    Nothing,
    /// All of them.
    All,
    /// Those that satisfy a condition.
    Some(Decided<Operator>),
    /// Those that satisfy a condition which no facts decide.
    Undecided,
}

/// Start of what stands for parameters: no IRI has a space.
const PARAMETER: &str = "parameter ";

/// Returns what stands for the operand of a condition that becomes known later: an IRI, or a constant.
#[must_use]
pub fn parameter(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("{PARAMETER}{number}"))
}

/// Returns the number of a parameter; `None` for an IRI.
#[must_use]
pub fn parameter_of(iri: &NamedNode) -> Option<usize> {
    iri.as_str().strip_prefix(PARAMETER)?.parse().ok()
}

/// Takes a condition apart, and adds to `facts` what it needs; `None` if no facts decide it.
pub fn express(condition: &NodeCondition, facts: &mut Vec<Fact>) -> Option<Decided<usize>> {
    let mut each = |parts: &[NodeCondition]| -> Option<Vec<Decided<usize>>> {
        parts.iter().map(|part| express(part, facts)).collect()
    };
    if condition.is_true() {
        return Some(Decided::TRUE);
    }
    if condition.is_false() {
        return Some(Decided::Any(Vec::new()));
    }
    Some(match condition {
        NodeCondition::All(parts) => Decided::All(each(parts)?),
        NodeCondition::Any(parts) => Decided::Any(each(parts)?),
        NodeCondition::Not(inner) => Decided::Not(Box::new(express(inner, facts)?)),
        condition if !has_parameter(condition) => {
            Decided::Holds(add(Fact::Holds(condition.clone()), facts))
        }
        condition => {
            let ways = of_node(condition)?.into_iter().map(|way| match way {
                Way::Holds(condition) => Decided::Holds(add(Fact::Holds(condition), facts)),
                Way::Values { path, operand, .. } => {
                    Decided::Value(add(Fact::Values(path), facts), operand)
                }
            });
            let mut ways: Vec<_> = ways.collect();
            match ways.len() {
                1 => ways.swap_remove(0),
                _ => Decided::Any(ways),
            }
        }
    })
}

fn add(fact: Fact, facts: &mut Vec<Fact>) -> usize {
    let known = facts.iter().position(|known| *known == fact);
    known.unwrap_or_else(|| {
        facts.push(fact);
        facts.len() - 1
    })
}

/// One of several ways to satisfy a condition.
enum Way<C> {
    Holds(C),
    Values {
        /// What must hold of the object or value itself.
        beside: Option<C>,
        path: ValuePath,
        operand: usize,
    },
}

impl<C> Way<C> {
    fn value(domain: Domain, operand: usize) -> Self {
        let steps = Vec::new();
        Way::Values {
            beside: None,
            path: ValuePath { steps, domain },
            operand,
        }
    }

    /// Returns the way for something else of which a condition must hold as well.
    fn with(self, other: C, all: impl Fn([C; 2]) -> C) -> Self {
        match self {
            Way::Holds(condition) => Way::Holds(all([other, condition])),
            Way::Values {
                beside,
                path,
                operand,
            } => Way::Values {
                beside: Some(match beside {
                    Some(beside) => all([other, beside]),
                    None => other,
                }),
                path,
                operand,
            },
        }
    }

    /// Returns the way for an object from which a step leads there.
    fn along(self, step: &Step, on_value: impl Fn(C) -> ValueCondition) -> Way<NodeCondition> {
        match self {
            Way::Holds(condition) => Way::Holds(NodeCondition::Values {
                step: step.clone(),
                quantifier: Quantifier::Some,
                condition: Box::new(on_value(condition)),
            }),
            Way::Values {
                beside,
                mut path,
                operand,
            } => {
                let first = PathStep {
                    step: step.clone(),
                    condition: beside.map(on_value),
                };
                path.steps.insert(0, first);
                Way::Values {
                    beside: None,
                    path,
                    operand,
                }
            }
        }
    }
}

/// Returns the ways for an object to satisfy a condition; `None` where one of them has several parameters.
fn of_node(condition: &NodeCondition) -> Option<Vec<Way<NodeCondition>>> {
    Some(match condition {
        condition if !has_parameter(condition) => vec![Way::Holds(condition.clone())],
        NodeCondition::OneOf(ids) => match ids.as_slice() {
            [single] => vec![Way::value(Domain::Iri, parameter_of(single)?)],
            _ => return None,
        },
        NodeCondition::Iri(test) => vec![Way::value(test.domain, operand_of(test)?)],
        NodeCondition::Any(parts) => any_of(parts, of_node)?,
        NodeCondition::All(parts) => {
            let (with, without): (Vec<_>, Vec<_>) =
                parts.iter().partition(|part| has_parameter(part));
            let [single] = with.as_slice() else {
                return None;
            };
            let beside = NodeCondition::all(without.into_iter().cloned());
            let ways = of_node(single)?
                .into_iter()
                .map(|way| way.with(beside.clone(), NodeCondition::all));
            ways.collect()
        }
        NodeCondition::Values {
            step,
            quantifier: Quantifier::Some,
            condition,
        } => match &**condition {
            ValueCondition::Node(node) => {
                let ways = of_node(node)?.into_iter();
                ways.map(|way| way.along(step, ValueCondition::Node))
                    .collect()
            }
            ValueCondition::Term(term) => {
                let ways = of_term(term)?.into_iter();
                ways.map(|way| way.along(step, ValueCondition::Term))
                    .collect()
            }
        },
        NodeCondition::Not(_) | NodeCondition::Instance(_) | NodeCondition::Values { .. } => {
            return None;
        }
    })
}

/// Returns the same for a value.
fn of_term(condition: &TermCondition) -> Option<Vec<Way<TermCondition>>> {
    Some(match condition {
        condition if !term_has_parameter(condition) => vec![Way::Holds(condition.clone())],
        TermCondition::Value(test) => vec![Way::value(test.domain, operand_of(test)?)],
        TermCondition::Any(parts) => any_of(parts, of_term)?,
        TermCondition::All(parts) => {
            let (with, without): (Vec<_>, Vec<_>) =
                parts.iter().partition(|part| term_has_parameter(part));
            let [single] = with.as_slice() else {
                return None;
            };
            let beside = TermCondition::all(without.into_iter().cloned());
            let ways = of_term(single)?
                .into_iter()
                .map(|way| way.with(beside.clone(), TermCondition::all));
            ways.collect()
        }
        TermCondition::Not(_) | TermCondition::Lang { .. } | TermCondition::Datatype(_) => {
            return None;
        }
    })
}

fn any_of<C>(parts: &[C], ways: impl Fn(&C) -> Option<Vec<Way<C>>>) -> Option<Vec<Way<C>>> {
    let ways: Option<Vec<_>> = parts.iter().map(ways).collect();
    Some(ways?.into_iter().flatten().collect())
}

/// Returns the parameter of a comparison that keys decide.
fn operand_of(test: &ValueTest) -> Option<usize> {
    let is_by_order =
        |comparison: Comparison| !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    match &test.operator {
        Operator::Compare(comparison, constant) => {
            let is_told = !is_by_order(*comparison) || is_ordered(test.domain);
            parameter_in(constant).filter(|_| is_told)
        }
        Operator::In(constants) | Operator::NotIn(constants) => match constants.as_slice() {
            [single] => parameter_in(single),
            _ => None,
        },
        Operator::Matches(..) => None,
    }
}

fn parameter_in(constant: &Constant) -> Option<usize> {
    match constant {
        Constant::Iri(iri) => parameter_of(iri),
        Constant::Literal(_) => None,
    }
}

fn has_parameter(condition: &NodeCondition) -> bool {
    match condition {
        NodeCondition::All(parts) | NodeCondition::Any(parts) => parts.iter().any(has_parameter),
        NodeCondition::Not(inner) => has_parameter(inner),
        NodeCondition::OneOf(ids) => ids.iter().any(|id| parameter_of(id).is_some()),
        NodeCondition::Iri(test) => test_has_parameter(test),
        NodeCondition::Instance(_) => false,
        NodeCondition::Values { condition, .. } => match &**condition {
            ValueCondition::Node(inner) => has_parameter(inner),
            ValueCondition::Term(inner) => term_has_parameter(inner),
        },
    }
}

fn term_has_parameter(condition: &TermCondition) -> bool {
    match condition {
        TermCondition::All(parts) | TermCondition::Any(parts) => {
            parts.iter().any(term_has_parameter)
        }
        TermCondition::Not(inner) => term_has_parameter(inner),
        TermCondition::Value(test) | TermCondition::Datatype(test) => test_has_parameter(test),
        TermCondition::Lang { .. } => false,
    }
}

fn test_has_parameter(test: &ValueTest) -> bool {
    match &test.operator {
        Operator::Compare(_, constant) => parameter_in(constant).is_some(),
        Operator::In(constants) | Operator::NotIn(constants) => constants
            .iter()
            .any(|constant| parameter_in(constant).is_some()),
        Operator::Matches(..) => false,
    }
}
