//! What a run has to do, from what the engine has. Pure: nothing is asked or changed.

use std::collections::HashMap;

use crate::engine::{Age, EngineError, IndexState, Mark, PhysicalName, Switch};
use crate::mapping::{IndexDefinition, IndexNumber};

use super::options::IndexerOptions;

/// What a run has to do.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    /// What to do for each definition, in the same order.
    pub(super) steps: Vec<Step>,
    /// Indexes that a run left behind which did not end.
    pub(super) unfinished: Vec<PhysicalName>,
    /// Indexes that no alias leads to once the run has ended.
    pub(super) superseded: Vec<PhysicalName>,
    /// Aliases of objects that are no longer indexed, and those that lead to several indexes.
    pub(super) moved: Vec<Switch>,
}

/// What to do for a definition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Its index stays.
    Keep {
        /// The index.
        name: PhysicalName,
        /// The store does not say whether its data have changed since.
        may_be_older: bool,
    },
    /// An index is to be built.
    Build {
        /// The first number that is free.
        number: IndexNumber,
        /// An index has the name of the alias.
        replaces_index: bool,
    },
}

/// Whose an index is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Possession {
    Ours,
    Nobodys,
    Theirs,
}

/// The indexes of an engine, seen by an application.
struct Indexes<'i> {
    states: &'i [IndexState],
    options: &'i IndexerOptions,
    ages: &'i Ages,
}

/// How old indexes are, compared with the data as they are.
#[derive(Debug, Default)]
pub(super) struct Ages {
    pub(super) indexes: HashMap<PhysicalName, Age>,
    /// Others may change the data without the notice of their store.
    pub(super) are_changed_by_others: bool,
}

impl Ages {
    fn of(&self, name: &PhysicalName) -> Age {
        self.indexes.get(name).copied().unwrap_or(Age::Older)
    }
}

/// What there is of an alias.
struct Behind<'i> {
    /// The last of the indexes that the alias leads to.
    current: Option<&'i IndexState>,
    /// All others, which the moves of two instances at the same moment leave.
    others: Vec<&'i IndexState>,
    /// An index has the name of the alias.
    replaces_index: bool,
}

impl Plan {
    /// Works out what to do; `definitions` are those that are to be indexed.
    pub(super) fn new(
        definitions: &[&IndexDefinition],
        states: &[IndexState],
        options: &IndexerOptions,
        ages: &Ages,
    ) -> Result<Plan, EngineError> {
        let indexes = Indexes {
            states,
            options,
            ages,
        };
        indexes.check_lease()?;
        let mut plan = Plan::default();
        for definition in definitions {
            plan.add(definition, &indexes)?;
        }
        if options.only.is_none() {
            plan.remove_others(definitions, &indexes);
        }
        Ok(plan)
    }

    fn add(&mut self, definition: &IndexDefinition, all: &Indexes<'_>) -> Result<(), EngineError> {
        let alias = definition.alias();
        let Behind {
            current,
            others,
            replaces_index,
        } = all.behind(&alias)?;
        let numbered = all.states.iter().filter_map(|state| {
            let number = state.name.number_behind(&alias)?;
            Some((number, state))
        });
        let numbered: Vec<_> = numbered.collect();
        let current_number = current.and_then(|state| state.name.number_behind(&alias));
        for (number, state) in &numbered {
            if all.possession(state) != Possession::Ours || !state.aliases.is_empty() {
                continue;
            }
            let is_replaced = match current_number {
                Some(current) => *number < current,
                // Someone has removed the alias; a complete index may still be searched.
                None => state.mark.as_ref().is_some_and(|mark| mark.built.is_some()),
            };
            if is_replaced {
                self.superseded.push(state.name.clone());
            } else {
                self.unfinished.push(state.name.clone());
            }
        }
        let kept = current.and_then(|state| {
            let mark = state.mark.as_ref()?;
            let is_same = mark.fingerprint == definition.fingerprint;
            let age = all.ages.of(&state.name);
            (is_same && all.may_stay(mark, age)).then_some((state, age))
        });
        self.steps.push(match kept {
            Some((state, age)) => Step::Keep {
                name: state.name.clone(),
                may_be_older: age == Age::Unknown,
            },
            None => Step::Build {
                number: all.next(numbered.iter().map(|(number, _)| *number)),
                replaces_index,
            },
        });
        if let Some((kept, _)) = kept.filter(|_| !others.is_empty()) {
            self.moved.push(Switch {
                alias,
                to: Some(kept.name.clone()),
                replaces_index: false,
                lease: all.options.lease,
            });
        }
        let replaced = current.filter(|_| kept.is_none()).into_iter().chain(others);
        let ours = replaced.filter(|state| all.possession(state) == Possession::Ours);
        self.superseded.extend(ours.map(|state| state.name.clone()));
        Ok(())
    }

    /// Removes what this application has of objects that are no longer indexed.
    fn remove_others(&mut self, definitions: &[&IndexDefinition], all: &Indexes<'_>) {
        for state in all.states {
            let is_of_one = definitions.iter().any(|definition| {
                let name = state.name.as_str();
                let alias = definition.alias();
                name == alias || state.name.number_behind(&alias).is_some()
            });
            if is_of_one || all.possession(state) != Possession::Ours {
                continue;
            }
            self.superseded.push(state.name.clone());
            let aliases = state
                .aliases
                .iter()
                .filter(|alias| definitions.iter().all(|d| d.alias() != **alias));
            self.moved.extend(aliases.map(|alias| Switch {
                alias: alias.clone(),
                to: None,
                replaces_index: false,
                lease: all.options.lease,
            }));
        }
    }
}

impl<'i> Indexes<'i> {
    /// Fails if there is an index of the application that was built under a later lease.
    fn check_lease(&self) -> Result<(), EngineError> {
        let lease = self.options.lease;
        let later = self.states.iter().find(|state| {
            let number = state.name.number().unwrap_or_default();
            number.lease > lease && self.possession(state) == Possession::Ours
        });
        match later.filter(|_| lease > 0) {
            Some(later) => Err(EngineError::Outdated {
                name: later.name.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the number of a new index behind an alias that has some.
    fn next(&self, taken: impl Iterator<Item = IndexNumber>) -> IndexNumber {
        let lease = self.options.lease;
        // Without a lease, it comes after what others have built under one.
        let counted = taken.filter(|taken| lease == 0 || taken.lease == lease);
        let none = IndexNumber { lease, number: 0 };
        counted.max().unwrap_or(none).next()
    }

    /// Returns what an alias leads to, and whether there is an index of the name of the alias; all may be replaced.
    fn behind(&self, alias: &str) -> Result<Behind<'i>, EngineError> {
        let (mut leads_to, mut replaces_index) = (Vec::new(), false);
        for state in self.states {
            let is_concrete = state.name.as_str() == alias;
            if !is_concrete && !state.aliases.iter().any(|other| other == alias) {
                continue;
            }
            let may_replace = match self.possession(state) {
                Possession::Ours => true,
                Possession::Nobodys => self.options.remove_previous,
                Possession::Theirs => false,
            };
            if !may_replace {
                let name = state.name.to_string();
                return Err(EngineError::NotOurs { name });
            }
            if is_concrete {
                replaces_index = true
            } else {
                leads_to.push(state)
            }
        }
        leads_to.sort_by_key(|state| state.name.number_behind(alias));
        Ok(Behind {
            current: leads_to.pop(),
            others: leads_to,
            replaces_index,
        })
    }

    /// Returns whether an index of the same definition need not be built again: it is as new as the data or can follow
    /// them, and lacks nothing that it must have.
    fn may_stay(&self, mark: &Mark, age: Age) -> bool {
        // What others have changed is in no record.
        let is_certain = !self.ages.are_changed_by_others || !self.options.rebuild_unknown;
        let is_new_enough = match age {
            // It follows what has changed since.
            Age::Current | Age::Behind(_) => is_certain,
            Age::Older => false,
            Age::Unknown => !self.options.rebuild_unknown,
        };
        let built = mark.built.as_ref();
        let lacks_nothing = built.is_some_and(|built| built.malformed + built.rejected == 0);
        let is_complete = self.options.ignore_malformed || lacks_nothing;
        is_new_enough && is_complete && !self.options.remove_previous
    }

    fn possession(&self, state: &IndexState) -> Possession {
        match &state.mark {
            None => Possession::Nobodys,
            Some(mark) if mark.application == self.options.owner.application => Possession::Ours,
            Some(_) => Possession::Theirs,
        }
    }
}
