//! Smaller cases that still differ.

use std::cell::Cell;

use graph_store::query::{NodeCondition, TermCondition, ValueCondition};
use oxrdf::Quad;

use super::generate::Case;

/// Most smaller cases that are tried.
const TRIES: usize = 5_000;

/// Leaves out quads and parts of a case as long as it still differs.
pub(super) fn smallest(
    mut quads: Vec<Quad>,
    mut case: Case,
    differs: impl Fn(&[Quad], &Case) -> bool,
) -> (Vec<Quad>, Case) {
    let tries = Cell::new(0);
    let differs = |quads: &[Quad], case: &Case| {
        tries.set(tries.get() + 1);
        tries.get() <= TRIES && differs(quads, case)
    };
    loop {
        let before = (quads.len(), case.selection.clone());
        let simpler = |case: &Case| smaller(case).into_iter().find(|case| differs(&quads, case));
        while let Some(next) = simpler(&case) {
            case = next;
        }
        quads = fewer(quads, |quads| differs(quads, &case));
        if before == (quads.len(), case.selection.clone()) {
            return (quads, case);
        }
    }
}

/// Leaves out runs of quads, long ones first.
fn fewer(mut quads: Vec<Quad>, differs: impl Fn(&[Quad]) -> bool) -> Vec<Quad> {
    let mut run = quads.len().div_ceil(2);
    while run > 0 {
        let mut at = 0;
        while at < quads.len() {
            let end = (at + run).min(quads.len());
            let rest = [&quads[..at], &quads[end..]].concat();
            if differs(&rest) {
                quads = rest;
            } else {
                at = end;
            }
        }
        run /= 2;
    }
    quads
}

fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Case)| {
        let mut next = case.clone();
        change(&mut next);
        if size(&next) < size(case) {
            all.push(next);
        }
    };
    add(&|case| case.selection.dataset.graphs = None);
    add(&|case| case.selection.page.offset = None);
    add(&|case| case.selection.page.limit = None);
    add(&|case| case.slot.condition = None);
    for at in 0..case.selection.order.len() {
        add(&|case| drop(case.selection.order.remove(at)));
    }
    for condition in of_node(&case.selection.condition) {
        // What is selected is always of some type.
        let typed = match &condition {
            NodeCondition::All(parts) if parts.contains(&case.types) => condition,
            _ => NodeCondition::all([case.types.clone(), condition]),
        };
        add(&|case| case.selection.condition = typed.clone());
    }
    all
}

fn size(case: &Case) -> usize {
    format!("{:?} {:?}", case.selection, case.slot).len()
}

/// Returns a list without one of its elements, or with a smaller one.
fn of_list<T: Clone>(parts: &[T], smaller: impl Fn(&T) -> Vec<T>) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let with = |part: &[T]| [&parts[..at], part, &parts[at + 1..]].concat();
        all.push(with(&[]));
        all.extend(smaller(part).into_iter().map(|part| with(&[part])));
    }
    all
}

fn of_node(condition: &NodeCondition) -> Vec<NodeCondition> {
    match condition {
        NodeCondition::All(parts) => {
            let lists = of_list(parts, of_node).into_iter();
            lists
                .map(NodeCondition::All)
                .chain(parts.iter().cloned())
                .collect()
        }
        NodeCondition::Any(parts) => {
            let lists = of_list(parts, of_node).into_iter();
            lists
                .map(NodeCondition::Any)
                .chain(parts.iter().cloned())
                .collect()
        }
        NodeCondition::Not(inner) => {
            let negated = of_node(inner)
                .into_iter()
                .map(Box::new)
                .map(NodeCondition::Not);
            negated.chain([(**inner).clone()]).collect()
        }
        NodeCondition::Values {
            step,
            quantifier,
            condition,
        } => {
            let smaller: Vec<ValueCondition> = match &**condition {
                ValueCondition::Node(inner) => of_node(inner)
                    .into_iter()
                    .map(ValueCondition::Node)
                    .collect(),
                ValueCondition::Term(inner) => of_term(inner)
                    .into_iter()
                    .map(ValueCondition::Term)
                    .collect(),
            };
            let with = |condition| NodeCondition::Values {
                step: step.clone(),
                quantifier: *quantifier,
                condition: Box::new(condition),
            };
            smaller.into_iter().map(with).collect()
        }
        _ => Vec::new(),
    }
}

fn of_term(condition: &TermCondition) -> Vec<TermCondition> {
    match condition {
        TermCondition::All(parts) => {
            let lists = of_list(parts, of_term).into_iter();
            lists
                .map(TermCondition::All)
                .chain(parts.iter().cloned())
                .collect()
        }
        TermCondition::Any(parts) => {
            let lists = of_list(parts, of_term).into_iter();
            lists
                .map(TermCondition::Any)
                .chain(parts.iter().cloned())
                .collect()
        }
        TermCondition::Not(inner) => {
            let negated = of_term(inner)
                .into_iter()
                .map(Box::new)
                .map(TermCondition::Not);
            negated.chain([(**inner).clone()]).collect()
        }
        _ => Vec::new(),
    }
}
