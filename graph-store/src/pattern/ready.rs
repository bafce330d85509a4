//! What a request says about properties, types and objects, in the handles of a source.
//!
//! Names are looked up once per call, whatever the number of objects.

use foldhash::{HashSet, HashSetExt};
use oxrdf::{Literal, NamedNode};

use super::source::QuadSource;
use crate::query::{Step, TypeTest};

/// A [`Step`] whose property is looked up.
pub(crate) struct ReadyStep<'q, S: QuadSource> {
    pub(super) property: S::Property<'q>,
    pub(super) inverse: bool,
}

impl<'q, S: QuadSource> ReadyStep<'q, S> {
    pub(super) fn new(source: &S, step: &'q Step) -> Self {
        ReadyStep {
            property: source.property(&step.predicate),
            inverse: step.inverse,
        }
    }

    pub(super) fn forward(source: &S, property: &'q NamedNode) -> Self {
        ReadyStep {
            property: source.property(property),
            inverse: false,
        }
    }

    /// Returns the step back.
    pub(super) fn reversed(self) -> Self {
        ReadyStep {
            inverse: !self.inverse,
            ..self
        }
    }
}

impl<S: QuadSource> Clone for ReadyStep<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: QuadSource> Copy for ReadyStep<'_, S> {}

/// A [`TypeTest`] whose properties and types are looked up.
pub(crate) struct ReadyTest<'q, S: QuadSource> {
    /// The steps to types, and the types of which any one suffices.
    pub(super) alternatives: Vec<(ReadyStep<'q, S>, Ids<S::Node>)>,
}

impl<'q, S: QuadSource> ReadyTest<'q, S> {
    pub(super) fn new(source: &S, test: &'q TypeTest) -> Self {
        let alternatives = test.alternatives.iter().map(|(property, types)| {
            (
                ReadyStep::forward(source, property),
                Ids::new(source, types),
            )
        });
        ReadyTest {
            alternatives: alternatives.collect(),
        }
    }
}

/// A value that a request looks for.
#[derive(Clone, Copy)]
pub(super) enum Known<'q> {
    Iri(&'q NamedNode),
    Literal(&'q Literal),
}

/// Distinct IRIs.
pub(super) enum Ids<N> {
    /// So few that they are compared one by one, or looked up.
    Few(Vec<N>),
    Many(HashSet<N>),
}

impl<N: Clone + Eq + std::hash::Hash> Ids<N> {
    /// Up to this many IRIs are few.
    const FEW: usize = 2;

    pub(super) fn new<S: QuadSource<Node = N>>(source: &S, iris: &[NamedNode]) -> Self {
        let ids = iris.iter().map(|iri| source.node(iri).into_owned());
        if iris.len() <= Self::FEW {
            return Ids::Few(ids.collect());
        }
        let mut many = HashSet::with_capacity(iris.len());
        many.extend(ids);
        Ids::Many(many)
    }

    /// Returns the IRI if there is only one.
    pub(super) fn single(&self) -> Option<&N> {
        match self {
            Ids::Few(few) if few.len() == 1 => few.first(),
            _ => None,
        }
    }

    pub(super) fn contains(&self, id: &N) -> bool {
        match self {
            Ids::Few(few) => few.contains(id),
            Ids::Many(many) => many.contains(id),
        }
    }
}
