//! What an operation selects of the schema, fragments put in and fields of one key merged.
//!
//! The types of the introspection schema are all concrete, so a selection is the same for every object
//! that it is applied to, and is made once.

use std::collections::HashSet;

use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Field, Operation, Selection};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};
use indexmap::IndexMap;

/// The fields of an object of the introspection schema, in the order of the answer.
pub(super) struct Selected<'d> {
    pub(super) fields: Vec<SelectedField<'d>>,
}

/// A field of an object of the introspection schema.
pub(super) struct SelectedField<'d> {
    pub(super) key: &'d str,
    pub(super) name: &'d str,
    /// The argument `includeDeprecated`.
    pub(super) include_deprecated: bool,
    /// The argument `name`.
    pub(super) type_name: Option<&'d str>,
    pub(super) selected: Selected<'d>,
}

/// The operation that asks for the schema, with its document and the values of its variables.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'d> {
    pub(crate) document: &'d ExecutableDocument,
    pub(crate) operation: &'d Operation,
    pub(crate) variables: &'d JsonMap,
}

/// What selections are read with.
struct Reader<'d> {
    schema: &'d Schema,
    document: &'d ExecutableDocument,
    variables: &'d JsonMap,
}

/// Returns the field of the root that is answered under `key`; `None` where directives leave it out.
pub(super) fn root<'d>(
    schema: &'d Schema,
    asked: Asked<'d>,
    key: &str,
) -> Option<SelectedField<'d>> {
    let Asked {
        document,
        operation,
        variables,
    } = asked;
    let reader = Reader {
        schema,
        document,
        variables,
    };
    let mut groups = IndexMap::new();
    let selections = &operation.selection_set.selections;
    let root = operation.object_type();
    reader.collect(root, selections, &mut HashSet::new(), &mut groups);
    let fields = groups.swap_remove(key)?;
    Some(reader.field(&fields))
}

impl<'d> Reader<'d> {
    fn field(&self, fields: &[&'d Field]) -> SelectedField<'d> {
        let field = fields[0];
        let mut groups = IndexMap::new();
        let mut seen = HashSet::new();
        for field in fields {
            let inner = &field.selection_set;
            self.collect(&inner.ty, &inner.selections, &mut seen, &mut groups);
        }
        SelectedField {
            key: field.response_key().as_str(),
            name: field.name.as_str(),
            include_deprecated: self.boolean(field, "includeDeprecated"),
            type_name: self.string(field, "name"),
            selected: Selected {
                fields: groups.values().map(|fields| self.field(fields)).collect(),
            },
        }
    }

    /// Groups fields by their key, as the specification's
    /// [CollectFields](https://spec.graphql.org/September2025/#CollectFields()) does.
    fn collect(
        &self,
        object: &Name,
        selections: &'d [Selection],
        seen: &mut HashSet<&'d Name>,
        groups: &mut IndexMap<&'d str, Vec<&'d Field>>,
    ) {
        for selection in selections {
            if self.is_left_out(selection) {
                continue;
            }
            match selection {
                Selection::Field(field) => groups
                    .entry(field.response_key().as_str())
                    .or_default()
                    .push(field),
                Selection::InlineFragment(inline) => {
                    let condition = inline.type_condition.as_ref();
                    if condition.is_none_or(|condition| self.applies(condition, object)) {
                        self.collect(object, &inline.selection_set.selections, seen, groups);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    // A fragment that was spread once adds nothing when it is spread again.
                    let fragment = spread.fragment_def(self.document);
                    if let Some(fragment) = fragment.filter(|_| seen.insert(&spread.fragment_name))
                        && self.applies(fragment.type_condition(), object)
                    {
                        self.collect(object, &fragment.selection_set.selections, seen, groups);
                    }
                }
            }
        }
    }

    /// Returns whether a type condition applies to an object type
    /// (<https://spec.graphql.org/September2025/#DoesFragmentTypeApply()>).
    fn applies(&self, condition: &Name, object: &Name) -> bool {
        condition == object
            || match self.schema.types.get(condition) {
                Some(ExtendedType::Interface(_)) => {
                    let object = self.schema.get_object(object);
                    object.is_some_and(|object| object.implements_interfaces.contains(condition))
                }
                Some(ExtendedType::Union(union)) => union.members.contains(object),
                _ => false,
            }
    }

    /// Returns whether directives leave a selection out: one of them is enough
    /// (<https://spec.graphql.org/September2025/#sec--include>).
    fn is_left_out(&self, selection: &Selection) -> bool {
        let directives = selection.directives();
        let holds = |name: &str| {
            let condition = directives.get(name)?.specified_argument_by_name("if")?;
            match condition.as_ref() {
                Value::Boolean(value) => Some(*value),
                Value::Variable(name) => self.variables.get(name.as_str())?.as_bool(),
                _ => None,
            }
        };
        holds("skip").unwrap_or(false) || !holds("include").unwrap_or(true)
    }

    fn argument(&self, field: &'d Field, name: &str) -> Option<&'d Node<Value>> {
        let mut arguments = field.arguments.iter();
        Some(&arguments.find(|argument| argument.name == name)?.value)
    }

    fn boolean(&self, field: &'d Field, name: &str) -> bool {
        match self.argument(field, name).map(AsRef::as_ref) {
            Some(Value::Boolean(value)) => *value,
            Some(Value::Variable(variable)) => {
                let value = self.variables.get(variable.as_str());
                value.and_then(JsonValue::as_bool).unwrap_or(false)
            }
            _ => false,
        }
    }

    fn string(&self, field: &'d Field, name: &str) -> Option<&'d str> {
        match self.argument(field, name)?.as_ref() {
            Value::String(text) => Some(text),
            Value::Variable(variable) => self.variables.get(variable.as_str())?.as_str(),
            _ => None,
        }
    }
}
