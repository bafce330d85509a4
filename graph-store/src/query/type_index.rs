//! Which RDF types make a node an instance of which object type.

use std::collections::HashMap;

use oxrdf::NamedNode;
use soml_core::schema::{ObjectId, Schema};

use super::condition::TypeTest;

/// The types that tell a node's concrete object type, among some candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeIndex {
    /// Type properties and, under each, the candidates of each type.
    properties: Vec<(NamedNode, HashMap<NamedNode, Vec<ObjectId>>)>,
    /// Rank of each candidate: the most derived first, then in schema order.
    ranks: HashMap<ObjectId, Rank>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rank {
    /// Number of superclasses, so that a subclass always has a greater one.
    depth: usize,
    /// The GraphQL type name.
    name: String,
}

impl TypeIndex {
    /// Creates an index over `candidates`, with the GraphQL name of each.
    #[must_use]
    pub fn new<'a>(
        schema: &Schema,
        candidates: impl IntoIterator<Item = (ObjectId, &'a str)>,
    ) -> Self {
        let mut index = TypeIndex {
            properties: Vec::new(),
            ranks: HashMap::new(),
        };
        for (id, name) in candidates {
            let object = &schema[id];
            let property = NamedNode::new_unchecked(object.type_prop.as_str());
            let position = index.properties.iter().position(|(p, _)| *p == property);
            let position = position.unwrap_or_else(|| {
                index.properties.push((property, HashMap::new()));
                index.properties.len() - 1
            });
            for iri in &object.types {
                let types = &mut index.properties[position].1;
                types
                    .entry(NamedNode::new_unchecked(iri.as_str()))
                    .or_default()
                    .push(id);
            }
            let depth = schema.lineage(id).count();
            index.ranks.insert(
                id,
                Rank {
                    depth,
                    name: name.to_owned(),
                },
            );
        }
        index
    }

    /// Creates an index that only tells which nodes are instances of some of `objects`.
    #[must_use]
    pub fn without_names(schema: &Schema, objects: &[ObjectId]) -> Self {
        TypeIndex::new(schema, objects.iter().map(|&object| (object, "")))
    }

    /// Returns the type properties, in the order that [`TypeIndex::resolve`] expects.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = &NamedNode> {
        self.properties.iter().map(|(property, _)| property)
    }

    /// Returns the test that some candidate's types pass.
    #[must_use]
    pub fn test(&self) -> TypeTest {
        let alternatives = self.properties.iter().map(|(property, types)| {
            let mut types: Vec<_> = types.keys().cloned().collect();
            types.sort_unstable();
            (property.clone(), types)
        });
        TypeTest {
            alternatives: alternatives.collect(),
        }
    }

    /// Returns the object type of a node from its types: (position of the type property, type).
    ///
    /// Among several the most derived wins, then the first of the schema.
    pub fn resolve<'t>(
        &self,
        types: impl IntoIterator<Item = (usize, &'t NamedNode)>,
    ) -> Option<ObjectId> {
        let candidates = types
            .into_iter()
            .filter_map(|(position, iri)| self.properties.get(position)?.1.get(iri))
            .flatten()
            .copied();
        candidates.min_by_key(|id| {
            (
                std::cmp::Reverse(self.ranks.get(id).map_or(0, |rank| rank.depth)),
                *id,
            )
        })
    }

    /// Returns the GraphQL type name of a candidate.
    #[must_use]
    pub fn type_name(&self, object: ObjectId) -> Option<&str> {
        self.ranks.get(&object).map(|rank| rank.name.as_str())
    }
}
