//! How many objects one query asks about makes no difference.

use graph_store::CallContext;
use graph_store::contract::quads;
use graph_store::query::{
    Dataset, HydrationRequest, ObjectRef, OrderKey, OrderStep, Page, Slot, SlotPage, SortBy, Step,
};
use oxrdf::NamedNode;
use soml_core::datatype::Scalar;

use crate::back_end::{BackEnd, Kind};
use crate::stores::runtime;

fn step(name: &str) -> Step {
    Step::forward(NamedNode::new_unchecked(format!("http://v/{name}")))
}

/// Returns all values of `next`, and the two of greatest size.
fn slots() -> [Slot; 2] {
    let all = Slot::new(step("next"));
    let by = SortBy::Scalar {
        scalar: Scalar::Decimal,
        cast: false,
        lang: None,
    };
    let by_size = OrderKey::new(vec![OrderStep::new(step("size"))], by, true);
    let paged = Slot {
        page: Some(SlotPage {
            order: vec![by_size],
            page: Page {
                offset: None,
                limit: Some(2),
            },
            members: None,
        }),
        ..all.clone()
    };
    [all, paged]
}

/// Returns the values of each slot and object, in any order where none is asked for.
fn found(batch: usize, nodes: &[ObjectRef]) -> Vec<Vec<Vec<String>>> {
    let back_end = BackEnd::adjusted(Kind::Remote, |options| options.batch = batch);
    back_end.load(&quads());
    let slots = slots();
    let request = HydrationRequest {
        nodes: nodes.into(),
        slots: &slots,
        dataset: &Dataset::default(),
    };
    let (store, context) = (back_end.graph_store(), CallContext::new());
    let hydrated = runtime().block_on(store.hydrate(&request, &context));
    let columns = hydrated.expect("values").columns.into_iter().zip(&slots);
    let of_slot = columns.map(|(column, slot)| {
        let of_node = (0..nodes.len()).map(|node| {
            let mut values: Vec<String> = column
                .of(node)
                .iter()
                .map(|term| term.to_string())
                .collect();
            if slot.page.is_none() {
                values.sort_unstable();
            }
            values
        });
        of_node.collect()
    });
    of_slot.collect()
}

#[test]
fn batches_give_what_one_query_gives() {
    let unknown = (0..7).map(|number| format!("n{number}"));
    let names = ["b", "c", "a"]
        .map(str::to_owned)
        .into_iter()
        .chain(unknown);
    let nodes: Vec<ObjectRef> = names
        .map(|name| NamedNode::new_unchecked(format!("http://e/{name}")).into())
        .collect();
    let whole = found(1_000, &nodes);
    assert_eq!(whole[0][1], ["\"text\"", "<http://e/a>", "<http://e/d>"]);
    assert_eq!(whole[1][1], ["<http://e/a>", "<http://e/d>"]);
    for batch in [1, 2, 3, 4, 10] {
        assert_eq!(found(batch, &nodes), whole, "{batch}");
    }
}
