//! The order of objects, and what pages contain.

use soml_core::datatype::Scalar;

use super::data::v;
use super::subject::{Subject, by, by_size, next, ordered, sort_by};
use crate::query::{OrderKey, OrderStep, OrderWay, SortBy, Step, TypeGuard, TypeTest};

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
    // From a through b, from b through c, from c through a.
    let key = by(
        vec![next(), Step::forward(v("size"))],
        Scalar::Decimal,
        false,
    );
    assert_eq!(
        subject.select(&ordered(vec![key], None, None)),
        ["c", "a", "b"]
    );
    let id = OrderKey::new(vec![OrderStep::new(next())], SortBy::Iri, true);
    assert_eq!(
        subject.select(&ordered(vec![id], None, Some(2))),
        ["b", "a"]
    );
}

pub(super) fn guards_choose_the_object_that_a_key_goes_through(subject: &Subject) {
    let is_other = TypeTest::new(oxrdf::vocab::rdf::TYPE.into_owned(), vec![v("Other")]);
    let displayed = Some(TypeGuard {
        tests: vec![(is_other, true)],
        otherwise: false,
    });
    // From a through c and not b, from b through c, from c through d, which has no size.
    let through = OrderStep {
        displayed,
        ..OrderStep::new(next())
    };
    let size = OrderStep::new(Step::forward(v("size")));
    let key = OrderKey::new(vec![through, size], sort_by(Scalar::Decimal), true);
    assert_eq!(
        subject.select(&ordered(vec![key], None, None)),
        ["a", "b", "c"]
    );
}

pub(super) fn guards_choose_the_way(subject: &Subject) {
    let is = |class: &str| TypeTest::new(oxrdf::vocab::rdf::TYPE.into_owned(), vec![v(class)]);
    let guard = |tests| TypeGuard {
        tests,
        otherwise: false,
    };
    let others = || Some(guard(vec![(is("Other"), true)]));
    let step = |of, property: &str| OrderStep {
        of,
        ..OrderStep::new(Step::forward(v(property)))
    };
    let way = |path| OrderWay {
        path,
        by: sort_by(Scalar::Decimal),
    };
    let names = |ways| {
        let descending = false;
        subject.select(&ordered(vec![OrderKey { ways, descending }], None, None))
    };
    let by = |of, first: &str, rest: &str| {
        names(vec![
            way(vec![step(of, first)]),
            way(vec![step(None, rest)]),
        ])
    };
    // Of the three things c is of the other class too.
    assert_eq!(by(others(), "long", "size"), ["a", "b", "c"]);
    assert_eq!(by(others(), "size", "long"), ["c", "b", "a"]);
    // A way that leads to nothing is still the way of its objects.
    assert_eq!(by(others(), "none", "size"), ["c", "a", "b"]);
    // The first test that an object passes decides.
    let but_things = Some(guard(vec![(is("Thing"), false), (is("Other"), true)]));
    assert_eq!(by(but_things, "none", "size"), ["a", "b", "c"]);
    // From a over b, from b over c, from c over a.
    let behind = |of, property: &str| way(vec![OrderStep::new(next()), step(of, property)]);
    let ways = vec![behind(others(), "size"), behind(None, "long")];
    assert_eq!(names(ways), ["b", "a", "c"]);
}

pub(super) fn equal_keys_leave_it_to_the_id(subject: &Subject) {
    let constant = OrderKey::new(Vec::new(), SortBy::Constant("Thing".to_owned()), true);
    let keys = vec![
        constant,
        by(vec![Step::forward(v("none"))], Scalar::Int, true),
    ];
    assert_eq!(subject.select(&ordered(keys, None, None)), ["a", "b", "c"]);
}
