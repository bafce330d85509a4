//! Conditions that a few look-ups decide, without a query.
//!
//! Type tests and lists of ids are by far the most frequent conditions; a query for them would cost
//! many times what the look-ups cost.

use std::collections::{HashMap, HashSet};

use oxrdf::{GraphNameRef, NamedNode, NamedOrBlankNode, NamedOrBlankNodeRef, Term, TermRef};

use super::{Walker, failed, rebuilt};
use crate::plan::{NodeCondition, TypeTest};
use crate::store::order::CHECK_EVERY;
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

impl Walker<'_> {
    /// Returns the objects that satisfy a direct condition; `None` when a query is better.
    pub(super) fn select_directly(
        &self,
        condition: &NodeCondition,
    ) -> Result<Option<Vec<NamedNode>>, StoreError> {
        if !is_direct(condition) {
            return Ok(None);
        }
        let parts = match condition {
            NodeCondition::All(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let ids = parts.iter().find_map(|part| match part {
            NodeCondition::OneOf(ids) => Some(ids),
            _ => None,
        });
        let mut instances = parts.iter().filter_map(|part| match part {
            NodeCondition::Instance(test) => Some(test),
            _ => None,
        });
        let candidates = match (ids, instances.next()) {
            (Some(ids), _) => ids.to_vec(),
            (None, Some(test)) => self.instances(test)?,
            (None, None) => return Ok(None),
        };
        let is_decided = parts.len() == 1;
        let mut selected = Vec::with_capacity(candidates.len());
        for (position, candidate) in candidates.into_iter().enumerate() {
            if position % CHECK_EVERY == 0 {
                self.check()?;
            }
            if is_decided || self.holds(&candidate, condition)? {
                selected.push(candidate);
            }
        }
        Ok(Some(selected))
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

    /// Returns all IRIs that pass a type test, each once.
    fn instances(&self, test: &TypeTest) -> Result<Vec<NamedNode>, StoreError> {
        let single = test.alternatives.len() == 1 && test.alternatives[0].1.len() == 1;
        let mut found = Vec::new();
        for (property, types) in &test.alternatives {
            for ty in types {
                self.check()?;
                self.any_graph(|graph| {
                    let (predicate, object) = (Some(property.as_ref()), Some(TermRef::from(ty)));
                    let quads = self.store.quads_for_pattern(None, predicate, object, graph);
                    for (position, quad) in quads.enumerate() {
                        if position % CHECK_EVERY == 0 {
                            self.check()?;
                        }
                        if let NamedOrBlankNode::NamedNode(node) = quad.map_err(failed)?.subject {
                            found.push(node);
                        }
                    }
                    Ok(false)
                })?;
            }
        }
        if !single || self.may_repeat {
            let mut seen = HashSet::with_capacity(found.len());
            found.retain(|node| seen.insert(node.clone()));
        }
        Ok(found)
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
