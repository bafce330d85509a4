//! Texts made to be more than values: whatever they hold, a request does what they stand for, or is refused.
//!
//! Each case puts a text with syntax of SPARQL, IRIs, GraphQL or JSON into one place of a request. It must be
//! answered with a documented code, and then nothing has changed, or all quads afterwards are those that the
//! request asks for, character for character.
//!
//! `INJECTION_CASES` sets the number of cases of each test in place of `RANDOM_TESTS`, `INJECTION_SEED` the
//! first of their seeds. A failure prints the request, and how to run it again.

mod places;
mod texts;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use graph_store::CallContext;
use graph_store::write::RecordQuery;
use graphql_service::{Caller, Limits, Request, RequestContext};
use object_engine::ObjectService;
use places::Attempt;
use serde_json::Value;
use sha2::{Digest, Sha256};
use world::{State, World};

use crate::back_end::Kind;
use crate::differential::random::Random;
use crate::differential::random_tests::{count, setting};
use crate::fixture;

/// Cases over one repository.
const CASES_OF_WORLD: u64 = 25;

/// Codes that say that something broke, or that a mutation was written although it failed.
const BROKEN: &[&str] = &[
    "INTERNAL",
    "OVERLOADED",
    "READ_BACK_FAILED",
    "STORE_FAILED",
    "STORE_UNAVAILABLE",
    "WRITE_CONFLICT",
    "WRITE_OUTCOME_UNKNOWN",
];

/// How requests were answered, by the place of the text.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, (usize, BTreeMap<String, usize>)>);

impl Tally {
    fn count(&mut self, place: &'static str, codes: &BTreeSet<String>) {
        let (done, refused) = self.0.entry(place).or_default();
        *done += usize::from(codes.is_empty());
        for code in codes {
            *refused.entry(code.clone()).or_default() += 1;
        }
    }
}

/// What came of a request.
struct Told {
    answer: Value,
    codes: BTreeSet<String>,
}

impl Told {
    /// Sends a request; one that is not a request is refused before.
    fn by(service: &ObjectService, attempt: &Attempt) -> Self {
        let request = match Request::from_json(attempt.body.as_bytes(), &Limits::default()) {
            Ok(request) => request,
            Err(error) => {
                return Told {
                    answer: Value::String(error.to_string()),
                    codes: BTreeSet::from(["REQUEST_MALFORMED".to_owned()]),
                };
            }
        };
        let mut context = RequestContext::new();
        context.idempotency_key.clone_from(&attempt.key);
        if let Some(name) = &attempt.caller {
            let mut caller = Caller::with_roles(["Any"]);
            caller.name = Some(name.clone());
            context.caller = Some(caller.into());
        }
        let answer = fixture::json(&fixture::answer(service, request, context));
        let errors = answer["errors"].as_array().into_iter().flatten();
        let code = |error: &Value| error["extensions"]["code"].as_str().map(str::to_owned);
        let codes = errors.map(|error| code(error).expect("every error has a code"));
        Told {
            codes: codes.collect(),
            answer,
        }
    }
}

/// Sends the request of a seed; returns what is wrong.
fn case(world: &World, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::new(seed);
    let before = world.fill(&mut random);
    let attempt = places::attempt(&mut random, &before);
    let service = world.service(&attempt.schema);
    let told = Told::by(&service, &attempt);
    let fail = |why: String| {
        let (body, answer) = (
            shortened(&attempt.body),
            shortened(&told.answer.to_string()),
        );
        Err(format!("{}: {why}\n{body}\n{answer}", attempt.place))
    };
    tally.count(attempt.place, &told.codes);
    let after = world.state();
    for code in &told.codes {
        let documented = object_engine::code::ALL
            .iter()
            .chain(graphql_service::code::ALL);
        let is_documented = documented
            .map(|known| known.as_str())
            .any(|known| known == code.as_str());
        if !is_documented && code != "REQUEST_MALFORMED" || BROKEN.contains(&code.as_str()) {
            return fail(format!("it is answered by {code}"));
        }
    }
    if !told.codes.is_empty() {
        return if after == before.quads {
            Ok(())
        } else {
            fail(format!("refused, but {}", changes(&before.quads, &after)))
        };
    }
    if attempt.is_no_text {
        return fail("it is carried out although it is no text".to_owned());
    }
    let expected = match attempt.expected.after(&before, &told.answer, &after) {
        Ok(expected) => expected,
        Err(why) => return fail(why),
    };
    if after != expected {
        return fail(changes(&expected, &after));
    }
    if attempt.key.is_none() {
        return Ok(());
    }
    let again = Told::by(&service, &attempt);
    if again.answer["extensions"]["idempotentReplay"] != true || world.state() != after {
        return fail(format!("it is repeated: {}", again.answer));
    }
    match records_of(world, &attempt) {
        1 => Ok(()),
        records => fail(format!("{records} records have its key")),
    }
}

/// Counts the records of an attempt, which a reader asks for by texts too.
fn records_of(world: &World, attempt: &Attempt) -> usize {
    let store = world.store();
    let writer = store.writer().expect("a store that is written to");
    let read = |query| {
        let context = CallContext::new();
        let records = fixture::runtime().block_on(writer.records(&query, &context));
        records.expect("records are read")
    };
    let key = attempt.key.clone().unwrap_or_default();
    assert!(read(RecordQuery::Request(key.clone())).is_empty());
    // What is kept is a digest.
    assert!(read(RecordQuery::IdempotencyKey(key.clone())).is_empty());
    let mut hash = Sha256::new();
    for text in [attempt.caller.as_deref().unwrap_or_default(), &key] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let digest = hash.finalize();
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    read(RecordQuery::IdempotencyKey(digest)).len()
}

fn changes(expected: &State, found: &State) -> String {
    let list = |a: &State, b: &State| {
        let quads: Vec<String> = a.difference(b).map(|quad| shortened(quad)).collect();
        quads.join("\n  ")
    };
    format!(
        "missing:\n  {}\nmore:\n  {}",
        list(expected, found),
        list(found, expected)
    )
}

/// Long texts as people read them.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(4_000) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[expect(clippy::print_stdout, reason = "the counts are for people to read")]
fn run(kind: Kind, full: u64) {
    let (cases, first) = (count("INJECTION_CASES", full), setting("INJECTION_SEED", 1));
    let mut tally = Tally::default();
    let mut world = World::new(kind);
    for seed in first..first + cases {
        if (seed - first) % CASES_OF_WORLD == CASES_OF_WORLD - 1 {
            world = World::new(kind);
        }
        if let Err(why) = case(&world, seed, &mut tally) {
            panic!("INJECTION_SEED={seed} INJECTION_CASES=1\n{why}");
        }
    }
    let done: usize = tally.0.values().map(|(done, _)| done).sum();
    println!("{cases} cases, {done} carried out");
    for (place, (done, refused)) in &tally.0 {
        println!("  {place}: {done} carried out, {refused:?}");
    }
    if cases >= 100 {
        assert!(done as u64 * 4 >= cases, "too few requests are carried out");
    }
}

#[test]
fn no_text_is_more_than_its_value() {
    run(Kind::Image, 2_000);
}

#[test]
fn so_it_is_in_a_folder() {
    run(Kind::Folder, 1_000);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_it_is_over_rdf4j() {
    run(Kind::Rdf4j { infers: false }, 200);
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn so_it_is_over_fuseki() {
    run(Kind::Fuseki, 200);
}
