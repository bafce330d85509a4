//! Queries for many results at once, with a number in each row that identifies its kind.
//!
//! Every part is a UNION branch of its own that starts from the nodes, so that no store joins a
//! branch with the others: some evaluate a join with a UNION or a subquery by reading everything
//! that the other side could match.

use oxrdf::{Literal, NamedNode, Variable};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
};

use super::expression::{is_iri, is_one_node, value_condition};
use super::{Builder, Parts, RESULT, one_of, triple, union_of};
use crate::query::{NodeCondition, ObjectRef, Page, Step, ValueCondition};

/// Values of nodes at the end of a chain of steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    /// The steps to the nodes.
    pub(crate) chain: Vec<Step>,
    /// From these nodes to the values.
    pub(crate) step: Step,
    /// Restricts the values to these, which are sorted; `None` for all.
    pub(crate) only: Option<Vec<NamedNode>>,
}

/// The values of one property of given nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotQuery<'a> {
    /// From the nodes to the values.
    pub(crate) step: &'a Step,
    /// Condition on the nodes.
    pub(crate) of: Option<&'a NodeCondition>,
    /// Condition on the values.
    pub(crate) condition: Option<&'a ValueCondition>,
    /// Facts about the values themselves.
    pub(crate) facts: &'a [Fact],
}

/// Returns a query for the objects that satisfy a condition, cut to a page of the order by IRI.
pub(crate) fn nodes_page(condition: &NodeCondition, page: Page) -> GraphPattern {
    named_page(condition, page, Variable::new_unchecked(RESULT))
}

/// Returns the objects that satisfy a condition, in a variable, cut to a page of the order by IRI.
pub(super) fn named_page(condition: &NodeCondition, page: Page, id: Variable) -> GraphPattern {
    let nodes = conditioned(condition, &id);
    if page.is_whole() {
        return distinct(nodes, vec![id]);
    }
    let text = Expression::FunctionCall(Function::Str, vec![id.clone().into()]);
    let ordered = GraphPattern::OrderBy {
        inner: Box::new(nodes),
        expression: vec![OrderExpression::Asc(text)],
    };
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    GraphPattern::Slice {
        inner: Box::new(distinct(ordered, vec![id])),
        start: page.offset.map_or(0, size),
        length: page.limit.map(size),
    }
}

/// Returns a query for the number of objects that satisfy a condition.
pub(crate) fn count_of(condition: &NodeCondition) -> GraphPattern {
    let id = Variable::new_unchecked(RESULT);
    let (sum, count) = (
        Variable::new_unchecked("sum"),
        Variable::new_unchecked("count"),
    );
    let aggregate = AggregateExpression::FunctionCall {
        name: AggregateFunction::Count,
        expr: id.clone().into(),
        distinct: true,
    };
    let grouped = GraphPattern::Group {
        inner: Box::new(conditioned(condition, &id)),
        variables: Vec::new(),
        aggregates: vec![(sum.clone(), aggregate)],
    };
    GraphPattern::Project {
        inner: Box::new(extend(grouped, &count, sum.into())),
        variables: vec![count],
    }
}

/// Returns a query for the objects that satisfy a condition and facts about them.
///
/// Rows are a node, a number and a value: the number 0 and no value for the objects, a position in
/// `facts` plus 1 for facts.
pub(crate) fn nodes_with_facts(condition: &NodeCondition, facts: &[Fact]) -> GraphPattern {
    let [node, _, value] = row_variables();
    let objects = numbered(conditioned(condition, &node), 0);
    let mut branches = vec![objects];
    for (position, fact) in facts.iter().enumerate() {
        let mut builder = Builder::portable();
        let mut parts = Parts::default();
        let start = builder.start(fact, &node);
        builder.require(&start, condition, &mut parts);
        parts.filters.push(is_iri(&start));
        builder.fact(start, fact, [&node, &value], &mut parts);
        branches.push(numbered(parts.into_pattern(), position + 1));
    }
    let rows = union_of(branches).expect("there is a branch");
    distinct(rows, row_variables().to_vec())
}

/// Returns a query for values of `nodes` and facts about the values.
///
/// Rows are a node, a number and a value. Numbers count the slots first, then the facts of all slots
/// in turn.
pub(crate) fn values_of(nodes: &[ObjectRef], slots: &[SlotQuery<'_>]) -> GraphPattern {
    let [node, _, value] = row_variables();
    let mut branches = Vec::new();
    for (number, slot) in slots.iter().enumerate() {
        let mut builder = Builder::portable();
        let mut parts = Parts::default();
        builder.slot(nodes, &node, slot, &value, &mut parts);
        branches.push(numbered(parts.into_pattern(), number));
    }
    let facts = slots
        .iter()
        .flat_map(|slot| slot.facts.iter().map(move |fact| (slot, fact)));
    let mut has_facts = false;
    for (position, (slot, fact)) in facts.enumerate() {
        let mut builder = Builder::portable();
        let mut parts = Parts::default();
        let (parent, start) = (builder.variable(), builder.start(fact, &node));
        builder.slot(nodes, &parent, slot, &start, &mut parts);
        builder.fact(start, fact, [&node, &value], &mut parts);
        branches.push(numbered(parts.into_pattern(), slots.len() + position));
        has_facts = true;
    }
    let rows = union_of(branches).unwrap_or_else(|| one_of(&node, []));
    if has_facts {
        // Nodes share values, so every fact would be returned once per node.
        return distinct(rows, row_variables().to_vec());
    }
    GraphPattern::Project {
        inner: Box::new(rows),
        variables: row_variables().to_vec(),
    }
}

/// The variables of a row: node, number, value.
fn row_variables() -> [Variable; 3] {
    ["s", "n", "o"].map(Variable::new_unchecked)
}

pub(super) fn conditioned(condition: &NodeCondition, node: &Variable) -> GraphPattern {
    let mut builder = Builder::portable();
    let mut parts = Parts::default();
    builder.require(node, condition, &mut parts);
    parts.filters.push(is_iri(node));
    parts.into_pattern()
}

pub(super) fn distinct(inner: GraphPattern, variables: Vec<Variable>) -> GraphPattern {
    let project = GraphPattern::Project {
        inner: Box::new(inner),
        variables,
    };
    GraphPattern::Distinct {
        inner: Box::new(project),
    }
}

fn numbered(inner: GraphPattern, number: usize) -> GraphPattern {
    let [_, variable, _] = row_variables();
    let number = i64::try_from(number).expect("a query has fewer than 2^63 branches");
    extend(inner, &variable, Literal::from(number).into())
}

pub(super) fn extend(
    inner: GraphPattern,
    variable: &Variable,
    expression: Expression,
) -> GraphPattern {
    GraphPattern::Extend {
        inner: Box::new(inner),
        variable: variable.clone(),
        expression,
    }
}

impl Builder {
    /// Returns the variable where the chain of a fact about the variable `node` starts.
    pub(super) fn start(&mut self, fact: &Fact, node: &Variable) -> Variable {
        if fact.chain.is_empty() {
            node.clone()
        } else {
            self.variable()
        }
    }

    /// Goes along the chain of a fact to the node that it is about, and to its values.
    pub(super) fn fact(
        &mut self,
        start: Variable,
        fact: &Fact,
        [node, value]: [&Variable; 2],
        parts: &mut Parts,
    ) {
        let mut at = start;
        for (position, step) in fact.chain.iter().enumerate() {
            let is_last = position + 1 == fact.chain.len();
            let next = if is_last {
                node.clone()
            } else {
                self.variable()
            };
            parts.patterns.push(triple(&at, step, &next));
            at = next;
        }
        parts.patterns.push(triple(&at, &fact.step, value));
        let only = fact.only.iter();
        parts
            .filters
            .extend(only.map(|only| is_one_node(self, value, only)));
    }

    fn slot(
        &mut self,
        nodes: &[ObjectRef],
        node: &Variable,
        slot: &SlotQuery<'_>,
        value: &Variable,
        parts: &mut Parts,
    ) {
        parts
            .patterns
            .push(one_of(node, nodes.iter().map(ObjectRef::node)));
        if let Some(condition) = slot.of {
            self.require(node, condition, parts);
        }
        parts.patterns.push(triple(node, slot.step, value));
        if let Some(condition) = slot.condition {
            parts
                .filters
                .extend(value_condition(self, value, condition));
        }
    }
}
