//! Queries for the values of several levels at once: of given nodes, and of those that they lead to.
//!
//! Each level and each value has a variable of its own, and a row says of which node a value is by binding
//! both. Two forms say the same. In the flat form, each part is a UNION branch of its own that goes all
//! the way from the given nodes, and its rows bind the two variables of the part. In the nested form, each
//! way is gone once, what comes after it is OPTIONAL, and rows bind all nodes along the way: a server that
//! evaluates the two sides of OPTIONAL in their order then starts each side from what is known. A level that
//! stands apart has a branch of its own there, which starts from the distinct nodes of a subquery.

use std::borrow::Cow;

use oxrdf::{NamedNode, Variable};
use spargebra::algebra::GraphPattern;

use super::expression::value_condition;
use super::page::OrderedPage;
use super::rows::{Fact, SlotQuery, distinct, named_page};
use super::{Builder, Parts, bgp, one_of, triple, union_of};
use crate::query::{NodeCondition, ObjectRef, Page, Slot, ValueCondition};

/// What a query for several levels asks.
#[derive(Clone, Debug)]
pub(crate) struct TreeQuery {
    /// The nodes of the first level.
    pub(crate) nodes: Vec<ObjectRef>,
    /// Which of them are wanted; `None` for all.
    pub(crate) condition: Option<NodeCondition>,
    /// How the nodes of the first level are found instead, in the nested form; no level stands apart then.
    pub(crate) found: Option<Found>,
    /// The levels, each after its parent.
    pub(crate) levels: Vec<LevelQuery>,
}

/// How nodes are found by a query.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// All that satisfy a condition, or a page of them in the order by IRI, but at most so many.
    ById {
        condition: NodeCondition,
        page: Page,
        most: usize,
    },
    /// A page in an order by keys.
    Ordered(OrderedPage),
}

impl Found {
    /// Returns the nodes, in a variable.
    fn pattern(&self, node: &Variable) -> GraphPattern {
        match self {
            Found::ById {
                condition,
                page,
                most,
            } if page.is_whole() => GraphPattern::Slice {
                inner: Box::new(named_page(condition, *page, node.clone())),
                start: 0,
                length: Some(*most),
            },
            Found::ById {
                condition,
                page,
                most,
            } => {
                let limit = page
                    .limit
                    .map_or(*most as u64, |limit| limit.min(*most as u64));
                let page = Page {
                    limit: Some(limit),
                    ..*page
                };
                named_page(condition, page, node.clone())
            }
            Found::Ordered(page) => page.pattern(node),
        }
    }

    /// Returns the values of the keys of nodes, where all of them are asked for.
    fn values(&self, node: &Variable) -> Vec<GraphPattern> {
        let Found::Ordered(page) = self else {
            return Vec::new();
        };
        let steps = page.steps().filter(|_| page.reads_values());
        steps
            .map(|(position, step, kind)| kind.values(node, step, &OrderedPage::value(position)))
            .collect()
    }

    /// Returns the further variables of a row.
    fn variables(&self) -> Vec<Variable> {
        let Found::Ordered(page) = self else {
            return Vec::new();
        };
        let values = page
            .steps()
            .filter(|_| page.reads_values())
            .map(|(position, ..)| OrderedPage::value(position));
        page.variables().into_iter().chain(values).collect()
    }
}

/// A level of a [`TreeQuery`].
#[derive(Clone, Debug)]
pub(crate) struct LevelQuery {
    /// The level above, and its slot that leads here.
    pub(crate) parent: Option<(usize, usize)>,
    /// Whether its nodes are found out in a subquery, in the nested form.
    pub(crate) is_apart: bool,
    /// What is asked of each node, each with facts about the values; `None` where no value can be.
    pub(crate) slots: Vec<Option<(Slot, Vec<Fact>)>>,
}

/// What is read of the nodes of a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'q> {
    /// The level of the nodes.
    pub(crate) level: usize,
    /// The slot of the level.
    pub(crate) slot: usize,
    /// A fact about the values of the slot; `None` for these themselves.
    pub(crate) fact: Option<&'q Fact>,
    /// The columns of rows that hold the node and its value, or the node of the fact and its value.
    pub(crate) columns: [usize; 2],
}

impl Part<'_> {
    /// Returns whether the values are the nodes of another level.
    pub(crate) fn leads_to_level(&self, levels: &[LevelQuery]) -> bool {
        self.columns[1] < levels.len()
    }
}

impl TreeQuery {
    /// Returns what is asked: values of slots that no level is below, and facts, each level in turn, and
    /// behind them the values that lead to levels.
    ///
    /// The columns of the nodes of levels come first, then those of values.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        let mut columns = self.levels.len()..;
        let mut next = || columns.next().expect("numbers without an end");
        for (level, asked) in self.levels.iter().enumerate() {
            for (slot, asked) in asked.slots.iter().enumerate() {
                let Some((_, facts)) = asked else { continue };
                if !self.leads_to_level(level, slot) {
                    parts.push(Part {
                        level,
                        slot,
                        fact: None,
                        columns: [level, next()],
                    });
                }
                parts.extend(facts.iter().map(|fact| Part {
                    level,
                    slot,
                    fact: Some(fact),
                    columns: [next(), next()],
                }));
            }
        }
        for (child, asked) in self.levels.iter().enumerate() {
            parts.extend(asked.parent.map(|(level, slot)| Part {
                level,
                slot,
                fact: None,
                columns: [level, child],
            }));
        }
        parts
    }

    /// Returns the number of columns of a row, without those of [`Found`] nodes.
    pub(crate) fn columns(&self) -> usize {
        let parts = self.parts();
        let last = parts.iter().flat_map(|part| part.columns).max();
        last.unwrap_or(0) + 1
    }

    fn leads_to_level(&self, level: usize, slot: usize) -> bool {
        let mut levels = self.levels.iter();
        levels.any(|below| below.parent == Some((level, slot)))
    }

    /// Returns a slot that is asked for.
    fn slot(&self, level: usize, slot: usize) -> SlotQuery<'_> {
        let asked = self.levels[level].slots[slot].as_ref();
        let (slot, facts) = asked.expect("no level is below a slot that is not asked for");
        SlotQuery {
            step: &slot.step,
            of: slot.of.as_ref(),
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

    /// Returns the given nodes, of those that satisfy the condition.
    fn chosen(&self, builder: &mut Builder) -> GraphPattern {
        let node = column(0);
        let mut parts = Parts::default();
        parts.patterns.push(self.given(&node));
        if let Some(condition) = &self.condition {
            builder.require(&node, condition, &mut parts);
        }
        parts.into_pattern()
    }

    fn given(&self, node: &Variable) -> GraphPattern {
        one_of(node, self.nodes.iter().map(ObjectRef::node))
    }

    /// Goes from the given nodes to those of a level.
    fn walk(&self, level: usize, end: &Variable, builder: &mut Builder) -> Parts {
        let mut parts = Parts::default();
        let way = self.way_to(level);
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
        parts
    }

    /// Returns the branch of one part in the flat form.
    fn flat(&self, part: &Part<'_>) -> GraphPattern {
        let mut builder = Builder::portable();
        // The node of a part has its column, that of a fact is not asked for.
        let node = match part.fact {
            None => column(part.columns[0]),
            Some(_) => builder.variable(),
        };
        let mut parts = self.walk(part.level, &node, &mut builder);
        self.leaf(&node, part, &mut builder, &mut parts);
        parts.into_pattern()
    }

    /// Asks for a part of a node.
    fn leaf(&self, node: &Variable, part: &Part<'_>, builder: &mut Builder, parts: &mut Parts) {
        let slot = self.slot(part.level, part.slot);
        let [about, value] = part.columns.map(column);
        match part.fact {
            None => builder.lead(node, &slot, &value, parts),
            Some(fact) => {
                let start = builder.start(fact, &about);
                builder.lead(node, &slot, &start, parts);
                builder.fact(start, fact, [&about, &value], parts);
            }
        }
    }

    /// Returns all that is asked of the nodes of a level, and below it, in the nested form.
    fn nested(
        &self,
        level: usize,
        asked: &[Part<'_>],
        builder: &mut Builder,
    ) -> Option<GraphPattern> {
        let node = column(level);
        let branches = asked.iter().filter(|part| part.level == level).map(|part| {
            let mut parts = Parts::default();
            self.leaf(&node, part, builder, &mut parts);
            let way = parts.into_pattern();
            let [_, child] = part.columns;
            let is_along = self.levels.get(child).is_some_and(|below| !below.is_apart);
            let below = is_along.then(|| self.nested(child, asked, builder));
            optional(way, below.flatten())
        });
        union_of(branches.collect())
    }

    /// Returns the nodes of the first level, or of one that stands apart.
    fn start(&self, level: usize, builder: &mut Builder) -> GraphPattern {
        if let (0, Some(found)) = (level, &self.found) {
            return found.pattern(&column(0));
        }
        if level == 0 {
            return self.chosen(builder);
        }
        let node = column(level);
        let nodes = self.walk(level, &node, builder).into_pattern();
        distinct(nodes, vec![node])
    }
}

/// Returns the variable of a column.
fn column(position: usize) -> Variable {
    Variable::new_unchecked(format!("c{position}"))
}

/// Returns a query for the values of several levels. In the flat form, the nodes that satisfy the condition
/// are named by rows of their own; in the nested form, all rows are of such nodes.
pub(crate) fn tree_of(query: &TreeQuery, is_nested: bool) -> GraphPattern {
    let asked = query.parts();
    let mut builder = Builder::portable();
    let rows = if is_nested {
        let levels = query.levels.iter().zip(0..);
        let starts = levels.filter(|(level, _)| level.parent.is_none() || level.is_apart);
        let branches = starts.map(|(_, level)| {
            let start = query.start(level, &mut builder);
            let below = query.nested(level, &asked, &mut builder);
            let found = query.found.iter().filter(|_| level == 0);
            let values = found.flat_map(|found| found.values(&column(0)));
            optional(start, union_of(below.into_iter().chain(values).collect()))
        });
        union_of(branches.collect())
    } else {
        let chosen = query.condition.iter().map(|_| query.chosen(&mut builder));
        let branches = chosen.chain(asked.iter().map(|part| query.flat(part)));
        union_of(branches.collect())
    };
    let rows = rows.unwrap_or_else(|| one_of(&column(0), []));
    // Objects alone, whose order would be that of a subquery.
    if matches!(rows, GraphPattern::Slice { .. }) {
        return rows;
    }
    let columns = (0..query.columns()).map(column);
    let found = query.found.iter().flat_map(Found::variables);
    // Several nodes may lead to the same one, whose values would be returned for each of them.
    distinct(rows, columns.chain(found).collect())
}

impl Builder {
    /// Goes from a node to the values of a slot. A test for one type is joined: as a filter, it takes
    /// RDF4J as long as all the rest.
    fn lead(&mut self, node: &Variable, slot: &SlotQuery<'_>, value: &Variable, parts: &mut Parts) {
        if let Some(condition) = slot.of {
            self.require(node, condition, parts);
        }
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
        // What has a type is no literal, and no one asks for the values of blank nodes.
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
            NodeCondition::Instance(test) => match &*test.alternatives {
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

fn optional(left: GraphPattern, right: Option<GraphPattern>) -> GraphPattern {
    let Some(right) = right else { return left };
    GraphPattern::LeftJoin {
        left: Box::new(left),
        right: Box::new(right),
        expression: None,
    }
}
