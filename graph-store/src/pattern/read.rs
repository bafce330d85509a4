//! Answers the calls to a store by index scans.

use std::cmp::Ordering;

use call_context::CallContext;
use call_context::trace::LookUp;
use oxrdf::{NamedNode, TermRef};

use super::condition::{Ready, ReadyValue};
use super::hydrate::Values;
use super::ready::{ReadyStep, ReadyTest};
use super::source::QuadSource;
use super::walk::Walker;
use super::{candidates, hydrate};
use crate::error::StoreError;
use crate::evaluate::shown;
use crate::query::{
    Column, Hydrated, HydrationRequest, NodeCondition, ObjectRef, ObjectSlice, Objects, Selection,
    Slot, SortBy, Step, TypeTest, Window,
};
use crate::store::order::{KeyCache, Neighbours, keys, sorted_page, sorted_values};
use crate::store::ready_order::{ReadyOrder, ReadyPage};
use crate::store::{Place, PlaceBuilder, Windowed};
use crate::value::SortValue;

impl<S: QuadSource> Walker<'_, S> {
    /// Returns the objects of a selection, ordered and paged.
    pub(crate) fn select(&self, selection: &Selection) -> Result<Objects, StoreError> {
        let is_any_order = selection.order.is_empty() && selection.page.is_whole();
        if !is_any_order && let Some(nodes) = self.kept(selection)? {
            let page = nodes.range(selection.page.range(nodes.len()));
            page.iter().for_each(|node| self.keep_node(node));
            self.settle()?;
            return Ok(self.source.to_objects(page));
        }
        let nodes = if selection.order.is_empty() {
            self.first_candidates(selection)?
        } else {
            self.candidates(selection)?
        };
        self.settle()?;
        if is_any_order {
            return Ok(self.source.to_objects(nodes));
        }
        let mut cache = KeyCache::default();
        let order = ReadyOrder::new(self, &selection.order);
        let page = sorted_page(self, nodes, &order, selection.page, &mut cache)?;
        self.settle()?;
        Ok(self.source.to_objects(page))
    }

    /// Returns a window over the objects of a selection.
    pub(crate) fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
    ) -> Result<Windowed, StoreError> {
        if let Some(nodes) = self.kept(selection)? {
            return self.window_of(&nodes, selection, window);
        }
        let candidates = self.candidates(selection)?;
        let order = ReadyOrder::new(self, &selection.order);
        let handle = |id: &ObjectRef| self.source.node(id.node()).into_owned();
        let compare = |a: &S::Node, b: &S::Node| self.source.compare(a, b);
        let mut builder = PlaceBuilder::new(&selection.order, window, handle);
        for id in candidates {
            self.tick()?;
            let keys = keys(self, &id, &order)?;
            builder.offer(Place { keys, id }, compare);
        }
        self.settle()?;
        Ok(builder.finish(compare, |ids| self.source.to_objects(ids)))
    }

    /// Returns the objects that satisfy the condition of a selection.
    pub(super) fn candidates(&self, selection: &Selection) -> Result<Vec<S::Node>, StoreError> {
        self.select_candidates(selection, None)
    }

    /// Returns the same, or no more than the page of a selection in the order of IRIs needs.
    fn first_candidates(&self, selection: &Selection) -> Result<Vec<S::Node>, StoreError> {
        let limit = selection.page.limit.is_some();
        let first = limit.then(|| selection.page.range(usize::MAX).end);
        self.select_candidates(selection, first)
    }

    fn select_candidates(
        &self,
        selection: &Selection,
        first: Option<usize>,
    ) -> Result<Vec<S::Node>, StoreError> {
        self.context.count_call();
        let begun = self.begun();
        self.check()?;
        let found = candidates::select(self, &selection.condition, first)?;
        if let (Some(trace), Some(begun)) = (&self.context.trace, begun) {
            let way = LookUp {
                by: found.by,
                candidates: found.candidates,
            };
            trace.record_look_up(way, found.nodes.len(), begun);
        }
        Ok(found.nodes)
    }

    /// Reads the values of objects.
    pub(crate) fn hydrate(&self, request: &HydrationRequest<'_>) -> Result<Hydrated, StoreError> {
        self.context.count_call();
        let begun = self.begun();
        self.check()?;
        let whole = hydrate::columns(self, request.nodes, request.slots)?;
        let mut known: Vec<(&NodeCondition, Vec<bool>)> = Vec::new();
        let wanted = request.slots.iter().zip(whole).map(|(slot, column)| {
            let column = match &slot.of {
                None => column,
                Some(condition) => {
                    let is_meant = self.meant(&mut known, request.nodes, condition)?;
                    column.of(is_meant)
                }
            };
            Ok(self.wanted(column, slot)?.into_column(&self.source))
        });
        let columns: Vec<Column> = wanted.collect::<Result<_, StoreError>>()?;
        self.settle()?;
        let values = columns.iter().map(|column| column.values.len()).sum();
        self.record("walks", values, begun);
        Ok(Hydrated { columns })
    }

    /// Returns which objects satisfy a condition of a slot; several slots may share one condition.
    fn meant<'k, 'c>(
        &self,
        known: &'k mut Vec<(&'c NodeCondition, Vec<bool>)>,
        nodes: ObjectSlice<'_>,
        condition: &'c NodeCondition,
    ) -> Result<&'k [bool], StoreError> {
        let at = match known.iter().position(|(other, _)| *other == condition) {
            Some(at) => at,
            None => {
                let ready = Ready::new(&self.source, condition)?;
                let holds = |position| {
                    self.tick()?;
                    ready.holds(self, &self.source.handle(nodes, position))
                };
                let meant = (0..nodes.len()).map(holds).collect::<Result<_, _>>()?;
                known.push((condition, meant));
                known.len() - 1
            }
        };
        Ok(&known[at].1)
    }

    /// Returns the values of a column that satisfy the condition of their slot and are on its page.
    fn wanted(&self, column: Values<S::Term>, slot: &Slot) -> Result<Values<S::Term>, StoreError> {
        let condition = slot.condition.as_ref();
        let condition = condition
            .map(|condition| ReadyValue::new(&self.source, condition))
            .transpose()?;
        let Some(asked) = &slot.page else {
            return match &condition {
                Some(condition) => rebuilt(column, |values| self.satisfying(values, condition)),
                None => Ok(column),
            };
        };
        let page = ReadyPage::new(self, asked);
        let mut cache = KeyCache::default();
        rebuilt(column, |values| {
            if asked.order.is_empty()
                && let Some(found) = self.begin(&values, condition.as_ref(), &page)?
            {
                return Ok(found);
            }
            let values = match &condition {
                Some(condition) => self.satisfying(values, condition)?,
                None => values,
            };
            sorted_values(self, values, &page, &mut cache)
        })
    }

    /// Keeps the values that satisfy a condition.
    fn satisfying(
        &self,
        values: Vec<S::Term>,
        condition: &ReadyValue<'_, S>,
    ) -> Result<Vec<S::Term>, StoreError> {
        let mut kept = Vec::with_capacity(values.len());
        for value in values {
            self.tick()?;
            if condition.holds(self, &value)? == Some(true) {
                kept.push(value);
            }
        }
        Ok(kept)
    }

    /// Returns a page by id of values, of which those behind the page are not tested; `None` where the page has no end, or
    /// the values are not objects in the order of their ids.
    fn begin(
        &self,
        values: &[S::Term],
        condition: Option<&ReadyValue<'_, S>>,
        page: &ReadyPage<'_, Self>,
    ) -> Result<Option<Vec<S::Term>>, StoreError> {
        if page.page.limit.is_none() {
            return Ok(None);
        }
        let mut last = 0;
        let is_in_order = values.iter().all(|value| {
            let node = self.source.as_node(value);
            let rank = node.and_then(|node| self.source.rank_of_node(node));
            let before = std::mem::replace(&mut last, rank.unwrap_or(0));
            before < last
        });
        if !is_in_order {
            return Ok(None);
        }
        let range = page.page.range(usize::MAX);
        let mut found = Vec::new();
        let mut passed = 0;
        for value in values {
            if passed == range.end {
                break;
            }
            self.tick()?;
            let is_wanted = match condition {
                Some(condition) => condition.holds(self, value)? == Some(true),
                None => true,
            };
            let node = self.source.as_node(value).filter(|_| is_wanted);
            let Some(node) = node else { continue };
            if page.counts(self, node)? {
                if range.contains(&passed) {
                    found.push(value.clone());
                }
                passed += 1;
            }
        }
        Ok(Some(found))
    }
}

impl<S: QuadSource> Neighbours for Walker<'_, S> {
    type Node = S::Node;
    type Term = S::Term;
    type Step<'q> = ReadyStep<'q, S>;
    type Test<'q> = ReadyTest<'q, S>;

    fn context(&self) -> &CallContext {
        self.context
    }

    fn step<'q>(&self, step: &'q Step) -> ReadyStep<'q, S> {
        Walker::step(self, step)
    }

    fn forward<'q>(&self, property: &'q NamedNode) -> ReadyStep<'q, S> {
        Walker::forward(self, property)
    }

    fn test<'q>(&self, test: &'q TypeTest) -> ReadyTest<'q, S> {
        ReadyTest::new(&self.source, test)
    }

    fn walk(
        &self,
        node: &S::Node,
        step: &ReadyStep<'_, S>,
        values: &mut Vec<S::Term>,
    ) -> Result<(), StoreError> {
        Walker::walk(self, node, step, values)
    }

    fn is_instance(&self, node: &S::Node, test: &ReadyTest<'_, S>) -> Result<bool, StoreError> {
        Walker::is_instance(self, node, test)
    }

    fn compare(&self, a: &S::Node, b: &S::Node) -> Ordering {
        self.source.compare(a, b)
    }

    fn to_node(&self, term: S::Term) -> Result<S::Node, S::Term> {
        self.source.to_node(term)
    }

    fn rank_of_node(&self, node: &S::Node) -> Option<u32> {
        self.source.rank_of_node(node)
    }

    fn rank_of_string(&self, term: &S::Term) -> Option<u32> {
        self.source.rank_of_string(term)
    }

    fn text(&self, term: &S::Term) -> String {
        self.source.with_term(term, |term| term.to_string())
    }

    fn to_iris(&self, nodes: Vec<S::Node>) -> Vec<NamedNode> {
        self.source.to_iris(nodes)
    }

    fn shown(&self, by: &SortBy, values: Vec<S::Term>) -> SortValue {
        let languages = &self.context.accept_language;
        match values.as_slice() {
            [] => shown::<TermRef<'_>>(by, &[], languages),
            [single] => self
                .source
                .with_term(single, |single| shown(by, &[single], languages)),
            _ => shown(by, &self.source.to_terms(values), languages),
        }
    }
}

/// Rebuilds a column from the changed values of each object.
fn rebuilt<T>(
    column: Values<T>,
    mut change: impl FnMut(Vec<T>) -> Result<Vec<T>, StoreError>,
) -> Result<Values<T>, StoreError> {
    let mut out = Values::with_capacity(column.offsets.len());
    let mut values = column.values.into_iter();
    for pair in column.offsets.windows(2) {
        let length = (pair[1] - pair[0]) as usize;
        out.values
            .extend(change(values.by_ref().take(length).collect())?);
        out.end_node();
    }
    Ok(out)
}
