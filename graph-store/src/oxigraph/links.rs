//! The subjects that link to an object by a property: an index beside the store.
//!
//! The store chains its quads by each of their terms. To find the subjects that link to an object
//! by one property, it searches either all quads with that object or all quads with that property,
//! whichever chain is shorter, and decodes every quad in it. The cost of both grows with the data.
//! Therefore the properties that an API reads in inverse direction are indexed once the data are
//! complete: such a read then costs only what it returns.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexSet;
use oxigraph::store::{StorageError, Store};
use oxrdf::{NamedNode, NamedOrBlankNode, Term};

use super::iris::Iris;

/// Maximum number of links in the index; so the IRIs at their ends have 32-bit positions.
const MAX_LINKS: usize = 50_000_000;

/// Links between objects by some properties, to be read in inverse direction.
#[derive(Default)]
pub(super) struct Links {
    /// Both ends of all links. Positions below are positions in this table.
    iris: Iris,
    properties: HashMap<NamedNode, Property>,
}

/// The links of one property.
#[derive(Default)]
struct Property {
    /// For each object, the range in `starts` of the subjects that link to it.
    ends: HashMap<u32, Range<u32>>,
    starts: Vec<u32>,
}

impl Links {
    /// Reads the links of some properties, in all graphs.
    ///
    /// A property with too many of them is skipped.
    pub(super) fn read(
        store: &Store,
        properties: &BTreeSet<NamedNode>,
    ) -> Result<Self, StorageError> {
        let mut links = Links::default();
        let mut room = MAX_LINKS;
        for property in properties {
            let Some(pairs) = links.pairs(store, property, room)? else {
                tracing::warn!(%property, "the property has too many links to be indexed");
                continue;
            };
            room -= pairs.len();
            let indexed = Property::new(&pairs);
            links.properties.insert(property.clone(), indexed);
        }
        links.iris.shrink_to_fit();
        Ok(links)
    }

    /// Returns the objects and subjects of the links of a property, ordered by object and then as
    /// they are read; `None` when there are more than `most`.
    fn pairs(
        &mut self,
        store: &Store,
        property: &NamedNode,
        most: usize,
    ) -> Result<Option<Vec<(u32, u32)>>, StorageError> {
        let mut pairs = Vec::new();
        for quad in store.quads_for_pattern(None, Some(property.as_ref()), None, None) {
            let quad = quad?;
            if let (NamedOrBlankNode::NamedNode(start), Term::NamedNode(end)) =
                (quad.subject, quad.object)
            {
                if pairs.len() == most {
                    return Ok(None);
                }
                pairs.push((self.iris.insert(&end), self.iris.insert(&start)));
            }
        }
        // Subjects of the same object stay in the order of the store.
        pairs.sort_by_key(|&(end, _)| end);
        Ok(Some(pairs))
    }

    /// Returns the subjects that link to an object by a property; `None` when the property is not
    /// indexed.
    pub(super) fn to<'l>(
        &'l self,
        object: &NamedNode,
        property: &NamedNode,
    ) -> Option<impl ExactSizeIterator<Item = NamedNode> + use<'l>> {
        let property = self.properties.get(property)?;
        let end = self.iris.find(object);
        let range = end.and_then(|end| property.ends.get(&end));
        let range = range.map_or(0..0, |range| range.start as usize..range.end as usize);
        let starts = property.starts[range].iter();
        Some(starts.map(|&start| self.iris.get(start)))
    }
}

impl Property {
    /// Builds the index from pairs sorted by object; a pair may occur once per graph.
    fn new(pairs: &[(u32, u32)]) -> Self {
        let mut property = Property {
            ends: HashMap::default(),
            starts: Vec::with_capacity(pairs.len()),
        };
        let place = |starts: &Vec<u32>| {
            u32::try_from(starts.len()).expect("there are fewer links than 2^32")
        };
        for same_end in pairs.chunk_by(|(a, _), (b, _)| a == b) {
            let first = place(&property.starts);
            let starts: IndexSet<u32, RandomState> =
                same_end.iter().map(|&(_, start)| start).collect();
            property.starts.extend(starts);
            let range = first..place(&property.starts);
            property.ends.insert(same_end[0].0, range);
        }
        property.ends.shrink_to_fit();
        property
    }
}

/// The requested properties, and the index.
#[derive(Default)]
pub(super) struct LinkIndex {
    plan: Mutex<Plan>,
    current: RwLock<Option<Arc<Links>>>,
}

#[derive(Default)]
struct Plan {
    /// The store is no longer written to.
    sealed: bool,
    wanted: BTreeSet<NamedNode>,
}

impl LinkIndex {
    /// Returns the index, if there is one.
    pub(super) fn current(&self) -> Option<Arc<Links>> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that the store is no longer written to, and builds the index.
    pub(super) fn seal(&self, store: &Store) -> Result<(), StorageError> {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if plan.sealed {
            return Ok(());
        }
        plan.sealed = true;
        self.make(store, &plan)
    }

    /// Drops the index until the store is sealed again.
    pub(super) fn unseal(&self) {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        plan.sealed = false;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Records further properties, and rebuilds the index if the store is sealed.
    pub(super) fn want(&self, store: &Store, properties: &[NamedNode]) -> Result<(), StorageError> {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let before = plan.wanted.len();
        plan.wanted.extend(properties.iter().cloned());
        if plan.sealed && plan.wanted.len() > before {
            self.make(store, &plan)?;
        }
        Ok(())
    }

    fn make(&self, store: &Store, plan: &Plan) -> Result<(), StorageError> {
        let links = match plan.wanted.is_empty() {
            true => None,
            false => Some(Arc::new(Links::read(store, &plan.wanted)?)),
        };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = links;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oxigraph::io::RdfFormat;
    use oxigraph::store::Store;
    use oxrdf::NamedNode;

    use super::{LinkIndex, Links};

    const DATA: &str = "
        @prefix : <http://e/> .
        :a :knows :b , \"b\" , _:x . :c :knows :b , :a . _:y :knows :b . :a :likes :b .
        :g { :a :knows :b . :d :knows :b . }";

    fn store() -> Store {
        let store = Store::new().unwrap();
        store
            .load_from_slice(RdfFormat::TriG, DATA.as_bytes())
            .unwrap();
        store
    }

    fn node(name: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("http://e/{name}"))
    }

    /// Returns the names of the subjects that link to an object, in their order.
    fn to(links: &Links, object: &str, property: &str) -> Option<Vec<String>> {
        let starts = links.to(&node(object), &node(property))?;
        Some(starts.map(|start| start.as_str()[9..].to_owned()).collect())
    }

    #[test]
    fn links_are_those_of_the_store_each_once_and_in_its_order() {
        let store = store();
        let links = Links::read(&store, &BTreeSet::from([node("knows")])).unwrap();
        let quads = store.quads_for_pattern(None, None, Some(node("b").as_ref().into()), None);
        let mut expected = Vec::new();
        for quad in quads {
            let quad = quad.unwrap();
            let start = quad.subject.to_string();
            let is_link = quad.predicate == node("knows") && start.starts_with('<');
            if is_link && !expected.contains(&start[10..11].to_owned()) {
                expected.push(start[10..11].to_owned());
            }
        }
        assert_eq!(expected.len(), 3);
        assert_eq!(to(&links, "b", "knows"), Some(expected));
        assert_eq!(to(&links, "a", "knows"), Some(vec!["c".to_owned()]));
        assert_eq!(to(&links, "c", "knows"), Some(vec![]));
        assert_eq!(to(&links, "nobody", "knows"), Some(vec![]));
        assert_eq!(to(&links, "b", "likes"), None);
    }

    #[test]
    fn the_index_is_there_while_the_store_is_sealed_and_holds_what_is_wanted() {
        let store = store();
        let index = LinkIndex::default();
        index.want(&store, &[node("knows")]).unwrap();
        assert!(index.current().is_none(), "the data may still change");
        index.seal(&store).unwrap();
        let links = index.current().unwrap();
        assert_eq!(to(&links, "b", "likes"), None);
        index.want(&store, &[node("knows"), node("likes")]).unwrap();
        let links = index.current().unwrap();
        assert_eq!(to(&links, "b", "likes"), Some(vec!["a".to_owned()]));
        assert_eq!(to(&links, "a", "knows"), Some(vec!["c".to_owned()]));
        index.unseal();
        assert!(index.current().is_none());
    }
}
