//! From a plan's tree to the objects of the store, and from places in the store to those of the client.

use graphql_service::PathSegment;

use super::store::{ObjectId, Seg, Store, Type, Value};
use crate::hash::HashSet;
use crate::operation::{ClassId, NodeId, Output, Tree};
use crate::supergraph::{Supergraph, TypeId};

/// What is needed to find things.
#[derive(Clone, Copy)]
pub(super) struct Walk<'w> {
    pub(super) supergraph: &'w Supergraph,
    pub(super) tree: &'w Tree,
    pub(super) store: &'w Store,
}

/// An object with its type, as far as it is known.
pub(super) type TypedObject = (ObjectId, Option<TypeId>);

/// The client's paths to a place.
#[derive(Default)]
struct Paths {
    list: Vec<Vec<PathSegment>>,
    /// Whether there may be fewer when the types of all objects are told.
    is_untold: bool,
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
    /// told the type, all classes are one, if clients ask the same of them.
    pub(super) fn class(
        &self,
        object: ObjectId,
        node: NodeId,
    ) -> Option<(Option<TypeId>, ClassId)> {
        let classes = &self.tree.node(node).classes;
        let ty = self.ty(object, node)?;
        let is_untyped = self.supergraph.ty(ty).is_interface_object;
        match (is_untyped, classes.as_slice()) {
            (true, [only]) => Some((None, *only)),
            (true, [first, ..]) if self.tree.node(node).is_uniform => Some((None, *first)),
            (true, _) => None,
            _ => Some((Some(ty), self.tree.class_of(classes, ty)?)),
        }
    }

    /// Returns whether no subgraph has told the type of an object that can have several.
    pub(super) fn is_untyped(&self, object: ObjectId, node: NodeId) -> bool {
        let ty = self.ty(object, node);
        ty.is_some_and(|ty| self.supergraph.ty(ty).is_interface_object)
    }

    /// Returns the values of a field of objects that are of a class, with their types as far as they are known.
    pub(super) fn classed(
        &self,
        above: &[TypedObject],
        position: NodeId,
        class: ClassId,
    ) -> Vec<TypedObject> {
        let mut found = Vec::with_capacity(above.len());
        self.each_value(above, position, |object| {
            if let Some((ty, of)) = self.class(object, position)
                && of == class
            {
                found.push((object, ty));
            }
        });
        found
    }

    /// Calls a function with each value of a field of objects, of whatever type.
    pub(super) fn each_value(
        &self,
        above: &[TypedObject],
        position: NodeId,
        mut each: impl FnMut(ObjectId),
    ) {
        let member = self.tree.node(position).member;
        let mut shared = HashSet::default();
        for (above, _) in above {
            let value = self.store.get(*above, member);
            // What many objects have in common is looked at once.
            if !self.store.is_sharing(*above) || shared.insert(value) {
                self.store.each_object(value, &mut each);
            }
        }
    }

    /// Returns the client's paths to a place in the store, each cut after the last field that the client
    /// asked for. There are several where the client asked for the same under several aliases.
    pub(super) fn client_paths(&self, place: &[Seg]) -> Vec<Vec<PathSegment>> {
        self.found(place).0
    }

    /// Returns whether the types of objects on the way to a place are not told yet, so that what it is under which
    /// alias may be told later.
    pub(super) fn is_untold(&self, place: &[Seg]) -> bool {
        self.found(place).1
    }

    fn found(&self, place: &[Seg]) -> (Vec<Vec<PathSegment>>, bool) {
        let mut paths = Paths::default();
        self.translate(
            place,
            None,
            &[Tree::ROOT],
            Value::Object(Store::ROOT),
            &mut Vec::new(),
            &mut paths,
        );
        let Paths {
            list: mut paths,
            is_untold,
        } = paths;
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
        (different, is_untold)
    }

    fn translate(
        &self,
        place: &[Seg],
        position: Option<NodeId>,
        classes: &[ClassId],
        value: Value,
        path: &mut Vec<PathSegment>,
        paths: &mut Paths,
    ) {
        match place.split_first() {
            None => paths.list.push(path.clone()),
            Some((Seg::Index(index), rest)) => {
                let item = match value {
                    Value::List(items) => self.store.items(items).get(*index).copied(),
                    _ => None,
                };
                let item = item.unwrap_or(Value::Absent);
                path.push(PathSegment::Index(*index));
                self.translate(rest, position, classes, item, path, paths);
                path.pop();
            }
            Some((Seg::Key(key), rest)) => {
                let before = paths.list.len();
                let (classes, object) = self.narrowed(position, classes, value);
                let known = position.zip(object);
                paths.is_untold |= classes.len() > 1
                    && known.is_some_and(|(position, object)| self.is_untyped(object, position));
                for class in classes {
                    if object.is_none() && paths.list.len() > before {
                        // The object is gone with its type: one of its possible places is enough.
                        break;
                    }
                    for output in &self.tree.class(class).outputs {
                        let Output::Field { key: client, node } = output else {
                            continue;
                        };
                        let member = self.tree.node(*node).member;
                        if self.tree.node(*node).key != *key {
                            continue;
                        }
                        let value = object
                            .map(|object| self.store.get(object, member))
                            .unwrap_or(Value::Absent);
                        let below = &self.tree.node(*node).classes;
                        path.push(PathSegment::Key(client.to_string()));
                        self.translate(rest, Some(*node), below, value, path, paths);
                        path.pop();
                    }
                }
                if paths.list.len() == before {
                    paths.list.push(path.clone());
                }
            }
        }
    }

    /// Returns the classes that a value can be of, and its object.
    fn narrowed(
        &self,
        position: Option<NodeId>,
        classes: &[ClassId],
        value: Value,
    ) -> (Vec<ClassId>, Option<ObjectId>) {
        let Value::Object(object) = value else {
            return (classes.to_vec(), None);
        };
        let Some(position) = position else {
            return (classes.to_vec(), Some(object));
        };
        let ty = self.ty(object, position);
        if self.is_untyped(object, position) {
            return (classes.to_vec(), Some(object));
        }
        let class = ty.and_then(|ty| self.tree.class_of(classes, ty));
        (class.into_iter().collect(), Some(object))
    }
}
