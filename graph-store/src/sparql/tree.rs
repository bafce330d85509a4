//! Queries for the values of several levels at once: of given nodes, and of those that they lead to.
//!
//! Rows are those of [`super::rows`]: a node, a number and a value. Two forms give the same rows.
//! In the flat form, each part is a UNION branch of its own that goes all the way from the given nodes.
//! In the nested form, each way is gone once, and what comes after it is OPTIONAL: a server that
//! evaluates the two sides of OPTIONAL in their order then starts each side from what is known.

use std::borrow::Cow;

use oxrdf::{NamedNode, Variable};
use spargebra::algebra::GraphPattern;

use super::expression::value_condition;
use super::rows::{Fact, SlotQuery, distinct, extend, numbered, row_variables};
use super::{Builder, Parts, bgp, one_of, triple, union_of};
use crate::query::{NodeCondition, ObjectRef, Slot, ValueCondition};

/// What a query for several levels asks.
#[derive(Clone, Debug)]
pub(crate) struct TreeQuery {
    /// The nodes of the first level.
    pub(crate) nodes: Vec<ObjectRef>,
    /// Which of them are named by a row of their own, numbered 0 and without a value.
    pub(crate) condition: Option<NodeCondition>,
    /// The levels, each after its parent.
    pub(crate) levels: Vec<LevelQuery>,
}

/// A level of a [`TreeQuery`].
#[derive(Clone, Debug)]
pub(crate) struct LevelQuery {
    /// The level above, and its slot that leads here.
    pub(crate) parent: Option<(usize, usize)>,
    /// What is asked of each node, each with facts about the values; `None` where no value can be.
    pub(crate) slots: Vec<Option<(Slot, Vec<Fact>)>>,
}

/// What the rows of one number say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'q> {
    /// Values of nodes.
    Slot {
        /// The level of the nodes.
        level: usize,
        /// The slot of the level.
        slot: usize,
    },
    /// A fact about values of nodes.
    Fact {
        /// The level of the nodes.
        level: usize,
        /// The slot of the level.
        slot: usize,
        /// The fact.
        fact: &'q Fact,
    },
}

impl Part<'_> {
    /// Returns the level whose nodes are asked.
    fn level(self) -> usize {
        match self {
            Part::Slot { level, .. } | Part::Fact { level, .. } => level,
        }
    }
}

impl TreeQuery {
    /// Returns what is asked; rows have its position plus 1 as their number.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for (level, asked) in self.levels.iter().enumerate() {
            for (slot, asked) in asked.slots.iter().enumerate() {
                let Some((_, facts)) = asked else { continue };
                parts.push(Part::Slot { level, slot });
                parts.extend(facts.iter().map(|fact| Part::Fact { level, slot, fact }));
            }
        }
        parts
    }

    /// Returns a slot that is asked for.
    fn slot(&self, level: usize, slot: usize) -> SlotQuery<'_> {
        let asked = self.levels[level].slots[slot].as_ref();
        let (slot, facts) = asked.expect("no level is below a slot that is not asked for");
        SlotQuery {
            step: &slot.step,
            condition: slot.condition.as_ref(),
            facts,
        }
    }

    /// Returns the slots that lead from the given nodes to a level.
    fn way_to(&self, level: usize) -> Vec<SlotQuery<'_>> {
        let mut way = Vec::new();
        let mut at = level;
        while let Some((above, slot)) = self.levels[at].parent {
            way.push(self.slot(above, slot));
            at = above;
        }
        way.reverse();
        way
    }

    fn given(&self, node: &Variable) -> GraphPattern {
        one_of(node, self.nodes.iter().map(ObjectRef::node))
    }

    /// Names the nodes that satisfy a condition.
    fn chosen(&self, condition: &NodeCondition) -> GraphPattern {
        let [node, ..] = row_variables();
        let (mut builder, mut parts) = (Builder::portable(), Parts::default());
        parts.patterns.push(self.given(&node));
        builder.require(&node, condition, &mut parts);
        numbered(parts.into_pattern(), 0)
    }

    /// Returns the branch of one part in the flat form.
    fn flat(&self, number: usize, part: Part<'_>) -> GraphPattern {
        let [node, ..] = row_variables();
        let (mut builder, mut parts) = (Builder::portable(), Parts::default());
        let end = match part {
            Part::Slot { .. } => node,
            Part::Fact { .. } => builder.variable(),
        };
        let way = self.way_to(part.level());
        let mut at = if way.is_empty() {
            end.clone()
        } else {
            builder.variable()
        };
        parts.patterns.push(self.given(&at));
        for (position, slot) in way.iter().enumerate() {
            let is_last = position + 1 == way.len();
            let next = if is_last {
                end.clone()
            } else {
                builder.variable()
            };
            builder.lead(&at, slot, &next, &mut parts);
            at = next;
        }
        self.leaf(&at, part, &mut builder, &mut parts);
        numbered(parts.into_pattern(), number)
    }

    /// Asks for a part of a node.
    fn leaf(&self, node: &Variable, part: Part<'_>, builder: &mut Builder, parts: &mut Parts) {
        let [_, _, value] = row_variables();
        match part {
            Part::Slot { level, slot } => {
                builder.lead(node, &self.slot(level, slot), &value, parts);
            }
            Part::Fact { level, slot, fact } => {
                let start = builder.start(fact);
                builder.lead(node, &self.slot(level, slot), &start, parts);
                builder.fact(start, fact, parts);
            }
        }
    }

    /// Returns all that is asked of the node of a level, and below it, in the nested form.
    fn nested(
        &self,
        level: usize,
        node: &Variable,
        asked: &[Part<'_>],
        builder: &mut Builder,
    ) -> Option<GraphPattern> {
        let mut branches = Vec::new();
        let own = (1..).zip(asked).filter(|(_, part)| part.level() == level);
        for (number, part) in own {
            let mut parts = Parts::default();
            self.leaf(node, *part, builder, &mut parts);
            let leaf = numbered(parts.into_pattern(), number);
            let [subject, ..] = row_variables();
            branches.push(match part {
                Part::Slot { .. } => extend(leaf, &subject, node.clone().into()),
                Part::Fact { .. } => leaf,
            });
        }
        for (below, child) in self.levels.iter().enumerate().skip(level + 1) {
            if let Some((_, slot)) = child.parent.filter(|(above, _)| *above == level) {
                let next = builder.variable();
                let mut parts = Parts::default();
                builder.lead(node, &self.slot(level, slot), &next, &mut parts);
                let inner = self.nested(below, &next, asked, builder);
                branches.extend(inner.map(|inner| optional(parts.into_pattern(), inner)));
            }
        }
        union_of(branches)
    }
}

/// Returns a query for the values of several levels.
pub(crate) fn tree_of(query: &TreeQuery, is_nested: bool) -> GraphPattern {
    let asked = query.parts();
    let condition = query.condition.iter();
    let mut branches: Vec<_> = condition.map(|test| query.chosen(test)).collect();
    if is_nested {
        let mut builder = Builder::portable();
        let node = builder.variable();
        let values = query.nested(0, &node, &asked, &mut builder);
        branches.extend(values.map(|values| optional(query.given(&node), values)));
    } else {
        let numbered = (1..).zip(&asked);
        branches.extend(numbered.map(|(number, part)| query.flat(number, *part)));
    }
    let [node, ..] = row_variables();
    // Several nodes may lead to the same one, whose values would be returned for each of them.
    distinct(
        union_of(branches).unwrap_or_else(|| one_of(&node, [])),
        row_variables().to_vec(),
    )
}

impl Builder {
    /// Goes from a node to the values of a slot. A test for one type is joined: as a filter, it takes
    /// RDF4J as long as all the rest.
    fn lead(&mut self, node: &Variable, slot: &SlotQuery<'_>, value: &Variable, parts: &mut Parts) {
        parts.patterns.push(triple(node, slot.step, value));
        let Some(condition) = slot.condition else {
            return;
        };
        let (tests, others) = single_types(condition);
        for (property, ty) in &tests {
            parts
                .patterns
                .push(bgp(value, property, (*ty).clone().into()));
        }
        // What has a type is no literal, and nobody asks for the values of blank nodes.
        if tests.is_empty() || !is_trivial(&others) {
            parts.filters.extend(value_condition(self, value, &others));
        }
    }
}

/// Splits a condition into tests for one type, each with its property, and the rest.
fn single_types(
    condition: &ValueCondition,
) -> (Vec<(&NamedNode, &NamedNode)>, Cow<'_, ValueCondition>) {
    let ValueCondition::Node(node) = condition else {
        return (Vec::new(), Cow::Borrowed(condition));
    };
    let parts = match node {
        NodeCondition::All(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let (mut tests, mut others) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            NodeCondition::Instance(test) => match test.alternatives.as_slice() {
                [(property, types)] if types.len() == 1 => tests.push((property, &types[0])),
                _ => others.push(part.clone()),
            },
            _ => others.push(part.clone()),
        }
    }
    let others = ValueCondition::Node(NodeCondition::all(others));
    (tests, Cow::Owned(others))
}

fn is_trivial(condition: &ValueCondition) -> bool {
    matches!(condition, ValueCondition::Node(node) if node.is_true())
}

fn optional(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::LeftJoin {
        left: Box::new(left),
        right: Box::new(right),
        expression: None,
    }
}
