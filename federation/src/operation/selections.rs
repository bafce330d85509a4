//! Which of the selections at one place apply to which object types.
//!
//! They are looked at once for all types, not once for each: clients write a fragment for each of hundreds of
//! types.

use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Field, Selection};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::{ExecutableDocument, Name};

use super::collect::Full;
use super::tree::Tree;
use crate::graph::Graph;
use crate::hash::{HashMap, HashSet, IndexMap};
use crate::supergraph::TypeId;

/// The fields that are selected of an object, by response key.
pub(super) type Collected<'d> = IndexMap<&'d Name, Vec<&'d Field>>;

/// What is needed to read selections.
#[derive(Clone, Copy)]
pub(super) struct Reader<'d> {
    pub(super) graph: Graph<'d>,
    pub(super) document: &'d ExecutableDocument,
    /// The coerced variables of conditions.
    pub(super) variables: &'d JsonMap,
}

/// The fields at one place with the types that they are selected of.
pub(super) struct Selections<'d> {
    reader: Reader<'d>,
    /// Different sets of types, each ascending; the first has all that are possible.
    sets: Vec<Vec<TypeId>>,
    /// The positions of the others.
    numbers: HashMap<Vec<TypeId>, usize>,
    /// The types of a set that a condition leaves; `None` where there are none.
    narrowed: HashMap<(usize, &'d str), Option<usize>>,
    spread: HashSet<(&'d str, usize)>,
    fields: Vec<(usize, &'d Field)>,
}

impl<'d> Selections<'d> {
    pub(super) fn new(reader: Reader<'d>, types: &[TypeId]) -> Self {
        Selections {
            reader,
            sets: vec![types.to_vec()],
            numbers: HashMap::default(),
            narrowed: HashMap::default(),
            spread: HashSet::default(),
            fields: Vec::new(),
        }
    }

    /// Adds a selection set, with fragments resolved and without what is left out.
    pub(super) fn add(&mut self, selections: &'d [Selection], tree: &mut Tree) -> Result<(), Full> {
        self.spread.clear();
        self.add_to(0, selections, tree)
    }

    fn add_to(
        &mut self,
        set: usize,
        selections: &'d [Selection],
        tree: &mut Tree,
    ) -> Result<(), Full> {
        for selection in selections {
            tree.look(1)?;
            if self.is_left_out(selection) {
                continue;
            }
            match selection {
                Selection::Field(field) => self.fields.push((set, field)),
                Selection::InlineFragment(inline) => {
                    let narrowed = match &inline.type_condition {
                        Some(condition) => self.narrow(set, condition, tree)?,
                        None => Some(set),
                    };
                    if let Some(narrowed) = narrowed {
                        self.add_to(narrowed, &inline.selection_set.selections, tree)?;
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let document = self.reader.document;
                    let Some(fragment) = document.fragments.get(&spread.fragment_name) else {
                        continue;
                    };
                    let narrowed = self.narrow(set, fragment.type_condition(), tree)?;
                    if let Some(narrowed) = narrowed
                        && self.spread.insert((&spread.fragment_name, narrowed))
                    {
                        self.add_to(narrowed, &fragment.selection_set.selections, tree)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the types of a set that a condition applies to.
    fn narrow(
        &mut self,
        set: usize,
        condition: &'d str,
        tree: &mut Tree,
    ) -> Result<Option<usize>, Full> {
        if let Some(known) = self.narrowed.get(&(set, condition)) {
            return Ok(*known);
        }
        let supergraph = self.reader.graph.supergraph();
        let possible = supergraph.type_id(condition);
        let possible = possible.map_or(&[][..], |id| &supergraph.ty(id).possible);
        let before = &self.sets[set];
        let (small, large) = if possible.len() < before.len() {
            (possible, before.as_slice())
        } else {
            (before.as_slice(), possible)
        };
        tree.look(small.len())?;
        let both: Vec<TypeId> = small
            .iter()
            .copied()
            .filter(|ty| large.binary_search(ty).is_ok())
            .collect();
        let narrowed = if both.is_empty() {
            None
        } else if both.len() == before.len() {
            Some(set)
        } else {
            let next = self.sets.len();
            let number = *self.numbers.entry(both.clone()).or_insert(next);
            if number == next {
                self.sets.push(both);
            }
            Some(number)
        };
        self.narrowed.insert((set, condition), narrowed);
        Ok(narrowed)
    }

    /// Returns the types that the same is selected of, with what is selected: grouped by response key, as
    /// CollectFields of the specification does.
    pub(super) fn by_types(
        self,
        tree: &mut Tree,
    ) -> Result<Vec<(Vec<TypeId>, Collected<'d>)>, Full> {
        if let [types] = self.sets.as_slice() {
            tree.look(types.len() + self.fields.len())?;
            let collected = self.collected(0..self.fields.len());
            return Ok(vec![(types.clone(), collected)]);
        }
        let mut selected: Vec<Vec<usize>> = vec![Vec::new(); self.sets.len()];
        for (position, (set, _)) in self.fields.iter().enumerate() {
            selected[*set].push(position);
        }
        let mut sets_of: HashMap<TypeId, Vec<usize>> = HashMap::default();
        for (set, types) in self.sets.iter().enumerate() {
            if !selected[set].is_empty() {
                tree.look(types.len())?;
                for ty in types {
                    sets_of.entry(*ty).or_default().push(set);
                }
            }
        }
        let mut groups: IndexMap<Vec<usize>, Vec<TypeId>> = IndexMap::default();
        for ty in &self.sets[0] {
            let sets = sets_of.remove(ty).unwrap_or_default();
            groups.entry(sets).or_default().push(*ty);
        }
        let mut by_types = Vec::new();
        for (sets, types) in groups {
            let mut positions: Vec<usize> = sets
                .iter()
                .flat_map(|set| &selected[*set])
                .copied()
                .collect();
            tree.look(positions.len())?;
            positions.sort_unstable();
            let collected = self.collected(positions.into_iter());
            by_types.push((types, collected));
        }
        Ok(by_types)
    }

    /// Returns fields by response key.
    fn collected(&self, positions: impl Iterator<Item = usize>) -> Collected<'d> {
        let mut collected = Collected::default();
        let mut seen = HashSet::default();
        for position in positions {
            let (_, field) = self.fields[position];
            // A fragment that is spread under several conditions applies once.
            if seen.insert(std::ptr::from_ref(field).addr()) {
                let fields: &mut Vec<_> = collected.entry(field.response_key()).or_default();
                fields.push(field);
            }
        }
        collected
    }

    fn is_left_out(&self, selection: &Selection) -> bool {
        let directives = selection.directives();
        let holds = |name: &str| {
            let condition = directives.get(name)?.specified_argument_by_name("if")?;
            match condition.as_ref() {
                Value::Boolean(value) => Some(*value),
                Value::Variable(name) => {
                    let value = self.reader.variables.get(name.as_str());
                    value.and_then(JsonValue::as_bool)
                }
                _ => None,
            }
        };
        holds("skip").unwrap_or(false) || !holds("include").unwrap_or(true)
    }
}
