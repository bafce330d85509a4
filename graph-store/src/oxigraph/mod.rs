//! The embedded store: Oxigraph, in memory, or on disk with the feature `rocksdb`.
//!
//! Objects are found, filtered, ordered and read by walking the index, without SPARQL: that saves
//! parsing and planning a query, and values compare exactly as answers show them.

mod candidates;
mod condition;
mod hydrate;
mod iris;
mod links;
mod statements;
mod walk;

use std::time::Instant;

use async_trait::async_trait;
use oxigraph::store::{StorageError, Store};
use oxrdf::{NamedNode, Term};

use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{
    Column, Dataset, Hydrated, HydrationRequest, Position, Selection, SlotPage, Step, TypeTest,
    ValueCondition, Window,
};
use crate::store::order::{KeyCache, Neighbours, keys, sorted_page, sorted_values};
use crate::store::{GraphStore, LocalStore, StoreInfo, WindowBuilder, Windowed};
use condition::ReadyValue;
use links::LinkIndex;
use walk::{Walker, failed};

/// An Oxigraph store.
pub struct OxigraphStore {
    store: Store,
    provider: &'static str,
    links: LinkIndex,
}

impl OxigraphStore {
    /// Wraps a store, whatever is loaded into it.
    #[must_use]
    pub fn new(store: Store) -> Self {
        OxigraphStore {
            store,
            provider: "in-memory",
            links: LinkIndex::default(),
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
            links: LinkIndex::default(),
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

    /// Says that the data are complete: nobody writes to the store, through this handle or another
    /// one, until [`OxigraphStore::unseal`].
    ///
    /// A store in memory then keeps an index beside it of the properties that services over it read
    /// against their direction, those with an `inverseAlias`. It is made before this returns, and
    /// again when a further service needs more of it. What is written nevertheless can be missing in
    /// answers.
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn seal(&self) -> Result<(), StorageError> {
        match self.provider {
            // It finds links by property and object itself.
            "rocksdb" => Ok(()),
            _ => self.links.seal(&self.store),
        }
    }

    /// Takes [`OxigraphStore::seal`] back and forgets the index: the store can be written to.
    pub fn unseal(&self) {
        self.links.unseal();
    }

    fn walker<'a>(&'a self, dataset: &Dataset, context: &'a CallContext) -> Walker<'a> {
        Walker::new(&self.store, dataset, self.links.current(), context)
    }

    /// Reads the values of objects.
    fn read(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        context.count_call();
        let walker = self.walker(request.dataset, context);
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
}

#[async_trait]
impl GraphStore for OxigraphStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Vec<NamedNode>, StoreError> {
        context.count_call();
        let walker = self.walker(&selection.dataset, context);
        let started = Instant::now();
        walker.check()?;
        let nodes = candidates::select(&walker, &selection.condition)?;
        walker.settle()?;
        walker.record("look-ups", nodes.len(), started);
        if selection.order.is_empty() && selection.page.is_whole() {
            return Ok(nodes);
        }
        let mut cache = KeyCache::default();
        let page = sorted_page(&walker, nodes, &selection.order, selection.page, &mut cache)?;
        walker.settle()?;
        Ok(page)
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        context.count_call();
        let walker = self.walker(&selection.dataset, context);
        let started = Instant::now();
        walker.check()?;
        let candidates = candidates::select(&walker, &selection.condition)?;
        walker.record("look-ups", candidates.len(), started);
        let mut builder = WindowBuilder::new(&selection.order, window);
        for id in candidates {
            walker.tick()?;
            let keys = keys(&walker, &id, &selection.order)?;
            builder.offer(Position { keys, id });
        }
        walker.settle()?;
        Ok(builder.finish())
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.read(request, context)
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        // Counting costs a walk over everything; whether there is anything costs nothing.
        let is_empty = self.store.is_empty().map_err(failed)?;
        Ok(StoreInfo {
            provider: self.provider.to_owned(),
            statements: is_empty.then_some(0),
        })
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }
}

impl LocalStore for OxigraphStore {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        Some(self.read(request, context))
    }

    fn expect_inverse(&self, properties: &[NamedNode]) {
        if let Err(error) = self.links.want(&self.store, properties) {
            tracing::warn!(%error, "links cannot be indexed");
        }
    }

    fn is_metered(&self) -> bool {
        true
    }
}

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
            sorted_values(self, values, page, &mut cache)
        })
    }
}

impl Neighbours for Walker<'_> {
    fn context(&self) -> &CallContext {
        self.context
    }

    fn walk(
        &self,
        node: &NamedNode,
        step: &Step,
        values: &mut Vec<Term>,
    ) -> Result<(), StoreError> {
        Walker::walk(self, node, step, values)
    }

    fn is_instance(&self, node: &NamedNode, test: &TypeTest) -> Result<bool, StoreError> {
        Walker::is_instance(self, node, test)
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
