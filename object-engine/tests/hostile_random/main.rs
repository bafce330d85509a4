//! Ten thousand documents made to do harm, or a tenth of them: each is answered, or refused with the
//! code of what it exceeds, in bounded time and memory.
//!
//! `HOSTILE_DOCUMENTS` sets their number in place of `RANDOM_TESTS`, `HOSTILE_SEED` the first seed.

#[path = "../all/fixture/mod.rs"]
mod fixture;
mod hostile_documents;

use std::alloc::System;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixture::{answer, json};
use graphql_service::{Request, RequestContext};
use hostile_documents::{Hostile, KINDS};
use object_engine::{ObjectService, ServiceOptions};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use test_support::images;
use test_support::random_tests::{count, setting};

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
const DEADLINE: Duration = Duration::from_millis(500);

/// What a machine with other work may add to it.
const SLACK: Duration = Duration::from_secs(60);

/// Bytes that a request may hold at a time, beside a multiple of its own size. The greatest answer
/// is a part of it.
const MEMORY: usize = 128 << 20;
const MEMORY_PER_BYTE: usize = 400;

/// Greatest size of a body: the greatest answer and a thousand errors.
const GREATEST_BODY: usize = 8 << 20;

fn service() -> ObjectService {
    let store = images::from_turtle(data());
    let mut options = ServiceOptions::default();
    options.limits.response_bytes = 4 << 20;
    fixture::service(SCHEMA, Arc::new(store), options)
}

/// Bytes that the process holds.
fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats
        .bytes_allocated
        .saturating_sub(stats.bytes_deallocated)
}

/// Looks at the memory of the process every now and then.
struct Watch {
    before: usize,
    stopped: Arc<AtomicBool>,
    watcher: JoinHandle<usize>,
}

impl Watch {
    fn start() -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stopped);
        let watcher = std::thread::spawn(move || {
            let mut greatest = held();
            while !until.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(1));
                greatest = greatest.max(held());
            }
            greatest
        });
        Watch {
            before: held(),
            stopped,
            watcher,
        }
    }

    /// Returns by how much the memory grew at most.
    fn stop(self) -> usize {
        self.stopped.store(true, Ordering::Relaxed);
        self.watcher.thread().unpark();
        let greatest = self.watcher.join().expect("the watcher does not panic");
        greatest.saturating_sub(self.before)
    }
}

/// What running one document cost and gave.
struct Run {
    codes: Vec<String>,
    took: Duration,
    memory: usize,
    body: usize,
}

fn run(service: &ObjectService, hostile: &Hostile) -> Run {
    let mut request = Request::new(hostile.document.clone());
    request.variables = serde_json::from_value(hostile.variables.clone()).expect("variables");
    let started = Instant::now();
    let mut context = RequestContext::new();
    context.call.deadline = Some(started + DEADLINE);
    context.call.accept_language = hostile.accepted.clone();
    let watch = Watch::start();
    let body = answer(service, request, context);
    let (took, memory) = (started.elapsed(), watch.stop());
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
        memory,
        body: body.len(),
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(400).collect()
}

/// Runs a document; returns what it cost, and what is wrong with that.
fn check(service: &ObjectService, hostile: &Hostile) -> (Run, Vec<String>) {
    let run = run(service, hostile);
    let mut wrong = Vec::new();
    // On a slow machine anything may take too long; what counts is that it ends.
    let late = |code: &str| code == "DEADLINE_EXCEEDED" && run.took >= DEADLINE;
    let unexpected = |code: &&String| !hostile.codes.contains(&code.as_str()) && !late(code);
    for code in run.codes.iter().filter(unexpected) {
        wrong.push(format!("{code} is none of {:?}", hostile.codes));
    }
    if run.codes.is_empty() && !hostile.codes.contains(&"") {
        wrong.push(format!(
            "answered, but must be met with {:?}",
            hostile.codes
        ));
    }
    if run.took > DEADLINE + SLACK {
        wrong.push(format!("took {:?}", run.took));
    }
    let size = hostile.document.len() + hostile.variable_bytes;
    if run.memory > MEMORY + MEMORY_PER_BYTE * size {
        wrong.push(format!("{} bytes of memory", run.memory));
    }
    if run.body > GREATEST_BODY {
        wrong.push(format!("{} bytes of an answer", run.body));
    }
    if !wrong.is_empty() {
        let variables = excerpt(&hostile.variables.to_string());
        wrong.push(format!("{} {variables}", excerpt(&hostile.document)));
    }
    (run, wrong)
}

/// Sums over the documents of one kind.
#[derive(Default)]
struct Sum {
    documents: usize,
    answered: usize,
    slowest: Duration,
    time: Duration,
    greatest: usize,
    codes: BTreeMap<String, usize>,
}

#[test]
fn documents_made_to_do_harm_are_answered_or_refused_in_bounded_time_and_memory() {
    let service = service();
    let first = setting("HOSTILE_SEED", 0);
    let mut failures = Vec::new();
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for seed in first..first + count("HOSTILE_DOCUMENTS", 10_000) {
        let at = usize::try_from(seed).expect("a small number") % KINDS.len();
        let (kind, make) = KINDS[at];
        let hostile = make(seed);
        let (run, wrong) = check(&service, &hostile);
        if !wrong.is_empty() {
            failures.push(format!(
                "HOSTILE_SEED={seed}, {kind}: {}",
                wrong.join("\n  ")
            ));
        }
        let sum = sums.entry(kind).or_default();
        sum.documents += 1;
        sum.answered += usize::from(run.codes.is_empty());
        sum.time += run.took;
        sum.slowest = sum.slowest.max(run.took);
        sum.greatest = sum.greatest.max(run.memory);
        for code in run.codes {
            *sum.codes.entry(code).or_default() += 1;
        }
    }
    for (kind, sum) in sums {
        println!(
            "{kind}: {} documents, {} answered, slowest {:?}, in all {:?}, most memory {} KiB, {:?}",
            sum.documents,
            sum.answered,
            sum.slowest,
            sum.time,
            sum.greatest >> 10,
            sum.codes
        );
    }
    let count = failures.len();
    failures.truncate(20);
    assert!(count == 0, "{count} documents\n{}", failures.join("\n"));
}

#[test]
fn the_greatest_documents_are_refused() {
    let service = service();
    for (name, hostile, code) in hostile_documents::greatest() {
        let (run, wrong) = check(&service, &hostile);
        assert_eq!(wrong, [""; 0], "{name}");
        // A busy machine may need longer than a document has.
        let is_late = run.codes == ["DEADLINE_EXCEEDED"] && run.took >= DEADLINE;
        assert!(is_late || run.codes == [code], "{name}: {:?}", run.codes);
    }
}
