//! What a run has to do, from what the engine has. Pure: nothing is asked or changed.

use graph_store::DataVersion;

use crate::engine::{Age, EngineError, IndexState, Mark, PhysicalName, Switch};
use crate::mapping::IndexDefinition;

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
    /// Aliases of objects that are no longer indexed.
    pub(super) removed: Vec<Switch>,
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
        number: u64,
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
    /// The data as they are; `None` if their store does not say.
    data: Option<&'i DataVersion>,
}

impl Plan {
    /// Works out what to do; `definitions` are those that are to be indexed.
    pub(super) fn new(
        definitions: &[&IndexDefinition],
        states: &[IndexState],
        options: &IndexerOptions,
        data: Option<&DataVersion>,
    ) -> Result<Plan, EngineError> {
        let indexes = Indexes {
            states,
            options,
            data,
        };
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
        let (current, replaces_index) = all.behind(&definition.alias())?;
        let numbered = all.states.iter().filter_map(|state| {
            let number = number(definition, state.name.as_str())?;
            Some((number, state))
        });
        let numbered: Vec<_> = numbered.collect();
        let current_number = current.and_then(|state| number(definition, state.name.as_str()));
        for (number, state) in &numbered {
            if all.possession(state) != Possession::Ours || !state.aliases.is_empty() {
                continue;
            }
            match current_number {
                Some(current) if *number < current => self.superseded.push(state.name.clone()),
                _ => self.unfinished.push(state.name.clone()),
            }
        }
        let kept = current.and_then(|state| {
            let mark = state.mark.as_ref()?;
            let is_same = mark.fingerprint == definition.fingerprint;
            (is_same && all.may_stay(mark)).then_some((state, mark.age(all.data)))
        });
        self.steps.push(match kept {
            Some((state, age)) => Step::Keep {
                name: state.name.clone(),
                may_be_older: age == Age::Unknown,
            },
            None => Step::Build {
                number: numbered.iter().map(|(n, _)| *n).max().unwrap_or(0) + 1,
                replaces_index,
            },
        });
        if kept.is_none() {
            let ours = current.filter(|state| all.possession(state) == Possession::Ours);
            self.superseded.extend(ours.map(|state| state.name.clone()));
        }
        Ok(())
    }

    /// Removes what this application has of objects that are no longer indexed.
    fn remove_others(&mut self, definitions: &[&IndexDefinition], all: &Indexes<'_>) {
        for state in all.states {
            let is_of_one = definitions.iter().any(|definition| {
                let name = state.name.as_str();
                name == definition.alias() || number(definition, name).is_some()
            });
            if is_of_one || all.possession(state) != Possession::Ours {
                continue;
            }
            self.superseded.push(state.name.clone());
            let aliases = state.aliases.iter();
            let aliases = aliases.filter(|alias| definitions.iter().all(|d| d.alias() != **alias));
            self.removed.extend(aliases.map(|alias| Switch {
                alias: alias.clone(),
                to: None,
                replaces_index: false,
            }));
        }
    }
}

impl Indexes<'_> {
    /// Returns the index that an alias leads to, and whether there is one of the name of the alias; both
    /// may be replaced.
    fn behind(&self, alias: &str) -> Result<(Option<&IndexState>, bool), EngineError> {
        let (mut current, mut replaces_index) = (None, false);
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
            match is_concrete {
                true => replaces_index = true,
                false => current = Some(state),
            }
        }
        Ok((current, replaces_index))
    }

    /// Tells whether an index of the same definition need not be built anew: it is as new as the data, and lacks
    /// nothing that it must have.
    fn may_stay(&self, mark: &Mark) -> bool {
        let is_new_enough = match mark.age(self.data) {
            Age::Current => true,
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

/// Returns the number of an index of a definition.
fn number(definition: &IndexDefinition, name: &str) -> Option<u64> {
    let number = name.strip_prefix(&definition.alias())?.strip_prefix('-')?;
    // An index `svc-planet-07` is nobody's seventh.
    number
        .parse()
        .ok()
        .filter(|parsed: &u64| parsed.to_string() == number)
}
