//! Answers the calls to a store by index scans.

use std::time::Instant;

use oxrdf::{NamedNode, Term};

use super::condition::ReadyValue;
use super::source::QuadSource;
use super::walk::Walker;
use super::{candidates, hydrate};
use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{
    Column, Hydrated, HydrationRequest, ObjectRef, Position, Selection, SlotPage, Step, TypeTest,
    ValueCondition, Window, object_refs,
};
use crate::store::order::{KeyCache, Neighbours, keys, sorted_page, sorted_values};
use crate::store::{WindowBuilder, Windowed};

impl<S: QuadSource> Walker<'_, S> {
    /// Returns the objects of a selection, ordered and paged.
    pub(crate) fn select(&self, selection: &Selection) -> Result<Vec<ObjectRef>, StoreError> {
        let nodes = self.candidates(selection)?;
        self.settle()?;
        if selection.order.is_empty() && selection.page.is_whole() {
            return Ok(object_refs(nodes));
        }
        let mut cache = KeyCache::default();
        let page = sorted_page(self, nodes, &selection.order, selection.page, &mut cache)?;
        self.settle()?;
        Ok(object_refs(page))
    }

    /// Returns a window over the objects of a selection.
    pub(crate) fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
    ) -> Result<Windowed, StoreError> {
        let candidates = self.candidates(selection)?;
        let mut builder = WindowBuilder::new(&selection.order, window);
        for id in candidates {
            self.tick()?;
            let keys = keys(self, &id, &selection.order)?;
            let id = id.into();
            builder.offer(Position { keys, id });
        }
        self.settle()?;
        Ok(builder.finish())
    }

    /// Returns the objects that satisfy the condition of a selection.
    fn candidates(&self, selection: &Selection) -> Result<Vec<NamedNode>, StoreError> {
        self.context.count_call();
        let started = Instant::now();
        self.check()?;
        let nodes = candidates::select(self, &selection.condition)?;
        self.record("look-ups", nodes.len(), started);
        Ok(nodes)
    }

    /// Reads the values of objects.
    pub(crate) fn hydrate(&self, request: &HydrationRequest<'_>) -> Result<Hydrated, StoreError> {
        self.context.count_call();
        let started = Instant::now();
        self.check()?;
        let whole = hydrate::columns(self, request.nodes, request.slots)?;
        let wanted = request.slots.iter().zip(whole).map(|(slot, column)| {
            let column = match &slot.condition {
                Some(condition) => self.filtered(column, condition)?,
                None => column,
            };
            match &slot.page {
                Some(page) => self.paged(column, page),
                None => Ok(column),
            }
        });
        let columns: Vec<Column> = wanted.collect::<Result<_, _>>()?;
        self.settle()?;
        let values = columns.iter().map(|column| column.values.len()).sum();
        self.record("walks", values, started);
        Ok(Hydrated { columns })
    }

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

impl<S: QuadSource> Neighbours for Walker<'_, S> {
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
