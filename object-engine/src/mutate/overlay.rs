//! The triples that a mutation knows, as they are and as it leaves them.

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};
use graph_store::write::{QuadChange, QuadPattern};
use indexmap::IndexMap;
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
    /// What has been read.
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
}

impl Overlay {
    /// Returns those of some patterns that have not been read yet, and takes them for read.
    pub(super) fn unread(&mut self, mut patterns: Vec<QuadPattern>) -> Vec<QuadPattern> {
        // A store may show what was written to it in another form, so nothing is read twice.
        let abouts = patterns.iter();
        let abouts = abouts.filter(|pattern| matches!(pattern, QuadPattern::About(_)));
        let about: HashSet<QuadPattern> = abouts.cloned().collect();
        patterns.retain(|pattern| {
            let is_covered = match pattern {
                QuadPattern::Values { subject, .. } => {
                    let all = QuadPattern::About(subject.clone());
                    about.contains(&all) || self.read.contains(&all)
                }
                _ => false,
            };
            !is_covered && self.read.insert(pattern.clone())
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
        let place = match self.triples.get_index_of(&triple) {
            Some(place) => place,
            None => self.insert(triple),
        };
        let (_, graphs) = self.triples.get_index_mut(place).expect("a known place");
        graphs
    }

    fn insert(&mut self, triple: Triple) -> usize {
        let place = self.triples.len();
        if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
            note(&mut self.by_subject, subject, place);
        }
        if let Term::NamedNode(object) = &triple.object {
            note(&mut self.by_object, object, place);
        }
        self.triples.insert(triple, Vec::with_capacity(1));
        place
    }

    /// Adds a triple to a graph, unless some graph has it. One that the mutation has removed is there again
    /// where it was.
    pub(super) fn add(&mut self, triple: Triple, graph: &GraphName) {
        let graphs = self.graphs_of(triple);
        if graphs.iter().any(|known| known.present) {
            return;
        }
        if graphs.iter().any(|known| known.original) {
            for known in graphs {
                known.present = known.original;
            }
            return;
        }
        match graphs.iter_mut().find(|known| known.graph == *graph) {
            Some(known) => known.present = true,
            None => graphs.push(InGraph {
                graph: graph.clone(),
                original: false,
                applied: false,
                present: true,
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
        let predicate = predicate.clone();
        let places = self.by_object.get(object).into_iter().flatten();
        places.filter_map(move |place| {
            let (triple, graphs) = self.at(*place);
            let is_link = triple.predicate == predicate && graphs.iter().any(|known| known.present);
            match &triple.subject {
                NamedOrBlankNode::NamedNode(subject) if is_link => Some(subject),
                _ => None,
            }
        })
    }

    /// Returns whether a triple was there before the mutation.
    pub(super) fn was_there(&self, triple: &Triple) -> bool {
        let graphs = self.triples.get(triple).into_iter().flatten();
        graphs.into_iter().any(|known| known.original)
    }

    /// Tells whether something was said of a node before the mutation.
    pub(super) fn existed(&self, node: &NamedNode) -> bool {
        self.about(node)
            .any(|(_, graphs)| graphs.iter().any(|known| known.original))
    }

    /// Returns what the transaction has to apply, and takes it for applied.
    pub(super) fn take_change(&mut self) -> QuadChange {
        let mut change = QuadChange::default();
        for (triple, graphs) in &mut self.triples {
            let is_kept = graphs.iter().any(|known| known.applied && known.present);
            for known in graphs {
                // Another graph was found to have it only after it was added.
                known.present &= known.applied || !is_kept;
                let list = match (known.applied, known.present) {
                    (true, false) => &mut change.removed,
                    (false, true) => &mut change.added,
                    _ => continue,
                };
                list.push(triple.clone().in_graph(known.graph.clone()));
                known.applied = known.present;
            }
        }
        change
    }

    /// Tells whether there is something to apply.
    pub(super) fn has_change(&self) -> bool {
        let mut known = self.triples.values().flatten();
        known.any(|known| known.applied != known.present)
    }

    /// Returns the triples that the mutation adds or removes.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Triple> {
        let is_changed = |graphs: &[InGraph]| {
            let was = graphs.iter().any(|known| known.original);
            was != graphs.iter().any(|known| known.present)
        };
        let changed = self.triples.iter();
        let changed = changed.filter(move |(_, graphs)| is_changed(graphs));
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
