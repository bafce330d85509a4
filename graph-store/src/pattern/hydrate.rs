//! Reads the values of many objects.
//!
//! The values of an object lie in one chain of quads, whatever their properties. One scan of the
//! chain serves all properties at once, but decodes every quad, wanted or not. For objects with
//! many more quads than are wanted, one lookup per property is cheaper. The measured cost of the
//! objects so far decides how the next ones are read.

use std::collections::HashMap;
use std::ops::ControlFlow;

use oxrdf::{NamedNode, Term};

use super::source::{Pattern, QuadSource};
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{Column, ObjectRef, Slot};
use crate::store::order::drop_repeated;

/// How many objects are read before the first decision on how to read the next ones; the number
/// doubles for each further decision.
const FIRST_DECISION: usize = 2;
/// Maximum number of quads per wanted property that are scanned of one object before switching to
/// lookups.
const QUADS_PER_SLOT: usize = 32;

// Costs relative to decoding one quad, as measured in `benches`.
/// Starting to read a chain.
const BEGIN: f64 = 1.5;
/// Skipping a quad of a chain that a lookup does not want.
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
    // Two lookups are cheaper than a scan for all but the smallest objects.
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
                let start = column.values.len();
                walker.walk(node, &slot.step, &mut column.values)?;
                for value in &column.values[start..] {
                    walker.keep(value.as_ref());
                }
            }
            column.end_node();
        }
    }
    Ok(columns)
}

/// The cost of the objects so far.
#[derive(Default)]
struct Cost {
    objects: f64,
    /// Number of quads read.
    quads: f64,
    /// Number of wanted quads among them.
    wanted: f64,
}

impl Cost {
    /// Returns whether a scan of all quads is cheaper than a lookup for each property.
    fn favours_scans(&self, properties: usize) -> bool {
        let chain = BEGIN * self.objects + PASS * self.quads;
        let scans = chain + self.quads;
        let look_ups = chain * properties as f64 + self.wanted;
        scans <= look_ups
    }
}

/// The slots in forward direction, by property.
struct Forward<'s> {
    properties: Vec<(&'s str, Vec<usize>)>,
    /// Positions in `properties`, when there are too many for a linear search.
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

    /// Reads the values of one object in one scan; gives up, leaving nothing behind, after too many
    /// quads.
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
                walker.keep(quad.object.as_ref());
                columns[slot].values.push(quad.object.clone());
            }
            walker.keep(quad.object.as_ref());
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
