//! Random supergraphs, data and operations: 2,000 cases, or the part that `RANDOM_TESTS` says.
//! `FEDERATION_CASES` sets another number, `FEDERATION_SEED` the first seed; a failure
//! prints the seed of its case.

use std::collections::BTreeMap;

use federation::Supergraph;
use federation::compose::{self, ComposeOptions, SubgraphSource};

use crate::bench::Case;
use crate::generate::Generated;
use crate::random_numbers::Random;
use crate::random_tests::{count, setting};
use crate::subgraph_sdl::source;
use crate::world::Rates;
use crate::{generate, operations, resolvers};

/// What the cases must have at least, in percent: a generator that no longer makes something finds no faults
/// in it.
const MINIMA: [(&str, u32); 33] = [
    ("3 requests or more", 40),
    ("3 waves or more", 30),
    ("aliases", 50),
    ("chained requires", 20),
    ("circular requires", 10),
    ("compound keys", 30),
    ("contexts", 20),
    ("contexts beside requires", 5),
    ("contexts of interfaces", 2),
    ("errors of subgraphs", 5),
    ("fields that are external in some subgraphs", 25),
    ("inaccessible", 30),
    ("interface objects", 20),
    ("interface objects that require", 8),
    ("interfaces", 20),
    ("mutations", 5),
    ("nested keys", 30),
    ("nested requires", 40),
    ("null entities", 3),
    ("nulls in the answer", 25),
    ("override with label", 30),
    ("provides", 25),
    ("provides on abstract types", 2),
    ("requires", 60),
    ("requires over abstract types", 10),
    ("requires with arguments", 20),
    ("several keys", 20),
    ("shareable", 60),
    ("skip and include", 35),
    ("unions", 20),
    ("value types", 40),
    ("values from contexts", 5),
    ("variables", 30),
];

#[test]
fn the_gateway_answers_as_one_executor_over_all_data_would() {
    compare(&case_as_generated);
}

#[test]
fn it_does_so_over_supergraphs_that_are_composed_of_their_subgraphs() {
    compare(&case_composed);
}

#[expect(clippy::print_stdout, reason = "the table of features is for people")]
fn compare(case: &(dyn Fn(u64) -> Result<Vec<&'static str>, String> + std::panic::RefUnwindSafe)) {
    let cases = count("FEDERATION_CASES", 2_000);
    let first = setting("FEDERATION_SEED", 1);
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in first..first + cases {
        match std::panic::catch_unwind(|| case(seed)) {
            Ok(Ok(features)) => {
                for feature in features {
                    *counts.entry(feature).or_default() += 1;
                }
            }
            Ok(Err(difference)) => failures.push((seed, difference)),
            Err(_) => failures.push((seed, "it panicked".to_owned())),
        }
        if failures.len() >= 3 {
            break;
        }
    }
    println!("| feature | % of {cases} cases |\n|---|---|");
    for (feature, count) in &counts {
        #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
        let percent = *count as f64 * 100.0 / cases as f64;
        println!("| {feature} | {percent:.1} |");
    }
    for (seed, difference) in &failures {
        println!("\nFEDERATION_SEED={seed} FEDERATION_CASES=1\n{difference}");
    }
    assert!(failures.is_empty(), "there are differences");
    if cases >= 200 {
        let share = |feature| counts.get(feature).copied().unwrap_or_default() * 100;
        let rare = MINIMA
            .iter()
            .filter(|(feature, minimum)| share(*feature) < u64::from(*minimum) * cases);
        assert_eq!(rare.collect::<Vec<_>>(), Vec::<&(&str, u32)>::new());
    }
}

/// Runs the case of a seed; returns its features.
fn case_as_generated(seed: u64) -> Result<Vec<&'static str>, String> {
    let mut random = Random::new(seed);
    let generated = generate::generate(&mut random);
    case(seed, &mut random, generated)
}

/// Runs the case of a seed over the supergraph that its subgraphs are composed to.
fn case_composed(seed: u64) -> Result<Vec<&'static str>, String> {
    let mut random = Random::new(seed);
    let mut generated = generate::generate(&mut random);
    let sources = sources(&generated.sdl);
    let composed = compose::compose(&sources, &ComposeOptions::default());
    let composed = composed.map_err(|errors| {
        let errors = errors
            .iter()
            .map(|error| format!("{}: {error}\n", error.code));
        let texts = sources
            .iter()
            .map(|source| format!("# {}\n{}", source.name, source.sdl));
        errors.chain(texts).collect::<String>()
    })?;
    generated.sdl = composed.supergraph_sdl;
    case(seed, &mut random, generated)
}

/// Returns the subgraphs of a supergraph.
pub(crate) fn sources(sdl: &str) -> Vec<SubgraphSource> {
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let subgraphs = supergraph.subgraphs().iter();
    let sources = subgraphs.map(|subgraph| SubgraphSource {
        name: subgraph.name.clone(),
        url: String::new(),
        sdl: source(&supergraph, supergraph.subgraph_id(&subgraph.name).unwrap()),
    });
    sources.collect()
}

fn case(seed: u64, random: &mut Random, generated: Generated) -> Result<Vec<&'static str>, String> {
    let supergraph = Supergraph::parse(&generated.sdl, "supergraph.graphql");
    let supergraph = supergraph.map_err(|errors| format!("{errors:#?}\n{}", generated.sdl))?;
    let hidden = resolvers::let_through(&supergraph);
    if !hidden.is_empty() {
        return Err(format!(
            "{hidden:?} are inaccessible and shown\n{}",
            generated.sdl
        ));
    }
    let operation = operations::generate(supergraph.api(), random);
    let rates = Rates {
        nulls: if random.chance(50) { 15 } else { 0 },
        errors: if random.chance(40) { 10 } else { 0 },
        unknown: if random.chance(70) { 50 } else { 0 },
    };
    let labels = generated
        .labels
        .iter()
        .filter(|_| random.chance(50))
        .cloned()
        .collect();
    let case = Case {
        supergraph: &generated.sdl,
        operation: &operation.text,
        variables: operation.variables.clone(),
        labels,
        seed,
        rates,
    };
    let outcome = case
        .run()
        .map_err(|e| format!("{e}\n{}\n{}", generated.sdl, operation.text))?;
    let mut features: Vec<&'static str> = generated.features.into_iter().collect();
    features.retain(|feature| *feature != "mutations");
    features.extend(operation.features);
    if outcome.plan.cost.fetches >= 3 {
        features.push("3 requests or more");
    }
    if outcome.plan.cost.waves >= 3 {
        features.push("3 waves or more");
    }
    if outcome.plan.is_optimal {
        features.push("all plans tried");
    }
    if outcome.plan_text.contains("$context") {
        features.push("values from contexts");
    }
    if outcome.null_entities > 0 {
        features.push("null entities");
    }
    if outcome.failures > 0 {
        features.push("errors of subgraphs");
    }
    if !outcome.errors.is_empty() {
        features.push("errors in the answer");
    }
    if outcome.data.to_string().contains("null") {
        features.push("nulls in the answer");
    }
    Ok(features)
}
