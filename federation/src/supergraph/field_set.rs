//! Field sets: the arguments of `@key`, `@requires` and `@provides`.

use apollo_compiler::executable::{self, Selection, SelectionSet};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node, Schema, ast};
use indexmap::IndexSet;

use super::model::{Supergraph, TypeId};
use crate::hash::HashSet;

/// The fields that a directive names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FieldSet {
    /// In the order of the text.
    pub selections: Vec<Selected>,
}

/// A selection of a field set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Selected {
    /// The name of the object's type.
    Typename,
    /// A field of the object.
    Field {
        /// Its name.
        name: Name,
        /// Its arguments, all constant.
        arguments: Vec<Node<ast::Argument>>,
        /// What is selected of its value; empty for leaves.
        inner: FieldSet,
    },
    /// Selections for objects of a type.
    Fragment {
        /// The type.
        condition: TypeId,
        /// What is selected of them.
        inner: FieldSet,
    },
}

impl FieldSet {
    /// Reads the text of a field set on a type; the error is one line for people.
    pub(super) fn parse(
        schema: &Valid<Schema>,
        parent: &Name,
        text: &str,
        type_id: &impl Fn(&str) -> Option<TypeId>,
    ) -> Result<FieldSet, String> {
        let text = checked(text)?;
        let parsed =
            executable::FieldSet::parse_and_validate(schema, parent.clone(), text, "fields");
        let parsed = parsed.map_err(|list| {
            let first = list.errors.iter().next();
            first.map_or_else(String::new, |finding| finding.error.to_string())
        })?;
        read(&parsed.selection_set, type_id)
    }

    /// Returns the text of a selection without its outermost fragments, of which those are taken whose types apply;
    /// `None` where nothing is left.
    pub(super) fn narrowed(
        text: &str,
        applies: &impl Fn(&str) -> bool,
    ) -> Result<Option<String>, String> {
        let operation = operation(text)?;
        let mut left = Vec::new();
        unfold(&operation.selection_set, applies, &mut left);
        let left = left.iter();
        let texts: IndexSet<String> = left
            .map(|selection| selection.serialize().no_indent().to_string())
            .collect();
        let texts: Vec<String> = texts.into_iter().collect();
        Ok((!texts.is_empty()).then(|| texts.join(" ")))
    }

    /// Returns what is selected of objects of a type, with fragments resolved.
    #[must_use]
    pub fn of(&self, supergraph: &Supergraph, ty: TypeId) -> Vec<Selected> {
        let mut all = Vec::new();
        for selected in &self.selections {
            match selected {
                Selected::Fragment { condition, inner } => {
                    if supergraph.is_possible(*condition, ty) {
                        all.extend(inner.of(supergraph, ty));
                    }
                }
                other => all.push(other.clone()),
            }
        }
        all
    }

    /// Adds the names of fields with arguments.
    pub(super) fn given_arguments(&self, names: &mut HashSet<Name>) {
        for selected in &self.selections {
            match selected {
                Selected::Typename => {}
                Selected::Fragment { inner, .. } => inner.given_arguments(names),
                Selected::Field {
                    name,
                    arguments,
                    inner,
                } => {
                    if !arguments.is_empty() {
                        names.insert(name.clone());
                    }
                    inner.given_arguments(names);
                }
            }
        }
    }

    /// Returns whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.selections.is_empty()
    }
}

/// Returns a text as one selection set with its braces.
fn checked(text: &str) -> Result<String, String> {
    let operation = operation(text)?;
    Ok(operation.serialize().no_indent().to_string())
}

/// Reads a text, with or without braces, as an operation of one selection set. The parser of field sets panics on text
/// without selections and on what stands before or behind them; that of documents does not.
pub(crate) fn operation(text: &str) -> Result<Node<ast::OperationDefinition>, String> {
    let document = if text.trim_start().starts_with('{') {
        text.to_owned()
    } else {
        // A comment must not hide the brace.
        format!("{{{text}\n}}")
    };
    let document = ast::Document::parse(document, "fields").map_err(|invalid| {
        let first = invalid.errors.iter().next();
        first.map_or_else(String::new, |finding| finding.error.to_string())
    })?;
    match document.definitions.as_slice() {
        [ast::Definition::OperationDefinition(only)]
            if only.name.is_none()
                && only.variables.is_empty()
                && !only.selection_set.is_empty() =>
        {
            Ok(only.clone())
        }
        _ => Err("one selection set is expected".to_owned()),
    }
}

/// Adds selections to a list, those of fragments if their types apply.
fn unfold<'a>(
    selections: &'a [ast::Selection],
    applies: &impl Fn(&str) -> bool,
    left: &mut Vec<&'a ast::Selection>,
) {
    for selection in selections {
        match selection {
            ast::Selection::InlineFragment(inline) => {
                if inline
                    .type_condition
                    .as_ref()
                    .is_none_or(|name| applies(name))
                {
                    unfold(&inline.selection_set, applies, left);
                }
            }
            other => left.push(other),
        }
    }
}

fn read(set: &SelectionSet, type_id: &impl Fn(&str) -> Option<TypeId>) -> Result<FieldSet, String> {
    let mut selections = Vec::new();
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => selections.push(of_field(field, type_id)?),
            Selection::InlineFragment(inline) => {
                let inner = read(&inline.selection_set, type_id)?;
                match &inline.type_condition {
                    None => selections.extend(inner.selections),
                    Some(name) => selections.push(Selected::Fragment {
                        condition: type_id(name).ok_or_else(|| format!("unknown type `{name}`"))?,
                        inner,
                    }),
                }
            }
            Selection::FragmentSpread(_) => {
                return Err("named fragments are not allowed".to_owned());
            }
        }
    }
    Ok(FieldSet { selections })
}

fn of_field(
    field: &executable::Field,
    type_id: &impl Fn(&str) -> Option<TypeId>,
) -> Result<Selected, String> {
    if field.alias.is_some() {
        return Err(format!(
            "`{}` has an alias, which is not allowed",
            field.name
        ));
    }
    if field.name == "__typename" {
        return Ok(Selected::Typename);
    }
    Ok(Selected::Field {
        name: field.name.clone(),
        arguments: field.arguments.clone(),
        inner: read(&field.selection_set, type_id)?,
    })
}
