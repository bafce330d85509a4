//! Trees of levels: the one query that asks for several levels, and what its rows say.

use std::collections::HashSet;

use call_context::CallContext;
use oxrdf::{NamedNode, Term};

use super::dialect::TreeForm;
use super::endpoint::Rows;
use super::facts::{Facts, wanted};
use super::results::malformed;
use crate::error::StoreError;
use crate::query::{
    NodeCondition, ObjectRef, Slot, Tree, TreeLevel, TreeRequest, TreeValues, ValueCondition,
};
use crate::sparql::{Found, LevelQuery, TreeQuery};
use crate::store::order::{CHECK_EVERY, KeyCache, drop_repeated, sorted_values};
use crate::store::ready_order::ReadyPage;

/// Returns the query of a request.
pub(super) fn query_of(request: &TreeRequest<'_>) -> TreeQuery {
    TreeQuery {
        nodes: request.roots.to_vec(),
        condition: request.condition.cloned(),
        found: None,
        levels: request.levels.iter().map(level_of).collect(),
    }
}

/// Returns the query of levels from the nodes that it finds.
pub(super) fn query_from(found: Found, levels: &[TreeLevel<'_>]) -> TreeQuery {
    TreeQuery {
        nodes: Vec::new(),
        condition: None,
        found: Some(found),
        levels: levels.iter().map(level_of).collect(),
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
        is_apart: level.is_apart,
        slots: slots.collect(),
    }
}

/// Returns whether some value can be in a slot.
pub(super) fn can_have_values(slot: &Slot) -> bool {
    let of_none = slot.of.as_ref().is_some_and(NodeCondition::is_false);
    let condition = slot.condition.as_ref();
    !of_none && !condition.is_some_and(ValueCondition::is_false)
}

/// Returns how many terms the text of a query lists, about.
pub(super) fn size_of(query: &TreeQuery) -> usize {
    query.nodes.len() * (1 + query.parts().len())
}

/// Returns an answer without objects.
pub(super) fn nothing(levels: &[TreeLevel<'_>]) -> Tree {
    let levels = levels.iter();
    Tree {
        roots: Vec::new(),
        levels: levels
            .map(|level| TreeValues::new(level.slots.len()))
            .collect(),
    }
}

/// Returns what the rows of a query say. Roots that it found are in the order of their IRIs.
pub(super) fn from_rows(
    rows: &Rows,
    query: &TreeQuery,
    form: TreeForm,
    context: &CallContext,
) -> Result<Tree, StoreError> {
    let parts = query.parts();
    let levels = query.levels.iter();
    let mut levels: Vec<_> = levels
        .map(|level| TreeValues::new(level.slots.len()))
        .collect();
    let mut known = Facts::new(context);
    let mut chosen: HashSet<&NamedNode> = HashSet::new();
    let mut last: &[Option<Term>] = &[];
    for (count, row) in rows.terms.chunks(rows.width).enumerate() {
        if count % CHECK_EVERY == 0 {
            context.check()?;
        }
        if form == TreeForm::Nested || row[1..].iter().all(Option::is_none) {
            chosen.extend(named(row[0].as_ref()));
        }
        for part in &parts {
            let [node, value] = part.columns.map(|column| row[column].as_ref());
            // The rows of one node follow each other, and each repeats the way to it.
            let is_repeated = || {
                part.columns
                    .iter()
                    .all(|&at| last.get(at) == Some(&row[at]))
            };
            if node.is_none() && value.is_some() && !part.leads_to_level(&query.levels) {
                return Err(malformed("a result has a value of no node"));
            }
            let Some((node, value)) = node.zip(value).filter(|_| !is_repeated()) else {
                continue;
            };
            match part.fact {
                Some(fact) => known.add(node.clone(), &fact.step, value.clone()),
                None if matches!(value, Term::BlankNode(_)) => {}
                None => {
                    // What is reached from other terms is no object.
                    if let Some(node) = named(Some(node)) {
                        let values = &mut levels[part.level];
                        values
                            .of_mut(node.clone().into(), part.slot)
                            .push(value.clone());
                    }
                }
            }
        }
        last = row;
    }
    for (asked, values) in query.levels.iter().zip(&mut levels) {
        arrange(asked, values, &known)?;
    }
    Ok(Tree {
        roots: roots(query, &chosen),
        levels,
    })
}

fn roots(query: &TreeQuery, chosen: &HashSet<&NamedNode>) -> Vec<ObjectRef> {
    if query.found.is_some() {
        let mut roots: Vec<ObjectRef> = chosen.iter().map(|&node| node.clone().into()).collect();
        roots.sort_unstable();
        return roots;
    }
    let roots = query.nodes.iter();
    let is_chosen = |root: &&ObjectRef| query.condition.is_none() || chosen.contains(root.node());
    roots.filter(is_chosen).cloned().collect()
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

/// Returns the IRI that a term is.
fn named(term: Option<&Term>) -> Option<&NamedNode> {
    match term {
        Some(Term::NamedNode(node)) => Some(node),
        _ => None,
    }
}
