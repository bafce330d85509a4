//! The objects between two positions of an order.

use soml_core::datatype::Scalar;

use super::data::{e, v};
use super::subject::{Subject, by, by_size, local};
use crate::query::{OrderKey, Position, Step, Take, Window};
use crate::store::{Windowed, compare_positions};

/// Returns the local names of the objects of a window.
fn names(windowed: &Windowed) -> Vec<String> {
    let objects = windowed.objects.iter();
    objects.map(|object| local(object.node())).collect()
}

fn whole(subject: &Subject, order: Vec<OrderKey>) -> Vec<Position> {
    let windowed = subject.window(order, &Window::default());
    assert!(!windowed.more && !windowed.precedes && !windowed.follows);
    windowed.positions().collect()
}

pub(super) fn a_whole_window_is_the_order_with_its_keys(subject: &Subject) {
    for order in [
        Vec::new(),
        vec![by_size(true)],
        vec![by(vec![Step::forward(v("name"))], Scalar::String, false)],
    ] {
        let objects = whole(subject, order.clone());
        let selection = super::subject::ordered(order.clone(), Some(0), None);
        let found: Vec<String> = objects
            .iter()
            .map(|object| local(object.id.node()))
            .collect();
        assert_eq!(found, subject.select(&selection));
        assert!(
            objects
                .iter()
                .all(|object| object.keys.len() == order.len())
        );
        assert!(objects.is_sorted_by(|a, b| compare_positions(&order, a, b).is_lt()));
    }
}

pub(super) fn windows_are_cut_from_either_end(subject: &Subject) {
    let window = |take| {
        let window = Window {
            take,
            ..Window::default()
        };
        let windowed = subject.window(vec![by_size(true)], &window);
        (names(&windowed), windowed.more)
    };
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(window(Take::First(2)), (owned(&["c", "b"]), true));
    assert_eq!(window(Take::Last(2)), (owned(&["b", "a"]), true));
    assert_eq!(window(Take::First(3)), (owned(&["c", "b", "a"]), false));
    assert_eq!(window(Take::Last(0)), (owned(&[]), true));
}

pub(super) fn positions_bound_a_window_whether_they_exist_or_not(subject: &Subject) {
    let order = || vec![by_size(false)];
    let positions = whole(subject, order());
    let window = |after: Option<&Position>, before: Option<&Position>| {
        let window = Window {
            after: after.cloned(),
            before: before.cloned(),
            take: Take::All,
        };
        let windowed = subject.window(order(), &window);
        (
            names(&windowed).concat(),
            windowed.precedes,
            windowed.follows,
        )
    };
    let [a, b, c] = positions.as_slice() else {
        panic!("three things, not {positions:?}");
    };
    assert_eq!(window(Some(a), None), ("bc".to_owned(), true, false));
    assert_eq!(window(None, Some(b)), ("a".to_owned(), false, true));
    assert_eq!(window(Some(a), Some(c)), ("b".to_owned(), true, true));
    assert_eq!(window(Some(c), None), (String::new(), true, false));
    // Its size is that of b, and its id sorts after it.
    let gone = Position {
        keys: b.keys.clone(),
        id: e("bb").into(),
    };
    assert_eq!(window(Some(&gone), None), ("c".to_owned(), true, false));
    assert_eq!(window(None, Some(&gone)), ("ab".to_owned(), false, true));
}
