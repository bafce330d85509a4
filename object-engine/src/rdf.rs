//! From types of the API to what tells their objects apart in RDF.

use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;
use graph_store::query::{TypeIndex, TypeTest};
use graphql_gen::typesystem::{Api, TypeRef};
use oxrdf::NamedNode;
use soml_core::schema::{ObjectId, ObjectKind, Schema};

/// What tells objects of each type of an API apart, worked out when it is first needed: a type may have
/// hundreds of classes, and every request names types.
#[derive(Default)]
pub(crate) struct Types {
    known: RwLock<HashMap<TypeRef, Arc<OfType>>>,
}

/// What tells objects of a type apart.
pub(crate) struct OfType {
    /// Determines their concrete types.
    pub(crate) index: Arc<TypeIndex>,
    /// The test for objects of the type.
    pub(crate) test: TypeTest,
    /// The test for those of them whose concrete type is known.
    pub(crate) of_known_type: TypeTest,
}

impl Types {
    pub(crate) fn get(&self, api: &Api, ty: TypeRef) -> Arc<OfType> {
        let known = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.get(&ty).cloned()
        };
        known.unwrap_or_else(|| {
            let index = type_index(api, ty);
            let made = OfType {
                test: type_test(api, ty),
                of_known_type: index.test(),
                index: Arc::new(index),
            };
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(ty).or_insert_with(|| Arc::new(made)))
        })
    }
}

/// Returns the type that a concrete object means wherever it is named: the object and its subclasses.
pub(crate) fn with_subclasses(api: &Api, ty: TypeRef) -> TypeRef {
    match ty {
        TypeRef::Concrete(object) => api.range_type(object),
        other => other,
    }
}

/// Returns whether objects of no known type are shown where a type is expected: as of the concrete
/// object that it belongs to.
pub(crate) fn takes_any(api: &Api, ty: TypeRef) -> bool {
    let is_concrete = |object: ObjectId| api.soml()[object].kind == ObjectKind::Concrete;
    matches!(ty, TypeRef::Concrete(object) | TypeRef::Interface(object) if is_concrete(object))
}

/// Returns the test for objects of type `ty`: its own RDF types if it is abstract and declares
/// some, otherwise those of its concrete object types.
fn type_test(api: &Api, ty: TypeRef) -> TypeTest {
    let schema: &Schema = api.soml();
    match ty {
        TypeRef::Interface(object) if !api.possible_types(ty).contains(&object) => {
            let own = &schema[object];
            if !own.types.is_empty() {
                let types = own
                    .types
                    .iter()
                    .map(|t| NamedNode::new_unchecked(t.as_str()));
                let property = NamedNode::new_unchecked(own.type_prop.as_str());
                return TypeTest::new(property, types.collect());
            }
            TypeIndex::without_names(schema, api.possible_types(ty)).test()
        }
        _ => TypeIndex::without_names(schema, api.possible_types(ty)).test(),
    }
}

/// Returns the index that determines the concrete types of objects of type `ty`.
pub(crate) fn type_index(api: &Api, ty: TypeRef) -> TypeIndex {
    let schema: &Schema = api.soml();
    let index = TypeIndex::new(
        schema,
        api.possible_types(ty)
            .iter()
            .map(|&o| (o, api.type_name(o).as_str())),
    );
    match ty {
        TypeRef::Interface(object) if takes_any(api, ty) => index.with_fallback(object),
        _ => index,
    }
}

/// Returns the classes that a class means where a client names it: that of a concrete object means
/// those of its subclasses too.
pub(crate) fn classes(schema: &Schema, class: &NamedNode) -> Vec<NamedNode> {
    let mut classes = vec![class.clone()];
    for (id, object) in schema.objects() {
        let is_named = object.types.iter().any(|ty| ty == class.as_str());
        if object.kind != ObjectKind::Concrete || object.subclasses.is_empty() || !is_named {
            continue;
        }
        let below = schema.concrete(id).into_iter().filter(|below| *below != id);
        for ty in below.flat_map(|below| &schema[below].types) {
            if !classes.iter().any(|known| known.as_str() == ty) {
                classes.push(NamedNode::new_unchecked(ty.as_str()));
            }
        }
    }
    classes
}
