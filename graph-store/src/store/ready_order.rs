//! Orders whose properties and types are looked up, once per call.

use super::order::{Neighbours, split};
use crate::error::StoreError;
use crate::query::{OrderKey, OrderStep, OrderWay, Page, SlotPage, SortBy, TypeGuard, TypeIndex};

/// An order of objects.
pub(crate) struct ReadyOrder<'q, N: Neighbours> {
    pub(crate) keys: &'q [OrderKey],
    /// The ways of each key.
    pub(super) ways: Vec<Vec<ReadyWay<'q, N>>>,
}

impl<'q, N: Neighbours> ReadyOrder<'q, N> {
    pub(crate) fn new(source: &N, keys: &'q [OrderKey]) -> Self {
        let ways = keys.iter().map(|key| {
            let ways = key.ways.iter();
            ways.map(|way| ReadyWay::new(source, way)).collect()
        });
        ReadyOrder {
            keys,
            ways: ways.collect(),
        }
    }
}

/// A [`SlotPage`].
pub(crate) struct ReadyPage<'q, N: Neighbours> {
    pub(super) order: ReadyOrder<'q, N>,
    pub(crate) page: Page,
    pub(super) members: Option<N::Test<'q>>,
}

impl<'q, N: Neighbours> ReadyPage<'q, N> {
    pub(crate) fn new(source: &N, page: &'q SlotPage) -> Self {
        ReadyPage {
            order: ReadyOrder::new(source, &page.order),
            page: page.page,
            members: page.members.as_ref().map(|test| source.test(test)),
        }
    }

    /// Returns whether an object counts on the page.
    pub(crate) fn counts(&self, source: &N, node: &N::Node) -> Result<bool, StoreError> {
        match &self.members {
            Some(test) => source.is_instance(node, test),
            None => Ok(true),
        }
    }
}

/// An [`OrderWay`].
pub(super) struct ReadyWay<'q, N: Neighbours> {
    /// The places on the way to the node.
    pub(super) places: Vec<ReadyPlace<'q, N>>,
    /// The step to the values that are compared, when it is not the node itself that is.
    pub(super) last: Option<ReadyPlace<'q, N>>,
    pub(super) by: By<'q, N>,
}

impl<'q, N: Neighbours> ReadyWay<'q, N> {
    fn new(source: &N, way: &'q OrderWay) -> Self {
        let (steps, last) = split(way);
        let place = |step| ReadyPlace::new(source, step);
        ReadyWay {
            places: steps.iter().map(place).collect(),
            last: last.map(place),
            by: match &way.by {
                SortBy::Iri => By::Iri,
                SortBy::Constant(text) => By::Constant(text),
                SortBy::TypeName(index) => {
                    let steps = index.properties().map(|property| source.forward(property));
                    By::TypeName(index, steps.collect())
                }
                values => By::Values(values),
            },
        }
    }
}

/// What is compared at the end of a way.
pub(super) enum By<'q, N: Neighbours> {
    Iri,
    Constant(&'q str),
    /// The type name, and the steps to types.
    TypeName(&'q TypeIndex, Vec<N::Step<'q>>),
    /// What a field shows of the values.
    Values(&'q SortBy),
}

/// An [`OrderStep`].
pub(super) struct ReadyPlace<'q, N: Neighbours> {
    pub(super) of: Option<ReadyGuard<'q, N>>,
    pub(super) step: N::Step<'q>,
    pub(super) tests: Vec<N::Test<'q>>,
    pub(super) displayed: Option<ReadyGuard<'q, N>>,
}

impl<'q, N: Neighbours> ReadyPlace<'q, N> {
    fn new(source: &N, step: &'q OrderStep) -> Self {
        let guard = |guard: &'q TypeGuard| ReadyGuard::new(source, guard);
        ReadyPlace {
            of: step.of.as_ref().map(guard),
            step: source.step(&step.step),
            tests: step.tests.iter().map(|test| source.test(test)).collect(),
            displayed: step.displayed.as_ref().map(guard),
        }
    }
}

/// A [`TypeGuard`].
pub(super) struct ReadyGuard<'q, N: Neighbours> {
    tests: Vec<(N::Test<'q>, bool)>,
    otherwise: bool,
}

impl<'q, N: Neighbours> ReadyGuard<'q, N> {
    fn new(source: &N, guard: &'q TypeGuard) -> Self {
        let tests = guard.tests.iter();
        ReadyGuard {
            tests: tests
                .map(|(test, meant)| (source.test(test), *meant))
                .collect(),
            otherwise: guard.otherwise,
        }
    }

    /// Returns whether an object is meant.
    pub(super) fn admits(&self, source: &N, node: &N::Node) -> Result<bool, StoreError> {
        for (test, meant) in &self.tests {
            if source.is_instance(node, test)? {
                return Ok(*meant);
            }
        }
        Ok(self.otherwise)
    }
}
