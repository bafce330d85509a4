//! A store under test, and requests to it.

use std::sync::Arc;

use call_context::CallContext;
use futures::executor::block_on;
use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, Term};
use soml_core::datatype::Scalar;

use super::data::{e, v};
use crate::query::{
    Column, Dataset, HydrationRequest, NodeCondition, ObjectRef, OrderKey, OrderStep, Page,
    Selection, Slot, SortBy, Step, TermView, TypeTest, Window,
};
use crate::store::{GraphStore, Windowed};

/// A store under test.
pub(super) struct Subject {
    pub(super) store: Arc<dyn GraphStore>,
    pub(super) context: CallContext,
}

impl Subject {
    pub(super) fn new(store: Arc<dyn GraphStore>) -> Self {
        let context = CallContext::new();
        Subject { store, context }
    }

    /// Returns the local names of the objects of a selection.
    pub(super) fn select(&self, selection: &Selection) -> Vec<String> {
        let nodes = block_on(self.store.select(selection, &self.context))
            .unwrap_or_else(|error| panic!("no selection: {error:?}"));
        if selection.page.is_whole() {
            let count = block_on(self.store.count(selection, &self.context));
            let count = count.unwrap_or_else(|error| panic!("no count: {error:?}"));
            assert_eq!(count, nodes.len() as u64, "the count");
        }
        nodes.iter().map(|object| local(object.node())).collect()
    }

    /// Returns the local names of the objects that satisfy a condition, sorted.
    pub(super) fn satisfying(&self, condition: NodeCondition) -> Vec<String> {
        let mut names = self.select(&selection(NodeCondition::all([things(), condition])));
        names.sort_unstable();
        names
    }

    /// Returns a window over the objects in an order.
    pub(super) fn window(&self, order: Vec<OrderKey>, window: &Window) -> Windowed {
        let selection = ordered(order, None, None);
        let windowed = self.store.select_window(&selection, window, &self.context);
        block_on(windowed).unwrap_or_else(|error| panic!("no window: {error:?}"))
    }

    pub(super) fn hydrate(&self, nodes: &[&str], slots: &[Slot]) -> Vec<Column> {
        let nodes: Vec<ObjectRef> = nodes.iter().map(|name| e(name).into()).collect();
        let request = HydrationRequest {
            nodes: (&nodes).into(),
            slots,
            dataset: &Dataset::default(),
        };
        let hydrated = block_on(self.store.hydrate(&request, &self.context))
            .unwrap_or_else(|error| panic!("no values: {error:?}"));
        hydrated.columns
    }
}

/// Returns what follows the last `/` of an IRI.
pub(super) fn local(node: &NamedNode) -> String {
    let iri = node.as_str();
    iri.rsplit('/').next().unwrap_or(iri).to_owned()
}

/// Returns the local name of an IRI, or the lexical form of a literal.
pub(super) fn shown(term: TermView<'_>) -> String {
    match term.into_owned() {
        Term::NamedNode(node) => local(&node),
        Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    }
}

pub(super) fn thing_test() -> TypeTest {
    TypeTest::new(rdf::TYPE.into_owned(), vec![v("Thing")])
}

pub(super) fn things() -> NodeCondition {
    NodeCondition::Instance(thing_test())
}

pub(super) fn next() -> Step {
    Step::forward(v("next"))
}

pub(super) fn selection(condition: NodeCondition) -> Selection {
    Selection {
        condition,
        order: Vec::new(),
        page: Page::default(),
        dataset: Dataset::default(),
    }
}

/// Returns a page of the objects in an order.
pub(super) fn ordered(order: Vec<OrderKey>, offset: Option<u64>, limit: Option<u64>) -> Selection {
    Selection {
        order,
        page: Page { offset, limit },
        ..selection(things())
    }
}

/// Returns the order by a scalar at the end of a path.
pub(super) fn by(path: Vec<Step>, scalar: Scalar, descending: bool) -> OrderKey {
    let path = path.into_iter().map(OrderStep::new);
    OrderKey::new(path.collect(), sort_by(scalar), descending)
}

/// Returns what compares the values of a scalar.
pub(super) fn sort_by(scalar: Scalar) -> SortBy {
    SortBy::Scalar {
        scalar,
        cast: false,
        lang: None,
    }
}

pub(super) fn by_size(descending: bool) -> OrderKey {
    by(vec![Step::forward(v("size"))], Scalar::Decimal, descending)
}
