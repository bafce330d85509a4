//! The subjects that link to an object by a property: an index beside the store.
//!
//! The store chains its quads by each of their terms. To find the subjects that link to an object
//! by one property, it searches either all quads with that object or all quads with that property,
//! whichever chain is shorter, and decodes every quad in it. The cost of both grows with the data.
//! Therefore the properties that an API reads in inverse direction are indexed once the data are
//! complete: such a read then costs only what it returns.
//!
//! The index never changes once it is built. What is committed afterwards is kept in a [`Delta`] beside it,
//! and when that has grown, an index with it is built anew, while the old one serves.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexSet;
use oxigraph::store::{QuadIter, StorageError, Store};
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term};

use super::delta::Delta;
use super::iris::Iris;
use crate::write::QuadChange;

/// Maximum number of links in the index; so the IRIs at their ends have 32-bit positions.
const MAX_LINKS: usize = 50_000_000;

/// Links between objects by some properties, to be read in inverse direction.
pub(super) struct Links {
    /// Both ends of all links. Positions below are positions in this table.
    iris: Iris,
    properties: HashMap<NamedNode, Property>,
    /// What was changed since.
    delta: Arc<Delta>,
}

/// The links of one property.
#[derive(Default)]
struct Property {
    /// For each object, the range in `starts` of the subjects that link to it.
    ends: HashMap<u32, Range<u32>>,
    starts: Vec<u32>,
}

impl Links {
    /// Returns the objects and subjects of the links of a property, ordered by object and then as
    /// they are read; `None` when there are more than `most`.
    fn pairs(
        &mut self,
        quads: QuadIter<'static>,
        most: usize,
    ) -> Result<Option<Vec<(u32, u32)>>, StorageError> {
        let mut pairs = Vec::new();
        for quad in quads {
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
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l>> {
        let indexed = self.properties.get(property)?;
        let changed = self.delta.of(property, object);
        let end = self.iris.find(object);
        let range = end.and_then(|end| indexed.ends.get(&end));
        let range = range.map_or(0..0, |range| range.start as usize..range.end as usize);
        let starts = indexed.starts[range]
            .iter()
            .map(|&start| self.iris.get(start));
        let kept = changed.clone();
        let is_removed = move |start: &NamedNode| {
            let kept = kept.as_ref();
            kept.is_some_and(|changed| changed.removed.contains(start))
        };
        let starts = starts.filter(move |start| !is_removed(start));
        let added = (0..).map_while(move |at| changed.as_ref()?.added.get_index(at).cloned());
        Some(starts.chain(added))
    }

    /// Returns how many links were indexed, and how many of them were changed since.
    fn sizes(&self) -> (usize, usize) {
        let properties = self.properties.values();
        let links = properties.map(|property| property.starts.len()).sum();
        (links, self.delta.len())
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

/// An index about to be built from the links as they were when it was begun.
pub(super) struct Beginning {
    scans: Vec<(NamedNode, QuadIter<'static>)>,
    delta: Arc<Delta>,
}

impl Beginning {
    /// Reads the links, in all graphs.
    ///
    /// A property with too many of them is skipped.
    pub(super) fn read(self) -> Result<Links, StorageError> {
        let mut links = Links {
            iris: Iris::default(),
            properties: HashMap::default(),
            delta: self.delta,
        };
        let mut room = MAX_LINKS;
        for (property, quads) in self.scans {
            let Some(pairs) = links.pairs(quads, room)? else {
                tracing::warn!(%property, "the property has too many links to be indexed");
                continue;
            };
            room -= pairs.len();
            let indexed = Property::new(&pairs);
            links.properties.insert(property, indexed);
        }
        links.iris.shrink_to_fit();
        Ok(links)
    }
}

/// The requested properties, and the index.
///
/// To begin and to publish an index, and to apply a change, the caller holds what keeps commits apart.
#[derive(Default)]
pub(super) struct LinkIndex {
    plan: Mutex<Plan>,
    current: RwLock<Option<Arc<Links>>>,
    /// The properties and the delta of an index that is being built.
    next: Mutex<Option<(BTreeSet<NamedNode>, Arc<Delta>)>>,
}

/// What is to be indexed; locked while an index is built.
#[derive(Default)]
pub(super) struct Plan {
    /// The store is written to by its writer alone.
    pub(super) sealed: bool,
    pub(super) wanted: BTreeSet<NamedNode>,
}

impl LinkIndex {
    /// Returns the index, if there is one.
    pub(super) fn current(&self) -> Option<Arc<Links>> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what is to be indexed.
    pub(super) fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to build an index: changes are applied to it from now on.
    pub(super) fn begin(&self, store: &Store, plan: &Plan) -> Beginning {
        let delta = Arc::new(Delta::new());
        *self.next() = Some((plan.wanted.clone(), Arc::clone(&delta)));
        let scan = |property: &NamedNode| {
            store.quads_for_pattern(None, Some(property.as_ref()), None, None)
        };
        let scans = plan.wanted.iter();
        let scans = scans.map(|property| (property.clone(), scan(property)));
        Beginning {
            scans: scans.collect(),
            delta,
        }
    }

    /// Puts an index in place of the current one, or drops it.
    pub(super) fn publish(&self, links: Option<Links>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = links.map(Arc::new);
        *self.next() = None;
    }

    /// Returns whether so much was changed that the index should be built anew.
    pub(super) fn has_grown(&self, least: usize) -> bool {
        self.current().is_some_and(|links| {
            let (links, changed) = links.sizes();
            changed > least.max(links / 8)
        })
    }

    /// Applies a committed change, all of whose quads existed or did not exist before.
    ///
    /// Links are looked up in the store with the change, to find out whether they exist in other graphs.
    pub(super) fn apply(&self, store: &Store, change: &QuadChange) -> Result<(), StorageError> {
        let (current, next) = (self.current(), self.next().clone());
        if current.is_none() && next.is_none() {
            return Ok(());
        }
        let is_indexed = |property: &NamedNode| {
            let current = current.as_ref();
            current.is_some_and(|links| links.properties.contains_key(property))
                || next
                    .as_ref()
                    .is_some_and(|(wanted, _)| wanted.contains(property))
        };
        let current = current.as_ref().map(|links| &links.delta);
        let deltas = current
            .into_iter()
            .chain(next.as_ref().map(|(_, delta)| delta));
        let deltas: Vec<&Arc<Delta>> = deltas.collect();
        let links = Changes::new(store, change, is_indexed)?;
        for (subject, property, object) in &links.gone {
            deltas
                .iter()
                .for_each(|delta| delta.remove(subject, property, object));
        }
        for (subject, property, object) in &links.new {
            deltas
                .iter()
                .for_each(|delta| delta.add(subject, property, object));
        }
        Ok(())
    }

    fn next(&self) -> MutexGuard<'_, Option<(BTreeSet<NamedNode>, Arc<Delta>)>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Subject, property and object of a link.
type Link<'q> = (&'q NamedNode, &'q NamedNode, &'q NamedNode);

/// The links that a change has removed from all graphs, and those that were in none before.
struct Changes<'q> {
    gone: IndexSet<Link<'q>, RandomState>,
    new: IndexSet<Link<'q>, RandomState>,
}

impl<'q> Changes<'q> {
    fn new(
        store: &Store,
        change: &'q QuadChange,
        is_indexed: impl Fn(&NamedNode) -> bool,
    ) -> Result<Self, StorageError> {
        let links = |quads: &'q [Quad]| -> IndexSet<Link<'q>, RandomState> {
            let links = quads.iter().filter_map(link);
            links
                .filter(|(_, property, _)| is_indexed(property))
                .collect()
        };
        let (removed, added) = (links(&change.removed), links(&change.added));
        let has_graphs = store.named_graphs().next().is_some();
        if !has_graphs {
            return Ok(Changes {
                gone: removed,
                new: added,
            });
        }
        let here: HashSet<&Quad> = change.added.iter().collect();
        let (mut gone, mut new) = (IndexSet::default(), IndexSet::default());
        for link in &removed {
            if !added.contains(link) && graphs_of(store, *link).next().is_none() {
                gone.insert(*link);
            }
        }
        for link in &added {
            let mut is_new = !removed.contains(link);
            for quad in graphs_of(store, *link) {
                is_new &= here.contains(&quad?);
            }
            if is_new {
                new.insert(*link);
            }
        }
        Ok(Changes { gone, new })
    }
}

fn link(quad: &Quad) -> Option<Link<'_>> {
    match (&quad.subject, &quad.object) {
        (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(object)) => {
            Some((subject, &quad.predicate, object))
        }
        _ => None,
    }
}

/// Returns the quads of a link, one per graph.
fn graphs_of(store: &Store, (subject, property, object): Link<'_>) -> QuadIter<'static> {
    let (subject, object) = (Some(subject.into()), Some(object.into()));
    store.quads_for_pattern(subject, Some(property.as_ref()), object, None)
}

#[cfg(test)]
mod tests {
    use oxigraph::io::{RdfFormat, RdfParser};
    use oxigraph::store::Store;
    use oxrdf::{NamedNode, Quad};

    use super::{LinkIndex, Links};
    use crate::write::QuadChange;

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

    /// Reads an index of some properties.
    fn read(index: &LinkIndex, store: &Store, properties: &[&str]) {
        let mut plan = index.plan();
        plan.wanted = properties.iter().map(|name| node(name)).collect();
        let links = index.begin(store, &plan).read().unwrap();
        index.publish(Some(links));
    }

    /// Returns the names of the subjects that link to an object, in their order.
    fn to(links: &Links, object: &str, property: &str) -> Option<Vec<String>> {
        let starts = links.to(&node(object), &node(property))?;
        Some(starts.map(|start| start.as_str()[9..].to_owned()).collect())
    }

    #[test]
    fn links_are_those_of_the_store_each_once_and_in_its_order() {
        let store = store();
        let index = LinkIndex::default();
        read(&index, &store, &["knows"]);
        let links = index.current().unwrap();
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

    /// Changes a store and its index.
    fn change(index: &LinkIndex, store: &Store, removed: &str, added: &str) {
        let quads = |text: &str| -> Vec<Quad> {
            let text = format!("@prefix : <http://e/> . {text}");
            let parser = RdfParser::from_format(RdfFormat::TriG);
            let quads = parser.for_slice(text.as_bytes());
            quads.map(|quad| quad.unwrap()).collect()
        };
        let change = QuadChange {
            removed: quads(removed),
            added: quads(added),
        };
        let mut transaction = store.start_transaction().unwrap();
        for quad in &change.removed {
            assert!(transaction.contains(quad).unwrap(), "{quad}");
            transaction.remove(quad);
        }
        for quad in &change.added {
            assert!(!transaction.contains(quad).unwrap(), "{quad}");
            transaction.insert(quad);
        }
        transaction.commit().unwrap();
        index.apply(store, &change).unwrap();
    }

    fn sorted(index: &LinkIndex, object: &str) -> String {
        let links = index.current().unwrap();
        let mut starts = to(&links, object, "knows").unwrap();
        starts.sort_unstable();
        starts.concat()
    }

    #[test]
    fn changes_are_seen_whatever_graph_they_are_in() {
        let (store, index) = (store(), LinkIndex::default());
        read(&index, &store, &["knows"]);
        assert_eq!(sorted(&index, "b"), "acd");
        change(&index, &store, ":a :knows :b .", "");
        assert_eq!(sorted(&index, "b"), "acd", "it is in another graph too");
        change(
            &index,
            &store,
            ":g { :a :knows :b }",
            ":e :knows :b , :new .",
        );
        assert_eq!(sorted(&index, "b"), "cde");
        assert_eq!(sorted(&index, "new"), "e");
        change(&index, &store, "", ":g { :e :knows :b }");
        change(&index, &store, ":e :knows :b .", ":h { :e :knows :b }");
        assert_eq!(sorted(&index, "b"), "cde", "it has moved");
        change(
            &index,
            &store,
            ":g { :e :knows :b } :h { :e :knows :b }",
            "",
        );
        assert_eq!(sorted(&index, "b"), "cd", "both are gone");
        change(
            &index,
            &store,
            "",
            ":e :knows :b . :g { :e :knows :b , \"b\" }",
        );
        assert_eq!(sorted(&index, "b"), "cde", "both are back");
        change(&index, &store, ":c :knows :b .", ":c :likes :b .");
        assert_eq!(sorted(&index, "b"), "de");
        assert_eq!(to(&index.current().unwrap(), "b", "likes"), None);
        change(&index, &store, "", ":c :knows :b .");
        assert_eq!(sorted(&index, "b"), "cde");
        let (links, changed) = index.current().unwrap().sizes();
        assert_eq!((links, changed), (4, 3), "`a` is gone, `e` knows two");
    }

    #[test]
    fn changes_while_an_index_is_built_are_in_the_old_one_and_in_the_new_one() {
        let (store, index) = (store(), LinkIndex::default());
        read(&index, &store, &["knows"]);
        change(&index, &store, "", ":e :knows :b .");
        let mut plan = index.plan();
        plan.wanted.insert(node("likes"));
        let begun = index.begin(&store, &plan);
        change(
            &index,
            &store,
            ":c :knows :b .",
            ":f :knows :b . :f :likes :b .",
        );
        assert_eq!(sorted(&index, "b"), "adef");
        let built = begun.read().unwrap();
        change(&index, &store, ":e :knows :b .", ":h :knows :b .");
        assert_eq!(sorted(&index, "b"), "adfh");
        let old = index.current().unwrap();
        index.publish(Some(built));
        assert_eq!(sorted(&index, "b"), "adfh");
        let likes = to(&index.current().unwrap(), "b", "likes");
        assert_eq!(likes, Some(vec!["a".to_owned(), "f".to_owned()]));
        change(&index, &store, ":h :knows :b .", "");
        assert_eq!(sorted(&index, "b"), "adf");
        let mut before = to(&old, "b", "knows").unwrap();
        before.sort_unstable();
        assert_eq!(before.concat(), "adfh", "as it was when it was replaced");
        assert!(
            !index.has_grown(4) && index.has_grown(3),
            "{:?}",
            index.current().unwrap().sizes()
        );
    }
}
