//! The merged data of a request: objects in an arena, leaves as slices of the answers they came in.

use std::sync::Arc;

use bytes::Bytes;

use super::answer::Parsed;
use crate::plan::Shape;
use crate::supergraph::{Supergraph, TypeId};

/// An object of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectId(usize);

/// A value of the store.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    /// JSON text of a scalar, an enum value, or lists of them.
    Leaf(Bytes),
    List(Vec<Value>),
    Object(ObjectId),
    /// A scalar where an object should be.
    Misfit,
    /// It is not there, and not since a subgraph has answered null.
    Lacking(Lack),
}

/// Why a value is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    /// A subgraph does not know the entity that has it, or was not asked since the key is unknown.
    Unknown,
    /// Something failed before.
    Failed,
}

/// Members of one object.
#[derive(Debug)]
struct Object {
    /// Its type, where an answer said so.
    ty: Option<Type>,
    members: Vec<(Arc<str>, Value)>,
    up: Option<Up>,
}

/// The type that an answer gives an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Known(TypeId),
    /// Its name is not in the supergraph.
    Unknown,
}

/// The place of an object in another one.
#[derive(Clone, Debug)]
struct Up {
    object: ObjectId,
    key: Arc<str>,
    indices: Vec<usize>,
}

/// A step from an object to what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seg {
    Key(Arc<str>),
    Index(usize),
}

/// The merged data of a request.
#[derive(Debug)]
pub(super) struct Store {
    objects: Vec<Object>,
}

impl Store {
    pub(super) const ROOT: ObjectId = ObjectId(0);

    pub(super) fn new(root: TypeId) -> Self {
        let root = Object {
            ty: Some(Type::Known(root)),
            members: Vec::new(),
            up: None,
        };
        Store {
            objects: vec![root],
        }
    }

    pub(super) fn ty(&self, object: ObjectId) -> Option<Type> {
        self.objects[object.0].ty
    }

    pub(super) fn get(&self, object: ObjectId, key: &str) -> Option<&Value> {
        let members = &self.objects[object.0].members;
        members
            .iter()
            .find(|(known, _)| **known == *key)
            .map(|(_, value)| value)
    }

    /// Says why what a step would have fetched for an object is not there. What others have fetched stays; below
    /// their objects, the same is said of what they have not fetched.
    pub(super) fn lack(&mut self, object: ObjectId, shape: &Shape, why: Lack) {
        let Shape::Object(shapes) = shape else {
            return;
        };
        for (key, shape) in shapes {
            let members = &mut self.objects[object.0].members;
            let known = members.iter_mut().find(|(known, _)| known == key);
            match known.map(|(_, value)| value) {
                None => members.push((Arc::clone(key), Value::Lacking(why))),
                // Whichever comes first: what failed may be known.
                Some(Value::Lacking(known)) => *known = why.max(*known),
                Some(value) => {
                    let mut below = Vec::new();
                    value.objects(&mut below);
                    for object in below {
                        self.lack(object, shape, why);
                    }
                }
            }
        }
    }

    /// Returns the object some levels above another one.
    pub(super) fn above(&self, mut object: ObjectId, levels: usize) -> ObjectId {
        for _ in 0..levels {
            if let Some(up) = &self.objects[object.0].up {
                object = up.object;
            }
        }
        object
    }

    /// Returns the keys and indices that lead to an object.
    pub(super) fn path(&self, mut object: ObjectId) -> Vec<Seg> {
        let mut path = Vec::new();
        while let Some(up) = &self.objects[object.0].up {
            path.extend(up.indices.iter().rev().map(|index| Seg::Index(*index)));
            path.push(Seg::Key(Arc::clone(&up.key)));
            object = up.object;
        }
        path.reverse();
        path
    }

    /// Returns the keys that lead to an object with the types of the objects on the way, the nearest first.
    pub(super) fn way(&self, mut object: ObjectId) -> Vec<(Option<Type>, Arc<str>)> {
        let mut way = Vec::new();
        while let Some(up) = &self.objects[object.0].up {
            way.push((self.ty(object), Arc::clone(&up.key)));
            object = up.object;
        }
        way
    }

    /// Adds the members of an object in an answer. Null wins over an object, in whichever order they come:
    /// the answer must not depend on which subgraph is faster.
    pub(super) fn merge(&mut self, supergraph: &Supergraph, into: ObjectId, from: Parsed) {
        let Parsed::Object { typename, members } = from else {
            return;
        };
        if self.objects[into.0].ty.is_none()
            && let Some(name) = typename
        {
            let known = supergraph.type_id(&name).map_or(Type::Unknown, Type::Known);
            // A subgraph that has an interface as an object type does not know the type.
            let is_interface = matches!(known, Type::Known(ty) if supergraph.ty(ty).is_abstract());
            if !is_interface {
                self.objects[into.0].ty = Some(known);
            }
        }
        for (key, value) in members {
            let place = self.objects[into.0]
                .members
                .iter()
                .position(|(known, _)| *known == key);
            let up = Up {
                object: into,
                key: Arc::clone(&key),
                indices: Vec::new(),
            };
            match place {
                Some(place) => {
                    let known =
                        std::mem::replace(&mut self.objects[into.0].members[place].1, Value::Null);
                    let merged = self.merged(supergraph, known, value, &up);
                    self.objects[into.0].members[place].1 = merged;
                }
                None => {
                    let value = self.added(supergraph, value, &up);
                    self.objects[into.0].members.push((key, value));
                }
            }
        }
    }

    fn merged(&mut self, supergraph: &Supergraph, known: Value, from: Parsed, up: &Up) -> Value {
        match (known, from) {
            (Value::Object(object), from @ Parsed::Object { .. }) => {
                self.merge(supergraph, object, from);
                Value::Object(object)
            }
            (Value::List(known), Parsed::List(from)) if known.len() == from.len() => {
                let pairs = known.into_iter().zip(from).enumerate();
                let merged = pairs.map(|(index, (known, from))| {
                    self.merged(supergraph, known, from, &up.at(index))
                });
                Value::List(merged.collect())
            }
            (Value::Lacking(_), from) => self.added(supergraph, from, up),
            (_, Parsed::Null) => Value::Null,
            (known, _) => known,
        }
    }

    fn added(&mut self, supergraph: &Supergraph, from: Parsed, up: &Up) -> Value {
        match from {
            Parsed::Null => Value::Null,
            Parsed::Leaf(text) => Value::Leaf(text),
            Parsed::Misfit => Value::Misfit,
            Parsed::List(items) => {
                let items = items.into_iter().enumerate();
                let added = items.map(|(index, item)| self.added(supergraph, item, &up.at(index)));
                Value::List(added.collect())
            }
            object @ Parsed::Object { .. } => {
                let id = ObjectId(self.objects.len());
                self.objects.push(Object {
                    ty: None,
                    members: Vec::new(),
                    up: Some(up.clone()),
                });
                self.merge(supergraph, id, object);
                Value::Object(id)
            }
        }
    }
}

impl Value {
    /// Adds the objects of a value, in whatever lists.
    pub(super) fn objects(&self, found: &mut Vec<ObjectId>) {
        match self {
            Value::Object(object) => found.push(*object),
            Value::List(items) => items.iter().for_each(|item| item.objects(found)),
            _ => {}
        }
    }
}

impl Up {
    fn at(&self, index: usize) -> Up {
        let mut up = self.clone();
        up.indices.push(index);
        up
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Returns a supergraph, and a store whose root object has an object with a member `x`.
    fn filled() -> (Supergraph, Store) {
        let sdl = include_str!("../../tests/cases/shop/supergraph.graphql");
        let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
        let root = supergraph.type_id("Query").unwrap();
        let mut store = Store::new(root);
        store.merge(&supergraph, Store::ROOT, below("x"));
        (supergraph, store)
    }

    fn object(key: &str, value: Parsed) -> Parsed {
        Parsed::Object {
            typename: None,
            members: vec![(key.into(), value)],
        }
    }

    fn below(key: &str) -> Parsed {
        let leaf = Parsed::Leaf(Bytes::from_static(b"1"));
        object("below", Parsed::List(vec![object(key, leaf)]))
    }

    fn shape(keys: &[&str]) -> Shape {
        let leaves = keys.iter().map(|key| (Arc::from(*key), Shape::Leaf));
        let below = Shape::Object(leaves.collect());
        Shape::Object(HashMap::from([(Arc::from("below"), below)]))
    }

    fn text(store: &Store, key: &str) -> String {
        let mut found = Vec::new();
        let below = store.get(Store::ROOT, "below").unwrap();
        below.objects(&mut found);
        format!("{:?}", store.get(found[0], key))
    }

    #[test]
    fn what_a_subgraph_does_not_know_is_lacking_below_what_others_know() {
        let (_, mut store) = filled();
        store.lack(Store::ROOT, &shape(&["x", "y"]), Lack::Unknown);
        assert_eq!(text(&store, "x"), "Some(Leaf(b\"1\"))");
        assert_eq!(text(&store, "y"), "Some(Lacking(Unknown))");
    }

    #[test]
    fn what_another_subgraph_knows_stands_whichever_comes_first() {
        let (supergraph, mut store) = filled();
        store.lack(Store::ROOT, &shape(&["y"]), Lack::Unknown);
        store.merge(&supergraph, Store::ROOT, below("y"));
        assert_eq!(text(&store, "y"), "Some(Leaf(b\"1\"))");
        store.lack(Store::ROOT, &shape(&["y"]), Lack::Failed);
        assert_eq!(text(&store, "y"), "Some(Leaf(b\"1\"))");
    }

    #[test]
    fn what_failed_somewhere_is_not_unknown_whichever_comes_first() {
        for order in [[Lack::Failed, Lack::Unknown], [Lack::Unknown, Lack::Failed]] {
            let (_, mut store) = filled();
            for why in order {
                store.lack(Store::ROOT, &shape(&["y"]), why);
            }
            assert_eq!(text(&store, "y"), "Some(Lacking(Failed))");
        }
    }
}
