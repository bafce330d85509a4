//! Facts of objects, as a store has them.

use std::collections::{BTreeSet, HashMap};

use call_context::CallContext;
use oxrdf::{NamedNode, Term};

use super::express::{Fact, PathStep, ValuePath};
use super::key::key;
use crate::error::StoreError;
use crate::query::{
    Dataset, HydrationRequest, NodeCondition, ObjectRef, Page, Selection, Slot, Step,
    ValueCondition,
};
use crate::store::GraphStore;

/// The facts of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactsOf {
    /// Positions of the conditions that hold.
    pub holds: BTreeSet<usize>,
    /// Keys of values, each with the position of the fact.
    pub values: BTreeSet<(usize, String)>,
    /// Other objects that the facts depend on: when one of these changes, so may the facts.
    pub depends_on: BTreeSet<NamedNode>,
}

/// Reads facts.
#[derive(Clone, Copy)]
pub struct Reading<'r> {
    /// The facts.
    pub facts: &'r [Fact],
    /// The data.
    pub store: &'r dyn GraphStore,
    /// The graphs to read.
    pub dataset: &'r Dataset,
}

impl Fact {
    /// Returns the ways to other objects that the fact depends on, each of one step or more.
    #[must_use]
    pub fn ways(&self) -> Vec<Vec<Step>> {
        let mut ways = Vec::new();
        match self {
            Fact::Holds(condition) => add_ways(condition, &mut Vec::new(), &mut ways),
            Fact::Values(path) => {
                let mut above = Vec::new();
                for (at, PathStep { step, condition }) in path.steps.iter().enumerate() {
                    above.push(step.clone());
                    let is_last = at + 1 == path.steps.len();
                    match condition {
                        Some(ValueCondition::Node(node)) => {
                            add(&above, &mut ways);
                            add_ways(node, &mut above, &mut ways);
                        }
                        Some(ValueCondition::Term(_)) | None if is_last && !step.inverse => {}
                        Some(ValueCondition::Term(_)) | None => add(&above, &mut ways),
                    }
                }
            }
        }
        ways
    }
}

fn add(way: &[Step], ways: &mut Vec<Vec<Step>>) {
    if !ways.iter().any(|known| known == way) {
        ways.push(way.to_vec());
    }
}

fn add_ways(condition: &NodeCondition, above: &mut Vec<Step>, ways: &mut Vec<Vec<Step>>) {
    match condition {
        NodeCondition::All(parts) | NodeCondition::Any(parts) => {
            parts.iter().for_each(|part| add_ways(part, above, ways));
        }
        NodeCondition::Not(inner) => add_ways(inner, above, ways),
        NodeCondition::OneOf(_) | NodeCondition::Iri(_) | NodeCondition::Instance(_) => {}
        NodeCondition::Values {
            step, condition, ..
        } => {
            above.push(step.clone());
            match &**condition {
                ValueCondition::Node(inner) => {
                    add(above, ways);
                    add_ways(inner, above, ways);
                }
                ValueCondition::Term(_) if step.inverse => add(above, ways),
                ValueCondition::Term(_) => {}
            }
            above.pop();
        }
    }
}

impl Reading<'_> {
    /// Returns the facts of some objects, each given once.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn of(
        &self,
        nodes: &[ObjectRef],
        context: &CallContext,
    ) -> Result<Vec<FactsOf>, StoreError> {
        let mut all = vec![FactsOf::default(); nodes.len()];
        if nodes.is_empty() {
            return Ok(all);
        }
        let places: HashMap<&str, usize> = nodes.iter().map(ObjectRef::iri).zip(0..).collect();
        let mut reached: HashMap<Vec<Step>, Vec<BTreeSet<NamedNode>>> = HashMap::new();
        for (at, fact) in self.facts.iter().enumerate() {
            match fact {
                Fact::Holds(condition) => {
                    for object in self.satisfying(nodes, condition, context).await? {
                        if let Some(place) = places.get(object.iri()) {
                            all[*place].holds.insert(at);
                        }
                    }
                }
                Fact::Values(path) => {
                    let values = self.values(nodes, path, context).await?;
                    for (facts, keys) in all.iter_mut().zip(values) {
                        facts.values.extend(keys.into_iter().map(|key| (at, key)));
                    }
                }
            }
            for way in fact.ways() {
                for depth in 1..=way.len() {
                    let (above, step) = (&way[..depth - 1], &way[depth - 1]);
                    if reached.contains_key(&way[..depth]) {
                        continue;
                    }
                    let from = match reached.get(above) {
                        Some(from) => from.clone(),
                        None => own(nodes),
                    };
                    let slot = Slot::new(step.clone());
                    let values = self.step(from, slot, context).await?;
                    let iris = values.into_iter().map(|values| iris(values).collect());
                    reached.insert(way[..depth].to_vec(), iris.collect());
                }
                for (facts, objects) in all.iter_mut().zip(&reached[&way]) {
                    facts.depends_on.extend(objects.iter().cloned());
                }
            }
        }
        Ok(all)
    }

    /// Returns those of some objects that satisfy a condition.
    async fn satisfying(
        &self,
        nodes: &[ObjectRef],
        condition: &NodeCondition,
        context: &CallContext,
    ) -> Result<Vec<ObjectRef>, StoreError> {
        let among = nodes
            .iter()
            .map(|node| NamedNode::new_unchecked(node.iri()));
        let among = NodeCondition::one_of(among.collect());
        let selection = Selection {
            condition: NodeCondition::all([among, condition.clone()]),
            order: Vec::new(),
            page: Page::default(),
            dataset: self.dataset.clone(),
        };
        Ok(self.store.select(&selection, context).await?.into_refs())
    }

    /// Returns the keys of the values at the end of a path for each object.
    async fn values(
        &self,
        nodes: &[ObjectRef],
        path: &ValuePath,
        context: &CallContext,
    ) -> Result<Vec<BTreeSet<String>>, StoreError> {
        let mut objects = own(nodes);
        let Some((last, above)) = path.steps.split_last() else {
            let keys = nodes.iter().map(|node| {
                let iri = NamedNode::new_unchecked(node.iri());
                key(path.domain, iri.as_ref()).into_iter().collect()
            });
            return Ok(keys.collect());
        };
        for step in above {
            let values = self.step(objects, slot(step), context).await?;
            let iris = values.into_iter().map(|values| iris(values).collect());
            objects = iris.collect();
        }
        let values = self.step(objects, slot(last), context).await?;
        let keys = values.into_iter().map(|values| {
            let keys = values
                .iter()
                .filter_map(|term| key(path.domain, term.as_ref()));
            keys.collect()
        });
        Ok(keys.collect())
    }

    /// Returns where a step leads from each of some sets of objects.
    async fn step(
        &self,
        from: Vec<BTreeSet<NamedNode>>,
        slot: Slot,
        context: &CallContext,
    ) -> Result<Vec<Vec<Term>>, StoreError> {
        let distinct: BTreeSet<&NamedNode> = from.iter().flatten().collect();
        if distinct.is_empty() {
            return Ok(vec![Vec::new(); from.len()]);
        }
        let nodes: Vec<ObjectRef> = distinct
            .iter()
            .map(|iri| ObjectRef::from((*iri).clone()))
            .collect();
        let places: HashMap<&NamedNode, usize> = distinct.into_iter().zip(0..).collect();
        let request = HydrationRequest {
            nodes: (&nodes).into(),
            slots: &[slot],
            dataset: self.dataset,
        };
        let hydrated = self.store.hydrate(&request, context).await?.into_owned();
        let column = &hydrated.columns[0];
        let ends = from.iter().map(|from| {
            let values = from.iter().flat_map(|iri| {
                let values = column.of(places[iri]).terms();
                values.expect("terms are copied when they are read")
            });
            values.cloned().collect()
        });
        Ok(ends.collect())
    }
}

fn own(nodes: &[ObjectRef]) -> Vec<BTreeSet<NamedNode>> {
    let own = nodes
        .iter()
        .map(|node| [NamedNode::new_unchecked(node.iri())].into());
    own.collect()
}

fn slot(step: &PathStep) -> Slot {
    Slot {
        condition: step.condition.clone(),
        ..Slot::new(step.step.clone())
    }
}

fn iris(values: Vec<Term>) -> impl Iterator<Item = NamedNode> {
    values.into_iter().filter_map(|term| match term {
        Term::NamedNode(iri) => Some(iri),
        _ => None,
    })
}
