//! What callers learn of random schemas and data is what their roles let them read.
//!
//! Answers are compared with those of the interpreter of the differential test, which looks up the
//! rights of a caller in the raw `rbac` section and takes away what may not be read; a store in
//! between notes what is asked for. Then two sets of data that differ in nothing that the caller may
//! read must give the same bytes.
//!
//! `ACCESS_CASES` sets the number of cases of each test in place of `RANDOM_TESTS`, `ACCESS_SEED` the
//! first of the seeds, `ACCESS_FAILURES` how many failures are shown.

mod case;
mod gateway;
pub(crate) mod interference;
mod order;
mod recorder;
mod roles;
pub(crate) mod rows;
mod tally;

use case::Case;
use tally::Tally;

use crate::back_end::Kind;
use crate::differential::case::{Run, is_invalid, report};
use crate::differential::compare::difference;
use crate::differential::random_tests::{count, setting};
use crate::differential::shrink::shrink;
use crate::fixture;
use crate::model::worlds;

/// Operations on one schema with one set of data.
const OPERATIONS_PER_SCHEMA: usize = 25;

/// Runs a test on each of the schemas that make a number of cases, and what it finds must be enough.
fn each_schema(kind: Kind, full: u64, test: impl FnMut(&mut Case, &mut Tally)) {
    each_schema_with((kind, false), full, test);
}

/// Does so with roles that see some of the objects alone, if that is asked for.
fn each_schema_with(
    (kind, has_rows): (Kind, bool),
    full: u64,
    mut test: impl FnMut(&mut Case, &mut Tally),
) {
    let cases = count("ACCESS_CASES", full);
    let first = setting("ACCESS_SEED", 1);
    let mut tally = Tally::default();
    tally.least_found = if has_rows { 30 } else { 40 };
    for seed in first..first + cases.div_ceil(OPERATIONS_PER_SCHEMA as u64) {
        let mut case = Case::new(seed, kind, has_rows);
        for number in 0..OPERATIONS_PER_SCHEMA {
            case.next(number as u64);
            test(&mut case, &mut tally);
        }
    }
    tally.check();
}

/// Compares an answer with that of the reference, and what the store was asked for with the rights.
fn leaks(case: &mut Case, tally: &mut Tally) {
    let (operation, expected) = case.operation(false);
    case.subject.load(&case.quads);
    let answer = fixture::json(&case.subject.answer(&operation, &case.sender));
    assert!(!is_invalid(&answer), "{}\n{answer}", operation.document());
    tally.count(case, &expected, &answer);
    if difference(&expected, &answer).is_none() && case.record().violations.is_empty() {
        return;
    }
    let fails = |run: &Run| run.difference.is_some() || !case.record().violations.is_empty();
    let (operation, quads) = shrink(operation, case.quads.clone(), |operation, quads| {
        case.record().violations.clear();
        let run = case.subject.run(operation, quads, &case.sender);
        !run.invalid && fails(&run)
    });
    case.record().violations.clear();
    let report = report(&case.subject, &operation, &quads, &case.sender);
    let violations = std::mem::take(&mut case.record().violations);
    tally.fail(format!("{}\n{report}{violations:?}", case.name()));
}

#[test]
fn random_roles_see_what_they_may_read_and_stores_are_asked_for_nothing_else() {
    each_schema(Kind::Image, 10_000, leaks);
}

#[test]
fn so_they_do_over_an_image_with_changes() {
    each_schema(Kind::WrittenImage, 10_000, leaks);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_they_do_over_rdf4j() {
    each_schema(Kind::Rdf4j { infers: false }, 2_000, leaks);
}

#[test]
fn what_may_not_be_read_changes_no_answer() {
    each_schema(Kind::Pattern, 20_000, interference::interferes);
}

#[test]
fn what_may_not_be_read_changes_no_answer_of_an_image() {
    each_schema(Kind::Image, 20_000, interference::interferes);
}

#[test]
fn what_conditions_of_roles_hide_changes_no_answer() {
    each_schema_with((Kind::Pattern, true), 20_000, interference::interferes);
}

#[test]
fn what_conditions_of_roles_hide_changes_no_answer_of_an_image() {
    each_schema_with((Kind::Image, true), 20_000, interference::interferes);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn what_conditions_of_roles_hide_changes_no_answer_over_rdf4j() {
    let kind = Kind::Rdf4j { infers: false };
    each_schema_with((kind, true), 2_000, interference::interferes);
}

#[test]
fn a_gateway_keeps_what_is_left_of_an_answer_whatever_was_left_out() {
    let mut gateway = gateway::Gateway::default();
    each_schema(Kind::Image, 5_000, |case, tally| {
        gateway.check(case, tally);
    });
    assert!(gateway.missing > 0, "nothing was left out");
}

#[test]
fn what_may_not_be_read_changes_no_mutation() {
    worlds::check(Kind::Image, 2_500, false);
}

#[test]
fn what_conditions_of_roles_hide_changes_no_mutation() {
    worlds::check(Kind::Image, 2_500, true);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_it_changes_none_over_rdf4j() {
    each_schema(
        Kind::Rdf4j { infers: false },
        2_000,
        interference::interferes,
    );
}
