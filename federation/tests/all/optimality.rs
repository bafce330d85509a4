//! Plans of small random operations against a planner that tries everything: no plan may be better.
//!
//! 5,000 cases, or the part that `RANDOM_TESTS` says; `OPTIMALITY_CASES` sets another number,
//! `OPTIMALITY_SEED` the first seed, `OPTIMALITY_CANDIDATES` how much is tried of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use federation::plan::Plan;
use federation::{ActiveLabels, Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext};

use crate::brute_force::{self, Verdict};
use crate::random_numbers::Random;
use crate::random_tests::{count, setting};
use crate::{generate, operations};

/// Fields of an operation that is small enough.
const FIELDS: usize = 12;

/// Subgraphs of a supergraph that is small enough.
const SUBGRAPHS: usize = 4;

/// Cases in a thousand that may have too many candidates.
const OPEN: u64 = 10;

/// Cases in a thousand in which the planner may not have tried everything: some mutations of several fields.
const NOT_TRIED: u64 = 2;

/// What the cases must have at least, in a thousand: what is left out of them is not compared.
const MINIMA: [(&str, u64); 5] = [
    ("interface objects", 200),
    ("labels", 100),
    ("mutations", 50),
    ("requires over abstract types", 50),
    ("values from contexts", 10),
];

/// A small operation with its plan.
struct Small {
    supergraph: Arc<Supergraph>,
    labels: ActiveLabels,
    plan: Arc<Plan>,
    text: String,
    features: Vec<&'static str>,
}

/// Returns the plan of a seed, where its supergraph is small enough.
fn planned(seed: u64) -> Option<Small> {
    let mut random = Random::new(seed);
    let generated = generate::generate(&mut random);
    let supergraph = Supergraph::parse(&generated.sdl, "supergraph.graphql").unwrap();
    if supergraph.subgraphs().len() > SUBGRAPHS {
        return None;
    }
    let supergraph = Arc::new(supergraph);
    let labels = (0..supergraph.labels().len()).filter(|_| random.chance(50));
    let labels = ActiveLabels::new(labels.map(|position| supergraph.label_id(position)));
    let mut options = GatewayOptions::default();
    options.labels = labels.clone();
    let transport = Arc::new(InProcess::new());
    let gateway = Gateway::new(Arc::clone(&supergraph), transport, options).unwrap();
    for _ in 0..8 {
        let operation = operations::generate(supergraph.api(), &mut random);
        let request = Request::new(operation.text.clone()).with_variables(operation.variables);
        let plan = gateway.plan(&request, &RequestContext::new()).unwrap();
        if plan.tree.len() <= FIELDS {
            let has_contexts = plan.requests.iter().any(|it| it.template.is_some());
            let mut features: Vec<&'static str> = generated.features.into_iter().collect();
            features.retain(|feature| *feature != "mutations");
            features.extend(operation.features);
            if labels.iter().next().is_some() {
                features.push("labels");
            }
            if has_contexts {
                features.push("values from contexts");
            }
            return Some(Small {
                supergraph,
                labels,
                plan,
                text: operation.text,
                features,
            });
        }
    }
    None
}

#[test]
fn no_small_plan_can_be_bettered() {
    let cases = count("OPTIMALITY_CASES", 5_000);
    let candidates = count("OPTIMALITY_CANDIDATES", 300_000);
    let candidates = usize::try_from(candidates).unwrap();
    let mut seed = setting("OPTIMALITY_SEED", 1);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut features: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut done = 0;
    while done < cases {
        seed += 1;
        let Some(small) = planned(seed) else {
            continue;
        };
        done += 1;
        for feature in &small.features {
            *features.entry(feature).or_default() += 1;
        }
        let (supergraph, plan) = (&small.supergraph, &small.plan);
        let verdict = brute_force::verdict(supergraph, &small.labels, plan, candidates);
        let name = match verdict {
            Verdict::Better((_, usize::MAX, _)) => "fewer waves are possible",
            Verdict::Better((_, _, usize::MAX)) => "fewer requests are possible",
            Verdict::Better(_) => "fewer fields are possible",
            Verdict::NotFound => "not found",
            _ if !plan.is_optimal => "not all tried",
            Verdict::Best => "best",
            Verdict::Open => "open",
        };
        *counts.entry(name).or_default() += 1;
        if name == "open" {
            println!("seed {seed} stays open");
        }
        if !["best", "open", "not all tried"].contains(&name) {
            let text = plan.text(supergraph);
            let schema = supergraph.schema();
            wrong.push(format!(
                "seed {seed}: {name}\n{}\n{text}\n{schema}",
                small.text
            ));
        }
    }
    println!("{counts:?}\n{features:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What stays open is not compared.
    for (name, most) in [("open", OPEN), ("not all tried", NOT_TRIED)] {
        let count = counts.get(name).copied().unwrap_or_default();
        assert!(count * 1000 <= most * cases, "{count} of {cases} {name}");
    }
    if cases >= 500 {
        let share = |feature| features.get(feature).copied().unwrap_or_default() * 1000;
        let mut minima = MINIMA.iter();
        let rare = minima.find(|(feature, minimum)| share(*feature) < minimum * cases);
        assert_eq!(rare, None);
    }
}
