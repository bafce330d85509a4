//! The part of an API that someone with certain roles can read.

use apollo_compiler::collections::{HashSet, IndexMap};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition, NamedType};
use apollo_compiler::{Name, Schema};
use soml_core::access::{Access, Part, ServicePart};
use soml_core::schema::ObjectId;

use super::api::{Api, Field, TypeRef};
use super::origin::{Origins, Source};
use super::prune::prune;

/// Returns the part of an API that `access` lets read: fields and arguments that would be left out or
/// refused are gone, and with them all types that have nothing left or that nothing leads to.
///
/// A field of an interface is there only where it can be read of all its types that are shown; an
/// operation that asks the types for it by fragments is allowed more.
pub(super) fn readable(api: &Api, access: &Access) -> Schema {
    let mut schema = api.schema().clone().into_inner();
    let reader = Reader { api, access };
    let mut kept: HashSet<NamedType> = schema.types.keys().cloned().collect();
    // A type that loses its last member takes fields and arguments of it along, which may empty
    // others.
    loop {
        for (name, ty) in &mut schema.types {
            reader.cut(name, ty, &kept);
        }
        schema
            .types
            .retain(|name, ty| ty.is_built_in() || reader.is_left(name, ty));
        let now: HashSet<NamedType> = schema.types.keys().cloned().collect();
        if now.len() == kept.len() {
            break;
        }
        kept = now;
    }
    prune(&mut schema, &mut Origins::default());
    schema
}

struct Reader<'a> {
    api: &'a Api,
    access: &'a Access,
}

impl Reader<'_> {
    /// Takes out of a type what cannot be read.
    fn cut(&self, name: &Name, ty: &mut ExtendedType, kept: &HashSet<NamedType>) {
        if ty.is_built_in() {
            return;
        }
        match ty {
            ExtendedType::Object(object) => {
                let object = object.make_mut();
                let interfaces = &mut object.implements_interfaces;
                interfaces.retain(|one| kept.contains(&one.name));
                self.cut_fields(name, &mut object.fields, kept);
            }
            ExtendedType::Interface(interface) => {
                let interface = interface.make_mut();
                let interfaces = &mut interface.implements_interfaces;
                interfaces.retain(|one| kept.contains(&one.name));
                self.cut_fields(name, &mut interface.fields, kept);
            }
            ExtendedType::InputObject(input) => {
                input.make_mut().fields.retain(|member, field| {
                    kept.contains(field.ty.inner_named_type()) && self.reads(name, member)
                });
            }
            ExtendedType::Union(union) => {
                let members = &mut union.make_mut().members;
                members.retain(|member| kept.contains(&member.name));
            }
            ExtendedType::Enum(one) => {
                let values = &mut one.make_mut().values;
                values.retain(|value, _| self.reads(name, value));
            }
            ExtendedType::Scalar(_) => {}
        }
    }

    fn cut_fields(
        &self,
        name: &Name,
        fields: &mut IndexMap<Name, Component<FieldDefinition>>,
        kept: &HashSet<NamedType>,
    ) {
        fields.retain(|member, field| {
            let arguments = &mut field.make_mut().arguments;
            arguments.retain(|argument| kept.contains(argument.ty.inner_named_type()));
            kept.contains(field.ty.inner_named_type()) && self.reads(name, member)
        });
    }

    /// Returns whether something of a type is left.
    fn is_left(&self, name: &Name, ty: &ExtendedType) -> bool {
        let shown = match self.api.type_ref(name) {
            Some(of) => self
                .api
                .possible_types(of)
                .iter()
                .any(|id| self.access.sees(*id)),
            None => true,
        };
        shown
            && match ty {
                // A schema has a query type
                // (<https://spec.graphql.org/September2025/#sec-Root-Operation-Types>).
                ExtendedType::Object(one) => *name == "Query" || !one.fields.is_empty(),
                ExtendedType::Interface(one) => !one.fields.is_empty(),
                ExtendedType::InputObject(one) => !one.fields.is_empty(),
                ExtendedType::Union(one) => !one.members.is_empty(),
                ExtendedType::Enum(one) => !one.values.is_empty(),
                ExtendedType::Scalar(_) => true,
            }
    }

    /// Returns whether a member of a type is about something that can be read.
    fn reads(&self, name: &Name, member: &Name) -> bool {
        if name == "_Service" {
            return match member.as_str() {
                "sdl" => self.access.reads_service(ServicePart::Sdl),
                "full_sdl" => self.access.reads_service(ServicePart::FullSdl),
                _ => true,
            };
        }
        if let Some(of) = self.api.type_ref(name)
            && let Some(field) = self.api.field(of, member)
        {
            return self.reads_of_all(of, member, field);
        }
        let origin = self.api.member_origin(name, member);
        match origin.map(super::Origin::source) {
            None | Some(Source::BuiltIn | Source::Enum(_)) => true,
            Some(Source::Object(id)) => {
                let is_id = matches!(member.as_str(), "ID" | "id");
                self.any(id, |object| {
                    if is_id {
                        self.access.reads(object, Part::Id)
                    } else {
                        self.access.sees(object)
                    }
                })
            }
            Some(Source::Name(id)) => self.any(id, |object| self.access.reads(object, Part::Name)),
            Some(Source::Property(id)) => {
                let property = &self.api.soml()[id];
                self.any(property.owner, |object| {
                    let name = property.name.graphql.as_str();
                    match self.api.field(TypeRef::Concrete(object), name) {
                        Some(field) => self.access.reads(object, field.part()),
                        None => false,
                    }
                })
            }
        }
    }

    fn any(&self, object: ObjectId, reads: impl Fn(ObjectId) -> bool) -> bool {
        self.api.soml().concrete(object).into_iter().any(reads)
    }

    /// Returns whether a field can be read of all objects of a type that are shown.
    fn reads_of_all(&self, of: TypeRef, member: &Name, field: Field) -> bool {
        let possible = self.api.possible_types(of).iter().copied();
        let mut shown = possible
            .filter(|object| self.access.sees(*object))
            .peekable();
        shown.peek().is_some()
            && shown.all(|object| {
                let own = self.api.field(TypeRef::Concrete(object), member);
                self.access.reads(object, own.unwrap_or(field).part())
            })
    }
}
