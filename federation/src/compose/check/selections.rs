//! `@key`, `@requires`, `@provides` and `@external`.

use apollo_compiler::ast::Directive;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node};

use super::Checked;
use crate::compose::code::CompositionCode;
use crate::compose::facts::{fields, is_marked_external};
use crate::compose::field_set::{self, Problem, Selected, SelectedField, each_field};

/// The codes of one directive that selects fields.
struct Codes {
    name: &'static str,
    no_string: CompositionCode,
    invalid: CompositionCode,
    directive: CompositionCode,
}

const KEY: Codes = Codes {
    name: "key",
    no_string: CompositionCode::KEY_INVALID_FIELDS_TYPE,
    invalid: CompositionCode::KEY_INVALID_FIELDS,
    directive: CompositionCode::KEY_DIRECTIVE_IN_FIELDS_ARG,
};

const REQUIRES: Codes = Codes {
    name: "requires",
    no_string: CompositionCode::REQUIRES_INVALID_FIELDS_TYPE,
    invalid: CompositionCode::REQUIRES_INVALID_FIELDS,
    directive: CompositionCode::REQUIRES_DIRECTIVE_IN_FIELDS_ARG,
};

const PROVIDES: Codes = Codes {
    name: "provides",
    no_string: CompositionCode::PROVIDES_INVALID_FIELDS_TYPE,
    invalid: CompositionCode::PROVIDES_INVALID_FIELDS,
    directive: CompositionCode::PROVIDES_DIRECTIVE_IN_FIELDS_ARG,
};

pub(super) fn check(checked: &mut Checked<'_>) {
    let subgraph = checked.subgraph;
    for ty in subgraph
        .schema
        .types
        .values()
        .filter(|ty| !ty.is_built_in())
    {
        for directive in ty.directives().get_all("federation__key") {
            check_key(checked, ty, directive);
        }
        for (_, field) in fields(ty).into_iter().flatten() {
            check_requires(checked, ty, field);
            check_provides(checked, ty, field);
            check_external(checked, ty, field);
        }
    }
}

/// Reads the fields that a directive selects; what is wrong is reported.
fn selected<'s>(
    checked: &mut Checked<'s>,
    codes: &Codes,
    coordinate: &str,
    parent: &str,
    directive: &Node<Directive>,
) -> Option<Vec<Selected<'s>>> {
    let schema = &checked.subgraph.schema;
    let span = directive.location();
    let fields = directive.specified_argument_by_name("fields")?;
    let Some(text) = fields.as_str() else {
        let message = format!(
            "`fields` of `@{}` on `{coordinate}` is not a string: {fields}",
            codes.name
        );
        checked.report(codes.no_string, coordinate, span, message);
        return None;
    };
    match field_set::parse(schema, parent, text) {
        Ok(set) => Some(set),
        Err(Problem::Directive(name)) => {
            let message = format!(
                "`@{}(fields: {fields})` on `{coordinate}` has the directive `@{name}`",
                codes.name
            );
            checked.report(codes.directive, coordinate, span, message);
            None
        }
        Err(Problem::Bare(place)) if codes.name == "key" => {
            let message = format!(
                "the key of `{coordinate}` has `{place}`, which is of an interface or a union"
            );
            let code = CompositionCode::KEY_FIELDS_SELECT_INVALID_TYPE;
            checked.report(code, coordinate, span, message);
            None
        }
        Err(Problem::Bare(place)) => {
            let message = format!(
                "`@{}(fields: {fields})` on `{coordinate}`: nothing is selected of `{place}`",
                codes.name
            );
            checked.report(codes.invalid, coordinate, span, message);
            None
        }
        Err(Problem::Invalid(why)) => {
            let message = format!(
                "`@{}(fields: {fields})` on `{coordinate}`: {why}",
                codes.name
            );
            checked.report(codes.invalid, coordinate, span, message);
            None
        }
    }
}

fn check_key(checked: &mut Checked<'_>, ty: &ExtendedType, directive: &Component<Directive>) {
    let name = ty.name().as_str();
    let span = directive.location();
    // Entity interfaces came with federation 2.3 (docs/composition.md, "Errors").
    let is_too_early = checked.subgraph.links.minor().is_none_or(|minor| minor < 3);
    if ty.is_interface() && is_too_early {
        let message = format!("`@key` on the interface `{name}` needs federation 2.3");
        checked.report(
            CompositionCode::KEY_UNSUPPORTED_ON_INTERFACE,
            name,
            span,
            message,
        );
    }
    let Some(set) = selected(checked, &KEY, name, name, &directive.node) else {
        return;
    };
    let schema = &checked.subgraph.schema;
    let mut findings = Vec::new();
    each_field(&set, &mut |it: &SelectedField<'_>| {
        let place = format!("{}.{}", it.parent, it.field.name);
        // A key identifies an object, whatever arguments are given.
        if !it.field.arguments.is_empty() {
            let message = format!("the key of `{name}` has `{place}`, which takes arguments");
            findings.push((CompositionCode::KEY_FIELDS_HAS_ARGS, message));
        }
        let inner = schema.types.get(it.field.ty.inner_named_type());
        if inner.is_some_and(|inner| inner.is_union() || inner.is_interface()) {
            let kind = if inner.is_some_and(ExtendedType::is_union) {
                "a union"
            } else {
                "an interface"
            };
            let message = format!("the key of `{name}` has `{place}`, which is of {kind}");
            findings.push((CompositionCode::KEY_FIELDS_SELECT_INVALID_TYPE, message));
        }
    });
    for (code, message) in findings {
        checked.report(code, name, span, message);
    }
}

fn check_requires(
    checked: &mut Checked<'_>,
    ty: &ExtendedType,
    field: &Component<FieldDefinition>,
) {
    let Some(directive) = field.directives.get("federation__requires") else {
        return;
    };
    let coordinate = format!("{}.{}", ty.name(), field.name);
    if ty.is_interface() {
        let message = format!("`@requires` on `{coordinate}`: fields of interfaces cannot have it");
        let code = CompositionCode::REQUIRES_UNSUPPORTED_ON_INTERFACE;
        checked.report(code, &coordinate, directive.location(), message);
    }
    let Some(set) = selected(checked, &REQUIRES, &coordinate, ty.name(), directive) else {
        return;
    };
    // What the subgraph resolves itself needs no value from others.
    for (parent, leaf) in leaves_to_complain_of(checked, &set) {
        let message = format!(
            "`@requires` on `{coordinate}` selects `{parent}.{leaf}`, which is not `@external`: the \
             subgraph resolves it anyway"
        );
        let code = CompositionCode::REQUIRES_FIELDS_MISSING_EXTERNAL;
        checked.report(code, &coordinate, directive.location(), message);
    }
}

fn check_provides(
    checked: &mut Checked<'_>,
    ty: &ExtendedType,
    field: &Component<FieldDefinition>,
) {
    let Some(directive) = field.directives.get("federation__provides") else {
        return;
    };
    let coordinate = format!("{}.{}", ty.name(), field.name);
    let span = directive.location();
    if ty.is_interface() {
        let message = format!("`@provides` on `{coordinate}`: fields of interfaces cannot have it");
        checked.report(
            CompositionCode::PROVIDES_UNSUPPORTED_ON_INTERFACE,
            &coordinate,
            span,
            message,
        );
    }
    let inner = field.ty.inner_named_type();
    let schema = &checked.subgraph.schema;
    let is_composite = |ty: &ExtendedType| ty.is_object() || ty.is_interface() || ty.is_union();
    if !schema.types.get(inner).is_some_and(is_composite) {
        let message = format!("`@provides` on `{coordinate}`, whose type `{inner}` has no fields");
        checked.report(
            CompositionCode::PROVIDES_ON_NON_OBJECT_FIELD,
            &coordinate,
            span,
            message,
        );
        return;
    }
    let Some(set) = selected(checked, &PROVIDES, &coordinate, inner, directive) else {
        return;
    };
    let mut with_arguments = Vec::new();
    each_field(&set, &mut |it| {
        if !it.field.arguments.is_empty() {
            with_arguments.push(format!("{}.{}", it.parent, it.field.name));
        }
    });
    for place in with_arguments {
        let message =
            format!("`@provides` on `{coordinate}` selects `{place}`, which takes arguments");
        checked.report(
            CompositionCode::PROVIDES_FIELDS_HAS_ARGS,
            &coordinate,
            span,
            message,
        );
    }
    for (parent, leaf) in leaves_to_complain_of(checked, &set) {
        let message = format!(
            "`@provides` on `{coordinate}` selects `{parent}.{leaf}`, which is not `@external`: the \
             subgraph resolves it anyway"
        );
        checked.report(
            CompositionCode::PROVIDES_FIELDS_MISSING_EXTERNAL,
            &coordinate,
            span,
            message,
        );
    }
}

/// Returns the leaves of a set that neither are external nor lie below something that is: below an
/// external field, the subgraph resolves nothing.
fn leaves_to_complain_of(checked: &Checked<'_>, set: &[Selected<'_>]) -> Vec<(Name, Name)> {
    fn walk(checked: &Checked<'_>, set: &[Selected<'_>], found: &mut Vec<(Name, Name)>) {
        for selected in set {
            match selected {
                Selected::Typename => {}
                Selected::Fragment { inner, .. } => walk(checked, inner, found),
                Selected::Field(field) => {
                    if is_external(checked, field) {
                        continue;
                    }
                    if field.inner.is_empty() {
                        found.push((field.parent.clone(), field.field.name.clone()))
                    } else {
                        walk(checked, &field.inner, found)
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    walk(checked, set, &mut found);
    found
}

/// Returns whether a field is external; one of an interface, whether it is in an implementation.
fn is_external(checked: &Checked<'_>, selected: &SelectedField<'_>) -> bool {
    let schema = &checked.subgraph.schema;
    let name = &selected.field.name;
    // A key field of an extension may be written `@external`.
    let is_marked = |ty: &ExtendedType| {
        let field = fields(ty).and_then(|fields| fields.get(name));
        field.is_some_and(|field| is_marked_external(ty, field))
    };
    let parent = schema.types.get(selected.parent);
    match parent {
        Some(parent @ ExtendedType::Interface(_)) => {
            let possible = field_set::possible(schema, parent);
            let mut types = possible
                .into_iter()
                .filter_map(|name| schema.types.get(name));
            types.any(is_marked)
        }
        Some(parent) => is_marked(parent),
        None => false,
    }
}

fn check_external(
    checked: &mut Checked<'_>,
    ty: &ExtendedType,
    field: &Component<FieldDefinition>,
) {
    let coordinate = format!("{}.{}", ty.name(), field.name);
    let marker = field.directives.get("federation__external");
    let span = marker.map_or(field.name.location(), |marker| marker.location());
    let is_external = checked.facts.is_external(ty.name(), &field.name);
    if ty.is_interface() {
        if marker.is_some() && is_external {
            let message =
                format!("`@external` on `{coordinate}`: fields of interfaces cannot have it");
            checked.report(
                CompositionCode::EXTERNAL_ON_INTERFACE,
                &coordinate,
                span,
                message,
            );
            check_use(checked, &coordinate, ty.name(), &field.name, span);
        }
        return;
    }
    if !is_external {
        return;
    }
    if field.directives.has("federation__provides") {
        let message = format!("`{coordinate}` has both `@external` and `@provides`");
        let code = CompositionCode::EXTERNAL_COLLISION_WITH_ANOTHER_DIRECTIVE;
        checked.report(code, &coordinate, span, message);
        return;
    }
    check_use(checked, &coordinate, ty.name(), &field.name, span);
}

fn check_use(
    checked: &mut Checked<'_>,
    coordinate: &str,
    ty: &Name,
    field: &Name,
    span: Option<SourceSpan>,
) {
    if checked.facts.is_used(ty, field) {
        return;
    }
    let message = format!(
        "`{coordinate}` is external, but no `@key`, `@requires`, `@provides` or `@fromContext` \
         selects it and no interface needs it"
    );
    checked.report(CompositionCode::EXTERNAL_UNUSED, coordinate, span, message);
    if let Some(error) = checked.errors.last_mut() {
        error.help =
            Some("remove the field, or its `@external` if the subgraph resolves it".to_owned());
    }
}
