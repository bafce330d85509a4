//! The order of objects by the values that fields display, for every store that sorts by itself.
//!
//! A store reads the values and types of a node; the value of a key, the comparison of keys and the
//! content of a page are the same for all stores.

use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::Range;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexSet;
use oxrdf::{NamedNode, Term};

use super::compare_keys;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::evaluate::shown;
use crate::query::{
    OrderKey, OrderStep, OrderWay, Page, SlotPage, SortBy, Step, TypeIndex, TypeTest,
};
use crate::value::SortValue;

/// How many objects are read between two checks of the deadline.
pub(crate) const CHECK_EVERY: usize = 256;

/// Sort keys that are known already.
pub(crate) type KeyCache = HashMap<NamedNode, Vec<SortValue>>;

/// The access to nodes that sorting needs.
pub(crate) trait Neighbours {
    /// Returns the context of the request.
    fn context(&self) -> &CallContext;

    /// Appends the distinct values of one step, without blank nodes.
    fn walk(&self, node: &NamedNode, step: &Step, values: &mut Vec<Term>)
    -> Result<(), StoreError>;

    /// Returns whether a node passes a type test.
    fn is_instance(&self, node: &NamedNode, test: &TypeTest) -> Result<bool, StoreError>;
}

/// Sorts objects by keys, then by IRI, and returns one page.
pub(crate) fn sorted_page(
    source: &impl Neighbours,
    nodes: Vec<NamedNode>,
    order: &[OrderKey],
    page: Page,
    cache: &mut KeyCache,
) -> Result<Vec<NamedNode>, StoreError> {
    let range = page.range(nodes.len());
    if range.is_empty() {
        return Ok(Vec::new());
    }
    if order.is_empty() {
        return Ok(page_of(nodes, range, NamedNode::cmp));
    }
    for (position, node) in nodes.iter().enumerate() {
        if position % CHECK_EVERY == 0 {
            source.context().check()?;
        }
        if !cache.contains_key(node) {
            cache.insert(node.clone(), keys(source, node, order)?);
        }
    }
    let cache = &*cache;
    Ok(page_of(nodes, range, |a, b| {
        compare_keys(order, &cache[a], &cache[b]).then_with(|| a.cmp(b))
    }))
}

/// Orders and pages the values of one object.
///
/// Literals in place of objects come last; the executor reports them.
pub(crate) fn sorted_values(
    source: &impl Neighbours,
    values: Vec<Term>,
    page: &SlotPage,
    cache: &mut KeyCache,
) -> Result<Vec<Term>, StoreError> {
    let mut nodes = Vec::with_capacity(values.len());
    let mut rest = Vec::new();
    for value in values {
        match value {
            Term::NamedNode(node) => {
                let counts = match &page.members {
                    Some(test) => source.is_instance(&node, test)?,
                    None => true,
                };
                if counts {
                    nodes.push(node);
                }
            }
            other => rest.push(other),
        }
    }
    let objects = nodes.len();
    let range = page.page.range(objects + rest.len());
    let nodes = sorted_page(source, nodes, &page.order, page.page, cache)?;
    rest.sort_by_cached_key(ToString::to_string);
    let skip = range.start.saturating_sub(objects);
    let take = range.len() - nodes.len();
    Ok(nodes
        .into_iter()
        .map(Term::from)
        .chain(rest.into_iter().skip(skip).take(take))
        .collect())
}

/// Removes repeated values from `start` on; the first of each stays.
pub(crate) fn drop_repeated<T: Eq + Hash>(values: &mut Vec<T>, start: usize) {
    match &values[start..] {
        [] | [_] => return,
        [a, b] => {
            if a == b {
                values.pop();
            }
            return;
        }
        _ => {}
    }
    let distinct: IndexSet<T, RandomState> = values.drain(start..).collect();
    values.extend(distinct);
}

/// Returns the sort keys of an object.
pub(crate) fn keys(
    source: &impl Neighbours,
    node: &NamedNode,
    order: &[OrderKey],
) -> Result<Vec<SortValue>, StoreError> {
    order.iter().map(|key| key_of(source, node, key)).collect()
}

fn key_of(
    source: &impl Neighbours,
    node: &NamedNode,
    key: &OrderKey,
) -> Result<SortValue, StoreError> {
    for way in &key.ways {
        if let Some(value) = value_along(source, node, way)? {
            return Ok(value);
        }
    }
    Ok(SortValue::Missing)
}

/// Returns the value at the end of a way; `None` when the way is not for the object.
fn value_along(
    source: &impl Neighbours,
    node: &NamedNode,
    way: &OrderWay,
) -> Result<Option<SortValue>, StoreError> {
    let (steps, last) = split(way);
    let is_for = |node: &NamedNode, step: &OrderStep| match &step.of {
        None => Ok(true),
        Some(guard) => guard.admits(|test| source.is_instance(node, test)),
    };
    let mut at = node.clone();
    for step in steps {
        if !is_for(&at, step)? {
            return Ok(None);
        }
        match shown_object(source, &at, step)? {
            Some(next) => at = next,
            None => return Ok(Some(SortValue::Missing)),
        }
    }
    let mut values = Vec::new();
    if let Some(last) = last {
        if !is_for(&at, last)? {
            return Ok(None);
        }
        source.walk(&at, &last.step, &mut values)?;
    }
    Ok(Some(match &way.by {
        SortBy::Iri => SortValue::Text(at.into_string()),
        SortBy::Constant(text) => SortValue::Text(text.clone()),
        SortBy::TypeName(index) => type_name(source, &at, index)?,
        by => shown(by, &values, &source.context().accept_language),
    }))
}

/// Splits the path of a way: the steps to the node, and the step to the values that are compared,
/// when it is not the node itself that is.
pub(crate) fn split(way: &OrderWay) -> (&[OrderStep], Option<&OrderStep>) {
    let of_node = matches!(
        way.by,
        SortBy::Iri | SortBy::TypeName(_) | SortBy::Constant(_)
    );
    match way.path.split_last() {
        Some((last, steps)) if !of_node => (steps, Some(last)),
        _ => (way.path.as_slice(), None),
    }
}

/// Returns the object that a single-valued field displays.
fn shown_object(
    source: &impl Neighbours,
    node: &NamedNode,
    step: &OrderStep,
) -> Result<Option<NamedNode>, StoreError> {
    let mut values = Vec::new();
    source.walk(node, &step.step, &mut values)?;
    let mut smallest = None;
    'values: for next in named_nodes(values) {
        if smallest.as_ref().is_some_and(|smallest| *smallest < next) {
            continue;
        }
        for test in &step.tests {
            if !source.is_instance(&next, test)? {
                continue 'values;
            }
        }
        if let Some(guard) = &step.displayed
            && !guard.admits(|test| source.is_instance(&next, test))?
        {
            continue;
        }
        smallest = Some(next);
    }
    Ok(smallest)
}

fn type_name(
    source: &impl Neighbours,
    node: &NamedNode,
    index: &TypeIndex,
) -> Result<SortValue, StoreError> {
    let mut types = Vec::new();
    for (position, property) in index.properties().enumerate() {
        let mut found = Vec::new();
        source.walk(node, &Step::forward(property.clone()), &mut found)?;
        types.extend(named_nodes(found).map(|ty| (position, ty)));
    }
    let types = types.iter().map(|(position, ty)| (*position, ty));
    let name = index
        .resolve(types)
        .and_then(|object| index.type_name(object));
    Ok(name.map_or(SortValue::Missing, |name| SortValue::Text(name.to_owned())))
}

/// Keeps the IRIs among terms.
pub(crate) fn named_nodes(
    terms: impl IntoIterator<Item = Term>,
) -> impl Iterator<Item = NamedNode> {
    terms.into_iter().filter_map(|term| match term {
        Term::NamedNode(node) => Some(node),
        _ => None,
    })
}

/// Returns the elements of `range` in sorted order, without sorting the rest.
fn page_of(
    mut nodes: Vec<NamedNode>,
    range: Range<usize>,
    compare: impl Fn(&NamedNode, &NamedNode) -> Ordering,
) -> Vec<NamedNode> {
    if range.end < nodes.len() {
        nodes.select_nth_unstable_by(range.end, &compare);
        nodes.truncate(range.end);
    }
    nodes.sort_unstable_by(&compare);
    nodes.drain(..range.start);
    nodes
}
