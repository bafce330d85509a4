//! The embedded store: Oxigraph, in memory, or on disk with the feature `rocksdb`.
//!
//! Objects are found, filtered, ordered and read by walking the index, without SPARQL: that saves
//! parsing and planning a query, and values compare exactly as answers show them.

mod candidates;
mod condition;
mod hydrate;
mod statements;
mod walk;

use std::collections::HashMap;
use std::time::Instant;

use async_trait::async_trait;
use oxigraph::store::Store;
use oxrdf::{NamedNode, Term};

use super::{
    Column, GraphStore, Hydrated, HydrationRequest, SlotPage, StoreError, StoreInfo, WindowBuilder,
    Windowed, compare_keys,
};
use crate::plan::{
    OrderKey, OrderStep, Page, Position, Selection, SortBy, Step, TypeIndex, ValueCondition, Window,
};
use crate::request::RequestContext;
use crate::value::{SortValue, shown};
use condition::ReadyValue;
use walk::{Walker, failed};

/// An Oxigraph store.
pub struct OxigraphStore {
    store: Store,
    provider: &'static str,
}

impl OxigraphStore {
    /// Wraps a store, whatever is loaded into it.
    #[must_use]
    pub fn new(store: Store) -> Self {
        OxigraphStore {
            store,
            provider: "in-memory",
        }
    }

    /// Opens a store on disk, and creates it when the folder has none yet.
    ///
    /// One process at a time can have it open.
    ///
    /// # Errors
    /// When the folder cannot be read or written, holds something else, or is in use.
    #[cfg(feature = "rocksdb")]
    pub fn open(folder: impl AsRef<std::path::Path>) -> Result<Self, StorageError> {
        Ok(OxigraphStore {
            store: Store::open(folder)?,
            provider: "rocksdb",
        })
    }

    /// Returns the kind of store: `in-memory` or `rocksdb`.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.provider
    }

    /// Returns the store itself.
    #[must_use]
    pub fn inner(&self) -> &Store {
        &self.store
    }
}

#[async_trait]
impl GraphStore for OxigraphStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &RequestContext,
    ) -> Result<Vec<NamedNode>, StoreError> {
        let walker = Walker::new(&self.store, &selection.dataset, context);
        let started = Instant::now();
        walker.check()?;
        let nodes = candidates::select(&walker, &selection.condition)?;
        walker.settle()?;
        walker.record("look-ups", nodes.len(), started);
        if selection.order.is_empty() && selection.page.is_whole() {
            return Ok(nodes);
        }
        let mut cache = KeyCache::default();
        let page = walker.sorted_page(nodes, &selection.order, selection.page, &mut cache)?;
        walker.settle()?;
        Ok(page)
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &RequestContext,
    ) -> Result<Windowed, StoreError> {
        let walker = Walker::new(&self.store, &selection.dataset, context);
        let started = Instant::now();
        walker.check()?;
        let candidates = candidates::select(&walker, &selection.condition)?;
        walker.record("look-ups", candidates.len(), started);
        let mut builder = WindowBuilder::new(&selection.order, window);
        for id in candidates {
            walker.tick()?;
            let keys = walker.keys(&id, &selection.order)?;
            builder.offer(Position { keys, id });
        }
        walker.settle()?;
        Ok(builder.finish())
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &RequestContext,
    ) -> Result<Hydrated, StoreError> {
        let walker = Walker::new(&self.store, request.dataset, context);
        let started = Instant::now();
        walker.check()?;
        let whole = hydrate::columns(&walker, request.nodes, request.slots)?;
        let wanted = request.slots.iter().zip(whole).map(|(slot, column)| {
            let column = match &slot.condition {
                Some(condition) => walker.filtered(column, condition)?,
                None => column,
            };
            match &slot.page {
                Some(page) => walker.paged(column, page),
                None => Ok(column),
            }
        });
        let columns: Vec<Column> = wanted.collect::<Result<_, _>>()?;
        walker.settle()?;
        let values = columns.iter().map(|column| column.values.len()).sum();
        walker.record("walks", values, started);
        Ok(Hydrated { columns })
    }

    fn is_blocking(&self) -> bool {
        true
    }

    fn is_metered(&self) -> bool {
        true
    }

    async fn probe(&self, _context: &RequestContext) -> Result<StoreInfo, StoreError> {
        // Counting costs a walk over everything; whether there is anything costs nothing.
        let is_empty = self.store.is_empty().map_err(failed)?;
        Ok(StoreInfo {
            provider: self.provider.to_owned(),
            statements: is_empty.then_some(0),
        })
    }
}

/// Keeps the IRIs among terms.
fn named_nodes(terms: impl IntoIterator<Item = Term>) -> impl Iterator<Item = NamedNode> {
    terms.into_iter().filter_map(|term| match term {
        Term::NamedNode(node) => Some(node),
        _ => None,
    })
}

/// Sort keys that are known already.
type KeyCache = HashMap<NamedNode, Vec<SortValue>>;

impl Walker<'_> {
    /// Keeps the values of a column that satisfy a condition.
    fn filtered(&self, column: Column, condition: &ValueCondition) -> Result<Column, StoreError> {
        let ready = ReadyValue::new(condition)?;
        rebuilt(column, |values| {
            let mut kept = Vec::with_capacity(values.len());
            for value in values {
                self.tick()?;
                if ready.holds(self, &value)? == Some(true) {
                    kept.push(value);
                }
            }
            Ok(kept)
        })
    }

    fn paged(&self, column: Column, page: &SlotPage) -> Result<Column, StoreError> {
        let mut cache = KeyCache::default();
        rebuilt(column, |values| {
            let mut nodes = Vec::with_capacity(values.len());
            let mut rest = Vec::new();
            for value in values {
                match value {
                    Term::NamedNode(node) => {
                        let counts = match &page.members {
                            Some(test) => self.is_instance(&node, test)?,
                            None => true,
                        };
                        if counts {
                            nodes.push(node);
                        }
                    }
                    other => rest.push(other),
                }
            }
            // Literals where objects should be come last; the executor reports them.
            let objects = nodes.len();
            let range = page.page.range(objects + rest.len());
            let nodes = self.sorted_page(nodes, &page.order, page.page, &mut cache)?;
            rest.sort_by_cached_key(ToString::to_string);
            let skip = range.start.saturating_sub(objects);
            let take = range.len() - nodes.len();
            Ok(nodes
                .into_iter()
                .map(Term::from)
                .chain(rest.into_iter().skip(skip).take(take))
                .collect())
        })
    }

    /// Sorts objects by keys, then by IRI, and cuts a page out.
    fn sorted_page(
        &self,
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
        for node in &nodes {
            self.tick()?;
            if !cache.contains_key(node) {
                cache.insert(node.clone(), self.keys(node, order)?);
            }
        }
        let cache = &*cache;
        Ok(page_of(nodes, range, |a, b| {
            compare_keys(order, &cache[a], &cache[b]).then_with(|| a.cmp(b))
        }))
    }

    fn keys(&self, node: &NamedNode, order: &[OrderKey]) -> Result<Vec<SortValue>, StoreError> {
        order.iter().map(|key| self.key(node, key)).collect()
    }

    fn key(&self, node: &NamedNode, key: &OrderKey) -> Result<SortValue, StoreError> {
        let of_node = matches!(
            key.by,
            SortBy::Iri | SortBy::TypeName(_) | SortBy::Constant(_)
        );
        let (last, way) = match key.path.split_last() {
            Some((last, way)) if !of_node => (Some(last), way),
            _ => (None, key.path.as_slice()),
        };
        let mut at = node.clone();
        for step in way {
            match self.shown_object(&at, step)? {
                Some(next) => at = next,
                None => return Ok(SortValue::Missing),
            }
        }
        let mut values = Vec::new();
        if let Some(last) = last {
            self.walk(&at, &last.step, &mut values)?;
        }
        Ok(match &key.by {
            SortBy::Iri => SortValue::Text(at.into_string()),
            SortBy::Constant(text) => SortValue::Text(text.clone()),
            SortBy::TypeName(index) => self.type_name(&at, index)?,
            by => shown(by, &values, &self.context.accept_language),
        })
    }

    /// Returns the object that a single-valued field shows.
    fn shown_object(
        &self,
        node: &NamedNode,
        step: &OrderStep,
    ) -> Result<Option<NamedNode>, StoreError> {
        let mut values = Vec::new();
        self.walk(node, &step.step, &mut values)?;
        let mut smallest = None;
        'values: for next in named_nodes(values) {
            if smallest.as_ref().is_some_and(|smallest| *smallest < next) {
                continue;
            }
            for test in &step.tests {
                if !self.is_instance(&next, test)? {
                    continue 'values;
                }
            }
            smallest = Some(next);
        }
        Ok(smallest)
    }

    fn type_name(&self, node: &NamedNode, index: &TypeIndex) -> Result<SortValue, StoreError> {
        let mut types = Vec::new();
        for (position, property) in index.properties().enumerate() {
            let mut found = Vec::new();
            self.walk(node, &Step::forward(property.clone()), &mut found)?;
            types.extend(named_nodes(found).map(|ty| (position, ty)));
        }
        let types = types.iter().map(|(position, ty)| (*position, ty));
        let name = index
            .resolve(types)
            .and_then(|object| index.type_name(object));
        Ok(name.map_or(SortValue::Missing, |name| SortValue::Text(name.to_owned())))
    }
}

/// Rebuilds a column from the changed values of each object.
fn rebuilt(
    column: Column,
    mut change: impl FnMut(Vec<Term>) -> Result<Vec<Term>, StoreError>,
) -> Result<Column, StoreError> {
    let mut out = Column::with_capacity(column.offsets.len());
    let mut values = column.values.into_iter();
    for pair in column.offsets.windows(2) {
        let length = (pair[1] - pair[0]) as usize;
        out.values
            .extend(change(values.by_ref().take(length).collect())?);
        out.end_node();
    }
    Ok(out)
}

/// Returns the elements of `range` as if all were sorted.
fn page_of(
    mut nodes: Vec<NamedNode>,
    range: std::ops::Range<usize>,
    compare: impl Fn(&NamedNode, &NamedNode) -> std::cmp::Ordering,
) -> Vec<NamedNode> {
    if range.end < nodes.len() {
        nodes.select_nth_unstable_by(range.end, &compare);
        nodes.truncate(range.end);
    }
    nodes.sort_unstable_by(&compare);
    nodes.drain(..range.start);
    nodes
}
