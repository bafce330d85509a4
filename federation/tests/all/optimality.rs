//! Plans of small random operations against a planner that tries everything.
//!
//! The planner is not as good as that yet. Of 5,000 cases from seed 1 another plan was better in 30, though the
//! planner says that it has tried all of its candidates: fewer waves in 4, fewer requests in 25, fewer fields
//! in 1; 202 were left open. The test prints them, and fails when there are more than one in a hundred.
//!
//! A tenth of 5,000 cases, or all of them with `RANDOM_TESTS=full`; `OPTIMALITY_CASES` sets another number,
//! `OPTIMALITY_SEED` the first seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use federation::plan::Plan;
use federation::{ActiveLabels, Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext};

use crate::brute_force::{self, Verdict};
use crate::random::setting;
use crate::random_numbers::Random;
use crate::{generate, operations};

/// Fields of an operation that is small enough.
const FIELDS: usize = 12;

/// Subgraphs of a supergraph that is small enough.
const SUBGRAPHS: usize = 4;

/// Percentage of cases in which another plan may be better.
const BETTER: u64 = 1;

/// Returns the plan of a seed with its supergraph, where it is small enough and everything tried knows what
/// is in it.
fn planned(seed: u64) -> Option<(Arc<Supergraph>, Arc<Plan>, String)> {
    let mut random = Random::new(seed);
    let generated = generate::generate(&mut random);
    let left_out = [
        "interface objects",
        "requires over abstract types",
        "mutations",
        "contexts",
    ];
    if left_out
        .iter()
        .any(|feature| generated.features.contains(feature))
    {
        return None;
    }
    let supergraph = Supergraph::parse(&generated.sdl, "supergraph.graphql").unwrap();
    if supergraph.subgraphs().len() > SUBGRAPHS {
        return None;
    }
    let supergraph = Arc::new(supergraph);
    for _ in 0..8 {
        let operation = operations::generate(supergraph.api(), &mut random);
        let transport = Arc::new(InProcess::new());
        let gateway = Gateway::new(
            Arc::clone(&supergraph),
            transport,
            GatewayOptions::default(),
        )
        .unwrap();
        let request = Request::new(operation.text.clone()).with_variables(operation.variables);
        let plan = gateway.plan(&request, &RequestContext::new()).unwrap();
        if plan.tree.len() <= FIELDS {
            return Some((supergraph, plan, operation.text));
        }
    }
    None
}

#[test]
fn few_plans_can_be_bettered_and_all_are_found_by_trying_everything() {
    let is_full = std::env::var_os("RANDOM_TESTS").is_some_and(|value| value == "full");
    let cases = setting("OPTIMALITY_CASES", if is_full { 5_000 } else { 500 });
    let mut seed = setting("OPTIMALITY_SEED", 1);
    let labels = ActiveLabels::default();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut wrong, mut missed) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < cases {
        seed += 1;
        let Some((supergraph, plan, operation)) = planned(seed) else {
            continue;
        };
        done += 1;
        let verdict = brute_force::verdict(&supergraph, &labels, &plan);
        let name = match verdict {
            Verdict::Better((_, usize::MAX, _)) => "fewer waves are possible",
            Verdict::Better((_, _, usize::MAX)) => "fewer requests are possible",
            Verdict::Better(_) => "fewer fields are possible",
            Verdict::Best => "best",
            Verdict::Open => "open",
            Verdict::NotFound => "not found",
        };
        let tried = if plan.is_optimal {
            ""
        } else {
            ", not all tried"
        };
        *counts.entry(format!("{name}{tried}")).or_default() += 1;
        if plan.is_optimal && !matches!(verdict, Verdict::Best | Verdict::Open) {
            let text = plan.text(&supergraph);
            let better = format!("seed {seed}: {name}\n{operation}\n{text}");
            match verdict {
                Verdict::NotFound => missed.push(better),
                _ => wrong.push(better),
            }
        }
    }
    println!("{counts:?}\n{}", wrong.join("\n"));
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let count = wrong.len() as u64;
    assert!(
        count * 100 <= BETTER * cases,
        "{count} of {cases} are better"
    );
    // What stays open is not compared.
    let open = counts.get("open").copied().unwrap_or_default();
    assert!(open * 10 <= cases, "{open} of {cases}");
}
