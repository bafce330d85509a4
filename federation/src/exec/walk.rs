//! From a plan's tree to the objects of the store, and from places in the store to those of the client.

use graphql_service::PathSegment;

use super::store::{ObjectId, Seg, Store, Type, Value};
use crate::operation::{ClassId, NodeId, Output, Tree};
use crate::supergraph::{Supergraph, TypeId};

/// What is needed to find things.
#[derive(Clone, Copy)]
pub(super) struct Walk<'w> {
    pub(super) supergraph: &'w Supergraph,
    pub(super) tree: &'w Tree,
    pub(super) store: &'w Store,
}

impl Walk<'_> {
    /// Returns the type of an object that is the value of a field; `None` where the supergraph has no such
    /// type.
    pub(super) fn ty(&self, object: ObjectId, node: NodeId) -> Option<TypeId> {
        match self.store.ty(object) {
            Some(Type::Known(ty)) => Some(ty),
            Some(Type::Unknown) => None,
            // Where only one type is possible, subgraphs are not asked for it.
            None => Some(self.supergraph.field(self.tree.node(node).field).inner),
        }
    }

    /// Returns the class of an object that is the value of a field, and its type. Where no subgraph has
    /// told the type, all classes are one.
    pub(super) fn class(
        &self,
        object: ObjectId,
        node: NodeId,
    ) -> Option<(Option<TypeId>, ClassId)> {
        let classes = &self.tree.node(node).classes;
        let ty = self.ty(object, node)?;
        match (self.is_untyped(object, node), classes.as_slice()) {
            (true, [only]) => Some((None, *only)),
            (true, _) => None,
            _ => Some((Some(ty), self.tree.class_of(classes, ty)?)),
        }
    }

    /// Returns whether no subgraph has told the type of an object that can have several.
    pub(super) fn is_untyped(&self, object: ObjectId, node: NodeId) -> bool {
        let ty = self.ty(object, node).map(|ty| self.supergraph.ty(ty));
        ty.is_some_and(|ty| ty.joins.iter().any(|join| join.is_interface_object))
    }

    /// Returns the objects of a class with their types, as far as they are known.
    pub(super) fn objects(&self, class: ClassId) -> Vec<(ObjectId, Option<TypeId>)> {
        let Some(position) = self.tree.class(class).position else {
            let ty = self.tree.class(class).ty();
            return vec![(Store::ROOT, Some(ty))];
        };
        let found = self.values(position).into_iter();
        let classed = found.filter_map(|object| {
            let (ty, of) = self.class(object, position)?;
            (of == class).then_some((object, ty))
        });
        classed.collect()
    }

    /// Returns the objects that are values of a field, of whatever type.
    pub(super) fn values(&self, position: NodeId) -> Vec<ObjectId> {
        let node = self.tree.node(position);
        let mut found = Vec::new();
        for (above, _) in self.objects(node.class) {
            if let Some(value) = self.store.get(above, &node.key) {
                objects_in(value, &mut found);
            }
        }
        found
    }

    /// Returns the client's paths to a place in the store, each cut after the last field that the client
    /// asked for. There are several where the client asked for the same under several aliases.
    pub(super) fn client_paths(&self, place: &[Seg]) -> Vec<Vec<PathSegment>> {
        let mut paths = Vec::new();
        let root = Value::Object(Store::ROOT);
        self.translate(
            place,
            None,
            &[Tree::ROOT],
            Some(&root),
            &mut Vec::new(),
            &mut paths,
        );
        paths.sort_by_key(|path: &Vec<PathSegment>| std::cmp::Reverse(path.len()));
        let longest = paths.first().map_or(0, Vec::len);
        // A cut path beside a full one is that of a field which only the gateway reads there.
        paths.retain(|path| path.len() == longest);
        let mut different: Vec<Vec<PathSegment>> = Vec::new();
        for path in paths {
            if !different.contains(&path) {
                different.push(path);
            }
        }
        different
    }

    fn translate(
        &self,
        place: &[Seg],
        position: Option<NodeId>,
        classes: &[ClassId],
        value: Option<&Value>,
        path: &mut Vec<PathSegment>,
        paths: &mut Vec<Vec<PathSegment>>,
    ) {
        match place.split_first() {
            None => paths.push(path.clone()),
            Some((Seg::Index(index), rest)) => {
                let item = match value {
                    Some(Value::List(items)) => items.get(*index),
                    _ => None,
                };
                path.push(PathSegment::Index(*index));
                self.translate(rest, position, classes, item, path, paths);
                path.pop();
            }
            Some((Seg::Key(key), rest)) => {
                let before = paths.len();
                let (classes, object) = self.narrowed(position, classes, value);
                for class in classes {
                    if object.is_none() && paths.len() > before {
                        // The object is gone with its type: one of its possible places is enough.
                        break;
                    }
                    for output in &self.tree.class(class).outputs {
                        let Output::Field { key: client, node } = output else {
                            continue;
                        };
                        if self.tree.node(*node).key != *key {
                            continue;
                        }
                        let value = object.and_then(|object| self.store.get(object, key));
                        let below = &self.tree.node(*node).classes;
                        path.push(PathSegment::Key(client.to_string()));
                        self.translate(rest, Some(*node), below, value, path, paths);
                        path.pop();
                    }
                }
                if paths.len() == before {
                    paths.push(path.clone());
                }
            }
        }
    }

    /// Returns whether a client's path to a place still is one: the types of objects may have been told since
    /// it was found.
    pub(super) fn is_path_to(&self, path: &[PathSegment], place: &[Seg]) -> bool {
        let root = Value::Object(Store::ROOT);
        self.leads(path, place, None, &[Tree::ROOT], Some(&root))
    }

    fn leads(
        &self,
        path: &[PathSegment],
        place: &[Seg],
        position: Option<NodeId>,
        classes: &[ClassId],
        value: Option<&Value>,
    ) -> bool {
        match (path.split_first(), place.split_first()) {
            (Some((_, path)), Some((Seg::Index(index), place))) => {
                let item = match value {
                    Some(Value::List(items)) => items.get(*index),
                    _ => None,
                };
                self.leads(path, place, position, classes, item)
            }
            (Some((PathSegment::Key(client), path)), Some((Seg::Key(key), place))) => {
                let (classes, object) = self.narrowed(position, classes, value);
                let Some(object) = object else {
                    // It is gone with its type.
                    return true;
                };
                let outputs = classes
                    .iter()
                    .flat_map(|class| &self.tree.class(*class).outputs);
                let mut nodes = outputs
                    .filter(|output| output.key() == client.as_str())
                    .filter_map(Output::node)
                    .filter(|node| self.tree.node(*node).key == *key);
                nodes.any(|node| {
                    let below = &self.tree.node(node).classes;
                    let value = self.store.get(object, key);
                    self.leads(path, place, Some(node), below, value)
                })
            }
            // The path may be cut.
            (None, _) => true,
            _ => false,
        }
    }

    /// Returns the classes that a value can be of, and its object.
    fn narrowed(
        &self,
        position: Option<NodeId>,
        classes: &[ClassId],
        value: Option<&Value>,
    ) -> (Vec<ClassId>, Option<ObjectId>) {
        let Some(Value::Object(object)) = value else {
            return (classes.to_vec(), None);
        };
        let Some(position) = position else {
            return (classes.to_vec(), Some(*object));
        };
        let ty = self.ty(*object, position);
        if self.is_untyped(*object, position) {
            return (classes.to_vec(), Some(*object));
        }
        let class = ty.and_then(|ty| self.tree.class_of(classes, ty));
        (class.into_iter().collect(), Some(*object))
    }
}

fn objects_in(value: &Value, found: &mut Vec<ObjectId>) {
    match value {
        Value::Object(object) => found.push(*object),
        Value::List(items) => items.iter().for_each(|item| objects_in(item, found)),
        _ => {}
    }
}
