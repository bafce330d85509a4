//! Behaviours of search engines, which hold for any of them.
//!
//! [`run`] takes what makes engines, and runs each case with one; the engine may be the same. Each case
//! has an index of its own, which it deletes at its end. Expectations are those of OpenSearch 3.7 with one
//! shard.

mod aggregations;
mod bools;
mod clauses;
mod fixture;
mod hostile;
mod lifecycle;
mod nested;
mod pages;
mod scores;
mod sorting;
mod text;

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;
use search_index::engine::Engine;

pub(crate) use fixture::{Fixture, Objects};
pub(crate) use sorting::order_with_zero;

/// A behaviour, by name.
pub(crate) struct Case {
    /// What holds.
    pub(crate) name: &'static str,
    /// Panics where it does not.
    pub(crate) check: Box<dyn Fn(Engine) -> BoxFuture<'static, ()>>,
}

/// Names a behaviour.
fn case<F: Future<Output = ()> + Send + 'static>(
    name: &'static str,
    check: impl Fn(Engine) -> F + 'static,
) -> Case {
    Case {
        name,
        check: Box::new(move |engine| check(engine).boxed()),
    }
}

/// Lists cases by the names of their functions.
macro_rules! cases {
    ($($name:ident,)*) => {
        /// Returns the cases of this file.
        pub(super) fn cases() -> Vec<super::Case> {
            vec![$(super::case(stringify!($name), $name)),*]
        }
    };
}
pub(super) use cases;

/// Returns all behaviours.
pub(crate) fn all() -> Vec<Case> {
    let files = [
        aggregations::cases(),
        bools::cases(),
        clauses::cases(),
        hostile::cases(),
        lifecycle::cases(),
        nested::cases(),
        pages::cases(),
        scores::cases(),
        sorting::cases(),
        text::cases(),
    ];
    files.into_iter().flatten().collect()
}

/// Checks all behaviours with the engines that `new` makes; panics with the names of those that do not
/// hold.
pub(crate) async fn run(new: impl Fn() -> Engine) {
    let mut failed = Vec::new();
    for case in all() {
        let checked = AssertUnwindSafe((case.check)(new())).catch_unwind().await;
        if checked.is_err() {
            failed.push(case.name);
        }
    }
    assert!(
        failed.is_empty(),
        "these behaviours do not hold: {failed:#?}"
    );
}
