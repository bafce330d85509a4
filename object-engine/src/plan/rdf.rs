//! From types of the API to what tells their objects apart in RDF.

use graph_store::query::{Step, TypeIndex, TypeTest};
use graphql_gen::typesystem::{Api, TypeRef};
use oxrdf::NamedNode;
use soml_core::schema::{ObjectId, Schema};

/// Returns the property that tells the types of objects of type `ty`: theirs when all agree, else
/// `rdf:type`.
pub(crate) fn type_property(api: &Api, ty: TypeRef) -> NamedNode {
    let schema: &Schema = api.soml();
    let mut properties: Vec<&str> = api
        .possible_types(ty)
        .iter()
        .map(|&o| schema[o].type_prop.as_str())
        .collect();
    properties.dedup();
    match properties.as_slice() {
        [single] => NamedNode::new_unchecked(*single),
        _ => oxrdf::vocab::rdf::TYPE.into_owned(),
    }
}

/// Returns the ways to the names of objects of type `ty`, each with the object types that have it.
pub(crate) fn name_groups(api: &Api, ty: TypeRef) -> Vec<(Step, Vec<ObjectId>)> {
    let schema: &Schema = api.soml();
    let mut groups: Vec<(Step, Vec<ObjectId>)> = Vec::new();
    for &object in api.possible_types(ty) {
        let Some(property) = schema[object].name_property else {
            continue;
        };
        let step = Step::from(&schema[property].path);
        match groups.iter_mut().find(|(s, _)| *s == step) {
            Some((_, objects)) => objects.push(object),
            None => groups.push((step, vec![object])),
        }
    }
    groups
}

/// Returns the test that objects of type `ty` pass: its own types when it is abstract and writes
/// some, else those of its concrete object types.
pub(crate) fn type_test(api: &Api, ty: TypeRef) -> TypeTest {
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

/// Returns the index that tells the concrete types of objects of type `ty`.
pub(crate) fn type_index(api: &Api, ty: TypeRef) -> TypeIndex {
    let schema: &Schema = api.soml();
    TypeIndex::new(
        schema,
        api.possible_types(ty)
            .iter()
            .map(|&o| (o, api.type_name(o).as_str())),
    )
}
