//! What some caller may be denied, and so may be missing from an answer.
//!
//! The service leaves out what a caller may not read. A gateway has the null of a field that is left out to
//! deal with, and where its schema promises a value, everything around that null is lost. So a gateway is told
//! that such a field can be null. It depends on the roles of the document and on no caller: callers have the
//! rights of some role, or of several and so more, or those of the role `Default`.

use std::sync::Arc;

use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition, Type};
use apollo_compiler::{Name, Schema};
use soml_core::access::{Access, Part, Rights};
use soml_core::rbac::Operation;
use soml_core::schema::{ObjectId, Range};

use super::api::{Api, Field, TypeRef};
use super::origin::{Origin, Source};
use super::setting::Setting;

/// Fields that hold cursors, which have the id of an object in them.
const CURSORS: [&str; 3] = ["cursor", "startCursor", "endCursor"];

/// Makes what some caller may be denied nullable, except for `id`, which is the key of every type.
pub(super) fn make_nullable(api: &Api, schema: &mut Schema) {
    let deniable = Deniable::new(api, schema);
    for (name, ty) in &mut schema.types {
        if ty.is_built_in() {
            continue;
        }
        match ty {
            ExtendedType::Object(ty) => deniable.change(name, &mut ty.make_mut().fields),
            ExtendedType::Interface(ty) => deniable.change(name, &mut ty.make_mut().fields),
            _ => {}
        }
    }
}

/// What may be missing.
struct Deniable {
    /// Fields that are left out of what is there otherwise.
    fields: HashSet<(Name, Name)>,
    /// Types of which nothing may be left that someone asks for.
    emptied: HashSet<Name>,
    /// Types whose objects are shown to some caller without their `id`. Where a client of a gateway asks for
    /// it, the object as a whole is null.
    without_id: HashSet<Name>,
}

impl Deniable {
    fn new(api: &Api, schema: &Schema) -> Self {
        let rules = Rules::new(api);
        let mut fields = HashSet::default();
        let mut emptied = Vec::new();
        for (name, ty) in &schema.types {
            let denied = fields_of(ty)
                .into_iter()
                .flatten()
                .filter(|(field, node)| rules.some_are_denied(name, field, is_leaf(schema, node)))
                .map(|(field, _)| (name.clone(), field.clone()));
            let before = fields.len();
            fields.extend(denied);
            if fields.len() > before {
                emptied.push(name.clone());
            }
        }
        let without_id = schema.types.keys().filter(|name| rules.lacks_id(name));
        Deniable {
            without_id: without_id.cloned().collect(),
            emptied: all_around(schema, emptied),
            fields,
        }
    }

    fn change(&self, ty: &Name, fields: &mut IndexMap<Name, Component<FieldDefinition>>) {
        for (name, field) in fields {
            // The key of every type stays non-null: where it is denied, the whole object is null
            // (docs/access.md, "Through a gateway").
            if name == "id" {
                continue;
            }
            let inner = field.ty.inner_named_type();
            let changed = if self.without_id.contains(inner) {
                nullable_throughout(&field.ty)
            } else if self.emptied.contains(inner)
                || self.fields.contains(&(ty.clone(), name.clone()))
            {
                field.ty.clone().nullable()
            } else {
                continue;
            };
            if changed != field.ty {
                field.make_mut().ty = changed;
            }
        }
    }
}

/// The rights of those callers who have the fewest.
struct Rules<'a> {
    api: &'a Api,
    callers: Vec<Access>,
}

impl<'a> Rules<'a> {
    fn new(api: &'a Api) -> Self {
        let soml = api.soml();
        let rights = Arc::new(Rights::new(soml));
        let roles = soml
            .rbac
            .roles
            .iter()
            .map(|role| rights.of([role.name.as_str()]));
        // A caller without a declared role has the role `Default`, or no right at all
        // (docs/access.md, "What roles allow").
        let callers = roles.chain([rights.of([])]).collect();
        Rules { api, callers }
    }

    /// Returns whether some caller is denied a field of a type whose objects, or whatever it stands for, they see.
    fn some_are_denied(&self, ty: &Name, field: &Name, is_leaf: bool) -> bool {
        let mut callers = self.callers.iter();
        if ty == "Query" {
            let root = self.api.root_field(field);
            return root.is_some_and(|root| callers.any(|caller| !self.sees(caller, root.target)));
        }
        if let Some(of) = self.api.type_ref(ty) {
            return callers.any(|caller| {
                let mut possible = self.api.possible_types(of).iter();
                possible.any(|object| !self.reads(caller, *object, field))
            });
        }
        match self.api.member_origin(ty, field).map(Origin::source) {
            // A key of groups is refused rather than left out (docs/access.md, "What a caller
            // sees").
            Some(Source::Property(_)) if is_leaf => false,
            Some(Source::Property(property)) => {
                let owner = self.api.soml()[property].owner;
                let of = self.api.soml().concrete(owner);
                callers.any(|caller| !of.iter().any(|object| self.reads(caller, *object, field)))
            }
            _ if self.is_cursor(ty, field) => {
                let mut all = self.api.possible_types(TypeRef::AnyObject).iter();
                let of = self.objects_of(ty);
                all.any(|object| {
                    let is_meant = of.as_ref().is_none_or(|of| of.contains(object));
                    is_meant
                        && callers
                            .clone()
                            .any(|caller| !caller.reads(*object, Part::Id))
                })
            }
            _ => false,
        }
    }

    /// Returns whether objects of a type are shown to a caller who may not read their `id`.
    fn lacks_id(&self, ty: &Name) -> bool {
        let of = self.api.type_ref(ty);
        let mut possible = of.iter().flat_map(|of| self.api.possible_types(*of));
        possible.any(|object| {
            let mut callers = self.callers.iter();
            callers.any(|caller| caller.sees(*object) && !caller.reads(*object, Part::Id))
        })
    }

    fn reads(&self, caller: &Access, object: ObjectId, name: &Name) -> bool {
        let Some(field) = self.api.field(TypeRef::Concrete(object), name) else {
            return false;
        };
        caller.reads(object, field.part()) && self.leads_somewhere(caller, field)
    }

    /// Returns whether the objects behind a field are shown, if there are objects behind it.
    fn leads_somewhere(&self, caller: &Access, field: Field) -> bool {
        let (Field::Property(id) | Field::Count(id) | Field::Aggregate(id)) = field else {
            return true;
        };
        match self.api.soml()[id].range {
            Range::Object(object) => {
                let target = self.api.range_type(object);
                self.sees(caller, target) && !self.hides_some(caller, target)
            }
            _ => true,
        }
    }

    /// Returns whether conditions of roles may hide objects of a type (docs/access.md, "Conditions
    /// on objects").
    fn hides_some(&self, caller: &Access, ty: TypeRef) -> bool {
        let has_conditions = |object: &ObjectId| {
            let mut roles = caller.role_places();
            roles.any(|role| {
                let mut conditions = caller.conditions(role, *object, Operation::Read);
                conditions.next().is_some()
            })
        };
        self.api.possible_types(ty).iter().any(has_conditions)
    }

    fn sees(&self, caller: &Access, ty: TypeRef) -> bool {
        let mut possible = self.api.possible_types(ty).iter();
        possible.any(|object| caller.sees(*object))
    }

    fn is_cursor(&self, ty: &Name, field: &Name) -> bool {
        let origin = self.api.type_origin(ty);
        let mut settings = origin.iter().flat_map(|origin| origin.settings());
        CURSORS.contains(&field.as_str()) && settings.any(|one| one == Setting::Connections)
    }

    /// Returns the concrete objects that a type is generated for; `None` for all.
    fn objects_of(&self, ty: &Name) -> Option<Vec<ObjectId>> {
        match self.api.type_origin(ty).map(Origin::source) {
            Some(Source::Object(object)) => Some(self.api.soml().concrete(object)),
            _ => None,
        }
    }
}

/// Returns types, and all types with a field or an implementation that leads to one of them: nothing may be left
/// of them either.
fn all_around(schema: &Schema, mut open: Vec<Name>) -> HashSet<Name> {
    let mut around: HashMap<&Name, Vec<&Name>> = HashMap::default();
    for (name, ty) in &schema.types {
        for (_, field) in fields_of(ty).into_iter().flatten() {
            let inner = field.ty.inner_named_type();
            around.entry(inner).or_default().push(name);
        }
        if let ExtendedType::Object(ty) = ty {
            let interfaces = ty.implements_interfaces.iter().map(|one| &one.name);
            around.entry(name).or_default().extend(interfaces);
        }
    }
    let mut found: HashSet<Name> = open.iter().cloned().collect();
    while let Some(name) = open.pop() {
        for &next in around.get(&name).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

fn fields_of(ty: &ExtendedType) -> Option<&IndexMap<Name, Component<FieldDefinition>>> {
    match ty {
        _ if ty.is_built_in() => None,
        ExtendedType::Object(ty) => Some(&ty.fields),
        ExtendedType::Interface(ty) => Some(&ty.fields),
        _ => None,
    }
}

fn is_leaf(schema: &Schema, field: &FieldDefinition) -> bool {
    let inner = schema.types.get(field.ty.inner_named_type());
    inner.is_some_and(ExtendedType::is_leaf)
}

/// `[T!]!` to `[T]`
fn nullable_throughout(ty: &Type) -> Type {
    match ty {
        Type::Named(name) | Type::NonNullNamed(name) => Type::Named(name.clone()),
        Type::List(item) | Type::NonNullList(item) => {
            Type::List(Box::new(nullable_throughout(item)))
        }
    }
}
