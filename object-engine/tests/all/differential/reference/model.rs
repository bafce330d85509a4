//! GraphQL names to the objects and properties of a SOML schema, and the types of nodes.

use oxrdf::Term;
use soml_core::schema::{Object, ObjectId, ObjectKind, PropertyId, Schema};

use super::graph::{Triples, iri_of};

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

/// The names of a schema.
pub(crate) struct Model<'a> {
    pub(crate) schema: &'a Schema,
}

impl<'a> Model<'a> {
    pub(crate) fn object(&self, id: ObjectId) -> &'a Object {
        &self.schema[id]
    }

    /// Tells whether an object is both a type and an interface: concrete, with subclasses.
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

    /// The property whose values are the types of objects of a type: theirs when all agree.
    pub(crate) fn type_property(&self, ty: Ty) -> String {
        let mut properties: Vec<&str> = self
            .possible(ty)
            .into_iter()
            .map(|id| self.object(id).type_prop.as_str())
            .collect();
        properties.sort_unstable();
        properties.dedup();
        match properties[..] {
            [single] => single.to_owned(),
            _ => oxrdf::vocab::rdf::TYPE.as_str().to_owned(),
        }
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

    /// Tells whether a node is an instance of a type: of the types that an abstract object itself
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
    /// possible the node is taken to be of that.
    pub(crate) fn concrete(&self, triples: &Triples, node: &str, ty: Ty) -> Option<ObjectId> {
        if let Ty::Concrete(id) = ty {
            return Some(id);
        }
        let typed = self.typed(triples, node, self.possible(ty));
        let depth = |id: &ObjectId| self.schema.lineage(*id).count();
        let deepest = typed.iter().map(depth).max()?;
        typed.into_iter().find(|id| depth(id) == deepest)
    }
}
