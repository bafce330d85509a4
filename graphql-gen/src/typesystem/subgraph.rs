//! The API as a federation gateway reads it from `_service { sdl }`.

use apollo_compiler::collections::HashSet;
use apollo_compiler::schema::{Component, ExtendedType, ObjectType};
use apollo_compiler::{Name, Node, Schema, ast, name};

use super::directives::Applied;
use super::federation::{MACHINERY_FIELDS, MACHINERY_TYPES};
use super::options::FederationMode;

/// The directives of federation 2 that the schema uses (`@link`,
/// <https://specs.apollo.dev/link/v1.0>).
const LINK: &str = "extend schema\n  @link(url: \"https://specs.apollo.dev/federation/v2.0\", \
                    import: [\"@key\", \"@shareable\"])\n";

/// What a subgraph schema leaves out or prints as an extension.
pub(super) struct Subgraph<'a> {
    /// Types about writing: gateways do not serve the mutations of object services
    /// (docs/gateway.md).
    pub(super) mutation_types: &'a HashSet<Name>,
    /// Types that another service owns.
    pub(super) extended: &'a HashSet<Name>,
    /// Types and interfaces of objects; all have the key `id`.
    pub(super) keyed: &'a HashSet<Name>,
}

impl Subgraph<'_> {
    /// Prints the schema in the form of `mode`.
    pub(super) fn print(&self, schema: &Schema, mode: FederationMode) -> String {
        let mut parts: Vec<String> = Vec::with_capacity(schema.types.len() + 1);
        if mode == FederationMode::V2 {
            parts.push(LINK.to_owned());
        }
        for (name, ty) in &schema.types {
            // Gateways add the machinery themselves
            // (<https://www.apollographql.com/docs/federation/subgraph-spec>).
            let machinery = MACHINERY_TYPES.contains(&name.as_str());
            if ty.is_built_in() || machinery || self.mutation_types.contains(name) {
                continue;
            }
            parts.push(self.print_type(name, ty, mode));
        }
        let mut printed = String::new();
        for part in &parts {
            if !printed.is_empty() {
                printed.push_str("\n\n");
            }
            printed.push_str(part.trim_end());
        }
        printed.push('\n');
        printed
    }

    fn print_type(&self, name: &Name, ty: &ExtendedType, mode: FederationMode) -> String {
        match ty {
            ExtendedType::Object(object) => {
                let object = self.object(object, mode);
                if self.extended.contains(name) {
                    extension(object, mode)
                } else {
                    ExtendedType::Object(Node::new(object)).to_string()
                }
            }
            // Federation 2 takes a keyed interface for one that resolves entities of types it does
            // not know, which this service does not do.
            ExtendedType::Interface(interface) => {
                let mut interface = interface.as_ref().clone();
                interface.directives.0.clear();
                interface.fields.values_mut().for_each(plain);
                if mode == FederationMode::V1 && self.keyed.contains(name) {
                    interface.directives.0.push(Component::new(key()));
                }
                ExtendedType::Interface(Node::new(interface)).to_string()
            }
            other => other.to_string(),
        }
    }

    fn object(&self, object: &ObjectType, mode: FederationMode) -> ObjectType {
        let mut object = object.clone();
        object.directives.0.clear();
        object.fields.values_mut().for_each(plain);
        if self.keyed.contains(&object.name) {
            object.directives.0.push(Component::new(key()));
        }
        if object.name == "Query" {
            for field in MACHINERY_FIELDS {
                object.fields.shift_remove(field);
            }
        } else if mode == FederationMode::V2 {
            // Another service may have objects of the same type, with some of their properties. Federation 1
            // takes all that for shared without a word.
            let shareable = Applied::new(name!("shareable")).build();
            object.directives.0.push(Component::new(shareable));
        }
        object
    }
}

fn plain(field: &mut Component<ast::FieldDefinition>) {
    if !field.directives.is_empty() {
        field.make_mut().directives.0.clear();
    }
}

fn key() -> ast::Directive {
    Applied::new(name!("key")).with("fields", "id").build()
}

/// Prints `extend type`; in federation 1 the key belongs to the owner of the type.
fn extension(mut object: ObjectType, mode: FederationMode) -> String {
    if mode == FederationMode::V1
        && let Some(id) = object.fields.get_mut("id")
    {
        let external = Applied::new(name!("external")).build();
        id.make_mut().directives.0.push(Node::new(external));
    }
    let directives = object.directives.0.into_iter().map(|d| d.node).collect();
    let extension = ast::ObjectTypeExtension {
        name: object.name,
        implements_interfaces: object
            .implements_interfaces
            .into_iter()
            .map(|i| i.name)
            .collect(),
        directives: ast::DirectiveList(directives),
        fields: object.fields.into_values().map(|f| f.node).collect(),
    };
    ast::Definition::ObjectTypeExtension(Node::new(extension)).to_string()
}
