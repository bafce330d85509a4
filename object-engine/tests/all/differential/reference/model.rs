//! GraphQL names to the objects and properties of a SOML schema, and the types of nodes.

use std::cell::RefCell;
use std::collections::HashMap;

use oxrdf::Term;
use soml_core::schema::{Object, ObjectId, ObjectKind, Path, Property, PropertyId, Schema};

use super::graph::{Triples, iri_of};
use super::rights::Rights;

/// A GraphQL type that stands for objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Any,
    Nameable,
    Concrete(ObjectId),
    Interface(ObjectId),
}

/// What a field of an object reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldMeaning {
    Id,
    Type,
    Name,
    Property(PropertyId),
    /// The number of values that the list of a property has.
    Count(PropertyId),
}

/// What a root field answers about its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootKind {
    Objects,
    Count,
    Connection,
    Aggregate,
}

/// Fields of objects, and whether they may be read; under `*` whether the objects are shown.
type Known = HashMap<(ObjectId, String), bool>;

/// The names of a schema, and what of it may be read.
pub(crate) struct Model<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) rights: Rights<'a>,
    /// What has been found out of the rights.
    known: RefCell<Known>,
}

impl<'a> Model<'a> {
    /// A schema of which everything may be read.
    pub(crate) fn new(schema: &'a Schema) -> Self {
        Model {
            schema,
            rights: Rights::everything(schema),
            known: RefCell::default(),
        }
    }

    /// A schema as a caller of these roles sees it.
    pub(crate) fn of(schema: &'a Schema, roles: &[String]) -> Self {
        Model {
            rights: Rights::of(schema, roles),
            ..Model::new(schema)
        }
    }

    pub(crate) fn object(&self, id: ObjectId) -> &'a Object {
        &self.schema[id]
    }

    /// Returns whether an object is both a type and an interface: concrete, with subclasses.
    pub(crate) fn is_dual(&self, id: ObjectId) -> bool {
        self.object(id).kind == ObjectKind::Concrete && !self.object(id).subclasses.is_empty()
    }

    /// The type of fields whose range is an object.
    pub(crate) fn range(&self, id: ObjectId) -> Ty {
        if self.object(id).kind == ObjectKind::Abstract || self.is_dual(id) {
            Ty::Interface(id)
        } else {
            Ty::Concrete(id)
        }
    }

    pub(crate) fn type_name(&self, ty: Ty) -> String {
        match ty {
            Ty::Any => "Object".to_owned(),
            Ty::Nameable => "Nameable".to_owned(),
            Ty::Interface(id) if self.is_dual(id) => {
                format!("{}Interface", self.object(id).name.graphql)
            }
            Ty::Concrete(id) | Ty::Interface(id) => self.object(id).name.graphql.clone(),
        }
    }

    pub(crate) fn type_named(&self, name: &str) -> Option<Ty> {
        let objects = self.schema.objects().flat_map(|(id, object)| {
            let concrete = (object.kind == ObjectKind::Concrete).then_some(Ty::Concrete(id));
            let range = self.range(id);
            concrete.into_iter().chain([range])
        });
        [Ty::Any, Ty::Nameable]
            .into_iter()
            .chain(objects)
            .find(|&ty| self.type_name(ty) == name)
    }

    /// The root fields with what they list.
    pub(crate) fn roots(&self) -> Vec<(String, Ty)> {
        let name = |object: &str| {
            let mut letters = object.chars();
            let first: String = letters
                .next()
                .into_iter()
                .flat_map(char::to_lowercase)
                .collect();
            format!(
                "{}{first}{}",
                self.schema.config.query_pfx,
                letters.as_str()
            )
        };
        let mut roots = vec![(name("Object"), Ty::Any)];
        for (id, object) in self.schema.objects() {
            roots.push((name(&object.name.graphql), self.range(id)));
        }
        roots
    }

    /// What a root field is about.
    pub(crate) fn root(&self, name: &str) -> Option<(Ty, RootKind)> {
        let kinds = [
            ("_count", RootKind::Count),
            ("Connection", RootKind::Connection),
            ("_aggregate", RootKind::Aggregate),
            ("", RootKind::Objects),
        ];
        let roots = self.roots();
        kinds.into_iter().find_map(|(suffix, kind)| {
            let plain = name.strip_suffix(suffix)?;
            let (_, ty) = roots.iter().find(|(root, _)| root == plain)?;
            Some((*ty, kind))
        })
    }

    /// The concrete objects that values of a type can be.
    pub(crate) fn possible(&self, ty: Ty) -> Vec<ObjectId> {
        let concrete = self.schema.objects();
        let concrete = concrete.filter(|(_, o)| o.kind == ObjectKind::Concrete);
        let concrete = concrete.map(|(id, _)| id);
        match ty {
            Ty::Any => concrete.collect(),
            Ty::Nameable => concrete.filter(|&id| self.schema.is_nameable(id)).collect(),
            Ty::Concrete(id) => vec![id],
            Ty::Interface(id) => concrete.filter(|&o| self.schema.is_a(o, id)).collect(),
        }
    }

    /// What a field of a type reads.
    pub(crate) fn field(&self, ty: Ty, name: &str) -> Option<FieldMeaning> {
        let nameable = match ty {
            Ty::Any => false,
            Ty::Nameable => true,
            Ty::Concrete(id) | Ty::Interface(id) => self.schema.is_nameable(id),
        };
        match (name, ty) {
            ("id", _) => Some(FieldMeaning::Id),
            ("type", _) => Some(FieldMeaning::Type),
            ("name", _) if nameable => Some(FieldMeaning::Name),
            (_, Ty::Any | Ty::Nameable) => None,
            (_, Ty::Concrete(id) | Ty::Interface(id)) => {
                let named = |name: &str| {
                    let mut props = self.object(id).props.iter().copied();
                    props.find(|&p| self.schema[p].name.graphql == name)
                };
                let counted = || {
                    let counts = self.schema.config.enable_collection_count;
                    let counted = name.strip_suffix("_count").filter(|_| counts)?;
                    named(counted).filter(|&p| self.schema[p].max.is_multiple())
                };
                named(name)
                    .map(FieldMeaning::Property)
                    .or_else(|| counted().map(FieldMeaning::Count))
            }
        }
    }

    /// Returns whether a field of a concrete object may be read.
    pub(crate) fn reads(&self, object: ObjectId, field: &str) -> bool {
        if self.rights.is_everything() {
            return true;
        }
        let place = (object, field.to_owned());
        let known = self.known.borrow().get(&place).copied();
        known.unwrap_or_else(|| {
            let reads = self.finds_readable(object, field);
            self.known.borrow_mut().insert(place, reads);
            reads
        })
    }

    /// Returns whether objects of a concrete type are shown.
    pub(crate) fn sees(&self, object: ObjectId) -> bool {
        let place = (object, "*".to_owned());
        let known = self.known.borrow().get(&place).copied();
        known.unwrap_or_else(|| {
            let sees = self.rights.sees(object);
            self.known.borrow_mut().insert(place, sees);
            sees
        })
    }

    fn finds_readable(&self, object: ObjectId, field: &str) -> bool {
        let part = match self.field(Ty::Concrete(object), field) {
            Some(FieldMeaning::Property(id) | FieldMeaning::Count(id)) => {
                self.schema[id].name.written.as_str()
            }
            _ => field,
        };
        self.rights.reads(object, part)
    }

    /// Returns whether a field of what a node is shown as may be read; of what has no known type where it
    /// may be read of all types.
    pub(crate) fn reads_of(&self, triples: &Triples, node: &str, ty: Ty, field: &str) -> bool {
        let reads = |object| self.reads(object, field);
        let of_all = || self.possible(ty).into_iter().all(reads);
        self.rights.is_everything() || self.concrete(triples, node, ty).map_or_else(of_all, reads)
    }

    /// Returns whether a value is not one of the objects that are shown, where some are not.
    pub(crate) fn is_hidden(&self, triples: &Triples, value: &Term, ty: Ty) -> bool {
        let sees = |object| self.sees(object);
        if self.possible(ty).into_iter().all(sees) {
            return false;
        }
        let shown = iri_of(value).and_then(|node| self.concrete(triples, node, ty));
        !shown.is_some_and(sees)
    }

    /// What holds for an object where a type is expected: what its concrete type says, whatever the
    /// object is when all possible types say the same; for one of no known type what the object of
    /// the schema says that the type belongs to.
    fn said_of<T: PartialEq>(
        &self,
        triples: &Triples,
        node: &str,
        ty: Ty,
        says: impl Fn(ObjectId) -> Option<T>,
    ) -> Option<T> {
        let mut all: Vec<T> = Vec::new();
        for said in self.possible(ty).into_iter().filter_map(&says) {
            if !all.contains(&said) {
                all.push(said);
            }
        }
        if all.len() == 1 {
            return all.pop();
        }
        match (self.concrete(triples, node, ty), ty) {
            (Some(object), _) => says(object),
            (None, Ty::Concrete(id) | Ty::Interface(id)) => says(id),
            (None, Ty::Any | Ty::Nameable) => None,
        }
    }

    /// The property by which an object shows the field of a type.
    pub(crate) fn property_of(
        &self,
        triples: &Triples,
        node: &str,
        ty: Ty,
        field: &str,
    ) -> Option<&'a Property> {
        let named = |id: ObjectId| match self.field(Ty::Concrete(id), field) {
            Some(FieldMeaning::Property(property)) => Some(Read(&self.schema[property])),
            _ => None,
        };
        self.said_of(triples, node, ty, named).map(|read| read.0)
    }

    /// The property behind the name of an object.
    pub(crate) fn name_of(&self, triples: &Triples, node: &str, ty: Ty) -> Option<&'a Property> {
        let name = |id: ObjectId| {
            let name = self.object(id).name_property?;
            Some(Read(&self.schema[name]))
        };
        self.said_of(triples, node, ty, name).map(|read| read.0)
    }

    /// The property whose values are the types of an object.
    pub(crate) fn type_property(&self, triples: &Triples, node: &str, ty: Ty) -> Option<&'a str> {
        let says = |id: ObjectId| Some(self.object(id).type_prop.as_str());
        self.said_of(triples, node, ty, says)
    }

    /// The classes that a class means beside itself: for that of a concrete object those of its
    /// subclasses.
    pub(crate) fn classes(&self, class: &str) -> Vec<&'a str> {
        let mut classes: Vec<&str> = Vec::new();
        for (id, object) in self.schema.objects() {
            if object.kind == ObjectKind::Concrete && object.types.iter().any(|ty| ty == class) {
                let below = self.possible(Ty::Interface(id)).into_iter();
                let below = below.filter(|below| *below != id);
                classes.extend(
                    below
                        .flat_map(|id| &self.object(id).types)
                        .map(String::as_str),
                );
            }
        }
        classes
    }

    /// The objects among some that a node has a type of.
    fn typed(
        &self,
        triples: &Triples,
        node: &str,
        objects: impl IntoIterator<Item = ObjectId>,
    ) -> Vec<ObjectId> {
        let mut stored: Vec<(&str, Vec<Term>)> = Vec::new();
        let mut typed = Vec::new();
        for id in objects {
            let object = self.object(id);
            let property = object.type_prop.as_str();
            if !stored.iter().any(|(known, _)| *known == property) {
                stored.push((property, triples.objects(node, property)));
            }
            let (_, types) = stored
                .iter()
                .find(|(known, _)| *known == property)
                .expect("read above");
            let mut types = types.iter().filter_map(iri_of);
            if types.any(|iri| object.types.iter().any(|ty| ty == iri)) {
                typed.push(id);
            }
        }
        typed
    }

    /// Returns whether a node is an instance of a type: of the types that an abstract object itself
    /// writes, else of those of some concrete object.
    pub(crate) fn is_instance(&self, triples: &Triples, node: &str, ty: Ty) -> bool {
        let objects = match ty {
            Ty::Interface(id)
                if self.object(id).kind == ObjectKind::Abstract
                    && !self.object(id).types.is_empty() =>
            {
                vec![id]
            }
            _ => self.possible(ty),
        };
        !self.typed(triples, node, objects).is_empty()
    }

    /// The concrete object that a node is shown as where a type is expected: the most derived of
    /// those that it has a type of, then the first of the schema. Where only one concrete type is
    /// possible the node is taken to be of that, and where a concrete object is expected what has no
    /// known type is taken to be such.
    pub(crate) fn concrete(&self, triples: &Triples, node: &str, ty: Ty) -> Option<ObjectId> {
        if let Ty::Concrete(id) = ty {
            return Some(id);
        }
        let typed = self.typed(triples, node, self.possible(ty));
        let depth = |id: &ObjectId| self.schema.lineage(*id).count();
        let deepest = typed.iter().map(depth).max();
        let found = typed.into_iter().find(|id| Some(depth(id)) == deepest);
        match ty {
            // Nothing is taken away by giving a concrete object a subclass.
            Ty::Interface(id) if self.is_dual(id) => found.or(Some(id)),
            _ => found,
        }
    }
}

/// A property; two of one name are the same when their values are read alike.
struct Read<'a>(&'a Property);

impl PartialEq for Read<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_inverse = |property: &Property| matches!(property.path, Path::Inverse { .. });
        let (a, b) = (self.0, other.0);
        is_inverse(a) == is_inverse(b)
            && a.path.iri() == b.path.iri()
            && a.range == b.range
            && a.range_check == b.range_check
            && a.type_cast == b.type_cast
            && a.lang.fetch == b.lang.fetch
    }
}
