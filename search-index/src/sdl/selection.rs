//! What an operation selects of the answer to a search.

use std::collections::HashSet;

use apollo_compiler::executable::{DirectiveList, Field, Selection, SelectionSet};
use apollo_compiler::{ExecutableDocument, Node};
use graphql_service::Prepared;
use indexmap::IndexMap;

use super::input::Input;

/// An operation with its document and variables.
#[derive(Clone, Copy)]
pub(super) struct Operation<'d> {
    pub(super) prepared: &'d Prepared,
}

/// The fields of a selection set that have the same response key, which are answered as one.
#[derive(Clone, Copy)]
pub(super) struct FieldGroup<'d, 'g> {
    /// The response key.
    pub(super) key: &'g str,
    /// At least one field.
    pub(super) fields: &'g [&'d Node<Field>],
}

impl<'d> FieldGroup<'d, '_> {
    /// Returns the field that says what all of them are, arguments included.
    pub(super) fn first(self) -> &'d Node<Field> {
        self.fields[0]
    }

    /// Returns the selection sets of the fields.
    pub(super) fn selection_sets(self) -> impl Iterator<Item = &'d SelectionSet> {
        self.fields.iter().map(|field| &field.selection_set)
    }
}

impl<'d> Operation<'d> {
    /// Returns the document.
    pub(super) fn document(self) -> &'d ExecutableDocument {
        self.prepared.document.valid()
    }

    /// Returns the fields of some selection sets of one type, in order, fragments expanded and
    /// `@skip` and `@include` applied.
    pub(super) fn fields(
        self,
        sets: impl IntoIterator<Item = &'d SelectionSet>,
    ) -> Vec<&'d Node<Field>> {
        let mut fields = Vec::new();
        let mut fragments = HashSet::new();
        for set in sets {
            self.gather(set, &mut fragments, &mut fields);
        }
        fields
    }

    /// Returns the fields of some selection sets of one type by key, in the order of the answer.
    pub(super) fn by_key(
        self,
        sets: impl IntoIterator<Item = &'d SelectionSet>,
    ) -> IndexMap<&'d str, Vec<&'d Node<Field>>> {
        let mut by_key: IndexMap<_, Vec<_>> = IndexMap::new();
        for field in self.fields(sets) {
            let key = field.response_key().as_str();
            by_key.entry(key).or_default().push(field);
        }
        by_key
    }

    /// All types here are object types, so every fragment that is valid applies.
    fn gather(
        self,
        set: &'d SelectionSet,
        fragments: &mut HashSet<&'d str>,
        fields: &mut Vec<&'d Node<Field>>,
    ) {
        for selection in &set.selections {
            if !self.is_included(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => fields.push(field),
                Selection::InlineFragment(inline) => {
                    self.gather(&inline.selection_set, fragments, fields);
                }
                Selection::FragmentSpread(spread) => {
                    let name = spread.fragment_name.as_str();
                    if let Some(fragment) = self.document().fragments.get(name)
                        && fragments.insert(name)
                    {
                        self.gather(&fragment.selection_set, fragments, fields);
                    }
                }
            }
        }
    }

    pub(super) fn is_included(self, directives: &DirectiveList) -> bool {
        let condition = |name: &str| {
            let argument = directives.get(name)?.specified_argument_by_name("if")?;
            Input::new(argument, self.prepared)
        };
        condition("skip") != Some(Input::Boolean(true))
            && condition("include") != Some(Input::Boolean(false))
    }
}
