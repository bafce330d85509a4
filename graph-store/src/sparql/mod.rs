//! Conditions to SPARQL algebra.
//!
//! No query text is concatenated: patterns and expressions are built as algebra, so an operand can
//! never become syntax. Mandatory parts are joins; everything else is a filter whose `EXISTS`
//! contain one triple pattern each and nest along paths, a form that stores evaluate well.

mod expression;
mod moment;
mod number;
mod page;
mod rows;
mod tree;
mod union;

use expression::{and, is_iri, value_condition};
use oxrdf::{NamedNode, Variable};
pub(crate) use page::{KeyKind, OrderedPage, PageBy, PageKey};
pub(crate) use rows::{Fact, SlotQuery, count_of, nodes_page, nodes_with_facts, values_of};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
pub(crate) use tree::{Found, LevelQuery, TreeQuery, tree_of};
pub(crate) use union::over_all_graphs;

use crate::query::{
    NodeCondition, Operator, Quantifier, Step, TypeTest, ValueCondition, ValueTest,
};

/// Name of the variable for the selected objects.
pub(crate) const RESULT: &str = "id";

/// Creates variables.
#[derive(Default)]
struct Builder {
    variables: usize,
    /// Avoids what servers evaluate differently, at some cost.
    portable: bool,
}

/// Maximum number of joined conditions on values; further ones become filters.
///
/// Joins multiply: each condition has as many solutions as values that satisfy it.
const MAX_JOINED: usize = 4;

/// The joined patterns, and the filters over them.
#[derive(Default)]
struct Parts {
    patterns: Vec<GraphPattern>,
    filters: Vec<Expression>,
    /// Number of conditions on values among the patterns.
    joined: usize,
}

impl Parts {
    fn into_pattern(self) -> GraphPattern {
        let (mut triples, mut joined) = (Vec::new(), Vec::new());
        for pattern in self.patterns {
            match pattern {
                GraphPattern::Bgp { patterns } => triples.extend(patterns),
                other => joined.push(other),
            }
        }
        if !triples.is_empty() || joined.is_empty() {
            joined.push(GraphPattern::Bgp { patterns: triples });
        }
        let inner = balanced(joined, |left, right| GraphPattern::Join {
            left: Box::new(left),
            right: Box::new(right),
        })
        .expect("there is a pattern");
        match balanced(self.filters, and) {
            None => inner,
            Some(expr) => GraphPattern::Filter {
                expr,
                inner: Box::new(inner),
            },
        }
    }
}

/// Combines operands into a tree of logarithmic depth, so that no evaluator overflows its stack.
pub(crate) fn balanced<T>(operands: Vec<T>, combine: impl Fn(T, T) -> T + Copy) -> Option<T> {
    let mut layer = operands;
    while layer.len() > 1 {
        let mut next = Vec::with_capacity(layer.len().div_ceil(2));
        let mut rest = layer.into_iter();
        while let Some(left) = rest.next() {
            next.push(match rest.next() {
                Some(right) => combine(left, right),
                None => left,
            });
        }
        layer = next;
    }
    layer.pop()
}

impl Builder {
    /// Creates a builder of queries for any server.
    fn portable() -> Self {
        Builder {
            variables: 0,
            portable: true,
        }
    }

    fn variable(&mut self) -> Variable {
        self.variables += 1;
        Variable::new_unchecked(format!("v{}", self.variables))
    }

    /// Adds the condition on the variable `node`: joins where it is positive.
    fn require(&mut self, node: &Variable, condition: &NodeCondition, parts: &mut Parts) {
        match condition {
            NodeCondition::All(inner) => {
                for condition in inner {
                    self.require(node, condition, parts);
                }
            }
            NodeCondition::OneOf(ids) => parts.patterns.push(one_of(node, ids)),
            NodeCondition::Iri(ValueTest {
                operator: Operator::In(constants),
                ..
            }) => {
                let ids: Vec<_> = constants.iter().filter_map(expression::iri).collect();
                parts.patterns.push(one_of(node, &ids));
            }
            NodeCondition::Instance(test) => parts.patterns.push(self.instance(node, test)),
            NodeCondition::Values {
                step,
                quantifier: Quantifier::Some,
                condition,
            } if parts.joined < MAX_JOINED => {
                parts.joined += 1;
                let value = self.variable();
                parts.patterns.push(triple(node, step, &value));
                match condition.as_ref() {
                    ValueCondition::Node(inner) => {
                        self.require(&value, inner, parts);
                        parts.filters.push(is_iri(&value));
                    }
                    term @ ValueCondition::Term(_) => {
                        parts.filters.extend(value_condition(self, &value, term));
                    }
                }
            }
            other => parts
                .filters
                .extend(expression::node_condition(self, node, other)),
        }
    }

    fn instance(&mut self, node: &Variable, test: &TypeTest) -> GraphPattern {
        let branches = test.alternatives.iter().map(|(property, types)| {
            if let [single] = types.as_slice() {
                return bgp(node, property, single.clone().into());
            }
            let ty = self.variable();
            GraphPattern::Join {
                left: Box::new(one_of(&ty, types)),
                right: Box::new(bgp(node, property, ty.into())),
            }
        });
        union_of(branches.collect()).unwrap_or_else(|| one_of(node, &[]))
    }
}

pub(crate) fn union_of(branches: Vec<GraphPattern>) -> Option<GraphPattern> {
    balanced(branches, |left, right| GraphPattern::Union {
        left: Box::new(left),
        right: Box::new(right),
    })
}

fn one_of<'i>(variable: &Variable, ids: impl IntoIterator<Item = &'i NamedNode>) -> GraphPattern {
    let ids = ids.into_iter();
    GraphPattern::Values {
        variables: vec![variable.clone()],
        bindings: ids.map(|id| vec![Some(id.clone().into())]).collect(),
    }
}

fn bgp(node: &Variable, property: &NamedNode, object: TermPattern) -> GraphPattern {
    let pattern = TriplePattern {
        subject: node.clone().into(),
        predicate: NamedNodePattern::NamedNode(property.clone()),
        object,
    };
    GraphPattern::Bgp {
        patterns: vec![pattern],
    }
}

fn triple(node: &Variable, step: &Step, value: &Variable) -> GraphPattern {
    if step.inverse {
        bgp(value, &step.predicate, node.clone().into())
    } else {
        bgp(node, &step.predicate, value.clone().into())
    }
}
