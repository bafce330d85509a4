//! Ten thousand documents made to do harm: each is answered, or refused with the code of what it
//! exceeds, in bounded time and memory.
//!
//! `HOSTILE_DOCUMENTS` sets their number, `HOSTILE_SEED` the first seed.

mod fixture;
mod hostile_documents;

use std::alloc::System;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use fixture::{answer, json};
use graphql_gen::request::{Request, RequestContext};
use graphql_gen::service::{ObjectService, ServiceOptions};
use hostile_documents::{Hostile, KINDS};
use oxigraph::io::RdfFormat;
use oxigraph::store::Store;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SCHEMA: &str = "
id: /soml/hostile
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Thing:
    kind: abstract
    name: v:name
    props:
      name: {}
      near: {range: Thing, max: inf}
      next: {range: Thing}
      size: {range: decimal}
      count: {range: integer}
      label: {range: langString, max: inf}
      words: {max: inf}
  Stone: {inherits: Thing, props: {weight: {range: double}}}
  Tree: {inherits: Thing, props: {height: {range: int}}}
";

/// Things beside each other, each near some others, with labels in several languages.
fn data() -> String {
    let mut data = String::from("@prefix v: <http://v/> .\n");
    for n in 0..60 {
        let class = if n % 2 == 0 { "Stone" } else { "Tree" };
        writeln!(
            data,
            "<http://r/{n}> a v:{class} ; v:name \"{}\" ; v:near <http://r/{}>, <http://r/{}> ; \
             v:next <http://r/{}> ; v:size {n}.5 ; v:count {n} ; v:words \"a\", \"{}\" ; \
             v:label \"l{n}\"@en, \"m{n}\"@de, \"n{n}\"@en-GB .",
            "ab".repeat(n % 20),
            (n + 1) % 60,
            (n + 7) % 60,
            (n + 1) % 60,
            "a".repeat(n),
        )
        .expect("writing to a string");
    }
    data
}

/// Time in which each document must be answered or refused.
const DEADLINE: Duration = Duration::from_secs(3);

/// What a machine with other work may add to it.
const SLACK: Duration = Duration::from_secs(12);

/// Bytes that a request may allocate in all, beside a multiple of its own size. The greatest answer
/// is a part of it.
const ALLOCATIONS: usize = 512 << 20;
const ALLOCATIONS_PER_BYTE: usize = 400;

fn service() -> ObjectService {
    let store = Store::new().expect("a store in memory");
    store
        .load_from_slice(RdfFormat::Turtle, data().as_bytes())
        .expect("the data is valid");
    let mut options = ServiceOptions::default();
    options.limits.response_bytes = 8 << 20;
    fixture::service(SCHEMA, store, options)
}

fn setting(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).unwrap_or_else(|_| default.to_string());
    text.parse()
        .unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

/// What running one document cost and gave.
struct Run {
    codes: Vec<String>,
    took: Duration,
    allocated: usize,
    body: usize,
}

fn run(service: &ObjectService, hostile: &Hostile) -> Run {
    let mut request = Request::new(hostile.document.clone());
    request.variables = serde_json::from_value(hostile.variables.clone()).expect("variables");
    let started = Instant::now();
    let context = RequestContext {
        deadline: Some(started + DEADLINE),
        accept_language: hostile.accepted.clone(),
        ..RequestContext::default()
    };
    let region = Region::new(ALLOCATOR);
    let body = answer(service, request, context);
    let (took, allocated) = (started.elapsed(), region.change().bytes_allocated);
    let answer = json(&body);
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    let code = |error: &serde_json::Value| {
        let code = error["extensions"]["code"].as_str();
        code.expect("every error has a code").to_owned()
    };
    let mut codes: Vec<String> = errors.iter().map(code).collect();
    codes.dedup();
    Run {
        codes,
        took,
        allocated,
        body: body.len(),
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(400).collect()
}

/// Runs a document and checks everything; returns what it cost.
#[track_caller]
fn check(service: &ObjectService, hostile: &Hostile, name: &str) -> Run {
    let run = run(service, hostile);
    let shown = || {
        let variables = hostile.variables.to_string();
        format!(
            "{name}: {} {}",
            excerpt(&hostile.document),
            excerpt(&variables)
        )
    };
    for code in &run.codes {
        let expected = hostile.codes.contains(&code.as_str());
        assert!(
            expected,
            "{code} is none of {:?}\n{}",
            hostile.codes,
            shown()
        );
    }
    if run.codes.is_empty() {
        assert!(
            hostile.codes.contains(&""),
            "must not be answered\n{}",
            shown()
        );
    }
    assert!(
        run.took < DEADLINE + SLACK,
        "took {:?}\n{}",
        run.took,
        shown()
    );
    let size = hostile.document.len() + hostile.variable_bytes;
    let allowed = ALLOCATIONS + ALLOCATIONS_PER_BYTE * size;
    assert!(
        run.allocated < allowed,
        "{} bytes\n{}",
        run.allocated,
        shown()
    );
    let refused_briefly = run.codes.is_empty() || run.body < 9 << 20;
    assert!(refused_briefly, "{} bytes of errors\n{}", run.body, shown());
    run
}

/// Sums over the documents of one kind.
#[derive(Default)]
struct Sum {
    documents: usize,
    answered: usize,
    slowest: Duration,
    greatest: usize,
    codes: BTreeMap<String, usize>,
}

#[test]
#[expect(clippy::print_stdout, reason = "the sums are for people to read")]
fn ten_thousand_documents_are_answered_or_refused_in_bounded_time_and_memory() {
    let service = service();
    let first = setting("HOSTILE_SEED", 0);
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for seed in first..first + setting("HOSTILE_DOCUMENTS", 10_000) {
        let at = usize::try_from(seed).expect("a small number") % KINDS.len();
        let (kind, make) = KINDS[at];
        let hostile = make(seed);
        let run = check(&service, &hostile, &format!("HOSTILE_SEED={seed}, {kind}"));
        let sum = sums.entry(kind).or_default();
        sum.documents += 1;
        sum.answered += usize::from(run.codes.is_empty());
        sum.slowest = sum.slowest.max(run.took);
        sum.greatest = sum.greatest.max(run.allocated);
        for code in run.codes {
            *sum.codes.entry(code).or_default() += 1;
        }
    }
    for (kind, sum) in sums {
        println!(
            "{kind}: {} documents, {} answered, slowest {:?}, most allocated {} KiB, {:?}",
            sum.documents,
            sum.answered,
            sum.slowest,
            sum.greatest >> 10,
            sum.codes
        );
    }
}

#[test]
fn the_greatest_documents_are_refused() {
    let service = service();
    for (name, hostile, code) in hostile_documents::greatest() {
        let run = check(&service, &hostile, name);
        assert_eq!(run.codes, [code], "{name}");
    }
}
