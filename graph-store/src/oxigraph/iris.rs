//! A compact table of many IRIs.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use indexmap::IndexSet;
use oxrdf::NamedNode;

/// Distinct IRIs, each with a position. The part up to the last separator, their namespace, is
/// stored once for all that share it.
#[derive(Default)]
pub(super) struct Iris {
    namespaces: IndexSet<Box<str>, RandomState>,
    /// The namespace of each IRI.
    namespace: Vec<u32>,
    /// The local names of all IRIs, concatenated.
    names: String,
    /// Where the local name of each IRI ends.
    ends: Vec<usize>,
    positions: HashTable<u32>,
    hasher: RandomState,
}

impl Iris {
    /// Returns the position of an IRI, which is added if it is new.
    ///
    /// # Panics
    /// When there are more than `u32::MAX` IRIs.
    pub(super) fn insert(&mut self, iri: &NamedNode) -> u32 {
        let (namespace, name) = split(iri.as_str());
        let namespace = match self.namespaces.get_index_of(namespace) {
            Some(position) => position,
            None => self.namespaces.insert_full(namespace.into()).0,
        };
        let namespace = position(namespace);
        let (hash, found) = self.look_up(namespace, name);
        if let Some(at) = found {
            return at;
        }
        let at = position(self.ends.len());
        self.namespace.push(namespace);
        self.names.push_str(name);
        self.ends.push(self.names.len());
        let (namespaces, names, ends) = (&self.namespace, &self.names, &self.ends);
        let hasher = &self.hasher;
        self.positions.insert_unique(hash, at, |&at| {
            hasher.hash_one((namespaces[at as usize], name_at(names, ends, at)))
        });
        at
    }

    /// Returns the position of an IRI.
    pub(super) fn find(&self, iri: &NamedNode) -> Option<u32> {
        let (namespace, name) = split(iri.as_str());
        let namespace = position(self.namespaces.get_index_of(namespace)?);
        self.look_up(namespace, name).1
    }

    /// Returns the IRI at a position.
    pub(super) fn get(&self, at: u32) -> NamedNode {
        let namespace = &self.namespaces[self.namespace[at as usize] as usize];
        let name = name_at(&self.names, &self.ends, at);
        NamedNode::new_unchecked([namespace, name].concat())
    }

    /// Releases unused capacity.
    pub(super) fn shrink_to_fit(&mut self) {
        self.namespace.shrink_to_fit();
        self.names.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Returns the hash of an IRI, and its position if it is known.
    fn look_up(&self, namespace: u32, name: &str) -> (u64, Option<u32>) {
        let hash = self.hasher.hash_one((namespace, name));
        let is_same = |&at: &u32| {
            self.namespace[at as usize] == namespace && name_at(&self.names, &self.ends, at) == name
        };
        (hash, self.positions.find(hash, is_same).copied())
    }
}

fn name_at<'n>(names: &'n str, ends: &[usize], at: u32) -> &'n str {
    let at = at as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &names[start..ends[at]]
}

fn position(place: usize) -> u32 {
    u32::try_from(place).expect("there are fewer IRIs than 2^32")
}

/// Splits an IRI after its last separator.
fn split(iri: &str) -> (&str, &str) {
    let end = iri.rfind(['/', '#', ':']).map_or(0, |at| at + 1);
    iri.split_at(end)
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNode;

    use super::Iris;

    #[test]
    fn each_iri_has_one_position_and_comes_back_as_it_was() {
        let texts = [
            "http://e/a",
            "http://e/b",
            "http://e/",
            "http://e",
            "http://e/a/b",
            "http://e/a#b",
            "http://f/a",
            "urn:a",
            "urn:",
            "http://e/ä",
            "http://e/a/",
        ];
        let mut iris = Iris::default();
        let node = |text: &str| NamedNode::new_unchecked(text);
        for round in 0..2 {
            for (position, text) in texts.iter().enumerate() {
                assert_eq!(
                    iris.insert(&node(text)) as usize,
                    position,
                    "{round}: {text}"
                );
            }
            iris.shrink_to_fit();
        }
        for (position, text) in (0..).zip(texts) {
            assert_eq!(iris.find(&node(text)), Some(position));
            assert_eq!(iris.get(position), node(text));
        }
        for text in ["http://e/c", "http://g/a", "a", ""] {
            assert_eq!(iris.find(&node(text)), None, "{text}");
        }
        // Enough for the table to grow.
        for number in 0..10_000 {
            iris.insert(&node(&format!("http://e/{number}")));
        }
        for number in 0..10_000 {
            let iri = node(&format!("http://e/{number}"));
            let position = iris.find(&iri).unwrap();
            assert_eq!(position, number + 11);
            assert_eq!(iris.get(position), iri);
        }
    }
}
