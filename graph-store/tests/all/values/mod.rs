//! Random selections with conditions on awkward values find what a slow, obvious interpreter finds.
//!
//! `VALUE_CASES` sets the number of selections in place of `RANDOM_TESTS`, `VALUE_SEED` the first of the
//! seeds from which data and selections follow: a seed means the same data and selections whatever
//! ran before. A failure prints the smallest case found, and how to run it again.

mod compare;
mod coverage;
mod data;
mod expressions;
mod extent;
mod generate;
mod moment;
mod orders;
mod reference;
mod shrink;
mod stores;
mod terms;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::OnceLock;

use compare::difference;
use coverage::Coverage;
use data::{World, world};
use extent::Extent;
use generate::{Case, case};
use oxrdf::{NamedNode, Quad};
use random::Random;
use reference::Reference;
use stores::{Kind, Subject};
use test_support::{number, random};
use tokio::runtime::Runtime;

use crate::back_end;
use crate::random_tests::{count, setting};

/// Selections over one set of data.
const SELECTIONS: u64 = 50;

/// Cases of a full run over stores in this process.
const CASES: u64 = 10_000;
/// Cases of a full run over stores that are asked in SPARQL.
const REMOTE_CASES: u64 = 2_000;

#[test]
fn stores_in_this_process_select_by_value() {
    let kinds = [
        Kind::Image,
        Kind::Changed,
        Kind::Merged,
        Kind::Reopened,
        Kind::Pattern,
    ];
    check(&kinds, Extent::Embedded, CASES);
}

#[test]
fn endpoints_select_by_value() {
    let kinds = [back_end::Kind::Remote, back_end::Kind::RemoteApart].map(Kind::BackEnd);
    check(&kinds, Extent::Oxigraph, REMOTE_CASES);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn rdf4j_selects_by_value() {
    let kind = back_end::Kind::Rdf4j { infers: false };
    check(&[Kind::BackEnd(kind)], Extent::Rdf4j, REMOTE_CASES);
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn fuseki_selects_by_value() {
    let kind = Kind::BackEnd(back_end::Kind::Fuseki);
    check(&[kind], Extent::Fuseki, REMOTE_CASES);
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime starts"))
}

/// Runs cases over stores of some kinds, each over all of them.
#[expect(clippy::print_stdout, reason = "the counts are for people to read")]
fn check(kinds: &[Kind], extent: Extent, full: u64) {
    let _entered = runtime().enter();
    let subjects: Vec<Subject> = kinds.iter().copied().map(Subject::new).collect();
    let mut left = count("VALUE_CASES", full);
    let mut coverage = Coverage::default();
    let mut failures = Vec::new();
    for seed in setting("VALUE_SEED", 1).. {
        if left == 0 {
            break;
        }
        let selections = left.min(SELECTIONS);
        left -= selections;
        let mut random = Random::new(seed);
        let world = world(&mut random, extent);
        let cases: Vec<Case> = (0..selections)
            .map(|_| case(&mut random, &world, extent))
            .collect();
        for subject in &subjects {
            let counted = (subject.kind == kinds[0]).then_some(&mut coverage);
            if let Some(report) = run(subject, &world, &cases, seed, counted) {
                failures.push(report);
            }
        }
        if failures.len() as u64 >= setting("VALUE_FAILURES", 1) {
            break;
        }
    }
    println!("{coverage}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    coverage.check();
}

/// Runs cases over one set of data; returns a report of the first that differs.
fn run(
    subject: &Subject,
    world: &World,
    cases: &[Case],
    seed: u64,
    mut coverage: Option<&mut Coverage>,
) -> Option<String> {
    let (store, held) = subject.load(&world.quads);
    let mut references: HashMap<Option<Vec<NamedNode>>, Reference> = HashMap::new();
    for (at, case) in cases.iter().enumerate() {
        let dataset = &case.selection.dataset;
        let reference = references
            .entry(dataset.graphs.clone())
            .or_insert_with(|| Reference::new(&held, dataset));
        if difference(store.as_ref(), reference, case, at).is_some() {
            drop(store);
            return Some(report(subject, world, case, at, seed));
        }
        if let Some(coverage) = coverage.as_deref_mut() {
            let objects = |condition| reference.objects(condition, &case.patterns).len();
            let found = objects(&case.selection.condition);
            coverage.add(&case.selection, found, objects(&case.types));
        }
    }
    None
}

/// Shows the smallest case like one that differs.
fn report(subject: &Subject, world: &World, case: &Case, at: usize, seed: u64) -> String {
    let differing = |quads: &[Quad], case: &Case| {
        let (store, held) = subject.load(quads);
        let reference = Reference::new(&held, &case.selection.dataset);
        difference(store.as_ref(), &reference, case, at)
    };
    let differs = |quads: &[Quad], case: &Case| differing(quads, case).is_some();
    let (quads, case) = shrink::smallest(world.quads.clone(), case.clone(), differs);
    let difference = differing(&quads, &case);
    format!(
        "{:?}: VALUE_SEED={seed} VALUE_CASES={SELECTIONS}, selection {at}\n--- data\n{}--- {:#?}\n--- {:?}\n--- {}\n",
        subject.kind,
        trig(&quads),
        case.selection,
        case.slot,
        difference.unwrap_or_default(),
    )
}

fn trig(quads: &[Quad]) -> String {
    let mut graphs: BTreeMap<String, String> = BTreeMap::new();
    for quad in quads {
        let graph = if quad.graph_name.is_default_graph() {
            String::new()
        } else {
            format!("GRAPH {} ", quad.graph_name)
        };
        let triples = graphs.entry(graph).or_default();
        let (subject, predicate) = (&quad.subject, &quad.predicate);
        let _ = writeln!(triples, "  {subject} {predicate} {} .", quad.object);
    }
    let shown = graphs
        .iter()
        .map(|(graph, triples)| format!("{graph}{{\n{triples}}}\n"));
    shown.collect()
}
