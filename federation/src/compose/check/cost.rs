//! `@cost` and `@listSize`.

use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        for (_, field) in fields(ty).into_iter().flatten() {
            let coordinate = format!("{}.{}", ty.name(), field.name);
            if let Some(cost) = field
                .directives
                .get("federation__cost")
                .filter(|_| ty.is_interface())
            {
                let message = format!("`@cost` is on `{coordinate}`, a field of an interface");
                let code = CompositionCode::COST_APPLIED_TO_INTERFACE_FIELD;
                checked.report(code, &coordinate, cost.location(), message);
            }
            if let Some(size) = field.directives.get("federation__listSize") {
                check_list_size(checked, &coordinate, field, size);
            }
        }
    }
}

/// Checks `@listSize`: what it names has to be there, since a size of nothing bounds nothing.
fn check_list_size(
    checked: &mut Checked<'_>,
    coordinate: &str,
    field: &Component<FieldDefinition>,
    directive: &Node<Directive>,
) {
    let span = directive.location();
    let sized = names(directive, "sizedFields");
    if !field.ty.is_list() && sized.is_empty() {
        let message = format!(
            "`@listSize` is on `{coordinate}`, which is not a list and names no sized fields"
        );
        checked.report(
            CompositionCode::LIST_SIZE_APPLIED_TO_NON_LIST,
            coordinate,
            span,
            message,
        );
    }
    let assumed = directive
        .specified_argument_by_name("assumedSize")
        .and_then(|value| value.to_i32());
    if let Some(assumed) = assumed.filter(|assumed| *assumed < 0) {
        let message = format!("the assumed size {assumed} of `{coordinate}` is negative");
        checked.report(
            CompositionCode::LIST_SIZE_INVALID_ASSUMED_SIZE,
            coordinate,
            span,
            message,
        );
    }
    for name in names(directive, "slicingArguments") {
        let argument = field.argument_by_name(&name);
        let is_integer =
            |ty: &apollo_compiler::ast::Type| !ty.is_list() && ty.inner_named_type() == "Int";
        if argument.is_none_or(|argument| !is_integer(&argument.ty)) {
            let message = match argument {
                None => format!("`{coordinate}` has no argument `{name}`, which `@listSize` names"),
                Some(_) => {
                    format!("the slicing argument `{name}` of `{coordinate}` is not an `Int`")
                }
            };
            let code = CompositionCode::LIST_SIZE_INVALID_SLICING_ARGUMENT;
            checked.report(code, coordinate, span, message);
        }
    }
    let inner = checked
        .subgraph
        .schema
        .types
        .get(field.ty.inner_named_type());
    for path in sized {
        let (code, problem) = match is_list_at(checked, inner, &path) {
            Some(true) => continue,
            Some(false) => (
                CompositionCode::LIST_SIZE_APPLIED_TO_NON_LIST,
                "is not a list",
            ),
            None => (
                CompositionCode::LIST_SIZE_INVALID_SIZED_FIELD,
                "its type does not have",
            ),
        };
        let message = format!("`@listSize` of `{coordinate}` names `{path}`, which {problem}");
        checked.report(code, coordinate, span, message);
    }
}

fn names(directive: &Directive, argument: &str) -> Vec<String> {
    let list = directive
        .specified_argument_by_name(argument)
        .and_then(|value| value.as_list());
    let names = list
        .into_iter()
        .flatten()
        .filter_map(|value: &Node<Value>| value.as_str());
    names.map(str::to_owned).collect()
}

/// Returns whether a field of a type, or of what a path of fields leads to, is a list; `None` if there is none.
fn is_list_at(checked: &Checked<'_>, ty: Option<&ExtendedType>, path: &str) -> Option<bool> {
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let field = ty.and_then(fields)?.get(name)?;
    match rest {
        None => Some(field.ty.is_list()),
        Some(rest) => is_list_at(
            checked,
            checked
                .subgraph
                .schema
                .types
                .get(field.ty.inner_named_type()),
            rest,
        ),
    }
}
