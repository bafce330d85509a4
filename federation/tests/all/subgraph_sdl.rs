//! The schema of a subgraph, made of what the supergraph says of it.

use std::fmt::Write;

use apollo_compiler::executable::OperationType;
use apollo_compiler::schema::ExtendedType;
use federation::supergraph::{SubgraphId, Supergraph, TypeId, TypeKind};

/// Returns the SDL of a subgraph. External fields are part of it: whether they may be asked for depends on
/// the path.
pub(crate) fn sdl(supergraph: &Supergraph, subgraph: SubgraphId) -> String {
    let mut out = String::from("scalar _Any\n");
    let mut entities = Vec::new();
    let mut roots = String::new();
    for operation in [OperationType::Query, OperationType::Mutation] {
        if let Some(root) = supergraph.root(operation)
            && (operation == OperationType::Query || supergraph.ty(root).join(subgraph).is_some())
        {
            let name = &supergraph.ty(root).name;
            let _ = write!(roots, "{}: {name} ", operation.name());
        }
    }
    let _ = writeln!(out, "schema {{ {roots}}}");
    for id in supergraph.type_ids() {
        let ty = supergraph.ty(id);
        let Some(join) = ty.join(subgraph) else {
            continue;
        };
        if join.interface.is_some() {
            // The subgraph knows the interface alone, as an object type.
            continue;
        }
        let is_object = ty.kind == TypeKind::Object || join.is_interface_object;
        if is_object && join.keys.iter().any(|key| key.is_resolvable) {
            entities.push(ty.name.to_string());
        }
        write_type(supergraph, subgraph, id, &mut out);
    }
    let query = supergraph.root(OperationType::Query).unwrap();
    let verb = match supergraph.ty(query).join(subgraph) {
        Some(_) => "extend type",
        None => "type",
    };
    let name = &supergraph.ty(query).name;
    if entities.is_empty() {
        let _ = writeln!(out, "{verb} {name} {{ _unused: Int }}");
    } else {
        let _ = writeln!(out, "union _Entity = {}", entities.join(" | "));
        let field = "_entities(representations: [_Any!]!): [_Entity]!";
        let _ = writeln!(out, "{verb} {name} {{ {field} }}");
    }
    out
}

fn write_type(supergraph: &Supergraph, subgraph: SubgraphId, id: TypeId, out: &mut String) {
    let ty = supergraph.ty(id);
    let name = &ty.name;
    let definition = &supergraph.schema().types[name];
    match definition {
        ExtendedType::Scalar(_) if definition.is_built_in() => {}
        ExtendedType::Scalar(_) => {
            let _ = writeln!(out, "scalar {name}");
        }
        ExtendedType::Enum(values) => {
            let values: Vec<&str> = values.values.keys().map(|value| value.as_str()).collect();
            let _ = writeln!(out, "enum {name} {{ {} }}", values.join(" "));
        }
        ExtendedType::InputObject(input) => {
            let fields = input.fields.values();
            let fields: Vec<String> = fields.map(|f| format!("{}: {}", f.name, f.ty)).collect();
            let _ = writeln!(out, "input {name} {{ {} }}", fields.join(" "));
        }
        ExtendedType::Union(_) => {
            let members = ty.join(subgraph).unwrap().possible.iter();
            let members: Vec<&str> = members.map(|m| supergraph.ty(*m).name.as_str()).collect();
            let _ = writeln!(out, "union {name} = {}", members.join(" | "));
        }
        ExtendedType::Object(_) => {
            let interfaces = supergraph.type_ids().filter(|other| {
                let other = supergraph.ty(*other);
                let there = other.join(subgraph);
                other.kind == TypeKind::Interface
                    && there.is_some_and(|there| there.possible.contains(&id))
            });
            let names: Vec<&str> = interfaces.map(|i| supergraph.ty(i).name.as_str()).collect();
            let implements = match names.is_empty() {
                true => String::new(),
                false => format!(" implements {}", names.join(" & ")),
            };
            let _ = writeln!(
                out,
                "type {name}{implements} {}",
                fields(supergraph, subgraph, id)
            );
        }
        ExtendedType::Interface(_) if ty.join(subgraph).unwrap().is_interface_object => {
            let _ = writeln!(out, "type {name} {}", fields(supergraph, subgraph, id));
        }
        ExtendedType::Interface(_) => {
            let _ = writeln!(out, "interface {name} {}", fields(supergraph, subgraph, id));
        }
    }
}

fn fields(supergraph: &Supergraph, subgraph: SubgraphId, id: TypeId) -> String {
    let mut out = String::from("{");
    let name = &supergraph.ty(id).name;
    for (field, definition) in match &supergraph.schema().types[name] {
        ExtendedType::Object(object) => &object.fields,
        ExtendedType::Interface(interface) => &interface.fields,
        _ => unreachable!(),
    } {
        let known = supergraph.field(supergraph.field_id(id, field).unwrap());
        let Some(join) = known.join(subgraph) else {
            continue;
        };
        let own = definition.arguments.iter().map(|a| a.to_string());
        let contexts = join.contexts.iter();
        let given = contexts.map(|argument| format!("{}: {}", argument.name, argument.ty));
        let arguments: Vec<String> = own.chain(given).collect();
        let arguments = match arguments.is_empty() {
            true => String::new(),
            false => format!("({})", arguments.join(", ")),
        };
        let _ = write!(out, " {field}{arguments}: {}", join.ty);
    }
    if out == "{" {
        return String::new();
    }
    out.push_str(" }");
    out
}
