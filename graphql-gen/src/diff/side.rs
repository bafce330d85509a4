//! The two schemas that are compared, by the names that clients know.

use std::collections::HashMap;

use soml_core::schema::{EnumType, Object, ObjectId, ObjectKind, Property, PropertyId, Schema};

use crate::typesystem::{Api, TypeRef};

/// Both schemas.
pub(super) struct Sides<'a> {
    pub(super) old: Side<'a>,
    pub(super) new: Side<'a>,
}

/// One of the schemas. Objects, properties and enumerations go by their GraphQL names.
pub(super) struct Side<'a> {
    pub(super) api: &'a Api,
    pub(super) soml: &'a Schema,
    objects: HashMap<&'a str, ObjectId>,
    properties: HashMap<(ObjectId, &'a str), PropertyId>,
    enums: HashMap<&'a str, &'a EnumType>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(old: &'a Api, new: &'a Api) -> Self {
        Sides {
            old: Side::new(old),
            new: Side::new(new),
        }
    }

    /// Returns an object that both schemas have.
    pub(super) fn object(&self, name: &str) -> Option<(&'a Object, &'a Object)> {
        Some((self.old.object(name)?, self.new.object(name)?))
    }

    /// Returns the names of the objects that both schemas have, superclasses first.
    pub(super) fn common_objects(&self) -> Vec<&'a str> {
        let soml = self.new.soml;
        let mut common: Vec<_> = soml
            .objects()
            .filter(|(_, object)| self.old.objects.contains_key(object.name.graphql.as_str()))
            .map(|(id, object)| (soml.lineage(id).count(), object.name.graphql.as_str()))
            .collect();
        common.sort_by_key(|(depth, _)| *depth);
        common.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the superclass of an object, if it is the same in both schemas.
    pub(super) fn common_parent(&self, object: &str) -> Option<&'a str> {
        let parent = self.new.parent(object)?;
        (self.old.parent(object) == Some(parent)).then_some(parent)
    }

    /// Returns an object and all its superclasses of both schemas, nearest first.
    pub(super) fn lineages(&self, object: &str) -> Vec<&'a str> {
        let mut names = self.new.lineage(object);
        for name in self.old.lineage(object) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl<'a> Side<'a> {
    fn new(api: &'a Api) -> Self {
        let soml: &'a Schema = api.soml();
        let objects = soml
            .objects()
            .map(|(id, object)| (object.name.graphql.as_str(), id));
        let properties = soml.objects().flat_map(|(id, object)| {
            let props = object.props.iter();
            props.map(move |&p| ((id, soml[p].name.graphql.as_str()), p))
        });
        Side {
            api,
            soml,
            objects: objects.collect(),
            properties: properties.collect(),
            enums: soml
                .enums
                .iter()
                .map(|e| (e.name.graphql.as_str(), e))
                .collect(),
        }
    }

    /// Returns whether a type is that of queries or mutations.
    pub(super) fn is_root_operation(&self, ty: &str) -> bool {
        let roots = &self.api.schema().schema_definition;
        let roots = roots.iter_root_operations();
        roots.into_iter().any(|(_, root)| root.name == ty)
    }

    fn object_id(&self, name: &str) -> Option<ObjectId> {
        self.objects.get(name).copied()
    }

    pub(super) fn object(&self, name: &str) -> Option<&'a Object> {
        self.object_id(name).map(|id| &self.soml[id])
    }

    pub(super) fn property(&self, object: &str, property: &str) -> Option<&'a Property> {
        let object = self.object_id(object)?;
        let id = self.properties.get(&(object, property))?;
        Some(&self.soml[*id])
    }

    pub(super) fn enumeration(&self, name: &str) -> Option<&'a EnumType> {
        self.enums.get(name).copied()
    }

    pub(super) fn name(&self, object: ObjectId) -> &'a str {
        &self.soml[object].name.graphql
    }

    pub(super) fn parent(&self, object: &str) -> Option<&'a str> {
        self.object(object)?.inherits.map(|id| self.name(id))
    }

    /// Returns an object and its superclasses, nearest first; nothing for an unknown object.
    pub(super) fn lineage(&self, object: &str) -> Vec<&'a str> {
        let Some(id) = self.object_id(object) else {
            return Vec::new();
        };
        self.soml.lineage(id).map(|id| self.name(id)).collect()
    }

    /// Returns the names of the direct subclasses.
    pub(super) fn subclasses(&self, object: &str) -> Vec<&'a str> {
        let subclasses = self
            .object(object)
            .map(|o| o.subclasses.as_slice())
            .unwrap_or_default()
            .iter();
        subclasses.map(|&id| self.name(id)).collect()
    }

    /// Returns whether a concrete object has an interface beside its type.
    pub(super) fn is_dual(&self, object: &str) -> bool {
        self.object_id(object).is_some_and(|id| {
            self.soml[id].kind == ObjectKind::Concrete
                && matches!(self.api.range_type(id), TypeRef::Interface(_))
        })
    }
}
