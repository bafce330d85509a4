//! Random operations are answered as a slow, obvious interpreter answers them.
//!
//! `DIFFERENTIAL_CASES` sets the number of cases of each test in place of `RANDOM_TESTS`,
//! `DIFFERENTIAL_SEED` the first of the seeds from which schemas, data and operations follow,
//! `DIFFERENTIAL_STORE` the kind of store: `image`, every other time with changes, `written-image`, always with
//! changes, `pattern`, `remote`, `remote-nested`, `remote-apart`, `rdf4j` or `fuseki`. A failure prints the smallest case found and how to run it again: a seed means the same
//! 25 operations whatever ran before.
//!
//! A run of 24,000 cases, which is the full number, must hold each operator on each scalar at each
//! depth and every argument at least twenty times; the counts are printed at its end.

pub(crate) mod case;
pub(crate) mod compare;
pub(crate) mod coverage;
pub(crate) mod generate;
pub(crate) mod operation;
pub(crate) mod reference;
pub(crate) mod shrink;

use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) use test_support::{random, random_tests};

use case::{Sender, Subject, report};
use coverage::{Coverage, FULL_RUN};
use generate::{Generator, Steering};
use operation::Operation;
use oxrdf::Quad;
use oxrdfio::RdfFormat;
use random::Random;
use random_tests::{count, setting};
use reference::{Graph, Model};

use crate::back_end::Kind;
use crate::images;

/// Operations on one schema with one set of data.
const OPERATIONS_PER_SCHEMA: usize = 25;

/// Time that no operation on so little data can need, on a busy machine either.
const SLOW: Duration = Duration::from_secs(60);

fn cases(full: u64) -> usize {
    usize::try_from(count("DIFFERENTIAL_CASES", full)).expect("a number of cases")
}

/// What came of all cases of a test.
#[derive(Default)]
struct Outcome {
    coverage: Coverage,
    failures: Vec<String>,
}

impl Outcome {
    fn add_failure(&mut self, report: String) {
        self.failures.push(report);
        if self.failures.len() as u64 >= setting("DIFFERENTIAL_FAILURES", 1) {
            self.check();
        }
    }

    #[expect(clippy::print_stdout, reason = "the counts are for people to read")]
    fn check(&self) {
        println!("{}", self.coverage);
        let (count, all) = (self.failures.len(), self.failures.join("\n"));
        assert!(count == 0, "{count} cases differ\n{all}");
    }
}

/// Runs operations on a schema with data and adds to what came of all.
fn run(subject: &Subject, quads: &[Quad], seed: u64, operations: usize, all: &mut Outcome) {
    let coverage = &mut all.coverage;
    let mut steering = Steering::new(seed);
    let graph = Graph::new(quads);
    let model = Model::new(&subject.schema);
    for number in 0..operations {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let languages = ["de", "en-GB", "fr", "*", "en"].map(str::to_owned);
        let mut accepted = languages.to_vec();
        accepted.retain(|_| random.chance(40));
        let sender = Sender {
            accepted,
            roles: None,
            claims: serde_json::Map::new(),
        };
        let mut generator = Generator::new(&model, &graph, random, &mut steering);
        let operation = generate::operation(&mut generator);
        // What is remembered of a document must be right for other values of its variables.
        let mut random = Random::new(seed.wrapping_add((number as u64) << 32));
        let mut other = operation.of_another_request(&mut random);
        let mut differing = None;
        let mut run_other = |other: Operation| {
            let run = subject.run(&other, quads, &sender);
            let differs = !run.invalid && run.difference.is_some();
            differing = differs.then_some(other);
        };
        if random.chance(50) {
            other.take().into_iter().for_each(&mut run_other);
        }
        let started = Instant::now();
        let outcome = subject.run(&operation, quads, &sender);
        let took = started.elapsed();
        // How long a server takes is not for this test to say.
        assert!(
            took < SLOW || !subject.is_embedded(),
            "seed {seed}, operation {number} took {took:?}: {}\n{}",
            operation.document(),
            subject.soml
        );
        assert!(
            !outcome.invalid,
            "seed {seed}: not a valid document: {}\n{}\n{}",
            operation.document(),
            outcome.actual,
            subject.soml
        );
        other.into_iter().for_each(&mut run_other);
        coverage.read(&model, &operation);
        coverage.cases += 1;
        coverage.found_something += usize::from(outcome.found_something());
        coverage.with_errors += usize::from(outcome.actual.get("errors").is_some());
        if let Some(operation) = outcome.difference.map(|_| operation).or(differing) {
            let differs = |operation: &Operation, quads: &[Quad]| {
                let run = subject.run(operation, quads, &sender);
                !run.invalid && run.difference.is_some()
            };
            let (operation, quads) = shrink::shrink(operation, quads.to_vec(), differs);
            let report = report(subject, &operation, &quads, &sender);
            let report = format!("DIFFERENTIAL_SEED={seed}, operation {number}\n{report}");
            all.add_failure(report);
            return;
        }
    }
}

#[test]
fn random_schemas_and_data_are_answered_as_the_rules_say() {
    random_schemas_and_data(case::kind(), FULL_RUN as u64);
}

#[test]
fn so_they_are_over_an_image_with_changes() {
    random_schemas_and_data(Kind::WrittenImage, 2_000);
}

#[test]
fn so_they_are_over_quads_found_by_patterns() {
    random_schemas_and_data(Kind::Pattern, 2_000);
}

#[test]
fn so_they_are_over_an_endpoint() {
    random_schemas_and_data(Kind::Remote, 1_000);
}

#[test]
fn so_they_are_over_an_endpoint_asked_in_the_nested_form() {
    random_schemas_and_data(Kind::RemoteNested, 1_000);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_they_are_over_rdf4j() {
    random_schemas_and_data(Kind::Rdf4j { infers: false }, 3_000);
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn so_they_are_over_fuseki() {
    random_schemas_and_data(Kind::Fuseki, 3_000);
}

fn random_schemas_and_data(kind: Kind, full: u64) {
    let first = setting("DIFFERENTIAL_SEED", 1);
    let schemas = cases(full).div_ceil(OPERATIONS_PER_SCHEMA) as u64;
    let mut all = Outcome::default();
    for seed in first..first + schemas {
        let mut random = Random::new(seed);
        let kind = match kind {
            Kind::Image if seed % 2 == 0 => Kind::WrittenImage,
            kind => kind,
        };
        let subject = Subject::new(generate::schema(&mut random, seed), kind);
        // Endpoints compare numbers of many digits each in a way of its own.
        let long_numbers = subject.is_embedded();
        let quads = generate::data(&mut random, &subject.schema, long_numbers);
        run(&subject, &quads, seed, OPERATIONS_PER_SCHEMA, &mut all);
    }
    all.check();
    assert!(
        all.coverage.share_found() >= 60,
        "too many cases find nothing"
    );
    let gaps = all.coverage.gaps();
    assert!(gaps.is_empty(), "too rare:\n{}", gaps.join("\n"));
}

#[test]
fn the_demo_is_answered_as_the_rules_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/demo/star-wars");
    let soml = std::fs::read_to_string(folder.join("schema.yaml")).expect("the demo's schema");
    let data = std::fs::read(folder.join("data.ttl")).expect("the demo's data");
    let quads = images::quads(RdfFormat::Turtle, data);
    let subject = Subject::new(soml, case::kind());
    let mut all = Outcome::default();
    let operations = cases(2_000) / 10;
    run(
        &subject,
        &quads,
        setting("DIFFERENTIAL_SEED", 1),
        operations,
        &mut all,
    );
    all.check();
    assert!(
        all.coverage.share_found() >= 60,
        "too many cases find nothing"
    );
}
