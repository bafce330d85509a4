//! Several levels in one query: what is asked, and what its rows say.

use std::collections::HashSet;

use oxrdf::{NamedNode, Term};

use super::endpoint::Rows;
use super::facts::{Facts, wanted};
use super::results::{malformed, numbered};
use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{ObjectRef, Slot, Tree, TreeLevel, TreeRequest, TreeValues, ValueCondition};
use crate::sparql::{LevelQuery, Part, TreeQuery};
use crate::store::order::{KeyCache, drop_repeated, sorted_values};
use crate::store::ready_order::ReadyPage;

/// Returns the query of a request.
pub(super) fn query_of(request: &TreeRequest<'_>) -> TreeQuery {
    TreeQuery {
        nodes: request.roots.to_vec(),
        condition: request.condition.cloned(),
        levels: request.levels.iter().map(level_of).collect(),
    }
}

fn level_of(level: &TreeLevel<'_>) -> LevelQuery {
    let slots = level.slots.iter().map(|slot| {
        can_have_values(slot).then(|| {
            let page = slot.page.as_ref();
            let facts = page.map(|page| wanted(&page.order, page.members.as_ref()));
            (slot.clone(), facts.unwrap_or_default())
        })
    });
    LevelQuery {
        parent: level.parent,
        slots: slots.collect(),
    }
}

/// Tells whether some value can be in a slot.
pub(super) fn can_have_values(slot: &Slot) -> bool {
    !slot
        .condition
        .as_ref()
        .is_some_and(ValueCondition::is_false)
}

/// Returns how many terms the text of a query lists, about.
pub(super) fn size_of(query: &TreeQuery) -> usize {
    query.nodes.len() * (1 + query.parts().len())
}

/// Returns an answer without objects.
pub(super) fn nothing(request: &TreeRequest<'_>) -> Tree {
    let levels = request.levels.iter();
    Tree {
        roots: Vec::new(),
        levels: levels
            .map(|level| TreeValues::new(level.slots.len()))
            .collect(),
    }
}

/// Returns what the rows of a query say.
pub(super) fn tree(
    rows: Rows,
    query: &TreeQuery,
    context: &CallContext,
) -> Result<Tree, StoreError> {
    let parts = query.parts();
    let levels = query.levels.iter();
    let mut levels: Vec<_> = levels
        .map(|level| TreeValues::new(level.slots.len()))
        .collect();
    let mut known = Facts::new(context);
    let mut chosen: HashSet<NamedNode> = HashSet::new();
    for row in numbered(whole(rows), context) {
        let (node, number, value) = row?;
        match (number.checked_sub(1).map(|part| parts.get(part)), value) {
            (None, None) => chosen.extend(named(node)),
            (Some(Some(&Part::Slot { level, slot })), Some(value)) => {
                let value = Some(value).filter(|value| !matches!(value, Term::BlankNode(_)));
                if let Some((node, value)) = named(node).zip(value) {
                    levels[level].of_mut(node.into(), slot).push(value);
                }
            }
            (Some(Some(Part::Fact { fact, .. })), Some(value)) => {
                known.add(node, &fact.step, value);
            }
            _ => return Err(malformed("a result has rows that its query cannot give")),
        }
    }
    for (asked, values) in query.levels.iter().zip(&mut levels) {
        arrange(asked, values, &known)?;
    }
    let roots = query.nodes.iter();
    let is_chosen = |root: &&ObjectRef| query.condition.is_none() || chosen.contains(root.node());
    Ok(Tree {
        roots: roots.filter(is_chosen).cloned().collect(),
        levels,
    })
}

/// Leaves each value once, and orders and cuts what has a page.
fn arrange(
    asked: &LevelQuery,
    level: &mut TreeValues,
    known: &Facts<'_>,
) -> Result<(), StoreError> {
    for (slot, asked) in asked.slots.iter().enumerate() {
        let page = asked.as_ref().and_then(|(slot, _)| slot.page.as_ref());
        let page = page.map(|page| ReadyPage::new(known, page));
        let mut cache = KeyCache::default();
        for values in level.all_mut(slot) {
            drop_repeated(values, 0);
            if let Some(page) = &page {
                *values = sorted_values(known, std::mem::take(values), page, &mut cache)?;
            }
        }
    }
    Ok(())
}

/// Leaves out the rows in which nothing is bound: they are of nodes of which OPTIONAL found nothing.
fn whole(mut rows: Rows) -> Rows {
    let width = rows.width;
    if rows.terms.chunks(width).any(is_unbound) {
        let bound = rows.terms.chunks(width).filter(|row| !is_unbound(row));
        rows.terms = bound.flatten().cloned().collect();
    }
    rows
}

fn is_unbound(row: &[Option<Term>]) -> bool {
    row.iter().all(Option::is_none)
}

/// Returns the IRI that a term is. What is reached from other terms is no object.
fn named(term: Term) -> Option<NamedNode> {
    match term {
        Term::NamedNode(node) => Some(node),
        _ => None,
    }
}
