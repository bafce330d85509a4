//! Reads the values of many objects.
//!
//! The values of an object lie in one chain of quads, whatever their properties. So one pass over the
//! chain serves all properties at once; but it decodes every quad, wanted or not. Where objects have
//! many more quads than are wanted, a look-up per property is better. What the objects so far have
//! cost decides how the next ones are read.

use std::collections::HashMap;
use std::ops::ControlFlow;

use oxrdf::{NamedNode, Term};

use super::source::{Pattern, QuadSource};
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{Column, ObjectRef, Slot};
use crate::store::order::drop_repeated;

/// How many objects are read before it is first decided how to read the next ones; each further
/// decision comes after twice as many.
const FIRST_DECISION: usize = 2;
/// So many quads for each wanted property are read of one object before look-ups take over.
const QUADS_PER_SLOT: usize = 32;

// Costs relative to decoding one quad, as measured in `benches`.
/// To begin reading a chain.
const BEGIN: f64 = 1.5;
/// To pass a quad of a chain that a look-up does not want.
const PASS: f64 = 0.2;

/// Reads the values of all slots, without their conditions and pages.
pub(super) fn columns<S: QuadSource>(
    walker: &Walker<'_, S>,
    nodes: &[ObjectRef],
    slots: &[Slot],
) -> Result<Vec<Column>, StoreError> {
    let mut columns: Vec<Column> = slots
        .iter()
        .map(|_| Column::with_capacity(nodes.len()))
        .collect();
    let forward = Forward::new(slots);
    let mut cost = Cost::default();
    // Two look-ups cost less than a pass over all but the smallest objects.
    let mut scans = forward.properties.len() > 2;
    let mut decision = FIRST_DECISION;
    for (position, node) in nodes.iter().enumerate() {
        let node = node.node();
        walker.tick()?;
        if scans && position == decision {
            scans = cost.favours_scans(forward.properties.len());
            decision *= 2;
        }
        let scanned = scans && forward.scan(walker, node, &mut columns, &mut cost)?;
        for (slot, column) in slots.iter().zip(&mut columns) {
            if slot.step.inverse || !scanned {
                walker.walk(node, &slot.step, &mut column.values)?;
            }
            column.end_node();
        }
    }
    Ok(columns)
}

/// What objects have cost so far.
#[derive(Default)]
struct Cost {
    objects: f64,
    /// Quads that were read.
    quads: f64,
    /// Quads among them that were wanted.
    wanted: f64,
}

impl Cost {
    /// Tells whether a pass over all quads costs less than a look-up for each property.
    fn favours_scans(&self, properties: usize) -> bool {
        let chain = BEGIN * self.objects + PASS * self.quads;
        let scans = chain + self.quads;
        let look_ups = chain * properties as f64 + self.wanted;
        scans <= look_ups
    }
}

/// The slots that read objects of quads, by property.
struct Forward<'s> {
    properties: Vec<(&'s str, Vec<usize>)>,
    /// Positions in `properties`, where there are too many to compare one by one.
    index: Option<HashMap<&'s str, usize>>,
}

impl<'s> Forward<'s> {
    fn new(slots: &'s [Slot]) -> Self {
        let mut properties: Vec<(&str, Vec<usize>)> = Vec::new();
        for (position, slot) in slots.iter().enumerate() {
            if slot.step.inverse {
                continue;
            }
            let name = slot.step.predicate.as_str();
            match properties.iter_mut().find(|(known, _)| *known == name) {
                Some((_, slots)) => slots.push(position),
                None => properties.push((name, vec![position])),
            }
        }
        let index = (properties.len() > 8).then(|| {
            let names = properties.iter().enumerate();
            names
                .map(|(position, (name, _))| (*name, position))
                .collect()
        });
        Forward { properties, index }
    }

    fn find(&self, property: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(property).copied(),
            None => self
                .properties
                .iter()
                .position(|(name, _)| *name == property),
        }
    }

    /// Reads the values of one object in one pass; gives up, without a trace, when there are too many quads.
    fn scan<S: QuadSource>(
        &self,
        walker: &Walker<'_, S>,
        node: &NamedNode,
        columns: &mut [Column],
        cost: &mut Cost,
    ) -> Result<bool, StoreError> {
        let limit = self.properties.len() * QUADS_PER_SLOT;
        let mut read = 0;
        let pattern = Pattern {
            subject: Some(node),
            ..Pattern::default()
        };
        walker.each_quad(pattern, |quad| {
            read += 1;
            if read > limit {
                return Ok(ControlFlow::Break(()));
            }
            let Some(property) = self.find(quad.predicate.as_str()) else {
                return Ok(ControlFlow::Continue(()));
            };
            cost.wanted += 1.0;
            if matches!(quad.object, Term::BlankNode(_)) {
                return Ok(ControlFlow::Continue(()));
            }
            let (last, others) = self.properties[property]
                .1
                .split_last()
                .expect("a property has a slot");
            for &slot in others {
                columns[slot].values.push(quad.object.clone());
            }
            columns[*last].values.push(quad.object);
            Ok(ControlFlow::Continue(()))
        })?;
        cost.objects += 1.0;
        cost.quads += read as f64;
        let starts = |column: &Column| column.offsets.last().map_or(0, |&at| at as usize);
        for &slot in self.properties.iter().flat_map(|(_, slots)| slots) {
            let column = &mut columns[slot];
            let start = starts(column);
            if read > limit {
                column.values.truncate(start);
            } else if walker.may_repeat {
                drop_repeated(&mut column.values, start);
            }
        }
        Ok(read <= limit)
    }
}
