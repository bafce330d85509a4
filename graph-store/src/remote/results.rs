//! From the rows of results to objects in their order, windows, and values in columns.
//!
//! All of this works on owned data and waits for nothing, so that it can be done on another thread.

use std::collections::HashMap;

use call_context::CallContext;
use oxrdf::{NamedNode, Term};

use super::endpoint::Rows;
use super::facts::Facts;
use crate::error::StoreError;
use crate::query::{Column, Hydrated, ObjectRef, Objects, OrderKey, Page, Position, Slot, Window};
use crate::sparql::Fact;
use crate::store::order::{
    CHECK_EVERY, KeyCache, drop_repeated, keys, named_nodes, sorted_page, sorted_values,
};
use crate::store::ready_order::{ReadyOrder, ReadyPage};
use crate::store::{WindowBuilder, Windowed};

/// Values to read of each object, each slot with the facts that its order compares.
pub(super) type AskedSlots = Vec<(Slot, Vec<Fact>)>;

/// Returns the objects among the terms of rows, ordered by IRI.
pub(super) fn by_iri(rows: Rows) -> Objects {
    let mut nodes: Vec<NamedNode> = named_nodes(rows.terms.into_iter().flatten()).collect();
    // Not every store sorts strings by code point within a page, and a stable order of lists is
    // worth the sorting time.
    nodes.sort_unstable();
    nodes.into()
}

/// Returns the objects of a result with facts, in an order, cut to a page.
pub(super) fn ordered(
    rows: Rows,
    facts: &[Fact],
    order: &[OrderKey],
    page: Page,
    context: &CallContext,
) -> Result<Objects, StoreError> {
    let (nodes, facts) = nodes_with_facts(rows, facts, context)?;
    let order = ReadyOrder::new(&facts, order);
    let nodes = sorted_page(&facts, nodes, &order, page, &mut KeyCache::default())?;
    Ok(nodes.into())
}

/// Returns a window over the objects of a result with facts.
pub(super) fn windowed(
    rows: Rows,
    facts: &[Fact],
    order: &[OrderKey],
    window: &Window,
    context: &CallContext,
) -> Result<Windowed, StoreError> {
    let mut builder = WindowBuilder::new(order, window);
    let (nodes, facts) = nodes_with_facts(rows, facts, context)?;
    let order = ReadyOrder::new(&facts, order);
    for (position, id) in nodes.into_iter().enumerate() {
        if position % CHECK_EVERY == 0 {
            context.check()?;
        }
        let keys = keys(&facts, &id, &order)?;
        let id = id.into();
        builder.offer(Position { keys, id });
    }
    Ok(builder.finish())
}

/// Reads distinct objects and the values that their order compares.
fn nodes_with_facts<'c>(
    rows: Rows,
    wanted: &[Fact],
    context: &'c CallContext,
) -> Result<(Vec<NamedNode>, Facts<'c>), StoreError> {
    let mut facts = Facts::new(context);
    let mut nodes = Vec::new();
    for row in numbered(rows, context) {
        match row? {
            (Term::NamedNode(node), 0, None) => nodes.push(node),
            (node, number @ 1.., Some(value)) if number <= wanted.len() => {
                facts.add(node, &wanted[number - 1].step, value);
            }
            _ => return Err(malformed("a result has rows that its query cannot give")),
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok((nodes, facts))
}

/// Returns the values of nodes for some slots, from the rows of the query for them.
pub(super) fn columns(
    rows: Rows,
    nodes: &[ObjectRef],
    slots: &[(Slot, Vec<Fact>)],
    context: &CallContext,
) -> Result<Vec<Column>, StoreError> {
    let (values, known) = sorted_out(rows, nodes, slots, context)?;
    let columns = slots.iter().zip(values).map(|((slot, _), values)| {
        let mut column = Column::with_capacity(nodes.len());
        let mut cache = KeyCache::default();
        let page = slot.page.as_ref();
        let page = page.map(|page| ReadyPage::new(&known, page));
        for mut values in values {
            drop_repeated(&mut values, 0);
            if let Some(page) = &page {
                values = sorted_values(&known, values, page, &mut cache)?;
            }
            column.values.extend(values);
            column.end_node();
        }
        Ok(column)
    });
    columns.collect()
}

/// Values by slot and node.
type Values = Vec<Vec<Vec<Term>>>;

/// Assigns the values in rows to their slots and nodes; returns the facts about values too.
fn sorted_out<'c>(
    rows: Rows,
    nodes: &[ObjectRef],
    slots: &[(Slot, Vec<Fact>)],
    context: &'c CallContext,
) -> Result<(Values, Facts<'c>), StoreError> {
    let mut known = Facts::new(context);
    let positions: HashMap<&NamedNode, usize> =
        nodes.iter().map(ObjectRef::node).zip(0..).collect();
    let steps: Vec<_> = slots.iter().flat_map(|(_, facts)| facts).collect();
    let mut values = vec![vec![Vec::new(); nodes.len()]; slots.len()];
    for row in numbered(rows, context) {
        let (node, number, Some(value)) = row? else {
            return Err(malformed("a result lacks a value"));
        };
        if let Some(slot) = values.get_mut(number) {
            let position = match &node {
                Term::NamedNode(node) => positions.get(node),
                _ => None,
            };
            let &position =
                position.ok_or_else(|| malformed("a result has nodes that were not requested"))?;
            if !matches!(value, Term::BlankNode(_)) {
                slot[position].push(value);
            }
        } else {
            let fact = steps
                .get(number - slots.len())
                .ok_or_else(|| malformed("a result has a number that was not requested"))?;
            known.add(node, &fact.step, value);
        }
    }
    Ok((values, known))
}

/// Joins the columns of batches of `nodes` objects in all; a slot that is not asked for has none in
/// them, and gets an empty one.
pub(super) fn joined(batches: Vec<Vec<Column>>, is_asked: &[bool], nodes: usize) -> Hydrated {
    let mut columns: Vec<Column> = is_asked
        .iter()
        .map(|_| Column::with_capacity(nodes))
        .collect();
    for batch in batches {
        let asked = columns
            .iter_mut()
            .zip(is_asked)
            .filter(|(_, asked)| **asked);
        for ((column, _), part) in asked.zip(batch) {
            column.append(part);
        }
    }
    let unasked = columns
        .iter_mut()
        .zip(is_asked)
        .filter(|(_, asked)| !**asked);
    for (column, _) in unasked {
        (0..nodes).for_each(|_| column.end_node());
    }
    Hydrated { columns }
}

/// Reads rows of a node, a number and a value.
fn numbered(
    rows: Rows,
    context: &CallContext,
) -> impl Iterator<Item = Result<(Term, usize, Option<Term>), StoreError>> {
    let mut terms = rows.terms.into_iter();
    let mut count = 0_usize;
    std::iter::from_fn(move || {
        let (node, number, value) = (terms.next()?, terms.next()?, terms.next()?);
        count += 1;
        if count.is_multiple_of(CHECK_EVERY)
            && let Err(error) = context.check()
        {
            return Some(Err(error.into()));
        }
        let number = match number {
            Some(Term::Literal(number)) => number.value().parse().ok(),
            _ => None,
        };
        Some(match (node, number) {
            (Some(node), Some(number)) => Ok((node, number, value)),
            _ => Err(malformed("a result has a row without node or number")),
        })
    })
}

/// Returns the error of a result that does not fit its query.
pub(super) fn malformed(what: &'static str) -> StoreError {
    StoreError::Failed(what.into())
}
