//! Which object types nodes are of, from their stored types.

use std::collections::HashMap;

use graph_store::query::{Column, Hydrated, Slot, Step, TypeTest};
use oxrdf::{NamedNode, Term};
use soml_core::schema::{ObjectId, ObjectKind, Schema};

/// The types of all objects of a schema.
pub(super) struct Types<'a> {
    schema: &'a Schema,
    /// Type properties and, under each, the objects of each type.
    properties: Vec<(NamedNode, HashMap<NamedNode, Vec<ObjectId>>)>,
}

/// What the types of a node say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeTypes {
    /// The concrete objects that it is of, without those that another one of them inherits from.
    pub(super) leaves: Vec<ObjectId>,
    /// All objects, abstract ones too, of which the node has a type.
    pub(super) matched: Vec<ObjectId>,
    /// A type that the node has, known or not.
    pub(super) any: Option<NamedNode>,
}

impl<'a> Types<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        let mut properties: Vec<(NamedNode, HashMap<NamedNode, Vec<ObjectId>>)> = Vec::new();
        for (id, object) in schema.objects() {
            let property = NamedNode::new_unchecked(object.type_prop.as_str());
            let position = properties
                .iter()
                .position(|(p, _)| *p == property)
                .unwrap_or_else(|| {
                    properties.push((property, HashMap::new()));
                    properties.len() - 1
                });
            for ty in &object.types {
                let ty = NamedNode::new_unchecked(ty.as_str());
                properties[position].1.entry(ty).or_default().push(id);
            }
        }
        Types { schema, properties }
    }

    /// Returns the type properties.
    pub(super) fn properties(&self) -> impl ExactSizeIterator<Item = &NamedNode> {
        self.properties.iter().map(|(property, _)| property)
    }

    /// Returns whether some object has the type.
    pub(super) fn knows(&self, property: usize, ty: &NamedNode) -> bool {
        self.properties[property].1.contains_key(ty)
    }

    /// Returns the slots that [`Types::of`] expects, in its order.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.properties()
            .map(|property| Slot::new(Step::forward(property.clone())))
    }

    /// Returns the test that instances of a concrete object pass.
    pub(super) fn test(&self, object: ObjectId) -> TypeTest {
        let object = &self.schema[object];
        let types = object.types.iter();
        TypeTest::new(
            NamedNode::new_unchecked(object.type_prop.as_str()),
            types
                .map(|ty| NamedNode::new_unchecked(ty.as_str()))
                .collect(),
        )
    }

    /// Returns what the first columns of an answer say about a node.
    pub(super) fn of(&self, hydrated: &Hydrated, node: usize) -> NodeTypes {
        let mut types = NodeTypes::default();
        for ((_, objects), column) in self.properties.iter().zip(&hydrated.columns) {
            for ty in owned(column, node) {
                let Term::NamedNode(ty) = ty else { continue };
                types.any = types.any.or_else(|| Some(ty.clone()));
                types.matched.extend(objects.get(ty).into_iter().flatten());
            }
        }
        types.matched.sort_unstable();
        types.matched.dedup();
        let concrete = |id: &ObjectId| self.schema[*id].kind == ObjectKind::Concrete;
        let concrete: Vec<ObjectId> = types.matched.iter().copied().filter(concrete).collect();
        let is_leaf = |id: &ObjectId| {
            let mut others = concrete.iter();
            !others.any(|other| other != id && self.schema.is_a(*other, *id))
        };
        types.leaves = concrete.iter().copied().filter(is_leaf).collect();
        types
    }
}

/// Returns the values of a node in a column whose terms are owned.
pub(super) fn owned(column: &Column, node: usize) -> &[Term] {
    let values = column.of(node).terms();
    values.expect("terms are copied when they are read")
}
