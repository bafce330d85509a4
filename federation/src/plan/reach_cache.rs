//! A cache of answers from the graph of moves: how soon objects are present in subgraphs, keys are known and fields are
//! resolved. All candidate plans ask for the same.

use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::rc::Rc;

use crate::graph::{Graph, Waves};
use crate::hash::HashMap;
use crate::supergraph::{FieldId, FieldSet, SubgraphId, TypeId};

/// Maximum number of entries of the cache.
const MAX_ENTRIES: usize = 20_000;

/// Answers from the graph of moves, each computed once.
#[derive(Debug)]
pub(super) struct ReachCache<'s> {
    /// What can be planned.
    pub(super) graph: Graph<'s>,
    /// The same with what is provided on some path, which may help: no plan is earlier than it says.
    optimistic: Option<Graph<'s>>,
    spread: CacheEntries<(bool, TypeId), Rc<Waves>>,
    ready: CacheEntries<(bool, TypeId, usize), Option<u32>>,
    resolved: CacheEntries<(bool, TypeId, FieldId, SubgraphId), Option<u32>>,
    room: Cell<usize>,
}

/// The entries for one kind of answer, by what it is about and where objects are present.
type CacheEntries<K, A> = RefCell<HashMap<K, HashMap<Waves, A>>>;

/// A wave: what is likely, and what nothing can be earlier than.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wave {
    pub(super) likely: Option<u32>,
    pub(super) least: Option<u32>,
}

/// The waves after which objects can be present in each subgraph.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub(super) likely: Rc<Waves>,
    pub(super) least: Rc<Waves>,
}

impl<'s> ReachCache<'s> {
    pub(super) fn new(graph: Graph<'s>) -> Self {
        let is_more = graph.supergraph().has_provided();
        ReachCache {
            graph,
            optimistic: is_more.then(|| graph.optimistic()),
            spread: RefCell::default(),
            ready: RefCell::default(),
            resolved: RefCell::default(),
            room: Cell::new(MAX_ENTRIES),
        }
    }

    /// Returns the graph that tells what nothing can be earlier than.
    pub(super) fn optimistic(&self) -> Graph<'s> {
        self.optimistic.unwrap_or(self.graph)
    }

    /// Works something out for what is likely, and for what nothing can be earlier than.
    pub(super) fn both(&self, mut of: impl FnMut(Graph<'s>) -> Rc<Waves>) -> Reached {
        let likely = of(self.graph);
        let least = match self.optimistic {
            Some(optimistic) => of(optimistic),
            None => Rc::clone(&likely),
        };
        Reached { likely, least }
    }

    /// Adds the subgraphs that entities of a type reach by keys.
    pub(super) fn spread(&self, graph: Graph<'s>, ty: TypeId, waves: &Waves) -> Rc<Waves> {
        let key = (graph.is_optimistic(), ty);
        self.cached(&self.spread, key, waves, || {
            let mut spread = waves.clone();
            graph.spread(ty, &mut spread);
            Rc::new(spread)
        })
    }

    /// Returns the wave after which all fields of a set are known for objects of a type.
    pub(super) fn ready(&self, ty: TypeId, set: &'s FieldSet, reached: &Reached) -> Wave {
        let place = std::ptr::from_ref(set).addr();
        self.wave(reached, |graph, waves| {
            self.cached(
                &self.ready,
                (graph.is_optimistic(), ty, place),
                waves,
                || graph.ready(ty, set, waves),
            )
        })
    }

    /// Returns the wave after which a subgraph can have resolved a field of objects of a type, as far as the
    /// objects themselves are concerned.
    pub(super) fn resolved(
        &self,
        ty: TypeId,
        field: FieldId,
        subgraph: SubgraphId,
        reached: &Reached,
    ) -> Wave {
        self.wave(reached, |graph, waves| {
            if graph.resolves(subgraph, field)?.is_plain() {
                return waves.get(subgraph);
            }
            let key = (graph.is_optimistic(), ty, field, subgraph);
            self.cached(&self.resolved, key, waves, || {
                graph.resolved(ty, field, subgraph, waves)
            })
        })
    }

    fn wave(&self, reached: &Reached, of: impl Fn(Graph<'s>, &Waves) -> Option<u32>) -> Wave {
        let likely = of(self.graph, &reached.likely);
        let least = match self.optimistic {
            Some(optimistic) => of(optimistic, &reached.least),
            None => likely,
        };
        Wave { likely, least }
    }

    fn cached<K: Hash + Eq, A: Clone>(
        &self,
        entries: &CacheEntries<K, A>,
        key: K,
        waves: &Waves,
        answer: impl FnOnce() -> A,
    ) -> A {
        let known = entries.borrow();
        if let Some(known) = known.get(&key).and_then(|known| known.get(waves)) {
            return known.clone();
        }
        drop(known);
        let answer = answer();
        if self.room.get() > 0 {
            self.room.set(self.room.get() - 1);
            let mut known = entries.borrow_mut();
            let known = known.entry(key).or_default();
            known.insert(waves.clone(), answer.clone());
        }
        answer
    }
}

impl Reached {
    /// Returns the wave after which objects are present in a subgraph.
    pub(super) fn get(&self, subgraph: SubgraphId) -> Wave {
        Wave {
            likely: self.likely.get(subgraph),
            least: self.least.get(subgraph),
        }
    }
}

impl Wave {
    pub(super) const NEVER: Wave = Wave {
        likely: None,
        least: None,
    };

    pub(super) fn at(wave: u32) -> Self {
        Wave {
            likely: Some(wave),
            least: Some(wave),
        }
    }

    /// Returns the wave behind it.
    pub(super) fn next(self) -> Self {
        Wave {
            likely: self.likely.map(|wave| wave + 1),
            least: self.least.map(|wave| wave + 1),
        }
    }

    /// Returns the later one of two.
    pub(super) fn latest(self, other: Wave) -> Self {
        let later = |one: Option<u32>, other: Option<u32>| Some(one?.max(other?));
        Wave {
            likely: later(self.likely, other.likely),
            least: later(self.least, other.least),
        }
    }

    /// Returns whether it can be before another one.
    pub(super) fn can_be_before(self, other: u32) -> bool {
        self.least.is_some_and(|least| least < other)
    }

    /// Returns whether it is likely to be before another one.
    pub(super) fn is_likely_before(self, other: u32) -> bool {
        self.likely.is_some_and(|likely| likely < other)
    }
}
