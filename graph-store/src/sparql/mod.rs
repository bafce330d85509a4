//! Conditions to SPARQL algebra.
//!
//! Nothing here pastes text: patterns and expressions are built as algebra, so an operand can never
//! become syntax. What must hold is a join; everything else is a filter whose `EXISTS` hold one
//! triple pattern each and nest along paths, a form that stores evaluate well.

mod expression;
mod moment;
mod rows;
mod union;

use expression::{and, is_iri, value_condition};
use oxrdf::{NamedNode, Variable};
pub(crate) use rows::{Fact, SlotQuery, count_of, nodes_page, nodes_with_facts, values_of};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern, QueryDataset};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
pub(crate) use union::over_all_graphs;

use crate::query::{
    Dataset, NodeCondition, Operator, Quantifier, Step, TypeTest, ValueCondition, ValueTest,
};

/// Name of the variable that holds what a query selects.
pub const RESULT: &str = "id";

/// Returns the query for the objects that satisfy a condition.
///
/// The condition must tell where objects come from, as a type test or a list of ids does.
#[must_use]
pub fn select_nodes(condition: &NodeCondition, dataset: &Dataset) -> Query {
    let mut builder = Builder::default();
    let id = Variable::new_unchecked(RESULT);
    let mut parts = Parts::default();
    builder.require(&id, condition, &mut parts);
    parts.filters.push(is_iri(&id));
    query(parts.into_pattern(), &id, dataset)
}

/// Returns the text of a condition on a value, for people.
#[must_use]
pub fn filter_text(condition: &ValueCondition) -> String {
    let value = Variable::new_unchecked(RESULT);
    value_condition(&mut Builder::default(), &value, condition)
        .map_or_else(|| "true".to_owned(), |expression| expression.to_string())
}

fn query(pattern: GraphPattern, id: &Variable, dataset: &Dataset) -> Query {
    let project = GraphPattern::Project {
        inner: Box::new(pattern),
        variables: vec![id.clone()],
    };
    Query::Select {
        dataset: dataset.graphs.as_ref().map(|graphs| QueryDataset {
            default: graphs.clone(),
            named: None,
        }),
        pattern: GraphPattern::Distinct {
            inner: Box::new(project),
        },
        base_iri: None,
    }
}

/// Hands out variables.
#[derive(Default)]
struct Builder {
    variables: usize,
    /// Says what servers answer differently in a form that they answer alike, at a price.
    portable: bool,
}

/// Greatest number of conditions on values that are joined; further ones filter.
///
/// A join multiplies: each condition has as many solutions as values that satisfy it.
const MAX_JOINED: usize = 4;

/// What is joined, and what filters the join.
#[derive(Default)]
struct Parts {
    patterns: Vec<GraphPattern>,
    filters: Vec<Expression>,
    /// Conditions on values among the patterns.
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

/// Combines operands into a tree whose depth is logarithmic, so that no evaluator runs out of stack.
fn balanced<T>(operands: Vec<T>, combine: impl Fn(T, T) -> T + Copy) -> Option<T> {
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

    /// Adds what the node in `node` must satisfy: joins where the condition is positive.
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

fn union_of(branches: Vec<GraphPattern>) -> Option<GraphPattern> {
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
