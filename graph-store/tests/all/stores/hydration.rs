//! The values of objects, in columns.

use graph_store::query::{
    NodeCondition, OrderKey, OrderStep, Page, SortBy, Step, TypeTest, ValueCondition,
};
use graph_store::query::{Slot, SlotPage};
use soml_core::datatype::Scalar;

use crate::back_end::{BackEnd, Kind};
use crate::stores::{DATA, Subject, e, next, quads, shown, things, v};

over_every_store! {
    values_come_once_per_object_and_without_blank_nodes,
    inverse_steps_lead_back,
    values_satisfy_the_condition_of_their_slot,
    pages_are_cut_per_object,
    texts_come_after_objects,
    objects_of_no_known_type_do_not_count,
}

fn slot(step: Step) -> Slot {
    Slot {
        step,
        condition: None,
        page: None,
    }
}

fn by_size(descending: bool) -> Vec<OrderKey> {
    vec![OrderKey {
        path: vec![OrderStep {
            step: Step::forward(v("size")),
            tests: Vec::new(),
        }],
        by: SortBy::Scalar {
            scalar: Scalar::Decimal,
            cast: false,
            lang: None,
        },
        descending,
    }]
}

fn paged(order: Vec<OrderKey>, limit: u64, members: Option<TypeTest>) -> Slot {
    Slot {
        page: Some(SlotPage {
            order,
            page: Page {
                offset: None,
                limit: Some(limit),
            },
            members,
        }),
        ..slot(next())
    }
}

/// Returns what the values of each object show, sorted unless a page has an order.
fn columns(subject: &Subject, nodes: &[&str], slots: &[Slot]) -> Vec<Vec<Vec<String>>> {
    let columns = subject.hydrate(nodes, slots);
    assert_eq!(columns.len(), slots.len());
    let of_slot = columns.iter().zip(slots).map(|(column, slot)| {
        let of_node = (0..nodes.len()).map(|node| {
            let mut values: Vec<String> = column.of(node).iter().map(shown).collect();
            if slot.page.is_none() {
                values.sort_unstable();
            }
            values
        });
        of_node.collect()
    });
    of_slot.collect()
}

fn values_come_once_per_object_and_without_blank_nodes(subject: &Subject) {
    let slots = [
        slot(next()),
        slot(Step::forward(v("name"))),
        slot(Step::forward(v("none"))),
    ];
    let none = || Vec::<String>::new();
    let found = columns(subject, &["c", "a", "unknown"], &slots);
    let expected = [
        [
            vec!["a".to_owned(), "d".to_owned(), "text".to_owned()],
            vec!["b".to_owned(), "c".to_owned()],
            none(),
        ],
        [none(), vec!["A".to_owned(), "b".to_owned()], none()],
        [none(), none(), none()],
    ];
    assert_eq!(found, expected);
    assert_eq!(
        columns(subject, &[], &slots),
        vec![Vec::<Vec<String>>::new(); 3]
    );
}

fn inverse_steps_lead_back(subject: &Subject) {
    let inverse = Step {
        inverse: true,
        ..next()
    };
    let found = columns(subject, &["b", "c", "d"], &[slot(inverse)]);
    assert_eq!(found, [[vec!["a"], vec!["a", "b"], vec!["c"]]]);
}

fn values_satisfy_the_condition_of_their_slot(subject: &Subject) {
    let only = |condition| Slot {
        condition: Some(ValueCondition::Node(condition)),
        ..slot(next())
    };
    let not_b = NodeCondition::Not(Box::new(NodeCondition::OneOf(vec![e("b")])));
    let named = NodeCondition::Values {
        step: Step::forward(v("name")),
        quantifier: graph_store::query::Quantifier::Some,
        condition: Box::new(ValueCondition::Term(
            graph_store::query::TermCondition::TRUE,
        )),
    };
    let slots = [only(things()), only(not_b), only(named)];
    let found = columns(subject, &["a", "b", "c"], &slots);
    assert_eq!(found[0], [vec!["b", "c"], vec!["c"], vec!["a"]]);
    assert_eq!(found[1], [vec!["c"], vec!["c"], vec!["a", "d"]]);
    assert_eq!(found[2], [vec!["b"], vec![], vec!["a"]]);
}

fn pages_are_cut_per_object(subject: &Subject) {
    let slots = [
        paged(by_size(true), 1, None),
        paged(by_size(false), 1, None),
        paged(Vec::new(), 1, None),
    ];
    let found = columns(subject, &["a", "b", "c"], &slots);
    assert_eq!(found[0], [["c"], ["c"], ["a"]]);
    // What has no size comes first.
    assert_eq!(found[1], [["b"], ["c"], ["d"]]);
    assert_eq!(found[2], [["b"], ["c"], ["a"]]);
}

fn texts_come_after_objects(subject: &Subject) {
    let found = columns(subject, &["c"], &[paged(by_size(true), 9, None)]);
    assert_eq!(found, [[["a", "d", "text"]]]);
}

fn objects_of_no_known_type_do_not_count(subject: &Subject) {
    let NodeCondition::Instance(test) = things() else {
        panic!("a type test");
    };
    let found = columns(subject, &["c"], &[paged(by_size(false), 1, Some(test))]);
    assert_eq!(found, [[["a"]]]);
}

#[test]
fn batches_give_what_one_query_gives() {
    let nodes: Vec<String> = (0..7).map(|number| format!("n{number}")).collect();
    let nodes: Vec<&str> = ["b", "c", "a"]
        .into_iter()
        .chain(nodes.iter().map(String::as_str))
        .collect();
    let slots = [slot(next()), paged(by_size(true), 2, None)];
    let found = |batch: usize| {
        let back_end = BackEnd::adjusted(Kind::Remote, |options| options.batch = batch);
        back_end.load(&quads(DATA));
        let subject = Subject {
            store: back_end.graph_store(),
            context: graph_store::CallContext::default(),
        };
        columns(&subject, &nodes, &slots)
    };
    let whole = found(1_000);
    assert_eq!(whole[0][1], ["a", "d", "text"]);
    for batch in [1, 2, 3, 4, 10] {
        assert_eq!(found(batch), whole, "{batch}");
    }
}
