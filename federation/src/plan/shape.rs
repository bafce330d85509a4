//! The form of answers: where what is read of them has its place in the merged data.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::operation::{ClassId, NodeId, RowLayout, SlotId, Tree};

/// The form of a value in an answer.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A leaf, or lists of leaves.
    Leaf,
    /// An object, or lists of objects.
    Object(Members),
}

/// The members of objects in an answer.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    /// The layout of the objects in the merged data.
    pub(crate) layout: RowLayout,
    /// In the order in which they are asked for.
    pub(crate) list: Vec<Member>,
    /// Their positions, in the order of their keys.
    by_key: Vec<usize>,
}

/// A member of objects in an answer.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: Arc<str>,
    /// Where its value is among those of an object in the merged data.
    pub(crate) place: u32,
    pub(crate) shape: Shape,
}

impl Members {
    /// Returns the members that objects of any of the classes have in the answer to a request for some fields.
    ///
    /// `slot` is that of the objects.
    pub(super) fn new(
        tree: &Tree,
        slot: SlotId,
        fetched: &BTreeSet<NodeId>,
        classes: &[ClassId],
    ) -> Self {
        let mut below: IndexMap<u32, (NodeId, Vec<ClassId>)> = IndexMap::new();
        for class in classes {
            let nodes = tree.class(*class).nodes.iter();
            for id in nodes.filter(|node| fetched.contains(node)) {
                let node = tree.node(*id);
                let (_, classes) = below
                    .entry(node.member)
                    .or_insert_with(|| (*id, Vec::new()));
                classes.extend(&node.classes);
            }
        }
        let members = below.into_iter().map(|(place, (node, classes))| Member {
            key: Arc::clone(&tree.node(node).key),
            place,
            shape: if tree.node(node).is_leaf {
                Shape::Leaf
            } else {
                Shape::Object(Members::new(tree, tree.node(node).slot, fetched, &classes))
            },
        });
        let list: Vec<Member> = members.collect();
        let mut by_key: Vec<usize> = (0..list.len()).collect();
        by_key.sort_by(|one, other| list[*one].key.cmp(&list[*other].key));
        Members {
            layout: tree.layout(slot),
            list,
            by_key,
        }
    }

    /// Returns the members that the root object has in the answer to a request for some fields.
    #[cfg(test)]
    pub(crate) fn of_root(tree: &Tree, fetched: &BTreeSet<NodeId>) -> Self {
        Members::new(tree, tree.class(Tree::ROOT).slot, fetched, &[Tree::ROOT])
    }

    /// Returns whether there are objects below.
    pub(crate) fn has_objects(&self) -> bool {
        let mut members = self.list.iter();
        members.any(|member| matches!(member.shape, Shape::Object(_)))
    }

    /// Returns the position of the member with a key. It is likely to be the one at `expected`.
    pub(crate) fn find(&self, key: &str, expected: usize) -> Option<usize> {
        if self
            .list
            .get(expected)
            .is_some_and(|member| *member.key == *key)
        {
            return Some(expected);
        }
        let compare = |position: &usize| (*self.list[*position].key).cmp(key);
        let found = self.by_key.binary_search_by(compare);
        found.ok().map(|place| self.by_key[place])
    }
}
