//! Results that do not fit their query are errors, never short or wrong answers.

use graph_store::query::{
    Dataset, HydrationRequest, NodeCondition, OrderKey, Page, Selection, Slot, SortBy, Step,
    TypeTest,
};
use graph_store::{CallContext, GraphStore, StoreError};
use oxrdf::vocab::rdf;
use oxrdf::{Literal, NamedNode, Term};

use super::fixed::{e, iri, store};
use crate::stores::runtime;

fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

/// Returns the selection of all things in an order.
fn things(order: Vec<OrderKey>) -> Selection {
    let test = TypeTest::new(rdf::TYPE.into_owned(), vec![v("Thing")]);
    Selection {
        condition: NodeCondition::Instance(test),
        order,
        page: Page::default(),
        dataset: Dataset::default(),
    }
}

fn number(number: i64) -> Option<Term> {
    Some(Literal::from(number).into())
}

#[test]
fn selections_of_another_shape_fail() {
    let context = CallContext::default();
    for (width, terms) in [
        (2, vec![iri("a"), iri("b")]),
        (3, vec![iri("a")]),
        (3, vec![iri("a"), iri("a"), None]),
        (3, vec![iri("a"), None, None]),
        (3, vec![None, number(0), None]),
        (3, vec![iri("a"), number(7), iri("b")]),
        (3, vec![iri("a"), number(-1), iri("b")]),
        (3, vec![Some(Literal::from("a").into()), number(0), None]),
    ] {
        let store = store(width, Some(terms.clone()));
        let by_id = OrderKey::new(Vec::new(), SortBy::Iri, false);
        let selection = things(vec![by_id]);
        let selected = runtime().block_on(store.select(&selection, &context));
        assert!(
            matches!(selected, Err(StoreError::Failed(_))),
            "{terms:?}: {selected:?}"
        );
    }
}

#[test]
fn counts_that_are_no_number_fail() {
    let context = CallContext::default();
    for terms in [
        vec![None],
        vec![iri("a")],
        vec![number(-3)],
        vec![number(1), number(2)],
    ] {
        let store = store(1, Some(terms.clone()));
        let counted = runtime().block_on(store.count(&things(Vec::new()), &context));
        assert!(
            matches!(counted, Err(StoreError::Failed(_))),
            "{terms:?}: {counted:?}"
        );
    }
}

#[test]
fn values_not_asked_for_fail() {
    let context = CallContext::default();
    let slots = [Slot::new(Step::forward(v("size")))];
    let nodes = [e("a").into()];
    let dataset = Dataset::default();
    let request = HydrationRequest {
        nodes: (&nodes).into(),
        slots: &slots,
        dataset: &dataset,
    };
    for (terms, is_right) in [
        (vec![iri("a"), number(0), number(5)], true),
        (vec![iri("b"), number(0), number(5)], false),
        (vec![iri("a"), number(1), number(5)], false),
        (vec![iri("a"), number(0), None], false),
        (vec![iri("a"), None, number(5)], false),
    ] {
        let store = store(3, Some(terms.clone()));
        let hydrated = runtime().block_on(store.hydrate(&request, &context));
        assert_eq!(hydrated.is_ok(), is_right, "{terms:?}: {hydrated:?}");
    }
}
