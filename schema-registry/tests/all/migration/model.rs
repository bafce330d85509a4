//! Where everything must be in the end, as a user reads the options: nothing here knows how a migration works.

use std::collections::BTreeSet;

use super::{Contents, Kinds, SHOP};

/// The options of a migration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) force: bool,
    pub(super) all: bool,
    pub(super) clean_before: bool,
    pub(super) clean_after: bool,
}

impl Choice {
    pub(super) fn every() -> Vec<Choice> {
        let bit = |number: u32, at: u32| number >> at & 1 == 1;
        let choices = (0..16).map(|number| Choice {
            force: bit(number, 0),
            all: bit(number, 1),
            clean_before: bit(number, 2),
            clean_after: bit(number, 3),
        });
        choices.collect()
    }
}

/// Returns what both stores have in the end; `None` if the migration is refused.
pub(super) fn expected(
    kinds: Kinds,
    [origin, destination]: &[Contents; 2],
    choice: &Choice,
) -> Option<[Contents; 2]> {
    let unchanged = Some([origin.clone(), destination.clone()]);
    let (mut origin, mut destination) = (origin.clone(), destination.clone());
    if !choice.force && !destination.schemas.is_empty() {
        return unchanged;
    }
    let takes = |application: &str| kinds.destination_is_shared || application == SHOP;
    let bound = origin.bindings.iter();
    let bound: BTreeSet<String> = bound
        .filter(|((application, _), _)| takes(application))
        .filter_map(|(_, id)| id.clone())
        .collect();
    let ids = origin.schemas.keys().cloned();
    let moved: BTreeSet<String> = if choice.force && !choice.all {
        bound
    } else {
        ids.collect()
    };
    let has_rights_only = origin.schemas.is_empty() && origin.rights.is_some();
    if moved.is_empty() && !has_rights_only {
        return unchanged;
    }
    let mut others = origin.bindings.iter();
    let has_others = others.any(|((application, _), id)| id.is_some() && !takes(application));
    if choice.clean_after && has_others {
        return None;
    }
    if choice.clean_before && !moved.is_empty() {
        destination = Contents::default();
    }
    if origin.rights.is_some() && (choice.force || destination.rights.is_none()) {
        destination.rights.clone_from(&origin.rights);
    }
    for id in &moved {
        let text = origin.schemas[id].clone();
        destination.schemas.insert(id.clone(), text);
    }
    for ((application, service), id) in &origin.bindings {
        if !takes(application) {
            continue;
        }
        let name = match (kinds.origin_is_shared, kinds.destination_is_shared) {
            (true, true) => application,
            (false, true) => SHOP,
            (_, false) => "",
        };
        let there = destination.bindings.entry((name.to_owned(), *service));
        let there = there.or_default();
        if id.is_some() && (choice.force || there.is_none()) {
            there.clone_from(id);
        }
    }
    if choice.clean_after {
        origin.schemas.retain(|id, _| !moved.contains(id));
        origin
            .bindings
            .retain(|(application, _), _| !takes(application));
        if origin.schemas.is_empty() && origin.rights == destination.rights {
            origin.rights = None;
        }
    }
    Some([origin, destination])
}
