//! Which quads a transaction reads, removes and adds.

use std::collections::HashSet;

use oxrdf::{NamedNode, Quad};

/// Quads to read before they are changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuadPattern {
    /// All quads about a subject.
    About(NamedNode),
    /// The quads with a subject and a predicate.
    Values {
        /// The subject.
        subject: NamedNode,
        /// The predicate.
        predicate: NamedNode,
    },
    /// The quads with a predicate and an object.
    Links {
        /// The predicate.
        predicate: NamedNode,
        /// The object.
        object: NamedNode,
    },
    /// All quads with an object; and of each of their subjects that is an IRI, the quads with the same
    /// predicate and those with one of some further predicates.
    Referrers {
        /// The object.
        object: NamedNode,
        /// The further predicates, usually those that hold types.
        also: Vec<NamedNode>,
    },
}

/// Quads to remove and to add, exact in their terms and graphs.
///
/// Quads to remove that do not exist, and quads to add that do, change nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuadChange {
    /// Removed first.
    pub removed: Vec<Quad>,
    /// Added afterwards; none of them is in `removed`.
    pub added: Vec<Quad>,
}

impl QuadChange {
    /// Returns whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Returns the change that this one and then another make together.
    #[must_use]
    pub fn then(self, next: QuadChange) -> QuadChange {
        let removed = without(self.removed, &next.added);
        let added = without(self.added, &next.removed);
        QuadChange {
            removed: joined(removed, next.removed),
            added: joined(added, next.added),
        }
    }
}

/// Returns the quads that are not among others.
fn without(mut quads: Vec<Quad>, others: &[Quad]) -> Vec<Quad> {
    if !quads.is_empty() && !others.is_empty() {
        let others: HashSet<&Quad> = others.iter().collect();
        quads.retain(|quad| !others.contains(quad));
    }
    quads
}

/// Returns the quads of both lists, those of both once.
fn joined(first: Vec<Quad>, second: Vec<Quad>) -> Vec<Quad> {
    let (mut more, fewer) = if first.len() < second.len() {
        (second, first)
    } else {
        (first, second)
    };
    more = without(more, &fewer);
    more.extend(fewer);
    more
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use oxrdf::{GraphName, NamedNode, Quad};
    use proptest::prelude::*;

    use super::QuadChange;

    fn quad(number: u8) -> Quad {
        let node = |text: String| NamedNode::new_unchecked(text);
        let subject = node(format!("http://e/{number}"));
        let predicate = node("http://e/p".to_owned());
        Quad::new(subject.clone(), predicate, subject, GraphName::DefaultGraph)
    }

    fn apply(state: &mut HashSet<Quad>, change: &QuadChange) {
        for quad in &change.removed {
            state.remove(quad);
        }
        state.extend(change.added.iter().cloned());
    }

    fn change() -> impl Strategy<Value = QuadChange> {
        prop::collection::vec(prop::option::of(any::<bool>()), 6).prop_map(|what| {
            let of = |wanted| {
                let numbers = (0u8..).zip(&what);
                let numbers = numbers.filter(move |(_, what)| **what == Some(wanted));
                numbers.map(|(number, _)| quad(number)).collect()
            };
            QuadChange {
                removed: of(false),
                added: of(true),
            }
        })
    }

    proptest! {
        #[test]
        fn two_changes_in_one_leave_what_both_leave(
            a in change(), b in change(), before in prop::collection::vec(0u8..6, 0..6),
        ) {
            let mut one_by_one: HashSet<Quad> = before.into_iter().map(quad).collect();
            let mut at_once = one_by_one.clone();
            apply(&mut one_by_one, &a);
            apply(&mut one_by_one, &b);
            let both = a.then(b);
            prop_assert!(both.added.iter().all(|quad| !both.removed.contains(quad)));
            apply(&mut at_once, &both);
            prop_assert_eq!(one_by_one, at_once);
        }
    }
}
