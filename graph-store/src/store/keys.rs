//! Sort keys of objects by hydration alone, for stores that have no shorter way to them.

use std::collections::HashMap;

use indexmap::IndexSet;
use oxrdf::Term;

use super::GraphStore;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::evaluate::shown;
use crate::query::{
    Column, Dataset, HydrationRequest, NodeCondition, ObjectRef, OrderKey, OrderStep, Slot, SortBy,
    Step, TypeIndex, ValueCondition,
};
use crate::value::SortValue;

/// Returns the sort keys of each object, in the order of `order`.
///
/// Costs one call of [`GraphStore::hydrate`] for each step of each key, whatever the number of
/// objects.
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
        let of_node = matches!(
            key.by,
            SortBy::Iri | SortBy::TypeName(_) | SortBy::Constant(_)
        );
        let (last, way) = match key.path.split_last() {
            Some((last, way)) if !of_node => (Some(last), way),
            _ => (None, key.path.as_slice()),
        };
        let mut at: Vec<Option<ObjectRef>> = nodes.iter().cloned().map(Some).collect();
        for step in way {
            at = self.shown_objects(&at, step).await?;
        }
        match (&key.by, last) {
            (SortBy::Iri, _) => Ok(each(&at, |node| SortValue::Text(node.iri().to_owned()))),
            (SortBy::Constant(text), _) => Ok(each(&at, |_| SortValue::Text(text.clone()))),
            (SortBy::TypeName(index), _) => self.type_names(&at, index).await,
            (by, last) => {
                let slots: Vec<Slot> = last
                    .map(|last| slot(&last.step, None))
                    .into_iter()
                    .collect();
                let (places, columns) = self.values(&at, slots).await?;
                Ok(each(&at, |node| {
                    let values = columns
                        .first()
                        .map_or(&[][..], |column| column.of(places[node]));
                    shown(by, values, &self.context.accept_language)
                }))
            }
        }
    }

    /// Returns the object that a single-valued field shows of each.
    async fn shown_objects(
        &self,
        at: &[Option<ObjectRef>],
        step: &OrderStep,
    ) -> Result<Vec<Option<ObjectRef>>, StoreError> {
        let tests = step.tests.iter().cloned().map(NodeCondition::Instance);
        let tests = NodeCondition::all(tests);
        let condition = (!tests.is_true()).then_some(ValueCondition::Node(tests));
        let slots = vec![slot(&step.step, condition)];
        let (places, columns) = self.values(at, slots).await?;
        let smallest = |node: &ObjectRef| {
            let values = columns[0].range(places[node]);
            let objects = values.filter_map(|value| columns[0].object(value));
            objects.min()
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
                values.filter_map(move |value| match value {
                    Term::NamedNode(ty) => Some((property, ty)),
                    _ => None,
                })
            });
            let name = index.resolve(types);
            let name = name.and_then(|object| index.type_name(object));
            name.map_or(SortValue::Missing, |name| SortValue::Text(name.to_owned()))
        }))
    }

    /// Hydrates the distinct nodes; returns the place of each in the columns.
    async fn values<'n>(
        &self,
        at: &'n [Option<ObjectRef>],
        slots: Vec<Slot>,
    ) -> Result<(HashMap<&'n ObjectRef, usize>, Vec<Column>), StoreError> {
        let distinct: IndexSet<&ObjectRef> = at.iter().flatten().collect();
        let places = distinct.iter().enumerate().map(|(at, node)| (*node, at));
        let places = places.collect();
        if distinct.is_empty() || slots.is_empty() {
            return Ok((places, Vec::new()));
        }
        let nodes: Vec<ObjectRef> = distinct.into_iter().cloned().collect();
        let request = HydrationRequest {
            nodes: &nodes,
            slots: &slots,
            dataset: self.dataset,
        };
        let hydrated = self.store.hydrate(&request, self.context).await?;
        Ok((places, hydrated.columns))
    }
}

fn slot(step: &Step, condition: Option<ValueCondition>) -> Slot {
    Slot {
        step: step.clone(),
        condition,
        page: None,
    }
}

/// Returns a value for each node, missing where the way to it broke off.
fn each(at: &[Option<ObjectRef>], value: impl Fn(&ObjectRef) -> SortValue) -> Vec<SortValue> {
    let values = at.iter();
    values
        .map(|node| node.as_ref().map_or(SortValue::Missing, &value))
        .collect()
}
