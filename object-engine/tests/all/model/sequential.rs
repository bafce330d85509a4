//! One writer: after each mutation the answer, the store, and its change records are those of the model.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::{codes_of, difference};
use super::roles;
use super::rules::{Answer, State, carry_out};
use super::subject::{Subject, changes_of, context};
use crate::back_end::Kind;
use crate::differential::case::is_invalid;
use crate::differential::random_tests::{count, setting};
use crate::differential::reference::Model;
use crate::fixture;

/// What came of all mutations.
#[derive(Default)]
struct Tally {
    requests: usize,
    codes: BTreeMap<String, usize>,
}

impl Tally {
    fn count(&mut self, actual: &Value) {
        self.requests += 1;
        let mut codes = codes_of(actual);
        codes.dedup();
        if codes.is_empty() {
            codes.push("carried out".to_owned());
        }
        for code in codes {
            *self.codes.entry(code).or_default() += 1;
        }
    }
}

fn run(full: u64, kind: Kind, with_roles: bool) -> Tally {
    let sequences = count("MODEL_CASES", full);
    let first = setting("MODEL_SEED", 1);
    let mut tally = Tally::default();
    for seed in first..first + sequences {
        let kind = match kind {
            Kind::Image if seed % 2 == 0 => Kind::WrittenImage,
            kind => kind,
        };
        let mut subject = Subject::new(seed, kind, with_roles);
        sequence(seed, &mut subject, with_roles, &mut tally);
    }
    tally
}

fn sequence(seed: u64, subject: &mut Subject, with_roles: bool, tally: &mut Tally) {
    let mut state = subject.start.clone();
    // Data may have come by transactions.
    let loading = subject.records(0);
    let mut last = loading.last().map_or(0, |record| record.sequence);
    for number in 0..subject.random.between(5, 20) {
        let request = subject.request(&state);
        let claimed = with_roles.then(|| roles::claimed(&mut subject.random));
        let answer = fixture::answer(
            &subject.service,
            subject.sent(&request),
            context(claimed.as_deref()),
        );
        let actual = fixture::json(&answer);
        let model = match &claimed {
            Some(roles) => Model::of(&subject.schema, roles),
            None => Model::new(&subject.schema),
        };
        let expected = carry_out(&model, &state, &request);
        let told = format!(
            "MODEL_SEED={seed} MODEL_CASES=1, request {number} of {claimed:?}\n{}\n{}\n{actual:#}",
            subject.soml,
            request.document(&subject.schema)
        );
        assert!(!is_invalid(&actual), "not a valid document: {told}");
        // A store that shows nothing before it is committed cannot carry everything out.
        let is_refused = !subject.has_view && codes_of(&actual) == ["STORE_UNSUPPORTED"];
        if !is_refused && let Some(difference) = difference(&model, &request, &expected, &actual) {
            panic!("{told}\n{}{difference}", shown(&state));
        }
        let records = subject.records(last);
        last = records.last().map_or(last, |record| record.sequence);
        let mut changes = Vec::new();
        let before = state.clone();
        if let (Answer::Done(done), false, false) = (expected, request.is_dry_run(), is_refused) {
            state = done.state;
            changes.extend((!done.changes.is_empty()).then_some(done.changes));
        }
        let recorded: Vec<_> = records.iter().map(changes_of).collect();
        assert_eq!(
            recorded,
            changes,
            "the records differ: {told}\n{}",
            shown(&before)
        );
        let stored = subject.quads();
        let only = |a: &State, b: &State| shown(&a.difference(b).cloned().collect());
        assert!(
            stored == state,
            "{told}\n{}\nmore is stored: {}\nless is stored: {}",
            shown(&before),
            only(&stored, &state),
            only(&state, &stored)
        );
        tally.count(&actual);
    }
}

/// Shows what a store holds, for people.
pub(super) fn shown(state: &State) -> String {
    let mut lines: Vec<String> = state.iter().map(|quad| format!("{quad} .\n")).collect();
    lines.sort();
    lines.concat()
}

#[expect(clippy::print_stdout, reason = "the counts are for people to read")]
fn check(tally: &Tally, codes: &[&str], least: usize) {
    println!("{} requests: {:?}", tally.requests, tally.codes);
    let done = tally.codes.get("carried out").copied().unwrap_or_default();
    assert!(
        done * 100 >= tally.requests * least,
        "too few requests are carried out"
    );
    let missing: Vec<_> = codes
        .iter()
        .filter(|code| !tally.codes.contains_key(**code))
        .collect();
    assert!(missing.is_empty(), "no request leads to {missing:?}");
}

#[test]
fn mutations_do_what_the_model_does() {
    let tally = run(1_000, Kind::Image, false);
    let all = crate::mutations::CODES.iter().copied();
    let codes: Vec<&str> = all.filter(|code| *code != "LIMIT_AFFECTED").collect();
    check(&tally, &codes, 27);
}

#[test]
fn mutations_of_roles_do_what_the_model_does() {
    let tally = run(300, Kind::Image, true);
    check(
        &tally,
        &["ACCESS_DENIED", "REFERENCE_NOT_FOUND", "NOT_FOUND"],
        12,
    );
}

#[test]
fn mutations_do_what_the_model_does_over_an_image_in_a_folder() {
    check(&run(300, Kind::Folder, false), &[], 27);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn mutations_do_what_the_model_does_over_rdf4j() {
    check(&run(100, Kind::Rdf4j { infers: false }, false), &[], 27);
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn mutations_do_what_the_model_does_over_fuseki() {
    check(&run(100, Kind::Fuseki, false), &[], 20);
}
