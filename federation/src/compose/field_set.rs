//! Field sets of subgraphs: the selections that `@key`, `@requires` and `@provides` name.

use apollo_compiler::ast::{self, Argument, InputValueDefinition};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node, Schema};

use graphql_service::suggestions::nearest;

use super::facts::{fields, text};
use super::values::fits;
use crate::supergraph::field_set::operation;

/// A selection of a field set.
#[derive(Clone, Debug)]
pub(super) enum Selected<'s> {
    Typename,
    Field(SelectedField<'s>),
    Fragment {
        condition: Option<Name>,
        inner: Vec<Selected<'s>>,
    },
}

/// A field that is selected.
#[derive(Clone, Debug)]
pub(super) struct SelectedField<'s> {
    /// The type whose field it is.
    pub(super) parent: &'s Name,
    pub(super) field: &'s Component<FieldDefinition>,
    pub(super) arguments: Vec<Node<Argument>>,
    /// Empty for leaves.
    pub(super) inner: Vec<Selected<'s>>,
}

/// What is wrong with a field set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It is no selection of the type.
    Invalid(String),
    /// It has a directive, which is named.
    Directive(String),
    /// Nothing is selected of the field that is named, which is of an interface or a union.
    Bare(String),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Problem::Invalid(message)
    }
}

/// Reads the text of a field set on a type.
pub(super) fn parse<'s>(
    schema: &'s Schema,
    parent: &str,
    text: &str,
) -> Result<Vec<Selected<'s>>, Problem> {
    let operation = operation(text)?;
    resolve(schema, named(schema, parent)?, &operation.selection_set)
}

/// Visits the types and names of the fields that a text selects, as far as it can be understood.
pub(super) fn each_field_named(
    schema: &Schema,
    parent: &str,
    text: &str,
    visit: &mut impl FnMut(&Name, &Name),
) {
    fn walk(
        schema: &Schema,
        parent: &ExtendedType,
        selections: &[ast::Selection],
        visit: &mut impl FnMut(&Name, &Name),
    ) {
        for selection in selections {
            match selection {
                ast::Selection::Field(field) => {
                    let known = fields(parent).and_then(|fields| fields.get(&field.name));
                    let Some(known) = known else {
                        continue;
                    };
                    visit(parent.name(), &known.name);
                    if let Some(inner) = schema.types.get(known.ty.inner_named_type()) {
                        walk(schema, inner, &field.selection_set, visit);
                    }
                }
                ast::Selection::InlineFragment(fragment) => {
                    let condition = fragment.type_condition.as_ref();
                    let target =
                        condition.map_or(Some(parent), |name| schema.types.get(name.as_str()));
                    if let Some(target) = target {
                        walk(schema, target, &fragment.selection_set, visit);
                    }
                }
                ast::Selection::FragmentSpread(_) => {}
            }
        }
    }
    if let (Ok(operation), Some(parent)) = (operation(text), schema.types.get(parent)) {
        walk(schema, parent, &operation.selection_set, visit);
    }
}

/// Reads the selection of a context on one of the types that set it: fragments for other types do not count.
pub(super) fn parse_of_context<'s>(
    schema: &'s Schema,
    parent: &str,
    text: &str,
) -> Result<Vec<Selected<'s>>, Problem> {
    let mut selections = operation(text)?.selection_set.clone();
    let parent = named(schema, parent)?;
    selections.retain(|selection| match selection {
        ast::Selection::InlineFragment(fragment) => {
            let target = fragment
                .type_condition
                .as_ref()
                .and_then(|it| schema.types.get(it.as_str()));
            target.is_none_or(|target| overlaps(schema, parent, target))
        }
        _ => true,
    });
    resolve(schema, parent, &selections)
}

/// Visits every field of a set, and whether anything is selected below it.
pub(super) fn each_field<'s>(set: &[Selected<'s>], visit: &mut impl FnMut(&SelectedField<'s>)) {
    for selected in set {
        match selected {
            Selected::Typename => {}
            Selected::Field(field) => {
                visit(field);
                each_field(&field.inner, visit);
            }
            Selected::Fragment { inner, .. } => each_field(inner, visit),
        }
    }
}

/// Returns the type with a name.
fn named<'s>(schema: &'s Schema, name: &str) -> Result<&'s ExtendedType, Problem> {
    let ty = schema.types.get(name);
    ty.ok_or_else(|| format!("there is no type `{name}`").into())
}

/// Splits the `$context { selection }` of a `@fromContext`.
pub(super) fn context_parts(value: &str) -> Option<(&str, &str)> {
    let rest = value.trim_start().strip_prefix('$')?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let (name, selection) = rest.split_at(end.unwrap_or(rest.len()));
    let selection = selection.trim();
    (!name.is_empty() && !selection.is_empty()).then_some((name, selection))
}

/// Returns what an argument takes from each type that sets its context.
pub(super) fn taken_from_context<'s>(
    schema: &'s Schema,
    argument: &InputValueDefinition,
) -> Vec<Vec<Selected<'s>>> {
    let directive = argument.directives.get("federation__fromContext");
    let value = directive.and_then(|it| text(it, "field"));
    let Some((context, selection)) = value.and_then(context_parts) else {
        return Vec::new();
    };
    let types = schema.types.values().filter(|ty| {
        let mut set = ty.directives().get_all("federation__context");
        set.any(|it| text(it, "name") == Some(context))
    });
    let taken = types.filter_map(|ty| parse_of_context(schema, ty.name(), selection).ok());
    taken.collect()
}

fn resolve<'s>(
    schema: &'s Schema,
    parent: &'s ExtendedType,
    selections: &[ast::Selection],
) -> Result<Vec<Selected<'s>>, Problem> {
    let resolved = selections.iter().map(|selection| match selection {
        ast::Selection::Field(field) => resolve_field(schema, parent, field),
        ast::Selection::InlineFragment(fragment) => resolve_fragment(schema, parent, fragment),
        ast::Selection::FragmentSpread(spread) => Err(Problem::Invalid(format!(
            "the fragment `{}` is not known",
            spread.fragment_name
        ))),
    });
    resolved.collect()
}

fn resolve_field<'s>(
    schema: &'s Schema,
    parent: &'s ExtendedType,
    selected: &Node<ast::Field>,
) -> Result<Selected<'s>, Problem> {
    if let Some(directive) = selected.directives.first() {
        return Err(Problem::Directive(directive.name.to_string()));
    }
    // Representations have values under the names of fields.
    if let Some(alias) = &selected.alias {
        return Err(format!("`{alias}: {}` has an alias", selected.name).into());
    }
    if selected.name == "__typename" {
        return Ok(Selected::Typename);
    }
    let field = fields(parent).and_then(|fields| fields.get(&selected.name));
    let Some(field) = field else {
        let known = fields(parent).into_iter().flat_map(|fields| fields.keys());
        let meant = nearest(&selected.name, known.map(Name::as_str))
            .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let (ty, field) = (parent.name(), &selected.name);
        return Err(format!("the type `{ty}` has no field `{field}`{meant}").into());
    };
    check_arguments(schema, parent.name(), field, selected)?;
    let ty = schema.types.get(field.ty.inner_named_type());
    let is_leaf = ty.is_none_or(|ty| ty.is_scalar() || ty.is_enum());
    let inner = match (ty, is_leaf, selected.selection_set.is_empty()) {
        (_, true, true) => Vec::new(),
        (Some(ty), false, false) => resolve(schema, ty, &selected.selection_set)?,
        (_, true, false) => {
            return Err(format!(
                "`{}.{}` is a leaf and has no fields",
                parent.name(),
                field.name
            )
            .into());
        }
        (ty, ..) => {
            let place = format!("{}.{}", parent.name(), field.name);
            let is_abstract = ty.is_some_and(|ty| ty.is_interface() || ty.is_union());
            return Err(if is_abstract {
                Problem::Bare(place)
            } else {
                format!("nothing is selected of `{place}`").into()
            });
        }
    };
    Ok(Selected::Field(SelectedField {
        parent: parent.name(),
        field,
        arguments: selected.arguments.clone(),
        inner,
    }))
}

fn check_arguments(
    schema: &Schema,
    parent: &Name,
    field: &FieldDefinition,
    selected: &ast::Field,
) -> Result<(), Problem> {
    let is_known = |argument: &&Node<Argument>| field.argument_by_name(&argument.name).is_none();
    if let Some(unknown) = selected.arguments.iter().find(is_known) {
        return Err(format!(
            "`{parent}.{}` has no argument `{}`",
            field.name, unknown.name
        )
        .into());
    }
    for given in &selected.arguments {
        let known = field.argument_by_name(&given.name);
        if let Some(known) = known.filter(|known| !fits(schema, &known.ty, &given.value)) {
            return Err(format!(
                "the argument `{}` of `{parent}.{}` is of the type `{}`, and {} is not a value of it",
                given.name, field.name, known.ty, given.value
            )
            .into());
        }
    }
    let is_given = |name: &Name| {
        selected
            .arguments
            .iter()
            .any(|argument| argument.name == *name)
    };
    let mut required = field
        .arguments
        .iter()
        .filter(|argument| argument.is_required());
    if let Some(missing) = required.find(|argument| !is_given(&argument.name)) {
        return Err(format!(
            "`{parent}.{}` needs the argument `{}`",
            field.name, missing.name
        )
        .into());
    }
    Ok(())
}

fn resolve_fragment<'s>(
    schema: &'s Schema,
    parent: &'s ExtendedType,
    fragment: &ast::InlineFragment,
) -> Result<Selected<'s>, Problem> {
    if let Some(directive) = fragment.directives.first() {
        return Err(Problem::Directive(directive.name.to_string()));
    }
    let target = match &fragment.type_condition {
        None => parent,
        Some(condition) => named(schema, condition)?,
    };
    if !overlaps(schema, parent, target) {
        let (parent, target) = (parent.name(), target.name());
        return Err(format!("a `{parent}` is never a `{target}`").into());
    }
    Ok(Selected::Fragment {
        condition: fragment.type_condition.clone(),
        inner: resolve(schema, target, &fragment.selection_set)?,
    })
}

/// Returns whether a value can be of two types at once.
fn overlaps(schema: &Schema, one: &ExtendedType, other: &ExtendedType) -> bool {
    one.name() == other.name()
        || possible(schema, one)
            .iter()
            .any(|name| possible(schema, other).contains(name))
}

/// Returns the object types that a value of a type can have.
pub(super) fn possible<'s>(schema: &'s Schema, ty: &'s ExtendedType) -> Vec<&'s Name> {
    match ty {
        ExtendedType::Object(object) => vec![&object.name],
        ExtendedType::Union(union) => union.members.iter().map(|member| &member.name).collect(),
        ExtendedType::Interface(interface) => {
            let types = schema.types.values().filter_map(ExtendedType::as_object);
            let implementers = types.filter(|object| {
                object
                    .implements_interfaces
                    .contains(interface.name.as_str())
            });
            implementers.map(|object| &object.name).collect()
        }
        _ => Vec::new(),
    }
}
