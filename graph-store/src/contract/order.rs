//! In which order objects come, and what pages hold.

use soml_core::datatype::Scalar;

use super::data::v;
use super::subject::{Subject, by, by_size, next, ordered};
use crate::query::{OrderKey, OrderStep, SortBy, Step};

fn step(step: Step) -> OrderStep {
    OrderStep {
        step,
        tests: Vec::new(),
    }
}

pub(super) fn pages_without_keys_are_by_id(subject: &Subject) {
    let page = |offset, limit| subject.select(&ordered(Vec::new(), offset, limit));
    assert_eq!(page(Some(0), None), ["a", "b", "c"]);
    assert_eq!(page(None, Some(2)), ["a", "b"]);
    assert_eq!(page(Some(1), Some(1)), ["b"]);
    assert_eq!(page(Some(3), Some(1)), [""; 0]);
}

pub(super) fn keys_order_by_value(subject: &Subject) {
    let page = |descending, offset, limit| {
        subject.select(&ordered(vec![by_size(descending)], offset, limit))
    };
    assert_eq!(page(false, None, None), ["a", "b", "c"]);
    assert_eq!(page(true, None, None), ["c", "b", "a"]);
    assert_eq!(page(true, Some(1), Some(1)), ["b"]);
    assert_eq!(page(true, Some(5), None), [""; 0]);
}

pub(super) fn numbers_of_many_digits_order_by_value(subject: &Subject) {
    let by_long = |descending| by(vec![Step::forward(v("long"))], Scalar::Integer, descending);
    let names = |descending| subject.select(&ordered(vec![by_long(descending)], None, None));
    assert_eq!(names(false), ["c", "b", "a"]);
    assert_eq!(names(true), ["a", "b", "c"]);
}

pub(super) fn missing_values_come_first(subject: &Subject) {
    let by_name = |descending| by(vec![Step::forward(v("name"))], Scalar::String, descending);
    let names = |descending| subject.select(&ordered(vec![by_name(descending)], None, None));
    assert_eq!(names(false), ["c", "a", "b"]);
    assert_eq!(names(true), ["b", "a", "c"]);
}

pub(super) fn keys_go_through_the_smallest_object(subject: &Subject) {
    // From a over b, from b over c, from c over a.
    let key = by(
        vec![next(), Step::forward(v("size"))],
        Scalar::Decimal,
        false,
    );
    assert_eq!(
        subject.select(&ordered(vec![key], None, None)),
        ["c", "a", "b"]
    );
    let id = OrderKey {
        path: vec![step(next())],
        by: SortBy::Iri,
        descending: true,
    };
    assert_eq!(
        subject.select(&ordered(vec![id], None, Some(2))),
        ["b", "a"]
    );
}

pub(super) fn equal_keys_leave_it_to_the_id(subject: &Subject) {
    let constant = OrderKey {
        path: Vec::new(),
        by: SortBy::Constant("Thing".to_owned()),
        descending: true,
    };
    let keys = vec![
        constant,
        by(vec![Step::forward(v("none"))], Scalar::Int, true),
    ];
    assert_eq!(subject.select(&ordered(keys, None, None)), ["a", "b", "c"]);
}
