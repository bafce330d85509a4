//! The values of objects, in columns.

use super::data::{e, v};
use super::subject::{Subject, by_size, next, shown, thing_test, things};
use crate::query::{
    NodeCondition, OrderKey, Page, Quantifier, Slot, SlotPage, Step, TermCondition, TypeTest,
    ValueCondition,
};

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
        ..Slot::new(next())
    }
}

/// Returns the displayed values of each object, sorted unless a page has an order.
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

pub(super) fn values_come_once_per_object_and_without_blank_nodes(subject: &Subject) {
    let slots = [
        Slot::new(next()),
        Slot::new(Step::forward(v("name"))),
        Slot::new(Step::forward(v("none"))),
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

pub(super) fn inverse_steps_lead_back(subject: &Subject) {
    let inverse = Step {
        inverse: true,
        ..next()
    };
    let found = columns(subject, &["b", "c", "d"], &[Slot::new(inverse)]);
    assert_eq!(found, [[vec!["a"], vec!["a", "b"], vec!["c"]]]);
}

pub(super) fn values_satisfy_the_condition_of_their_slot(subject: &Subject) {
    let only = |condition| Slot {
        condition: Some(ValueCondition::Node(condition)),
        ..Slot::new(next())
    };
    let not_b = NodeCondition::Not(Box::new(NodeCondition::OneOf(vec![e("b")])));
    let named = NodeCondition::Values {
        step: Step::forward(v("name")),
        quantifier: Quantifier::Some,
        condition: Box::new(ValueCondition::Term(TermCondition::TRUE)),
    };
    let slots = [only(things()), only(not_b), only(named)];
    let found = columns(subject, &["a", "b", "c"], &slots);
    assert_eq!(found[0], [vec!["b", "c"], vec!["c"], vec!["a"]]);
    assert_eq!(found[1], [vec!["c"], vec!["c"], vec!["a", "d"]]);
    assert_eq!(found[2], [vec!["b"], vec![], vec!["a"]]);
}

pub(super) fn objects_that_do_not_satisfy_the_condition_of_a_slot_have_no_values_in_it(
    subject: &Subject,
) {
    let of = |condition, slot| Slot {
        of: Some(condition),
        ..slot
    };
    let only = |condition| Slot {
        condition: Some(ValueCondition::Node(condition)),
        ..Slot::new(next())
    };
    let not_b = || NodeCondition::Not(Box::new(NodeCondition::OneOf(vec![e("b")])));
    let named = || NodeCondition::Values {
        step: Step::forward(v("name")),
        quantifier: Quantifier::Some,
        condition: Box::new(ValueCondition::Term(TermCondition::TRUE)),
    };
    let slots = [
        Slot::new(next()),
        of(not_b(), Slot::new(next())),
        of(named(), Slot::new(next())),
        of(not_b(), only(not_b())),
        of(not_b(), paged(vec![by_size(true)], 1, None)),
        of(NodeCondition::Any(Vec::new()), Slot::new(next())),
    ];
    let found = columns(subject, &["a", "b", "c"], &slots);
    let all = found[0].clone();
    assert!(all.iter().all(|values| !values.is_empty()), "{all:?}");
    let none = Vec::new();
    assert_eq!(found[1], [all[0].clone(), none.clone(), all[2].clone()]);
    assert_eq!(found[2], [all[0].clone(), all[1].clone(), none.clone()]);
    assert_eq!(found[3], [vec!["c"], vec![], vec!["a", "d"]]);
    assert_eq!(found[4], [vec!["c"], vec![], vec!["a"]]);
    assert_eq!(found[5], [none.clone(), none.clone(), none]);
}

pub(super) fn pages_are_cut_per_object(subject: &Subject) {
    let slots = [
        paged(vec![by_size(true)], 1, None),
        paged(vec![by_size(false)], 1, None),
        paged(Vec::new(), 1, None),
    ];
    let found = columns(subject, &["a", "b", "c"], &slots);
    assert_eq!(found[0], [["c"], ["c"], ["a"]]);
    // Objects without a size come first.
    assert_eq!(found[1], [["b"], ["c"], ["d"]]);
    assert_eq!(found[2], [["b"], ["c"], ["a"]]);
}

pub(super) fn texts_come_after_objects(subject: &Subject) {
    let found = columns(subject, &["c"], &[paged(vec![by_size(true)], 9, None)]);
    assert_eq!(found, [[["a", "d", "text"]]]);
}

pub(super) fn objects_of_no_known_type_do_not_count(subject: &Subject) {
    let slots = [paged(vec![by_size(false)], 1, Some(thing_test()))];
    let found = columns(subject, &["c"], &slots);
    assert_eq!(found, [[["a"]]]);
}
