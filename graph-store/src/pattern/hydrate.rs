//! Reads the values of many objects.
//!
//! The values of an object lie in one chain of quads, whatever their properties. One scan of the
//! chain serves all properties at once, but decodes every quad, wanted or not. For objects with
//! many more quads than are wanted, one lookup per property is cheaper. The measured cost of the
//! objects so far decides how the next ones are read.

use std::ops::ControlFlow;

use foldhash::HashMap;
use oxrdf::NamedNode;

use super::source::QuadSource;
use super::walk::Walker;
use crate::error::StoreError;
use crate::query::{Column, ObjectSlice, Slot};
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
    nodes: ObjectSlice<'_>,
    slots: &[Slot],
) -> Result<Vec<Values<S::Term>>, StoreError> {
    let mut columns: Vec<_> = slots
        .iter()
        .map(|_| Values::with_capacity(nodes.len()))
        .collect();
    let steps: Vec<_> = slots.iter().map(|slot| walker.step(&slot.step)).collect();
    let forward = walker
        .source
        .reads_subjects_at_once()
        .then(|| Forward::new(walker, slots));
    // Two lookups are cheaper than a scan for all but the smallest objects.
    let mut forward = forward.filter(|forward| forward.properties.len() > 2);
    let mut cost = Cost::default();
    let mut decision = FIRST_DECISION;
    for position in 0..nodes.len() {
        let node = walker.source.handle(nodes, position);
        walker.tick()?;
        if position == decision {
            forward = forward.filter(|forward| cost.favours_scans(forward.properties.len()));
            decision *= 2;
        }
        let scanned = match &forward {
            Some(forward) => forward.scan(walker, &node, &mut columns, &mut cost)?,
            None => false,
        };
        for (step, column) in steps.iter().zip(&mut columns) {
            if step.inverse || !scanned {
                let start = column.values.len();
                walker.walk(&node, step, &mut column.values)?;
                for value in &column.values[start..] {
                    walker.keep(value);
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

/// The values of one slot, one object after the other, as in a [`Column`].
pub(super) struct Values<T> {
    pub(super) offsets: Vec<u32>,
    pub(super) values: Vec<T>,
}

impl<T> Values<T> {
    /// Creates values with room for those of `nodes` objects.
    pub(super) fn with_capacity(nodes: usize) -> Self {
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        Values {
            offsets,
            values: Vec::with_capacity(nodes),
        }
    }

    /// Ends the values of the current object.
    pub(super) fn end_node(&mut self) {
        let end = u32::try_from(self.values.len());
        self.offsets.push(end.expect("a column below 2^32 values"));
    }

    /// Keeps the values of some of the objects.
    pub(super) fn of(self, is_meant: &[bool]) -> Self {
        let mut kept = Values::with_capacity(is_meant.len());
        let mut values = self.values.into_iter();
        for (pair, is_meant) in self.offsets.windows(2).zip(is_meant) {
            let of_object = values.by_ref().take((pair[1] - pair[0]) as usize);
            if *is_meant {
                kept.values.extend(of_object);
            } else {
                of_object.for_each(drop);
            }
            kept.end_node();
        }
        kept
    }

    /// Converts handles to the terms that they stand for.
    pub(super) fn into_column<S: QuadSource<Term = T>>(self, source: &S) -> Column {
        Column {
            offsets: self.offsets,
            values: source.to_values(self.values),
        }
    }
}

/// The slots in forward direction, by property.
struct Forward<'s, S: QuadSource> {
    properties: Vec<Property<'s, S>>,
    /// Positions in `properties`, when there are too many for a linear search.
    index: Option<HashMap<S::Node, usize>>,
}

struct Property<'s, S: QuadSource> {
    iri: &'s NamedNode,
    property: S::Property<'s>,
    slots: Vec<usize>,
}

impl<'s, S: QuadSource> Forward<'s, S> {
    fn new(walker: &Walker<'_, S>, slots: &'s [Slot]) -> Self {
        let mut properties: Vec<Property<'s, S>> = Vec::new();
        for (position, slot) in slots.iter().enumerate() {
            if slot.step.inverse {
                continue;
            }
            let iri = &slot.step.predicate;
            match properties.iter_mut().find(|known| known.iri == iri) {
                Some(known) => known.slots.push(position),
                None => properties.push(Property {
                    iri,
                    property: walker.source.property(iri),
                    slots: vec![position],
                }),
            }
        }
        let index = (properties.len() > 8).then(|| {
            let iris = properties.iter().map(|property| property.iri);
            let nodes = iris.map(|iri| walker.source.node(iri).into_owned());
            nodes.zip(0..).collect()
        });
        Forward { properties, index }
    }

    fn find(&self, source: &S, predicate: &S::Node) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(predicate).copied(),
            None => self
                .properties
                .iter()
                .position(|known| source.is_property(predicate, &known.property)),
        }
    }

    /// Reads the values of one object in one scan; gives up, leaving nothing behind, after too many
    /// quads.
    fn scan(
        &self,
        walker: &Walker<'_, S>,
        node: &S::Node,
        columns: &mut [Values<S::Term>],
        cost: &mut Cost,
    ) -> Result<bool, StoreError> {
        let limit = self.properties.len() * QUADS_PER_SLOT;
        let mut read = 0;
        let source = &walker.source;
        let scan = |graph: Option<&S::Graph>| source.about(node, graph);
        walker.each(scan, |(predicate, value)| {
            read += 1;
            if read > limit {
                return Ok(ControlFlow::Break(()));
            }
            let Some(property) = self.find(source, &predicate) else {
                return Ok(ControlFlow::Continue(()));
            };
            cost.wanted += 1.0;
            if source.is_blank(&value) {
                return Ok(ControlFlow::Continue(()));
            }
            let (last, others) = self.properties[property]
                .slots
                .split_last()
                .expect("a property has a slot");
            for &slot in others {
                walker.keep(&value);
                columns[slot].values.push(value.clone());
            }
            walker.keep(&value);
            columns[*last].values.push(value);
            Ok(ControlFlow::Continue(()))
        })?;
        cost.objects += 1.0;
        cost.quads += read as f64;
        let starts = |column: &Values<S::Term>| column.offsets.last().map_or(0, |&at| at as usize);
        for &slot in self.properties.iter().flat_map(|known| &known.slots) {
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
