//! What an operation selects of the answer to a search.

use std::collections::HashSet;

use apollo_compiler::executable::{DirectiveList, Field, Selection, SelectionSet};
use apollo_compiler::response::JsonMap;
use apollo_compiler::{ExecutableDocument, Node};
use indexmap::IndexMap;

use super::input::Input;
use crate::mapping::{Content, ObjectFields};

/// A document and the variables of an operation of it.
#[derive(Clone, Copy)]
pub(super) struct Operation<'d> {
    pub(super) document: &'d ExecutableDocument,
    pub(super) variables: &'d JsonMap,
}

impl<'d> Operation<'d> {
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

    /// All types are object types, so every fragment that is valid applies.
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
                    if let Some(fragment) = self.document.fragments.get(name)
                        && fragments.insert(name)
                    {
                        self.gather(&fragment.selection_set, fragments, fields);
                    }
                }
            }
        }
    }

    fn is_included(self, directives: &DirectiveList) -> bool {
        let condition = |name: &str| {
            let argument = directives.get(name)?.specified_argument_by_name("if")?;
            Input::new(argument, self.variables)
        };
        condition("skip") != Some(Input::Boolean(true))
            && condition("include") != Some(Input::Boolean(false))
    }

    /// Returns the fields inside of those of some fields that have this name.
    pub(super) fn inside(self, fields: &[&'d Node<Field>], name: &str) -> Vec<&'d Node<Field>> {
        let named = fields.iter().filter(|field| field.name == name);
        self.fields(named.map(|field| &field.selection_set))
    }

    /// Adds the fields of the source that hold what is selected of an object.
    pub(super) fn add_source(
        self,
        object: &ObjectFields,
        selected: &[&'d Node<Field>],
        source: &mut Vec<String>,
    ) {
        for field in selected {
            let name = field.name.as_str();
            let path = match object.fields.get(name).map(|field| &field.content) {
                Some(Content::Object(embedded)) => {
                    let inside = self.fields([&field.selection_set]);
                    self.add_source(&embedded.fields, &inside, source);
                    continue;
                }
                Some(Content::Leaf(leaf)) if leaf.is_converted() => {
                    object.path_of(&format!("$shown.{name}"))
                }
                None if name == "__typename" => continue,
                Some(Content::Leaf(_)) | None => object.path_of(name),
            };
            if !source.contains(&path) {
                source.push(path);
            }
        }
    }
}
