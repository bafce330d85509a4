//! The search API as a subgraph of Federation 1: objects of hits are references, which a gateway
//! completes from the service that owns them.
//!
//! Each object is `extend type <Object> @key(fields: "id") { id: ID! @external }`, and an abstract one, or
//! one with subclasses, an interface with `id` alone. Their other fields are not in this form of the API,
//! which promises the gateway no more than the key.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use apollo_compiler::ast::{self, FieldDefinition};
use apollo_compiler::schema::{
    Component, ComponentName, ExtendedType, InterfaceType, ObjectType, UnionType,
};
use apollo_compiler::{Name, Node, Schema, name};
use indexmap::IndexMap;
use soml_core::schema::{ObjectId, ObjectKind, Schema as Soml};

use super::nodes::{Types, field, input};

/// Types that only the machinery of federation uses.
const MACHINERY_TYPES: [&str; 3] = ["_Service", "_Entity", "_Any"];

/// How the names of the types of answers end, and those of their hits.
const HITS: &str = "_Search_Result";
const HIT: &str = "_Search_Hit";

/// The root field with the printed schema.
pub(super) const SERVICE: &str = "_service";

/// The root field with objects by their representations.
pub(super) const ENTITIES: &str = "_entities";

/// A type that a referenced object may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntityType {
    /// The name of the GraphQL type.
    pub(crate) name: String,
    /// The IRIs of its classes.
    pub(crate) classes: Vec<String>,
}

impl EntityType {
    fn of(soml: &Soml, id: ObjectId) -> Self {
        EntityType {
            name: soml[id].name.graphql.clone(),
            classes: soml[id].types.clone(),
        }
    }
}

/// The types that the objects of an index may have, the most derived first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntityTypes {
    pub(crate) types: Vec<EntityType>,
    /// All objects have the only type, whatever their classes.
    pub(crate) is_certain: bool,
}

impl EntityTypes {
    /// Returns the types of the objects of an index.
    pub(super) fn of(soml: &Soml, object: ObjectId) -> Self {
        let mut concrete = soml.concrete(object);
        // The most derived type first, then schema order (docs/queries.md, "Root fields").
        concrete.sort_by_key(|&id| (Reverse(soml.lineage(id).count()), id));
        let types: Vec<_> = concrete
            .into_iter()
            .map(|id| EntityType::of(soml, id))
            .collect();
        EntityTypes {
            is_certain: types.len() == 1 && soml[object].kind == ObjectKind::Concrete,
            types,
        }
    }

    /// Returns the type of an object by the IRIs of its classes; `None` for an object of an abstract class
    /// that is an instance of no concrete one.
    ///
    /// An index holds the classes of an object without the properties that they are values of.
    pub(crate) fn resolve(&self, has_class: impl Fn(&str) -> bool) -> Option<usize> {
        if self.is_certain {
            return Some(0);
        }
        let is_of = |ty: &EntityType| ty.classes.iter().any(|class| has_class(class));
        self.types.iter().position(is_of)
    }
}

/// All objects that an API refers to.
#[derive(Debug)]
pub(super) struct Entities {
    /// The types of the objects of each index, in their order.
    pub(super) by_index: Vec<Arc<EntityTypes>>,
    /// The types of all of them, each once.
    pub(super) all: Arc<EntityTypes>,
}

/// Adds the types of referenced objects, one index after the other.
pub(super) struct Builder<'s> {
    soml: &'s Soml,
    /// The name of the interface of each object that has one.
    interfaces: Vec<Option<String>>,
    by_index: Vec<Arc<EntityTypes>>,
    /// Concrete objects, each with the interfaces that indexes have it under.
    objects: IndexMap<ObjectId, Vec<String>>,
}

impl<'s> Builder<'s> {
    pub(super) fn new(soml: &'s Soml) -> Self {
        Builder {
            soml,
            interfaces: soml.interface_names(),
            by_index: Vec::new(),
            objects: IndexMap::new(),
        }
    }

    /// Adds the objects of an index, and returns the name of the type that hits have them as.
    pub(super) fn reference(&mut self, types: &mut Types, object: ObjectId) -> String {
        let interface = self.interfaces[object.0 as usize].clone();
        for id in self.soml.concrete(object) {
            let interfaces = self.objects.entry(id).or_default();
            interfaces.extend(interface.clone());
        }
        let of = EntityTypes::of(self.soml, object);
        self.by_index.push(Arc::new(of));
        let Some(name) = interface else {
            return self.soml[object].name.graphql.clone();
        };
        types.add(ExtendedType::Interface(Node::new(InterfaceType {
            description: self.description(object),
            name: Name::new_unchecked(&name),
            implements_interfaces: Default::default(),
            directives: Default::default(),
            fields: std::iter::once(id_field()).collect(),
        })));
        name
    }

    /// Adds the types of objects and the root fields of federation.
    pub(super) fn finish(self, types: &mut Types, fields: &mut Vec<FieldDefinition>) -> Entities {
        let sdl = "Schema with the directives of federation";
        let service = vec![field("sdl", "String", sdl)];
        types.object("_Service", "Schema of the service", service);
        fields.push(field(SERVICE, "_Service!", "The schema as text"));
        let mut all = Vec::with_capacity(self.objects.len());
        for (&id, interfaces) in &self.objects {
            let ty = EntityType::of(self.soml, id);
            let interfaces = interfaces.iter().map(|name| component(name));
            types.add(ExtendedType::Object(Node::new(ObjectType {
                description: self.description(id),
                name: Name::new_unchecked(&ty.name),
                implements_interfaces: interfaces.collect(),
                directives: Default::default(),
                fields: std::iter::once(id_field()).collect(),
            })));
            all.push(ty);
        }
        if !all.is_empty() {
            let members = all.iter().map(|ty| component(&ty.name));
            types.add(ExtendedType::Union(Node::new(UnionType {
                description: Some("Any object, as referred to by another service".into()),
                name: name!("_Entity"),
                directives: Default::default(),
                members: members.collect(),
            })));
            let representation = "Representation of an object: `__typename` and `id`";
            types.scalar("_Any", representation);
            let mut root = field(ENTITIES, "[_Entity]!", "Objects by their representations");
            let description = "`__typename` and `id` of each object";
            root.arguments = vec![input("representations", "[_Any!]!", description)];
            fields.push(root);
        }
        Entities {
            by_index: self.by_index,
            all: Arc::new(EntityTypes {
                types: all,
                is_certain: false,
            }),
        }
    }

    fn description(&self, id: ObjectId) -> Option<Node<str>> {
        let object = &self.soml[id];
        let text = object.label.as_deref().or(object.descr.as_deref())?;
        Some(Node::new_str(text))
    }
}

fn id_field() -> (Name, Component<FieldDefinition>) {
    (name!("id"), Component::new(field("id", "ID!", "IRI")))
}

fn component(name: &str) -> ComponentName {
    Name::new_unchecked(name).into()
}

/// Prints a schema as a gateway reads it, with what some caller may be denied nullable if asked to.
pub(super) fn print(schema: &Schema, entities: &Entities, nullable: bool) -> String {
    let entities: HashSet<_> = entities
        .all
        .types
        .iter()
        .map(|ty| ty.name.as_str())
        .collect();
    let mut printed = String::new();
    for (name, ty) in &schema.types {
        if ty.is_built_in() || MACHINERY_TYPES.contains(&name.as_str()) {
            continue;
        }
        let text = match ty {
            ExtendedType::Object(object) if entities.contains(name.as_str()) => extension(object),
            ExtendedType::Object(object) if name == "Query" => {
                let mut query = object.as_ref().clone();
                query.fields.shift_remove(SERVICE);
                query.fields.shift_remove(ENTITIES);
                ExtendedType::Object(Node::new(query)).to_string()
            }
            ExtendedType::Object(object) if nullable => nullable_fields(object).to_string(),
            other => other.to_string(),
        };
        if !printed.is_empty() {
            printed.push_str("\n\n");
        }
        printed.push_str(text.trim_end());
    }
    printed.push('\n');
    printed
}

/// Returns a type of answers in which `hits` and the `id` of a hit are nullable.
fn nullable_fields(object: &Node<ObjectType>) -> ExtendedType {
    let mut object = object.as_ref().clone();
    // The other fields of answers are nullable anyway (docs/search.md, "Federation").
    let may_be_denied = [(HITS, "hits"), (HIT, "id")];
    for (suffix, name) in may_be_denied {
        if object.name.ends_with(suffix)
            && let Some(field) = object.fields.get_mut(name)
        {
            let field = field.make_mut();
            field.ty = field.ty.clone().nullable();
        }
    }
    ExtendedType::Object(Node::new(object))
}

/// Prints `extend type`, whose key belongs to the owner of the type: in Federation 1, only the
/// owner defines a type.
fn extension(object: &ObjectType) -> String {
    let interfaces = object.implements_interfaces.iter();
    let fields = object.fields.values().map(|field| {
        let mut field = field.node.clone();
        let external = directive(name!("external"), Vec::new());
        field.make_mut().directives.0.push(Node::new(external));
        field
    });
    let fields_argument = ast::Argument {
        name: name!("fields"),
        value: Node::new(ast::Value::String("id".to_owned())),
    };
    let key = directive(name!("key"), vec![Node::new(fields_argument)]);
    let extension = ast::ObjectTypeExtension {
        name: object.name.clone(),
        implements_interfaces: interfaces.map(|interface| interface.name.clone()).collect(),
        directives: ast::DirectiveList(vec![Node::new(key)]),
        fields: fields.collect(),
    };
    ast::Definition::ObjectTypeExtension(Node::new(extension)).to_string()
}

fn directive(name: Name, arguments: Vec<Node<ast::Argument>>) -> ast::Directive {
    ast::Directive { name, arguments }
}
