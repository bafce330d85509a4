//! `@context` and `@fromContext`.

use std::collections::HashMap;

use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node};

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::facts::{fields, text};
use crate::compose::field_set::{Problem, Selected, context_parts, parse_of_context};

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    let mut setters: HashMap<&str, Vec<&Name>> = HashMap::new();
    for ty in subgraph.schema.types.values() {
        for directive in ty.directives().get_all("federation__context") {
            let Some(name) = text(directive, "name") else {
                continue;
            };
            // Supergraphs write `<subgraph>__<context>` (<https://specs.apollo.dev/context/v0.1>),
            // which an underscore could make ambiguous.
            if name.contains('_') || Name::new(name).is_err() {
                let message = format!(
                    "`{name}` on `{}` cannot be a context: it is a name without underscores",
                    ty.name()
                );
                let code = CompositionCode::CONTEXT_NAME_INVALID;
                checked.report(code, ty.name().as_str(), directive.location(), message);
            }
            setters.entry(name).or_default().push(ty.name());
        }
    }
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        for (_, field) in fields(ty).into_iter().flatten() {
            for argument in &field.arguments {
                check_argument(checked, &setters, ty, &field.name, argument);
            }
        }
    }
}

fn check_argument(
    checked: &mut Checked<'_>,
    setters: &HashMap<&str, Vec<&Name>>,
    ty: &ExtendedType,
    field: &Name,
    argument: &Node<InputValueDefinition>,
) {
    let Some(directive) = argument.directives.get("federation__fromContext") else {
        return;
    };
    let span = directive.location();
    let coordinate = format!("{}.{field}({}:)", ty.name(), argument.name);
    let Some(value) = text(directive, "field") else {
        let message = format!("`@fromContext` on `{coordinate}` has no `field`");
        checked.report(
            CompositionCode::NO_CONTEXT_IN_SELECTION,
            &coordinate,
            span,
            message,
        );
        return;
    };
    let Some((context, selection)) = context_parts(value) else {
        let message = format!(
            "`{value}` of `{coordinate}` names no context: it begins with `$` and the name of one, such as `$user {{ id }}`"
        );
        checked.report(
            CompositionCode::NO_CONTEXT_IN_SELECTION,
            &coordinate,
            span,
            message,
        );
        return;
    };
    let Some(types) = setters.get(context) else {
        let message = format!(
            "`{coordinate}` uses the context `{context}`, which no type of the subgraph sets"
        );
        checked.report(CompositionCode::CONTEXT_NOT_SET, &coordinate, span, message);
        return;
    };
    for setter in types {
        if let Err(why) = check_selection(checked, setter, selection, &argument.ty) {
            let message = format!("`{value}` of `{coordinate}` does not fit `{setter}`: {why}");
            checked.report(
                CompositionCode::CONTEXT_INVALID_SELECTION,
                &coordinate,
                span,
                message,
            );
        }
    }
    let mut keys = checked.facts.keys(ty.name()).iter();
    // The value is sent with an entity call (docs/federation.md, "Contexts").
    if !keys.any(|key| key.is_resolvable) {
        let message = format!(
            "`{}` has contextual arguments and no resolvable key in the subgraph",
            ty.name()
        );
        checked.report(
            CompositionCode::CONTEXT_NO_RESOLVABLE_KEY,
            &coordinate,
            span,
            message,
        );
    }
}

/// Checks that a selection leads to one value of the argument's type.
fn check_selection(
    checked: &Checked<'_>,
    setter: &Name,
    selection: &str,
    wanted: &Type,
) -> Result<(), String> {
    let ty = checked.subgraph.schema.types.get(setter);
    if ty.is_some_and(|ty| ty.directives().has("federation__interfaceObject")) {
        return Err("it is an interface that the subgraph has as an object".to_owned());
    }
    let set = parse_of_context(&checked.subgraph.schema, setter, selection).map_err(|problem| {
        match problem {
            Problem::Invalid(why) => why,
            Problem::Directive(name) => format!("it has the directive `@{name}`"),
            Problem::Bare(place) => format!("nothing is selected of `{place}`"),
        }
    })?;
    let mut leaves = Vec::new();
    collect(&set, &mut leaves)?;
    match leaves.iter().find(|leaf| *leaf != wanted) {
        None if leaves.is_empty() => Err("nothing is selected".to_owned()),
        None => Ok(()),
        Some(leaf) => Err(format!("the value is of the type `{leaf}`, not `{wanted}`")),
    }
}

/// Adds the types of the selected leaves.
fn collect(set: &[Selected<'_>], leaves: &mut Vec<Type>) -> Result<(), String> {
    let fields = set
        .iter()
        .filter(|selected| !matches!(selected, Selected::Fragment { .. }));
    if fields.count() > 1 {
        return Err("more than one field is selected".to_owned());
    }
    for selected in set {
        match selected {
            Selected::Typename => return Err("`__typename` is not a value of a context".to_owned()),
            Selected::Fragment { inner, .. } => collect(inner, leaves)?,
            Selected::Field(field) if field.inner.is_empty() => {
                let name = Type::Named(field.field.ty.inner_named_type().clone());
                leaves.push(in_lists_of(&field.field.ty, name));
            }
            Selected::Field(field) => {
                let mut below = Vec::new();
                collect(&field.inner, &mut below)?;
                let below = below.into_iter();
                leaves.extend(below.map(|leaf| in_lists_of(&field.field.ty, leaf)));
            }
        }
    }
    Ok(())
}

/// Puts a type into the lists of another one. Nothing is non-null: a context may have no value.
fn in_lists_of(ty: &Type, inner: Type) -> Type {
    match ty {
        Type::Named(_) | Type::NonNullNamed(_) => inner,
        Type::List(item) | Type::NonNullList(item) => {
            Type::List(Box::new(in_lists_of(item, inner)))
        }
    }
}
