//! The order of objects by the values that fields display, for every store that sorts by itself.
//!
//! A store reads the values and types of a node; the value of a key, the comparison of keys and the
//! content of a page are the same for all stores.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::Range;

use call_context::CallContext;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexSet;
use oxrdf::{NamedNode, Term};
use soml_core::datatype::Scalar;

use super::compare_keys;
use super::ready_order::{By, ReadyOrder, ReadyPage, ReadyPlace, ReadyWay};
use crate::error::StoreError;
use crate::query::{OrderStep, OrderWay, Page, SortBy, Step, TypeIndex, TypeTest};
use crate::value::SortValue;

/// How many objects are read between two checks of the deadline.
pub(crate) const CHECK_EVERY: usize = 256;

/// Sort keys that are known already, by the handles of nodes.
pub(crate) type KeyCache<N> = HashMap<N, Vec<SortValue>>;

/// The access to nodes that sorting needs, by handles of nodes and terms.
pub(crate) trait Neighbours {
    /// A handle of an IRI.
    type Node: Clone + Eq + Hash;
    /// A handle of any term.
    type Term: From<Self::Node>;
    /// A step whose property is looked up.
    type Step<'q>;
    /// A test whose properties and types are looked up.
    type Test<'q>;

    /// Returns the context of the request.
    fn context(&self) -> &CallContext;

    /// Looks the property of a step up.
    fn step<'q>(&self, step: &'q Step) -> Self::Step<'q>;

    /// Looks the property of a step to its values up.
    fn forward<'q>(&self, property: &'q NamedNode) -> Self::Step<'q>;

    /// Looks the properties and types of a test up.
    fn test<'q>(&self, test: &'q TypeTest) -> Self::Test<'q>;

    /// Appends the distinct values of one step, without blank nodes.
    fn walk(
        &self,
        node: &Self::Node,
        step: &Self::Step<'_>,
        values: &mut Vec<Self::Term>,
    ) -> Result<(), StoreError>;

    /// Returns whether a node passes a type test.
    fn is_instance(&self, node: &Self::Node, test: &Self::Test<'_>) -> Result<bool, StoreError>;

    /// Compares two IRIs by code point.
    fn compare(&self, a: &Self::Node, b: &Self::Node) -> Ordering;

    /// Converts a term to the IRI that it is, or gives it back.
    fn to_node(&self, term: Self::Term) -> Result<Self::Node, Self::Term>;

    /// Returns a text by which terms that are no IRIs are ordered.
    fn text(&self, term: &Self::Term) -> String;

    /// Converts handles to the IRIs that they stand for.
    fn to_iris(&self, nodes: Vec<Self::Node>) -> Vec<NamedNode>;

    /// Returns a number above 0 by which an IRI is ordered; `None` where numbers do not tell.
    fn rank_of_node(&self, _node: &Self::Node) -> Option<u32> {
        None
    }

    /// Returns a number above 0 by which a string without a tag is ordered; `None` for other terms, and where numbers do not
    /// tell.
    fn rank_of_string(&self, _term: &Self::Term) -> Option<u32> {
        None
    }

    /// Returns what [`shown`](crate::evaluate::shown) returns for the values.
    fn shown(&self, by: &SortBy, values: Vec<Self::Term>) -> SortValue;
}

/// Sorts objects by keys, then by IRI, and returns one page.
pub(crate) fn sorted_page<N: Neighbours>(
    source: &N,
    nodes: Vec<N::Node>,
    order: &ReadyOrder<'_, N>,
    page: Page,
    cache: &mut KeyCache<N::Node>,
) -> Result<Vec<N::Node>, StoreError> {
    let range = page.range(nodes.len());
    if range.is_empty() {
        return Ok(Vec::new());
    }
    if order.keys.is_empty() {
        return Ok(page_of(nodes, range, |a, b| source.compare(a, b)));
    }
    if let Some(page) = ranked_page(source, &nodes, order, range.clone())? {
        return Ok(page);
    }
    for (position, node) in nodes.iter().enumerate() {
        if position % CHECK_EVERY == 0 {
            source.context().check()?;
        }
        if !cache.contains_key(node) {
            cache.insert(node.clone(), keys(source, node, order)?);
        }
    }
    // Each key is looked up once, and not in each comparison.
    let cache = &*cache;
    let keyed = nodes.into_iter().map(|node| (&cache[&node], node));
    let page = page_of(keyed.collect(), range, |(a, of_a), (b, of_b)| {
        compare_keys(order.keys, a, b).then_with(|| source.compare(of_a, of_b))
    });
    Ok(page.into_iter().map(|(_, node)| node).collect())
}

/// Sorts objects as [`sorted_page`] does where all of their keys have ranks; returns those in `range`, else nothing.
fn ranked_page<N: Neighbours>(
    source: &N,
    nodes: &[N::Node],
    order: &ReadyOrder<'_, N>,
    range: Range<usize>,
) -> Result<Option<Vec<N::Node>>, StoreError> {
    let keys = order.keys.len();
    let mut ranks = Vec::with_capacity(nodes.len() * keys);
    for (position, node) in nodes.iter().enumerate() {
        if position % CHECK_EVERY == 0 {
            source.context().check()?;
        }
        for ways in &order.ways {
            match rank_of(source, node, ways)? {
                Some(rank) => ranks.push(rank),
                None => return Ok(None),
            }
        }
    }
    let compare = |a: &usize, b: &usize| {
        let of = |node: &usize| ranks[node * keys..][..keys].iter();
        let pairs = order.keys.iter().zip(of(a).zip(of(b)));
        let by_keys = pairs.map(|(key, (a, b))| if key.descending { b.cmp(a) } else { a.cmp(b) });
        let unequal = by_keys.into_iter().find(|ordering| ordering.is_ne());
        unequal.unwrap_or_else(|| source.compare(&nodes[*a], &nodes[*b]))
    };
    let page = page_of((0..nodes.len()).collect(), range, compare);
    Ok(Some(page.into_iter().map(|at| nodes[at].clone()).collect()))
}

/// Returns the rank of a key of an object, 0 where it has no value; `None` where numbers do not tell.
fn rank_of<N: Neighbours>(
    source: &N,
    node: &N::Node,
    ways: &[ReadyWay<'_, N>],
) -> Result<Option<u32>, StoreError> {
    // Where there are several ways, types decide, and others compare what they have in common.
    let [way] = ways else {
        return Ok(None);
    };
    let is_string = |by: &SortBy| {
        let scalar = Scalar::String;
        matches!(by, SortBy::Scalar { scalar: found, cast: false, lang: None } if *found == scalar)
    };
    match &way.by {
        By::Iri => Ok(match end_of(source, node, way)? {
            End::At(at) => source.rank_of_node(&at),
            End::Missing | End::OtherWay => Some(0),
        }),
        By::Values(by) if is_string(by) => {
            let End::At(at) = end_of(source, node, way)? else {
                return Ok(Some(0));
            };
            let mut values = Vec::new();
            if let Some(last) = &way.last {
                source.walk(&at, &last.step, &mut values)?;
            }
            Ok(match values.as_slice() {
                [] => Some(0),
                [single] => source.rank_of_string(single),
                _ => None,
            })
        }
        _ => Ok(None),
    }
}

/// Orders and pages the values of one object; `members` is the test of those that count.
///
/// Literals in place of objects come last; the executor reports them.
pub(crate) fn sorted_values<N: Neighbours>(
    source: &N,
    values: Vec<N::Term>,
    page: &ReadyPage<'_, N>,
    cache: &mut KeyCache<N::Node>,
) -> Result<Vec<N::Term>, StoreError> {
    let mut nodes = Vec::with_capacity(values.len());
    let mut rest = Vec::new();
    for value in values {
        match source.to_node(value) {
            Ok(node) => {
                if page.counts(source, &node)? {
                    nodes.push(node);
                }
            }
            Err(other) => rest.push(other),
        }
    }
    let objects = nodes.len();
    let range = page.page.range(objects + rest.len());
    let nodes = sorted_page(source, nodes, &page.order, page.page, cache)?;
    rest.sort_by_cached_key(|other| source.text(other));
    let skip = range.start.saturating_sub(objects);
    let take = range.len() - nodes.len();
    Ok(nodes
        .into_iter()
        .map(N::Term::from)
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
pub(crate) fn keys<N: Neighbours>(
    source: &N,
    node: &N::Node,
    order: &ReadyOrder<'_, N>,
) -> Result<Vec<SortValue>, StoreError> {
    let keys = order.ways.iter();
    keys.map(|ways| key_of(source, node, ways)).collect()
}

fn key_of<N: Neighbours>(
    source: &N,
    node: &N::Node,
    ways: &[ReadyWay<'_, N>],
) -> Result<SortValue, StoreError> {
    for way in ways {
        if let Some(value) = value_along(source, node, way)? {
            return Ok(value);
        }
    }
    Ok(SortValue::Missing)
}

/// Where a way leads.
enum End<'n, N: Clone> {
    /// To a node, which has the values that are compared or is compared itself.
    At(Cow<'n, N>),
    Missing,
    /// The way is not for the object.
    OtherWay,
}

fn end_of<'n, N: Neighbours>(
    source: &N,
    node: &'n N::Node,
    way: &ReadyWay<'_, N>,
) -> Result<End<'n, N::Node>, StoreError> {
    let is_for = |node: &N::Node, place: &ReadyPlace<'_, N>| match &place.of {
        None => Ok(true),
        Some(guard) => guard.admits(source, node),
    };
    let mut at = Cow::Borrowed(node);
    for place in &way.places {
        if !is_for(&at, place)? {
            return Ok(End::OtherWay);
        }
        match shown_object(source, &at, place)? {
            Some(next) => at = Cow::Owned(next),
            None => return Ok(End::Missing),
        }
    }
    let is_for_last = match &way.last {
        Some(last) => is_for(&at, last)?,
        None => true,
    };
    Ok(if is_for_last {
        End::At(at)
    } else {
        End::OtherWay
    })
}

/// Returns the value at the end of a way; `None` when the way is not for the object.
fn value_along<N: Neighbours>(
    source: &N,
    node: &N::Node,
    way: &ReadyWay<'_, N>,
) -> Result<Option<SortValue>, StoreError> {
    let at = match end_of(source, node, way)? {
        End::At(at) => at,
        End::Missing => return Ok(Some(SortValue::Missing)),
        End::OtherWay => return Ok(None),
    };
    let mut values = Vec::new();
    if let Some(last) = &way.last {
        source.walk(&at, &last.step, &mut values)?;
    }
    Ok(Some(match &way.by {
        By::Iri => {
            let iris = source.to_iris(vec![at.into_owned()]);
            let text = |iri: NamedNode| SortValue::Text(iri.into_string());
            iris.into_iter().next().map_or(SortValue::Missing, text)
        }
        By::Constant(text) => SortValue::Text((*text).to_owned()),
        By::TypeName(index, steps) => type_name(source, &at, index, steps)?,
        By::Values(by) => source.shown(by, values),
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
fn shown_object<N: Neighbours>(
    source: &N,
    node: &N::Node,
    place: &ReadyPlace<'_, N>,
) -> Result<Option<N::Node>, StoreError> {
    let mut values = Vec::new();
    source.walk(node, &place.step, &mut values)?;
    let mut smallest: Option<N::Node> = None;
    'values: for next in values {
        let Ok(next) = source.to_node(next) else {
            continue;
        };
        let is_larger = |smallest: &N::Node| source.compare(smallest, &next).is_lt();
        if smallest.as_ref().is_some_and(is_larger) {
            continue;
        }
        for test in &place.tests {
            if !source.is_instance(&next, test)? {
                continue 'values;
            }
        }
        if let Some(guard) = &place.displayed
            && !guard.admits(source, &next)?
        {
            continue;
        }
        smallest = Some(next);
    }
    Ok(smallest)
}

fn type_name<N: Neighbours>(
    source: &N,
    node: &N::Node,
    index: &TypeIndex,
    steps: &[N::Step<'_>],
) -> Result<SortValue, StoreError> {
    let mut types = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let mut found = Vec::new();
        source.walk(node, step, &mut found)?;
        let found = found.into_iter().filter_map(|ty| source.to_node(ty).ok());
        let found = source.to_iris(found.collect());
        types.extend(found.into_iter().map(|ty| (position, ty)));
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
fn page_of<N>(
    mut nodes: Vec<N>,
    range: Range<usize>,
    compare: impl Fn(&N, &N) -> Ordering,
) -> Vec<N> {
    if range.end < nodes.len() {
        nodes.select_nth_unstable_by(range.end, &compare);
        nodes.truncate(range.end);
    }
    nodes.sort_unstable_by(&compare);
    nodes.drain(..range.start);
    nodes
}
