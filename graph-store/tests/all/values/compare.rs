//! Asks a store everything about a case, and compares its answers with those of the interpreter.

use std::collections::BTreeSet;

use futures::executor::block_on;
use graph_store::query::{
    HydrationRequest, Objects, Page, Position, Selection, Slot, Take, Window,
};
use graph_store::{CallContext, GraphStore, StoreError, Windowed};
use oxrdf::{Literal, NamedNode, Term};

use super::generate::Case;
use super::orders::ordered;
use super::reference::{Patterns, Reference};

/// Returns how a store answers a case otherwise than it should; `at` chooses among windows.
pub(super) fn difference(
    store: &dyn GraphStore,
    reference: &Reference,
    case: &Case,
    at: usize,
) -> Option<String> {
    let wanted = ordered(reference, &case.selection, &case.patterns);
    differing_selection(store, case, &wanted)
        .or_else(|| differing_count(store, case, &wanted))
        .or_else(|| match at % 3 {
            0 => differing_windows(store, case, &wanted, at / 3),
            1 => differing_values(store, reference, case, &wanted),
            _ => None,
        })
}

fn done<T>(answer: Result<T, StoreError>) -> Result<T, String> {
    answer.map_err(|error| format!("the store fails: {error:?}"))
}

/// Says what differs, with as much of both sides as people can read.
fn unequal<T: std::fmt::Debug + PartialEq>(what: &str, found: &T, wanted: &T) -> Option<String> {
    (found != wanted).then(|| format!("{what}\n   found {found:?}\n  wanted {wanted:?}"))
}

fn iris(objects: &Objects) -> Vec<NamedNode> {
    objects.iter().map(NamedNode::from).collect()
}

fn differing_selection(
    store: &dyn GraphStore,
    case: &Case,
    wanted: &[NamedNode],
) -> Option<String> {
    let selection = &case.selection;
    let found = match done(block_on(store.select(selection, &CallContext::new()))) {
        Ok(found) => found,
        Err(failed) => return Some(failed),
    };
    let mut found = iris(&found);
    let mut wanted = wanted[selection.page.range(wanted.len())].to_vec();
    // Whole lists without keys come in any order.
    if selection.order.is_empty() && selection.page.is_whole() {
        found.sort_unstable();
        wanted.sort_unstable();
    }
    unequal("objects", &found, &wanted)
}

fn differing_count(store: &dyn GraphStore, case: &Case, wanted: &[NamedNode]) -> Option<String> {
    match done(block_on(store.count(&case.selection, &CallContext::new()))) {
        Ok(count) => unequal("count", &count, &(wanted.len() as u64)),
        Err(failed) => Some(failed),
    }
}

/// Compares the whole list as a window with a part of it.
fn differing_windows(
    store: &dyn GraphStore,
    case: &Case,
    wanted: &[NamedNode],
    at: usize,
) -> Option<String> {
    let selection = Selection {
        page: Page::default(),
        ..case.selection.clone()
    };
    let select = |window: &Window| {
        let context = CallContext::new();
        done(block_on(store.select_window(&selection, window, &context)))
    };
    let whole = match select(&Window::default()) {
        Ok(whole) => whole,
        Err(failed) => return Some(failed),
    };
    let found = iris(&whole.objects);
    if let Some(differs) = unequal("whole window", &found, &wanted.to_vec()) {
        return Some(differs);
    }
    let (start, end) = (at % (wanted.len() + 2), at / 7 % (wanted.len() + 2));
    let position = |at: usize| -> Option<Position> {
        let before = at.checked_sub(1)?;
        (before < wanted.len()).then(|| whole.position(before))
    };
    let window = Window {
        after: position(start),
        before: position(end),
        take: [Take::All, Take::First(at % 5), Take::Last(at % 4)][at % 3],
    };
    match select(&window) {
        Ok(found) => differing_window(&window, &found, wanted, start, end),
        Err(failed) => Some(failed),
    }
}

/// Compares the window between the objects before `start` and before `end`, counted from 1.
fn differing_window(
    window: &Window,
    found: &Windowed,
    wanted: &[NamedNode],
    start: usize,
    end: usize,
) -> Option<String> {
    let first = window.after.as_ref().map_or(0, |_| start);
    let last = window.before.as_ref().map_or(wanted.len(), |_| end - 1);
    let range = wanted.get(first..last).unwrap_or_default();
    let taken = match window.take {
        Take::All => range,
        Take::First(limit) => &range[..limit.min(range.len())],
        Take::Last(limit) => &range[range.len() - limit.min(range.len())..],
    };
    let ends = (window.after.is_some(), window.before.is_some());
    let wanted = (taken.to_vec(), taken.len() < range.len(), ends);
    let found = (
        iris(&found.objects),
        found.more,
        (found.precedes, found.follows),
    );
    unequal(&format!("window {window:?}"), &found, &wanted)
}

/// Compares the values of some objects.
fn differing_values(
    store: &dyn GraphStore,
    reference: &Reference,
    case: &Case,
    wanted: &[NamedNode],
) -> Option<String> {
    let nodes: Objects = wanted.to_vec().into();
    let request = HydrationRequest {
        nodes: nodes.as_slice(),
        slots: std::slice::from_ref(&case.slot),
        dataset: &case.selection.dataset,
    };
    let hydrated = match done(block_on(store.hydrate(&request, &CallContext::new()))) {
        Ok(hydrated) => hydrated,
        Err(failed) => return Some(failed),
    };
    let column = &hydrated.columns[0];
    wanted.iter().enumerate().find_map(|(number, node)| {
        let found = column.of(number).to_terms();
        let wanted = values(reference, node, &case.slot, &case.patterns);
        let distinct: BTreeSet<String> = found.iter().map(shown).collect();
        unequal(&format!("values of {node}"), &distinct, &wanted).or_else(|| {
            let repeated = format!("number of values of {node}");
            let each_once =
                found.len() == distinct.len() || found.len() == count(reference, node, case);
            (!each_once).then_some(repeated)
        })
    })
}

fn values(
    reference: &Reference,
    node: &NamedNode,
    slot: &Slot,
    patterns: &Patterns,
) -> BTreeSet<String> {
    let values = reference.values(&node.clone().into(), &slot.step);
    let fits = |value: &&Term| {
        let condition = slot.condition.as_ref();
        condition.is_none_or(|condition| reference.value(value, condition, patterns))
    };
    values.into_iter().filter(fits).map(shown).collect()
}

/// Returns the number of values, of which some may differ in the case of their tags only.
fn count(reference: &Reference, node: &NamedNode, case: &Case) -> usize {
    let values = reference.values(&node.clone().into(), &case.slot.step);
    let condition = case.slot.condition.as_ref();
    let fitting = values.into_iter().filter(|value| {
        condition.is_none_or(|condition| reference.value(value, condition, &case.patterns))
    });
    fitting.count()
}

/// Returns a term as text; language tags have no case.
fn shown(term: &Term) -> String {
    match term {
        Term::Literal(literal) => match literal.language() {
            Some(tag) => {
                let tag = tag.to_lowercase();
                Literal::new_language_tagged_literal_unchecked(literal.value(), tag).to_string()
            }
            None => literal.to_string(),
        },
        other => other.to_string(),
    }
}
