//! Sort keys of objects by hydration alone, for stores without a shortcut.

use std::collections::HashMap;
use std::convert::Infallible;

use call_context::CallContext;
use indexmap::IndexSet;
use oxrdf::NamedNode;

use super::GraphStore;
use super::order::split;
use crate::error::StoreError;
use crate::evaluate::shown;
use crate::query::{
    Column, Dataset, HydrationRequest, NodeCondition, ObjectRef, OrderKey, OrderStep, OrderWay,
    Slot, SortBy, Step, TermSlice, TermView, TypeGuard, TypeIndex, TypeTest, ValueCondition,
};
use crate::value::SortValue;

/// Returns the sort keys of each object, in the order of `order`.
///
/// Costs one call of [`GraphStore::hydrate`] for each step of each way of each key, and one more for
/// a step that has a guard, whatever the number of objects.
///
/// # Errors
/// When the store fails.
pub async fn keys_by_hydration<S: GraphStore + ?Sized>(
    store: &S,
    nodes: &[ObjectRef],
    order: &[OrderKey],
    dataset: &Dataset,
    context: &CallContext,
) -> Result<Vec<Vec<SortValue>>, StoreError> {
    let reader = KeyReader {
        store,
        dataset,
        context,
    };
    let mut keys = vec![Vec::with_capacity(order.len()); nodes.len()];
    for key in order {
        let values = reader.key(nodes, key).await?;
        for (keys, value) in keys.iter_mut().zip(values) {
            keys.push(value);
        }
    }
    Ok(keys)
}

struct KeyReader<'a, S: ?Sized> {
    store: &'a S,
    dataset: &'a Dataset,
    context: &'a CallContext,
}

impl<S: GraphStore + ?Sized> KeyReader<'_, S> {
    async fn key(&self, nodes: &[ObjectRef], key: &OrderKey) -> Result<Vec<SortValue>, StoreError> {
        let mut keys = vec![SortValue::Missing; nodes.len()];
        // Positions of the nodes that no way was for so far.
        let mut open: Vec<usize> = (0..nodes.len()).collect();
        for way in &key.ways {
            if open.is_empty() {
                break;
            }
            let of_open: Vec<ObjectRef> = open.iter().map(|&node| nodes[node].clone()).collect();
            let values = self.along(&of_open, way).await?;
            let mut left = Vec::new();
            for (node, value) in open.into_iter().zip(values) {
                match value {
                    Some(value) => keys[node] = value,
                    None => left.push(node),
                }
            }
            open = left;
        }
        Ok(keys)
    }

    /// Returns the values at the end of a way; `None` for the nodes that it is not for.
    async fn along(
        &self,
        nodes: &[ObjectRef],
        way: &OrderWay,
    ) -> Result<Vec<Option<SortValue>>, StoreError> {
        let (steps, last) = split(way);
        let mut at: Vec<Option<ObjectRef>> = nodes.iter().cloned().map(Some).collect();
        let mut is_for = vec![true; nodes.len()];
        for step in steps {
            self.keep_meant(&mut at, &mut is_for, step).await?;
            at = self.shown_objects(&at, step).await?;
        }
        if let Some(last) = last {
            self.keep_meant(&mut at, &mut is_for, last).await?;
        }
        let values = match (&way.by, last) {
            (SortBy::Iri, _) => each(&at, |node| SortValue::Text(node.iri().to_owned())),
            (SortBy::Constant(text), _) => each(&at, |_| SortValue::Text(text.clone())),
            (SortBy::TypeName(index), _) => self.type_names(&at, index).await?,
            (by, last) => {
                let slots: Vec<Slot> = last
                    .map(|last| slot(&last.step, None))
                    .into_iter()
                    .collect();
                let (places, columns) = self.values(&at, slots).await?;
                each(&at, |node| {
                    let values: Vec<_> = columns
                        .first()
                        .map(|column| column.of(places[node]))
                        .into_iter()
                        .flat_map(TermSlice::iter)
                        .collect();
                    let values: Vec<_> = values.into_iter().map(TermView::whole).collect();
                    shown(by, &values, &self.context.accept_language)
                })
            }
        };
        let values = values.into_iter().zip(is_for);
        Ok(values
            .map(|(value, is_for)| is_for.then_some(value))
            .collect())
    }

    /// Drops the nodes that a step is not for, and notes that the way is not for them.
    async fn keep_meant(
        &self,
        at: &mut [Option<ObjectRef>],
        is_for: &mut [bool],
        step: &OrderStep,
    ) -> Result<(), StoreError> {
        let Some(guard) = &step.of else {
            return Ok(());
        };
        let tests = guard
            .tests
            .iter()
            .flat_map(|(test, _)| test.alternatives.iter());
        let properties: IndexSet<&NamedNode> = tests.map(|(property, _)| property).collect();
        let slots = properties
            .iter()
            .map(|property| slot(&Step::forward((*property).clone()), None));
        let (places, columns) = self.values(at, slots.collect()).await?;
        let is_meant = |node: &ObjectRef| {
            let passes = |test: &TypeTest| {
                Ok::<bool, Infallible>(test.alternatives.iter().any(|(property, types)| {
                    let column = properties.get_index_of(property).map(|at| &columns[at]);
                    let mut stored = column
                        .map(|column| column.of(places[node]))
                        .into_iter()
                        .flat_map(TermSlice::iter);
                    stored.any(|ty| ty.into_iri().is_some_and(|ty| types.contains(&ty)))
                }))
            };
            let Ok(meant) = guard.admits(passes);
            meant
        };
        let meant: Vec<bool> = at
            .iter()
            .map(|node| node.as_ref().is_none_or(is_meant))
            .collect();
        for (position, meant) in meant.into_iter().enumerate() {
            if !meant {
                at[position] = None;
                is_for[position] = false;
            }
        }
        Ok(())
    }

    /// Returns the object that a single-valued field of each node displays.
    async fn shown_objects(
        &self,
        at: &[Option<ObjectRef>],
        step: &OrderStep,
    ) -> Result<Vec<Option<ObjectRef>>, StoreError> {
        let tests = step.tests.iter().cloned().map(NodeCondition::Instance);
        let displayed = step.displayed.as_ref().map(TypeGuard::condition);
        let tests = NodeCondition::all(tests.chain(displayed));
        let condition = (!tests.is_true()).then_some(ValueCondition::Node(tests));
        let slots = vec![slot(&step.step, condition)];
        let (places, columns) = self.values(at, slots).await?;
        let smallest = |node: &ObjectRef| {
            let values = columns[0].of(places[node]).iter();
            let objects = values.filter_map(TermView::into_iri);
            objects.map(ObjectRef::from).min()
        };
        Ok(at
            .iter()
            .map(|node| node.as_ref().and_then(smallest))
            .collect())
    }

    async fn type_names(
        &self,
        at: &[Option<ObjectRef>],
        index: &TypeIndex,
    ) -> Result<Vec<SortValue>, StoreError> {
        let properties = index.properties();
        let slots = properties.map(|property| slot(&Step::forward(property.clone()), None));
        let (places, columns) = self.values(at, slots.collect()).await?;
        Ok(each(at, |node| {
            let types = columns.iter().enumerate().flat_map(|(property, column)| {
                let values = column.of(places[node]).iter();
                values.filter_map(move |value| Some((property, value.into_iri()?)))
            });
            let types: Vec<(usize, NamedNode)> = types.collect();
            let name = index
                .resolve(types.iter().map(|(property, ty)| (*property, ty)))
                .and_then(|object| index.type_name(object));
            name.map_or(SortValue::Missing, |name| SortValue::Text(name.to_owned()))
        }))
    }

    /// Hydrates the distinct nodes; returns the position of each in the columns.
    async fn values<'n>(
        &self,
        at: &'n [Option<ObjectRef>],
        slots: Vec<Slot>,
    ) -> Result<(HashMap<&'n ObjectRef, usize>, Vec<Column>), StoreError> {
        let distinct: IndexSet<&ObjectRef> = at.iter().flatten().collect();
        let places = distinct
            .iter()
            .enumerate()
            .map(|(at, node)| (*node, at))
            .collect();
        if distinct.is_empty() || slots.is_empty() {
            return Ok((places, Vec::new()));
        }
        let nodes: Vec<ObjectRef> = distinct.into_iter().cloned().collect();
        let request = HydrationRequest {
            nodes: (&nodes).into(),
            slots: &slots,
            dataset: self.dataset,
        };
        let hydrated = self.store.hydrate(&request, self.context).await?;
        Ok((places, hydrated.columns))
    }
}

fn slot(step: &Step, condition: Option<ValueCondition>) -> Slot {
    Slot {
        condition,
        ..Slot::new(step.clone())
    }
}

/// Returns a value for each node, missing where the path to it ended early.
fn each(at: &[Option<ObjectRef>], value: impl Fn(&ObjectRef) -> SortValue) -> Vec<SortValue> {
    let values = at.iter();
    values
        .map(|node| node.as_ref().map_or(SortValue::Missing, &value))
        .collect()
}
