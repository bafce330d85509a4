//! The triples that a mutation knows, as they are and as it leaves them.

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};
use graph_store::write::{QuadChange, QuadPattern};
use indexmap::IndexMap;
use indexmap::map::Entry;
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple};

/// The triples that were read from the store, with those that are added and without those that are
/// removed.
///
/// A triple is there when one of its graphs has it.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    triples: IndexMap<Triple, Vec<InGraph>, RandomState>,
    by_subject: Places,
    by_object: Places,
    /// Nodes of which everything has been read.
    read_about: HashSet<NamedNode>,
    /// What has been read beyond that.
    read: HashSet<QuadPattern>,
}

/// The places of triples by one of their nodes.
type Places = HashMap<NamedNode, Vec<usize>>;

/// What is known of a triple in one graph.
#[derive(Clone, Debug)]
struct InGraph {
    graph: GraphName,
    /// It was there before the mutation.
    original: bool,
    /// The transaction has it.
    applied: bool,
    /// The mutation leaves it.
    present: bool,
    /// The mutation gives it, whether it was there or not.
    given: bool,
}

impl InGraph {
    /// Returns whether the transaction has to add or to remove it.
    fn is_pending(&self) -> bool {
        self.applied != self.present
    }

    /// Returns the list of a change that it belongs to while it is pending.
    fn list_of<'c>(&self, change: &'c mut QuadChange) -> &'c mut Vec<Quad> {
        if self.present {
            &mut change.added
        } else {
            &mut change.removed
        }
    }
}

/// Takes a triple back from graphs to which it was added before another graph was found to have it.
fn settle(graphs: &mut [InGraph]) {
    let is_kept = graphs.iter().any(|known| known.applied && known.present);
    for known in graphs {
        known.present &= known.applied || !is_kept;
    }
}

impl Overlay {
    /// Returns those of some patterns that have not been read yet, and takes them for read.
    pub(super) fn unread(&mut self, mut patterns: Vec<QuadPattern>) -> Vec<QuadPattern> {
        // A store may show what was written to it in another form, so nothing is read twice.
        patterns.retain(|pattern| match pattern {
            QuadPattern::About(node) => self.read_about.insert(node.clone()),
            _ => true,
        });
        patterns.retain(|pattern| match pattern {
            QuadPattern::About(_) => true,
            QuadPattern::Values { subject, .. } if self.read_about.contains(subject) => false,
            other => self.read.insert(other.clone()),
        });
        patterns
    }

    /// Adds quads that were read from the transaction.
    pub(super) fn load(&mut self, quads: Vec<Quad>) {
        for quad in quads {
            let triple = Triple::new(quad.subject, quad.predicate, quad.object);
            let graphs = self.graphs_of(triple);
            match graphs
                .iter_mut()
                .find(|known| known.graph == quad.graph_name)
            {
                None => graphs.push(InGraph {
                    graph: quad.graph_name,
                    original: true,
                    applied: true,
                    present: true,
                    given: false,
                }),
                // One that the mutation adds is there already.
                Some(known) if !known.applied && known.present => {
                    (known.original, known.applied) = (true, true);
                }
                Some(_) => {}
            }
        }
    }

    /// Takes for read what was read with the subjects that lead to an object: their values of the same
    /// properties, and those of some further ones.
    pub(super) fn referrers_read(&mut self, object: &NamedNode, also: &[NamedNode]) {
        let places = self.by_object.get(object).into_iter().flatten();
        for place in places {
            let (triple, _) = self.triples.get_index(*place).expect("a known place");
            let NamedOrBlankNode::NamedNode(subject) = &triple.subject else {
                continue;
            };
            for predicate in also.iter().chain([&triple.predicate]) {
                self.read.insert(QuadPattern::Values {
                    subject: subject.clone(),
                    predicate: predicate.clone(),
                });
            }
        }
    }

    /// Returns the graphs of a triple, which is known from now on.
    fn graphs_of(&mut self, triple: Triple) -> &mut Vec<InGraph> {
        let entry = match self.triples.entry(triple) {
            Entry::Occupied(known) => return known.into_mut(),
            Entry::Vacant(entry) => entry,
        };
        let place = entry.index();
        if let NamedOrBlankNode::NamedNode(subject) = &entry.key().subject {
            note(&mut self.by_subject, subject, place);
        }
        if let Term::NamedNode(object) = &entry.key().object {
            note(&mut self.by_object, object, place);
        }
        entry.insert(Vec::with_capacity(1))
    }

    /// Adds a triple to a graph, unless some graph has it. One that the mutation has removed is there again
    /// where it was.
    pub(super) fn add(&mut self, triple: Triple, graph: &GraphName) {
        let graphs = self.graphs_of(triple);
        if graphs.iter().any(|known| known.present) {
            for known in graphs {
                known.given |= known.present;
            }
            return;
        }
        if graphs.iter().any(|known| known.original) {
            for known in graphs {
                (known.present, known.given) = (known.original, known.original);
            }
            return;
        }
        match graphs.iter_mut().find(|known| known.graph == *graph) {
            Some(known) => (known.present, known.given) = (true, true),
            None => graphs.push(InGraph {
                graph: graph.clone(),
                original: false,
                applied: false,
                present: true,
                given: true,
            }),
        }
    }

    /// Removes a triple from all graphs.
    pub(super) fn remove(&mut self, triple: &Triple) {
        for known in self.triples.get_mut(triple).into_iter().flatten() {
            known.present = false;
        }
    }

    /// Removes all triples with a node as subject or object.
    pub(super) fn remove_all(&mut self, node: &NamedNode) {
        let subjects = self.by_subject.get(node).into_iter().flatten();
        let objects = self.by_object.get(node).into_iter().flatten();
        for place in subjects.chain(objects) {
            let (_, graphs) = self.triples.get_index_mut(*place).expect("a known place");
            for known in graphs {
                known.present = false;
            }
        }
    }

    fn about(&self, subject: &NamedNode) -> impl Iterator<Item = (&Triple, &[InGraph])> {
        let places = self.by_subject.get(subject).into_iter().flatten();
        places.map(|place| self.at(*place))
    }

    fn at(&self, place: usize) -> (&Triple, &[InGraph]) {
        let (triple, graphs) = self.triples.get_index(place).expect("a known place");
        (triple, graphs)
    }

    /// Returns the values of a property as the mutation leaves them; blank nodes are none.
    pub(super) fn values<'o>(
        &'o self,
        subject: &NamedNode,
        predicate: &NamedNode,
    ) -> impl Iterator<Item = &'o Term> + use<'o> {
        self.values_where(subject, predicate, |known| known.present)
    }

    /// Returns how many values a property has as the mutation leaves them, up to some number; blank nodes are none.
    pub(super) fn count_up_to(&self, most: usize, subject: &NamedNode, predicate: &str) -> usize {
        let values = self.about(subject).filter(|(triple, graphs)| {
            let is_value = triple.predicate.as_str() == predicate && !triple.object.is_blank_node();
            is_value && graphs.iter().any(|known| known.present)
        });
        values.take(most).count()
    }

    /// Returns all nodes of which a triple is known.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NamedNode> {
        let others = self
            .by_object
            .keys()
            .filter(|node| !self.by_subject.contains_key(*node));
        self.by_subject.keys().chain(others)
    }

    /// Returns the values of a property as they were before the mutation.
    pub(super) fn original<'o>(
        &'o self,
        subject: &NamedNode,
        predicate: &NamedNode,
    ) -> impl Iterator<Item = &'o Term> + use<'o> {
        self.values_where(subject, predicate, |known| known.original)
    }

    fn values_where<'o>(
        &'o self,
        subject: &NamedNode,
        predicate: &NamedNode,
        counts: fn(&InGraph) -> bool,
    ) -> impl Iterator<Item = &'o Term> + use<'o> {
        let predicate = predicate.clone();
        let places = self.by_subject.get(subject).into_iter().flatten();
        places.filter_map(move |place| {
            let (triple, graphs) = self.at(*place);
            let is_value = triple.predicate == predicate && !triple.object.is_blank_node();
            (is_value && graphs.iter().any(counts)).then_some(&triple.object)
        })
    }

    /// Returns the subjects that lead to an object by a property, as the mutation leaves them.
    pub(super) fn links<'o>(
        &'o self,
        predicate: &NamedNode,
        object: &NamedNode,
    ) -> impl Iterator<Item = &'o NamedNode> + use<'o> {
        self.links_where(predicate, object, |known| known.present)
    }

    /// Returns the subjects that led to an object by a property before the mutation.
    pub(super) fn original_links<'o>(
        &'o self,
        predicate: &NamedNode,
        object: &NamedNode,
    ) -> impl Iterator<Item = &'o NamedNode> + use<'o> {
        self.links_where(predicate, object, |known| known.original)
    }

    fn links_where<'o>(
        &'o self,
        predicate: &NamedNode,
        object: &NamedNode,
        counts: fn(&InGraph) -> bool,
    ) -> impl Iterator<Item = &'o NamedNode> + use<'o> {
        let predicate = predicate.clone();
        let places = self.by_object.get(object).into_iter().flatten();
        places.filter_map(move |place| {
            let (triple, graphs) = self.at(*place);
            let is_link = triple.predicate == predicate && graphs.iter().any(counts);
            match &triple.subject {
                NamedOrBlankNode::NamedNode(subject) if is_link => Some(subject),
                _ => None,
            }
        })
    }

    /// Returns whether a triple was there before the mutation, which does not give it.
    pub(super) fn was_only_there(&self, triple: &Triple) -> bool {
        let graphs = self.triples.get(triple).map_or(&[][..], Vec::as_slice);
        // It may be given for another graph than that which has it.
        let is_given =
            || graphs.iter().any(|known| known.present) && graphs.iter().any(|known| known.given);
        graphs.iter().any(|known| known.original) && !is_given()
    }

    /// Returns whether something was said of a node before the mutation.
    pub(super) fn existed(&self, node: &NamedNode) -> bool {
        self.about(node)
            .any(|(_, graphs)| graphs.iter().any(|known| known.original))
    }

    /// Returns what the transaction has to apply, and takes it for applied.
    pub(super) fn take_change(&mut self) -> QuadChange {
        let mut change = QuadChange::default();
        for (triple, graphs) in &mut self.triples {
            settle(graphs);
            for known in graphs.iter_mut().filter(|known| known.is_pending()) {
                let quad = triple.clone().in_graph(known.graph.clone());
                known.list_of(&mut change).push(quad);
                known.applied = known.present;
            }
        }
        change
    }

    /// Returns what the transaction has to apply at the end.
    pub(super) fn into_change(self) -> QuadChange {
        let mut change = QuadChange::default();
        for (triple, mut graphs) in self.triples {
            settle(&mut graphs);
            graphs.retain(InGraph::is_pending);
            let Some(last) = graphs.pop() else { continue };
            for known in graphs {
                let quad = triple.clone().in_graph(known.graph.clone());
                known.list_of(&mut change).push(quad);
            }
            let list = last.list_of(&mut change);
            list.push(triple.in_graph(last.graph));
        }
        change
    }

    /// Returns whether there is something to apply.
    pub(super) fn has_change(&self) -> bool {
        let mut known = self.triples.values().flatten();
        known.any(InGraph::is_pending)
    }

    /// Returns the triples that the mutation adds or removes.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Triple> {
        let is_changed = |graphs: &[InGraph]| {
            let was = graphs.iter().any(|known| known.original);
            was != graphs.iter().any(|known| known.present)
        };
        let changed = self
            .triples
            .iter()
            .filter(move |(_, graphs)| is_changed(graphs));
        changed.map(|(triple, _)| triple)
    }
}

fn note(places: &mut Places, node: &NamedNode, place: usize) {
    match places.get_mut(node) {
        Some(known) => known.push(place),
        None => {
            places.insert(node.clone(), vec![place]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("http://example.org/{name}"))
    }

    fn triple(object: &str) -> Triple {
        Triple::new(node("a"), node("p"), node(object))
    }

    /// Triples that are new, removed, in two graphs, or added before they were found in another graph.
    fn overlay() -> Overlay {
        let mut overlay = Overlay::default();
        let (graph, other) = (GraphName::DefaultGraph, GraphName::from(node("g")));
        overlay.add(triple("new"), &graph);
        overlay.add(triple("found"), &graph);
        let found = [
            ("found", &other),
            ("kept", &graph),
            ("removed", &graph),
            ("removed", &other),
        ];
        let found = found.map(|(object, graph)| triple(object).in_graph(graph.clone()));
        overlay.load(found.to_vec());
        overlay.remove(&triple("removed"));
        overlay
    }

    #[test]
    fn the_last_change_is_what_is_taken() {
        let (mut taken, last) = (overlay(), overlay());
        let change = last.into_change();
        assert_eq!(taken.take_change(), change);
        assert!(!taken.has_change());
        assert_eq!(taken.into_change(), QuadChange::default());
        let graph = GraphName::DefaultGraph;
        assert_eq!(change.added, [triple("new").in_graph(graph)]);
        assert_eq!(change.removed.len(), 2);
    }

    #[test]
    fn nothing_is_read_twice() {
        let about = QuadPattern::About(node("a"));
        let values = |subject: &str| QuadPattern::Values {
            subject: node(subject),
            predicate: node("p"),
        };
        let mut overlay = Overlay::default();
        let wanted = vec![
            values("a"),
            values("b"),
            about.clone(),
            values("b"),
            about.clone(),
        ];
        assert_eq!(overlay.unread(wanted), [values("b"), about.clone()]);
        let again = overlay.unread(vec![values("a"), values("b"), about]);
        assert!(again.is_empty());
    }

    #[test]
    fn values_are_counted_as_the_mutation_leaves_them() {
        let overlay = overlay();
        let count = |most, predicate| overlay.count_up_to(most, &node("a"), predicate);
        assert_eq!(count(9, "http://example.org/p"), 3);
        assert_eq!(count(2, "http://example.org/p"), 2);
        assert_eq!(count(9, "http://example.org/q"), 0);
    }
}
