//! Conditions that a few look-ups decide, without a query.
//!
//! Type tests and lists of ids are by far the most frequent conditions; a query for them would cost
//! many times what the look-ups cost.

use std::collections::{HashMap, HashSet};

use oxrdf::{GraphNameRef, NamedNode, NamedOrBlankNode, NamedOrBlankNodeRef, Term, TermRef};

use super::{CHECK_EVERY, Walker, failed, rebuilt};
use crate::plan::{NodeCondition, TypeTest};
use crate::store::{Column, StoreError};

/// Tells whether a condition needs look-ups alone.
pub(super) fn is_direct(condition: &NodeCondition) -> bool {
    match condition {
        NodeCondition::OneOf(_) | NodeCondition::Instance(_) => true,
        NodeCondition::All(parts) | NodeCondition::Any(parts) => parts.iter().all(is_direct),
        NodeCondition::Not(inner) => is_direct(inner),
        NodeCondition::Iri(_) | NodeCondition::Values { .. } => false,
    }
}

/// Returns the conditions that must all hold.
fn conjuncts(condition: &NodeCondition) -> &[NodeCondition] {
    match condition {
        NodeCondition::All(parts) => parts,
        single => std::slice::from_ref(single),
    }
}

/// Returns the ids that objects must be among.
fn ids(parts: &[NodeCondition]) -> Option<&[NamedNode]> {
    parts.iter().find_map(|part| match part {
        NodeCondition::OneOf(ids) => Some(ids.as_slice()),
        _ => None,
    })
}

/// Returns a type test that objects must pass.
fn instance_test(parts: &[NodeCondition]) -> Option<&TypeTest> {
    parts.iter().find_map(|part| match part {
        NodeCondition::Instance(test) => Some(test),
        _ => None,
    })
}

impl Walker<'_> {
    /// Returns the objects that satisfy a direct condition, each once; `None` when a query is better.
    pub(super) fn select_directly(
        &self,
        condition: &NodeCondition,
    ) -> Result<Option<Vec<NamedNode>>, StoreError> {
        let mut selected = Vec::new();
        let mut add = |node| {
            selected.push(node);
            Ok(())
        };
        if !self.each_direct(condition, &mut add)? {
            return Ok(None);
        }
        if self.may_come_twice(condition) {
            let mut seen = HashSet::with_capacity(selected.len());
            selected.retain(|node| seen.insert(node.clone()));
        }
        Ok(Some(selected))
    }

    /// Hands over the objects that satisfy a direct condition, as they are found, some perhaps more
    /// than once; false when a query is better.
    pub(super) fn each_direct(
        &self,
        condition: &NodeCondition,
        take: &mut dyn FnMut(NamedNode) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        if !is_direct(condition) {
            return Ok(false);
        }
        let parts = conjuncts(condition);
        let is_decided = parts.len() == 1;
        let mut count = 0_usize;
        let mut test = |node: NamedNode| {
            if count.is_multiple_of(CHECK_EVERY) {
                self.check()?;
            }
            count += 1;
            if is_decided || self.holds(&node, condition)? {
                take(node)?;
            }
            Ok(())
        };
        if let Some(ids) = ids(parts) {
            for id in ids {
                test(id.clone())?;
            }
            return Ok(true);
        }
        let Some(instances) = instance_test(parts) else {
            return Ok(false);
        };
        self.each_instance(instances, &mut test)?;
        Ok(true)
    }

    /// Tells whether [`Walker::each_direct`] may hand an object over more than once.
    fn may_come_twice(&self, condition: &NodeCondition) -> bool {
        let parts = conjuncts(condition);
        let single =
            |test: &TypeTest| test.alternatives.len() == 1 && test.alternatives[0].1.len() == 1;
        ids(parts).is_none() && (self.may_repeat || !instance_test(parts).is_some_and(single))
    }

    /// Keeps the IRIs of a column that satisfy a direct condition.
    pub(super) fn filtered_directly(
        &self,
        column: Column,
        condition: &NodeCondition,
    ) -> Result<Column, StoreError> {
        let mut decided: HashMap<NamedNode, bool> = HashMap::new();
        rebuilt(column, |values| {
            let mut kept = Vec::with_capacity(values.len());
            for value in values {
                let Term::NamedNode(node) = value else {
                    continue;
                };
                let holds = match decided.get(&node) {
                    Some(&holds) => holds,
                    None => {
                        if decided.len().is_multiple_of(CHECK_EVERY) {
                            self.check()?;
                        }
                        let holds = self.holds(&node, condition)?;
                        decided.insert(node.clone(), holds);
                        holds
                    }
                };
                if holds {
                    kept.push(node.into());
                }
            }
            Ok(kept)
        })
    }

    fn holds(&self, node: &NamedNode, condition: &NodeCondition) -> Result<bool, StoreError> {
        match condition {
            NodeCondition::All(parts) => {
                for part in parts {
                    if !self.holds(node, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            NodeCondition::Any(parts) => {
                for part in parts {
                    if self.holds(node, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            NodeCondition::Not(inner) => Ok(!self.holds(node, inner)?),
            NodeCondition::OneOf(ids) => Ok(ids.binary_search(node).is_ok()),
            NodeCondition::Instance(test) => self.is_instance(node, test),
            NodeCondition::Iri(_) | NodeCondition::Values { .. } => {
                unreachable!("only direct conditions come here")
            }
        }
    }

    pub(super) fn is_instance(
        &self,
        node: &NamedNode,
        test: &TypeTest,
    ) -> Result<bool, StoreError> {
        for (property, types) in &test.alternatives {
            if let [single] = types.as_slice() {
                let object = TermRef::from(single);
                if self.any_graph(|graph| {
                    let subject = Some(NamedOrBlankNodeRef::from(node));
                    let mut quads = self.store.quads_for_pattern(
                        subject,
                        Some(property.as_ref()),
                        Some(object),
                        graph,
                    );
                    Ok(quads.next().transpose().map_err(failed)?.is_some())
                })? {
                    return Ok(true);
                }
                continue;
            }
            let mut found = Vec::new();
            let step = crate::plan::Step::forward(property.clone());
            self.walk(node, &step, &mut found)?;
            let known =
                |ty: &Term| matches!(ty, Term::NamedNode(ty) if types.binary_search(ty).is_ok());
            if found.iter().any(known) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Hands over all IRIs that pass a type test, once for each type and graph.
    fn each_instance(
        &self,
        test: &TypeTest,
        take: &mut dyn FnMut(NamedNode) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for (property, types) in &test.alternatives {
            for ty in types {
                self.check()?;
                self.any_graph(|graph| {
                    let (predicate, object) = (Some(property.as_ref()), Some(TermRef::from(ty)));
                    let quads = self.store.quads_for_pattern(None, predicate, object, graph);
                    for quad in quads {
                        if let NamedOrBlankNode::NamedNode(node) = quad.map_err(failed)?.subject {
                            take(node)?;
                        }
                    }
                    Ok(false)
                })?;
            }
        }
        Ok(())
    }

    /// Tells whether `test` holds in some graph of the dataset.
    fn any_graph(
        &self,
        mut test: impl FnMut(Option<GraphNameRef<'_>>) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        match &self.graphs {
            None => test(None),
            Some(graphs) => {
                for graph in graphs {
                    if test(Some(graph.as_ref()))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}
