//! Superclasses: who inherits from whom, and in which order to go through the objects.

use super::Scope;
use crate::codes::Code;
use crate::diagnostic::Findings;
use crate::options::LoadOptions;
use crate::raw::RawSchema;
use crate::schema::ObjectId;

/// The inheritance of all objects, without cycles.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    pub(super) parents: Vec<Option<ObjectId>>,
    /// All objects, each after its superclass.
    pub(super) order: Vec<ObjectId>,
}

impl Hierarchy {
    /// Returns an object and its superclasses, nearest first.
    pub(super) fn lineage(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        std::iter::successors(Some(object), |id| self.parents[id.index()])
    }
}

/// Follows `inherits`. `None` when an object has too many superclasses above it.
pub(super) fn link(
    raw: &RawSchema<'_>,
    scope: &Scope,
    options: &LoadOptions,
    findings: &mut Findings,
) -> Option<Hierarchy> {
    let mut parents: Vec<_> = raw
        .objects
        .iter()
        .map(|object| {
            object
                .body
                .inherits
                // An unknown superclass is an `UNKNOWN_PARENT`; the object is resolved without one.
                .and_then(|parent| scope.object(parent.value))
        })
        .collect();
    // Before anything else: all walks upwards rely on an end.
    cut_cycles(raw, &mut parents, findings);
    let order = order(&parents);
    // Every level can add properties to all below it, so levels are bounded (docs/schema.md,
    // "Parsing").
    let mut depth = vec![0_usize; parents.len()];
    for id in &order {
        let Some(parent) = parents[id.index()] else {
            continue;
        };
        depth[id.index()] = depth[parent.index()] + 1;
        if depth[id.index()] > options.max_inheritance {
            let object = &raw.objects[id.index()].name;
            let message = format!(
                "`{}` has more than {} levels of superclasses",
                object.value, options.max_inheritance
            );
            findings.add(Code::LimitExceeded, object.span, message);
            return None;
        }
    }
    Some(Hierarchy { parents, order })
}

/// Reports each cycle once, at its first object, and cuts it there.
fn cut_cycles(raw: &RawSchema<'_>, parents: &mut [Option<ObjectId>], findings: &mut Findings) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Walked(usize),
    }
    let mut marks = vec![Mark::New; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while marks[at] == Mark::New {
            marks[at] = Mark::Walked(start);
            match parents[at] {
                Some(parent) => at = parent.index(),
                None => break,
            }
        }
        let closed = marks[at] == Mark::Walked(start) && parents[at].is_some();
        if closed {
            // The walk came back to one of its own objects, so `at` is on a cycle.
            report_cycle(raw, parents, at, findings);
            parents[at] = None;
        }
    }
}

fn report_cycle(
    raw: &RawSchema<'_>,
    parents: &[Option<ObjectId>],
    start: usize,
    findings: &mut Findings,
) {
    // A cycle can be as long as the document.
    const SHOWN: usize = 5;
    let name = |i: usize| raw.objects[i].name.value;
    let cycle: Vec<usize> = std::iter::successors(parents[start], |id| parents[id.index()])
        .map(ObjectId::index)
        .take_while(|i| *i != start)
        .collect();
    let Some(inherits) = raw.objects[start].body.inherits else {
        return;
    };
    let message = format!("`{}` inherits from itself", name(start));
    let finding = findings.add(Code::InheritanceCycle, inherits.span, message);
    for i in cycle.iter().take(SHOWN) {
        if let Some(inherits) = raw.objects[*i].body.inherits {
            finding.label(inherits.span, format!("through `{}`", name(*i)));
        }
    }
}

fn order(parents: &[Option<ObjectId>]) -> Vec<ObjectId> {
    let mut done = vec![false; parents.len()];
    let mut order = Vec::with_capacity(parents.len());
    for start in 0..parents.len() {
        let line = std::iter::successors(Some(ObjectId::at(start)), |id| parents[id.index()]);
        let fresh: Vec<_> = line.take_while(|id| !done[id.index()]).collect();
        for id in fresh.into_iter().rev() {
            done[id.index()] = true;
            order.push(id);
        }
    }
    order
}
