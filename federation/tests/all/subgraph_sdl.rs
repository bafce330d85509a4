//! The schema of a subgraph, made of what the supergraph says of it.

use std::fmt::Write;

use apollo_compiler::Name;
use apollo_compiler::ast::{Directive, DirectiveList};
use apollo_compiler::executable::OperationType;
use apollo_compiler::schema::{ExtendedType, FieldDefinition};
use federation::supergraph::{
    FieldJoin, Override, SubgraphId, Supergraph, TypeId, TypeJoin, TypeKind,
};

/// The form of the SDL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As a server has it: with `_entities`, and without directives.
    Served,
    /// As composition reads it.
    Source,
}

struct Writer<'s> {
    supergraph: &'s Supergraph,
    subgraph: SubgraphId,
    form: Form,
    out: String,
}

const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [
  "@key" "@requires" "@provides" "@external" "@shareable" "@override" "@inaccessible" "@interfaceObject"
  "@context" "@fromContext"
])
"#;

/// Returns the SDL of a subgraph as its server has it. External fields are part of it: whether they may be asked
/// for depends on the path.
pub(crate) fn sdl(supergraph: &Supergraph, subgraph: SubgraphId) -> String {
    let mut writer = Writer {
        supergraph,
        subgraph,
        form: Form::Served,
        out: String::from("scalar _Any\n"),
    };
    writer.roots();
    writer.types();
    writer.entities();
    writer.out
}

/// Returns the SDL of a subgraph that composition can read.
pub(crate) fn source(supergraph: &Supergraph, subgraph: SubgraphId) -> String {
    let mut writer = Writer {
        supergraph,
        subgraph,
        form: Form::Source,
        out: String::from(LINK),
    };
    writer.types();
    writer.out
}

impl Writer<'_> {
    fn roots(&mut self) {
        let mut roots = String::new();
        for operation in [OperationType::Query, OperationType::Mutation] {
            if let Some(root) = self.supergraph.root(operation)
                && (operation == OperationType::Query
                    || self.supergraph.ty(root).join(self.subgraph).is_some())
            {
                let name = &self.supergraph.ty(root).name;
                let _ = write!(roots, "{}: {name} ", operation.name());
            }
        }
        let _ = writeln!(self.out, "schema {{ {roots}}}");
    }

    fn types(&mut self) {
        for id in self.supergraph.type_ids() {
            let join = self.supergraph.ty(id).join(self.subgraph);
            // Of what is known by an interface alone, which is an object type there, there is nothing to say.
            if let Some(join) = join.filter(|join| join.interface.is_none()) {
                self.definition(id, join);
            }
        }
    }

    fn entities(&mut self) {
        let is_entity = |id: &TypeId| {
            let ty = self.supergraph.ty(*id);
            ty.join(self.subgraph).is_some_and(|join| {
                let is_object = ty.kind == TypeKind::Object || join.is_interface_object;
                is_object
                    && join.interface.is_none()
                    && join.keys.iter().any(|key| key.is_resolvable)
            })
        };
        let entities = self.supergraph.type_ids().filter(is_entity);
        let entities = entities.map(|id| self.supergraph.ty(id).name.as_str());
        let entities: Vec<&str> = entities.collect();
        let query = self.supergraph.root(OperationType::Query).unwrap();
        let verb = match self.supergraph.ty(query).join(self.subgraph) {
            Some(_) => "extend type",
            None => "type",
        };
        let name = &self.supergraph.ty(query).name;
        if entities.is_empty() {
            let _ = writeln!(self.out, "{verb} {name} {{ _unused: Int }}");
        } else {
            let _ = writeln!(self.out, "union _Entity = {}", entities.join(" | "));
            let field = "_entities(representations: [_Any!]!): [_Entity]!";
            let _ = writeln!(self.out, "{verb} {name} {{ {field} }}");
        }
    }

    fn definition(&mut self, id: TypeId, join: &TypeJoin) {
        let ty = self.supergraph.ty(id);
        let name = &ty.name;
        let definition = &self.supergraph.schema().types[name];
        let text = match definition {
            ExtendedType::Scalar(_) if definition.is_built_in() => return,
            ExtendedType::Scalar(_) => format!("scalar {name}"),
            ExtendedType::Enum(values) => {
                let values: Vec<&str> = values.values.keys().map(|value| value.as_str()).collect();
                format!("enum {name} {{ {} }}", values.join(" "))
            }
            ExtendedType::InputObject(input) => {
                let fields = input.fields.values();
                let fields: Vec<String> = fields.map(|f| format!("{}: {}", f.name, f.ty)).collect();
                format!("input {name} {{ {} }}", fields.join(" "))
            }
            ExtendedType::Union(_) => {
                let members = join.possible.iter();
                let members = members.map(|member| self.supergraph.ty(*member).name.as_str());
                format!("union {name} = {}", members.collect::<Vec<_>>().join(" | "))
            }
            ExtendedType::Object(_) | ExtendedType::Interface(_) => {
                let fields = self.fields(id);
                if fields.is_empty() && self.form == Form::Source {
                    return;
                }
                let word = match ty.kind {
                    TypeKind::Interface if !join.is_interface_object => "interface",
                    _ => "type",
                };
                let implements = self.implements(id);
                let directives = self.of_type(id, join);
                format!("{word} {name}{implements}{directives} {fields}")
            }
        };
        let _ = writeln!(self.out, "{text}");
    }

    fn implements(&self, id: TypeId) -> String {
        let interfaces = self.supergraph.type_ids().filter(|other| {
            let other = self.supergraph.ty(*other);
            let there = other.join(self.subgraph);
            other.kind == TypeKind::Interface
                && there
                    .is_some_and(|there| !there.is_interface_object && there.possible.contains(&id))
        });
        let names: Vec<&str> = interfaces
            .map(|id| self.supergraph.ty(id).name.as_str())
            .collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(" implements {}", names.join(" & "))
        }
    }

    fn fields(&self, id: TypeId) -> String {
        let mut out = String::new();
        let name = &self.supergraph.ty(id).name;
        let fields = match &self.supergraph.schema().types[name] {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => unreachable!(),
        };
        for (field, definition) in fields {
            let known = self.supergraph.field_id(id, field).unwrap();
            let Some(join) = self.supergraph.field(known).join(self.subgraph) else {
                continue;
            };
            let own = definition.arguments.iter().map(|a| a.to_string());
            let contexts = join.contexts.iter();
            let given = contexts.map(|argument| match self.form {
                Form::Served => format!("{}: {}", argument.name, argument.ty),
                // What is selected may be null, so composition demands that this may be null too.
                Form::Source => {
                    let from = self.context_directive(definition, &argument.name);
                    format!(
                        "{}: {} {from}",
                        argument.name,
                        argument.ty.clone().nullable()
                    )
                }
            });
            let arguments: Vec<String> = own.chain(given).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("({})", arguments.join(", "))
            };
            let directives = self.of_field(id, definition, join);
            let _ = write!(out, " {field}{arguments}: {}{directives}", join.ty);
        }
        if out.is_empty() {
            out
        } else {
            format!("{{{out} }}")
        }
    }

    /// Returns the name that the supergraph has for the subgraph.
    fn graph(&self) -> &Name {
        &self.supergraph.subgraph(self.subgraph).graph
    }

    /// Returns what is said with `@join__field` for this subgraph.
    fn joined<'d>(&self, directives: &'d DirectiveList) -> Option<&'d Directive> {
        let mut all = directives.get_all("join__field");
        let found = all.find(|directive| {
            let graph = directive.specified_argument_by_name("graph");
            graph.and_then(|graph| graph.as_enum()) == Some(self.graph())
        });
        found.map(|directive| &**directive)
    }

    /// Returns the directives of a type.
    fn of_type(&self, id: TypeId, join: &TypeJoin) -> String {
        let mut out = String::new();
        if self.form == Form::Served {
            return out;
        }
        let ty = self.supergraph.ty(id);
        let directives = self.supergraph.schema().types[&ty.name].directives();
        for directive in directives.get_all("join__type") {
            let argument = |name: &str| directive.specified_argument_by_name(name);
            let graph = argument("graph").and_then(|graph| graph.as_enum());
            if graph == Some(self.graph())
                && let Some(key) = argument("key")
            {
                let resolvable = argument("resolvable").map(|it| format!(", resolvable: {it}"));
                let _ = write!(
                    out,
                    " @key(fields: {key}{})",
                    resolvable.unwrap_or_default()
                );
            }
        }
        if join.is_interface_object {
            out.push_str(" @interfaceObject");
        }
        if !ty.is_accessible {
            out.push_str(" @inaccessible");
        }
        for context in directives.get_all("context") {
            let name = context.specified_argument_by_name("name");
            let name = name.and_then(|name| name.as_str()).unwrap_or_default();
            if self.takes_contexts()
                && let Some((_, name)) = name.split_once("__")
            {
                let _ = write!(out, " @context(name: \"{name}\")");
            }
        }
        out
    }

    /// Returns whether some field of the subgraph takes values from contexts.
    fn takes_contexts(&self) -> bool {
        let types = self.supergraph.type_ids();
        let mut fields = types.flat_map(|id| self.supergraph.ty(id).fields());
        fields.any(|(_, field)| {
            let join = self.supergraph.field(field).join(self.subgraph);
            join.is_some_and(|join| !join.contexts.is_empty())
        })
    }

    fn context_directive(&self, definition: &FieldDefinition, argument: &str) -> String {
        let join = self.joined(&definition.directives).unwrap();
        let all = join.specified_argument_by_name("contextArguments");
        let mut all = all.and_then(|all| all.as_list()).unwrap().iter();
        let found = all.find_map(|given| {
            let members = given.as_object()?;
            let member = |name: &str| {
                let mut members = members.iter();
                let found = members.find(|(known, _)| known == name);
                found.and_then(|(_, value)| value.as_str())
            };
            (member("name") == Some(argument)).then_some(())?;
            let context = member("context")?.split_once("__")?.1.to_owned();
            Some((context, member("selection")?))
        });
        let (context, selection) = found.unwrap();
        format!("@fromContext(field: \"${context} {selection}\")")
    }

    /// Returns the directives of a field.
    fn of_field(&self, parent: TypeId, definition: &FieldDefinition, join: &FieldJoin) -> String {
        let mut out = String::new();
        if self.form == Form::Served {
            return out;
        }
        if let Some(said) = self.joined(&definition.directives) {
            for name in ["requires", "provides"] {
                if let Some(fields) = said.specified_argument_by_name(name) {
                    let _ = write!(out, " @{name}(fields: {fields})");
                }
            }
            if let Some(from) = said.specified_argument_by_name("override") {
                let label = said.specified_argument_by_name("overrideLabel");
                let label = label.map(|label| format!(", label: {label}"));
                let _ = write!(out, " @override(from: {from}{})", label.unwrap_or_default());
            }
        }
        if join.is_external {
            out.push_str(" @external");
        }
        if definition.directives.has("inaccessible") && !join.is_external {
            out.push_str(" @inaccessible");
        }
        let ty = self.supergraph.ty(parent);
        let there = ty.join(self.subgraph).unwrap();
        let is_object = ty.kind == TypeKind::Object || there.is_interface_object;
        let field = self.supergraph.field_id(parent, &definition.name).unwrap();
        let is_shared = self.supergraph.field(field).joins.len() > 1;
        if is_object && is_shared && !join.is_external && join.overridden == Override::Never {
            out.push_str(" @shareable");
        }
        out
    }
}
