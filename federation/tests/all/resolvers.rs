//! Who resolves a field and what clients may see, as the directives of the supergraph say it. The gateway's own
//! reader is not asked, so that what it misreads is noticed.

use apollo_compiler::ast::{Directive, FieldDefinition, Value};
use apollo_compiler::schema::ExtendedType;
use federation::graph::ActiveLabels;
use federation::supergraph::{Subgraph, Supergraph};

/// Returns whether a subgraph resolves a field of a type wherever it has the object.
pub(crate) fn resolves(
    supergraph: &Supergraph,
    labels: &ActiveLabels,
    subgraph: &Subgraph,
    (ty, field): (&str, &str),
) -> bool {
    let definition = supergraph.schema().types.get(ty);
    let definition = definition.and_then(|definition| field_of(definition, field));
    let (Some(definition), Some(ty)) = (definition, supergraph.schema().types.get(ty)) else {
        return false;
    };
    let joins = || definition.directives.get_all("join__field");
    let is_here = |directive: &&Directive| graph_of(directive) == Some(subgraph.graph.as_str());
    let Some(own) = joins().map(AsRef::as_ref).find(is_here) else {
        let is_silent = !definition.directives.has("join__field");
        return is_silent && knows(ty, subgraph)
            || is_lent(supergraph, labels, subgraph, (ty, field));
    };
    if is_true(own, "external") {
        return false;
    }
    let is_active = |label: &str| {
        let known = supergraph.labels().iter().position(|known| known == label);
        known.is_some_and(|position| labels.is_active(supergraph.label_id(position)))
    };
    if text(own, "override").is_some() {
        return text(own, "overrideLabel").is_none_or(is_active);
    }
    let mut taken = joins().filter(|other| text(other, "override") == Some(&subgraph.name));
    !taken.any(|other| text(other, "overrideLabel").is_none_or(is_active))
        && !is_true(own, "usedOverridden")
}

/// Returns the fields that are inaccessible and yet in the schema for clients, by their coordinates.
pub(crate) fn let_through(supergraph: &Supergraph) -> Vec<String> {
    let mut found = Vec::new();
    for (name, ty) in &supergraph.schema().types {
        let Some(shown) = supergraph.api().types.get(name) else {
            continue;
        };
        if ty.directives().has("inaccessible") {
            found.push(name.to_string());
        }
        let fields = fields_of(ty).into_iter();
        let hidden = fields.filter(|field| field.directives.has("inaccessible"));
        let hidden = hidden.filter(|field| field_of(shown, &field.name).is_some());
        found.extend(hidden.map(|field| format!("{name}.{}", field.name)));
    }
    found
}

/// Returns whether a field of a type is one that an interface object of a subgraph adds to it.
fn is_lent(
    supergraph: &Supergraph,
    labels: &ActiveLabels,
    subgraph: &Subgraph,
    (ty, field): (&ExtendedType, &str),
) -> bool {
    let ExtendedType::Object(object) = ty else {
        return false;
    };
    object.implements_interfaces.iter().any(|interface| {
        let definition = &supergraph.schema().types[&interface.name];
        let mut joins = definition.directives().get_all("join__type");
        let is_object = joins.any(|join| {
            graph_of(join) == Some(&subgraph.graph) && is_true(join, "isInterfaceObject")
        });
        is_object && resolves(supergraph, labels, subgraph, (&interface.name, field))
    })
}

fn knows(ty: &ExtendedType, subgraph: &Subgraph) -> bool {
    let mut joins = ty.directives().get_all("join__type");
    joins.any(|join| graph_of(join) == Some(&subgraph.graph))
}

fn fields_of(ty: &ExtendedType) -> Vec<&FieldDefinition> {
    match ty {
        ExtendedType::Object(object) => object.fields.values().map(|it| &***it).collect(),
        ExtendedType::Interface(interface) => interface.fields.values().map(|it| &***it).collect(),
        _ => Vec::new(),
    }
}

fn field_of<'t>(ty: &'t ExtendedType, name: &str) -> Option<&'t FieldDefinition> {
    fields_of(ty).into_iter().find(|field| field.name == name)
}

fn graph_of(directive: &Directive) -> Option<&str> {
    match directive.specified_argument_by_name("graph")?.as_ref() {
        Value::Enum(name) => Some(name.as_str()),
        _ => None,
    }
}

fn text<'d>(directive: &'d Directive, name: &str) -> Option<&'d str> {
    directive.specified_argument_by_name(name)?.as_str()
}

fn is_true(directive: &Directive, name: &str) -> bool {
    let value = directive.specified_argument_by_name(name);
    value.and_then(|value| value.to_bool()) == Some(true)
}
