//! The contracts of [`GraphStore`] and [`WriteStore`](crate::WriteStore) as lists of behaviours that any
//! store can be checked for.
//!
//! One line tests a store of your own. It makes one test of each behaviour:
//!
//! ```
//! use std::sync::Arc;
//!
//! use graph_store::GraphStore;
//! use graph_store::image::{ImageBuilder, ImageStore};
//! use oxrdf::Quad;
//!
//! fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
//!     let mut builder = ImageBuilder::new();
//!     for quad in quads {
//!         builder.add(quad.as_ref()).expect("a quad is added");
//!     }
//!     Arc::new(ImageStore::new(builder.build().expect("an image")))
//! }
//!
//! graph_store::contract_tests!(store);
//! # graph_store::contract::run(&store);
//! ```
//!
//! [`run`] checks all behaviours at once. A store that can be written to has those of
//! [`write_contract_tests!`](crate::write_contract_tests) and [`run_writes`] too; each is checked
//! against a store of its own, which it writes to. Behaviours block the calling thread; to check a store
//! that needs an asynchronous runtime, enter that runtime first. If the default options of a store
//! restrict it, for example by a limit on results, check it without them.

mod change_records;
mod data;
mod dataset;
mod ends;
mod export;
mod hydration;
mod order;
mod selection;
mod subject;
mod windows;
mod writing;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub use data::quads;
use oxrdf::Quad;
use subject::Subject;

use crate::store::GraphStore;

/// Creates a store that contains exactly the given quads.
pub type MakeStore<'m> = dyn Fn(&[Quad]) -> Arc<dyn GraphStore> + 'm;

/// One behaviour that every store has.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// What the store does, as the name of a test.
    pub name: &'static str,
    check: fn(&Subject),
}

impl Behaviour {
    /// Checks a store made by `make`.
    ///
    /// # Panics
    /// When the store behaves differently.
    pub fn check(&self, make: &MakeStore<'_>) {
        (self.check)(&Subject::new(make(&quads())));
    }
}

/// Checks all [`BEHAVIOURS`], each against a new store.
///
/// # Panics
/// When the store behaves differently, with the names of all behaviours that fail.
pub fn run(make: &MakeStore<'_>) {
    run_all(BEHAVIOURS, make);
}

/// Checks all [`WRITE_BEHAVIOURS`], each against a new store.
///
/// # Panics
/// As [`run`] does.
pub fn run_writes(make: &MakeStore<'_>) {
    run_all(WRITE_BEHAVIOURS, make);
}

fn run_all(behaviours: &[Behaviour], make: &MakeStore<'_>) {
    let lacks =
        |behaviour: &&Behaviour| catch_unwind(AssertUnwindSafe(|| behaviour.check(make))).is_err();
    let lacking: Vec<&str> = behaviours
        .iter()
        .filter(lacks)
        .map(|behaviour| behaviour.name)
        .collect();
    assert!(
        lacking.is_empty(),
        "the store lacks {} of {} behaviours: {}",
        lacking.len(),
        behaviours.len(),
        lacking.join(", ")
    );
}

/// Returns the behaviour with a name, of those that every store has or of those that can be written
/// to; the macros [`contract_tests!`](crate::contract_tests) and
/// [`write_contract_tests!`](crate::write_contract_tests) know all.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn behaviour(name: &str) -> &'static Behaviour {
    let mut all = BEHAVIOURS.iter().chain(WRITE_BEHAVIOURS);
    all.find(|behaviour| behaviour.name == name)
        .unwrap_or_else(|| panic!("the contract has no behaviour {name}"))
}

/// Passes the list of all behaviours to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_behaviour {
    ($($then:ident)::+ ! $arguments:tt) => {
        $($then)::+! { $arguments
            selection::instances_are_iris_and_come_once
            selection::some_type_of_several_is_enough
            selection::ids_narrow
            selection::numbers_compare_across_datatypes
            selection::texts_are_compared_whatever_their_tag
            selection::tags_are_compared_without_case
            selection::a_negation_is_true_of_what_has_no_value
            selection::every_value_must_satisfy
            selection::objects_are_reached_both_ways
            selection::texts_match_regular_expressions
            order::pages_without_keys_are_by_id
            order::keys_order_by_value
            order::numbers_of_many_digits_order_by_value
            order::missing_values_come_first
            order::keys_go_through_the_smallest_object
            order::guards_choose_the_object_that_a_key_goes_through
            order::guards_choose_the_way
            order::equal_keys_leave_it_to_the_id
            windows::a_whole_window_is_the_order_with_its_keys
            windows::windows_are_cut_from_either_end
            windows::positions_bound_a_window_whether_they_exist_or_not
            hydration::values_come_once_per_object_and_without_blank_nodes
            hydration::inverse_steps_lead_back
            hydration::values_satisfy_the_condition_of_their_slot
            hydration::objects_that_do_not_satisfy_the_condition_of_a_slot_have_no_values_in_it
            hydration::pages_are_cut_per_object
            hydration::texts_come_after_objects
            hydration::objects_of_no_known_type_do_not_count
            dataset::without_a_list_all_graphs_are_read
            dataset::listed_graphs_alone_are_read
            dataset::no_listed_graph_means_no_data
            export::every_quad_is_listed_once
            export::a_listing_ends_when_its_reader_has_enough
            export::nothing_is_listed_after_the_deadline
            ends::nothing_is_asked_after_the_deadline
            ends::nothing_is_asked_after_cancellation
            ends::a_probe_finds_the_store
        }
    };
}

/// Passes the list of all behaviours of stores that can be written to to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_write_behaviour {
    ($($then:ident)::+ ! $arguments:tt) => {
        $($then)::+! { $arguments
            writing::a_commit_is_seen_as_a_whole_with_its_record
            writing::a_transaction_without_commit_leaves_nothing
            writing::a_view_shows_what_was_applied_and_nobody_else_sees_it
            writing::removals_name_their_graph
            writing::quads_that_exist_or_do_not_change_nothing
            writing::quads_are_found_by_each_pattern
            writing::quads_of_many_patterns_come_once
            writing::quads_are_seen_as_they_were_changed
            writing::no_two_transactions_go_by_the_same_data
            writing::waiting_for_a_turn_ends_with_the_deadline_or_cancellation
            writing::nothing_is_written_after_the_deadline
            change_records::sequences_ascend_by_one
            change_records::records_say_what_their_writer_said
            change_records::records_are_found_by_request_and_by_key
            change_records::forgotten_records_are_gone_and_the_sequence_goes_on
            change_records::changes_are_followed_from_a_position
            change_records::changes_after_a_forgotten_position_are_unknown
            change_records::no_answer_has_records
            change_records::no_listing_has_records
        }
    };
}

macro_rules! list {
    ([$(#[$attribute:meta])* $list:ident] $($room:ident::$name:ident)*) => {
        $(#[$attribute])*
        pub const $list: &[Behaviour] = &[
            $(Behaviour { name: stringify!($name), check: $room::$name }),*
        ];
    };
}

__each_behaviour!(list![
    /// The behaviours of every store.
    BEHAVIOURS
]);
__each_write_behaviour!(list![
    /// The behaviours of every store that can be written to.
    WRITE_BEHAVIOURS
]);

/// Makes a `#[test]` of each behaviour of the [contract](crate::contract), with its name, against
/// the stores that a function `fn(&[Quad]) -> Arc<dyn GraphStore>` makes.
///
/// Attributes in front of the function's path, such as `#[ignore]`, apply to each test.
#[macro_export]
macro_rules! contract_tests {
    ($(#[$attribute:meta])* $store:path) => {
        $crate::__each_behaviour! { $crate::__contract_tests![[$(#[$attribute])*] $store] }
    };
}

/// Makes a `#[test]` of each behaviour of stores that can be written to, as [`contract_tests!`] does of
/// those of all stores.
///
/// ```
/// # use std::sync::Arc;
/// # use graph_store::GraphStore;
/// # use graph_store::image::{ImageBuilder, ImageStore};
/// # use oxrdf::Quad;
/// fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
///     let mut builder = ImageBuilder::new();
///     for quad in quads {
///         builder.add(quad.as_ref()).expect("a quad is added");
///     }
///     Arc::new(ImageStore::new(builder.build().expect("an image")))
/// }
///
/// graph_store::write_contract_tests!(store);
/// # graph_store::contract::run_writes(&store);
/// ```
#[macro_export]
macro_rules! write_contract_tests {
    ($(#[$attribute:meta])* $store:path) => {
        $crate::__each_write_behaviour! { $crate::__contract_tests![[$(#[$attribute])*] $store] }
    };
}

/// Makes a test of each behaviour.
#[doc(hidden)]
#[macro_export]
macro_rules! __contract_tests {
    ([$attributes:tt $store:path] $($room:ident::$name:ident)*) => {
        $($crate::__contract_test! { $attributes $store, $name })*
    };
}

/// Makes the test of one behaviour.
#[doc(hidden)]
#[macro_export]
macro_rules! __contract_test {
    ([$(#[$attribute:meta])*] $store:path, $name:ident) => {
        #[test]
        $(#[$attribute])*
        fn $name() {
            $crate::contract::behaviour(stringify!($name)).check(&$store);
        }
    };
}
