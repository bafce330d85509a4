//! What is composed can be planned, and what is not satisfiable cannot: random subgraphs, most of which lack
//! something.
//!
//! 10,000 operations, or the part that `RANDOM_TESTS` says; `SATISFIABILITY_CASES` sets another number,
//! `SATISFIABILITY_SEED` the first seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use apollo_compiler::ast::{self, Definition, Value};
use apollo_compiler::{ExecutableDocument, Node};
use federation::compose::{
    ComposeOptions, CompositionCode, CompositionError, Satisfiability, SubgraphSource, compose,
};
use federation::{ActiveLabels, Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{Request, RequestContext};

use crate::random::sources;
use crate::random_numbers::Random;
use crate::random_tests::{count, setting};
use crate::{generate, operations};

#[test]
fn what_is_composed_can_be_planned_and_what_is_not_satisfiable_cannot() {
    let wanted = count("SATISFIABILITY_CASES", 10_000);
    let mut seed = setting("SATISFIABILITY_SEED", 1);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    while counts.get("planned").copied().unwrap_or_default() < wanted && wrong.len() < 3 {
        seed += 1;
        match case(seed) {
            Ok(found) => {
                for (name, count) in found {
                    *counts.entry(name).or_default() += count;
                }
            }
            Err(difference) => wrong.push(format!("seed {seed}: {difference}")),
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let count = |name| counts.get(name).copied().unwrap_or_default();
    assert!(count("composed, something taken away") * 50 >= wanted);
    assert!(
        count("witnesses that cannot be planned") * 20 >= wanted,
        "{counts:?}"
    );
}

/// Composes subgraphs of which something was taken away; returns what was seen how often.
fn case(seed: u64) -> Result<Vec<(&'static str, u64)>, String> {
    let mut random = Random::new(seed);
    let generated = generate::generate(&mut random);
    let mut sources = sources(&generated.sdl);
    let taken = random.below(4);
    for _ in 0..taken {
        take_away(&mut sources, &mut random);
    }
    let texts = || {
        let texts = sources.iter();
        let texts = texts.map(|source| format!("# {}\n{}", source.name, source.sdl));
        texts.collect::<String>()
    };
    let is_code = |error: &CompositionError| error.code == CompositionCode::SATISFIABILITY_ERROR;
    match compose(&sources, &ComposeOptions::default()) {
        Ok(composed) => {
            let planned = plans(&composed.supergraph_sdl, &mut random);
            let planned = planned.map_err(|why| format!("{why}\n{}", texts()))?;
            let name = match taken {
                0 => "composed",
                _ => "composed, something taken away",
            };
            Ok(vec![(name, 1), ("planned", planned)])
        }
        Err(errors) if errors.iter().all(is_code) => {
            let mut options = ComposeOptions::default();
            options.satisfiability = Satisfiability::Skip;
            let composed = compose(&sources, &options).map_err(|errors| format!("{errors:?}"))?;
            for error in &errors {
                let refused = is_refused(&composed.supergraph_sdl, error);
                refused.map_err(|why| format!("{why}\n{}", texts()))?;
            }
            let witnesses = errors.len() as u64;
            Ok(vec![
                ("not satisfiable", 1),
                ("witnesses that cannot be planned", witnesses),
            ])
        }
        Err(_) => Ok(vec![("broken otherwise", 1)]),
    }
}

fn gateway(sdl: &str, labels: impl Fn(usize) -> bool) -> Gateway {
    let supergraph = Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap());
    let active = (0..supergraph.labels().len()).filter(|position| labels(*position));
    let mut options = GatewayOptions::default();
    options.labels = ActiveLabels::new(active.map(|position| supergraph.label_id(position)));
    Gateway::new(supergraph, Arc::new(InProcess::new()), options).unwrap()
}

/// Plans random operations over a supergraph.
fn plans(sdl: &str, random: &mut Random) -> Result<u64, String> {
    let bits = random.below(1 << 6);
    let gateway = gateway(sdl, |position| bits >> position & 1 == 1);
    let operations = 4;
    for _ in 0..operations {
        let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
        let operation = operations::generate(supergraph.api(), random);
        let request = Request::new(operation.text.clone()).with_variables(operation.variables);
        let plan = gateway.plan(&request, &RequestContext::new());
        plan.map_err(|errors| format!("accepted, and {errors:?}\n{}\n{sdl}", operation.text))?;
    }
    Ok(operations)
}

/// Demands that the query of an error cannot be planned while some labels are active.
fn is_refused(sdl: &str, error: &CompositionError) -> Result<(), String> {
    let (_, query) = error.message.split_once('\n').ok_or("there is no query")?;
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let valid = ExecutableDocument::parse_and_validate(supergraph.api(), query, "query.graphql");
    valid.map_err(|invalid| format!("{query}\n{}", invalid.errors))?;
    for bits in 0_usize..1 << supergraph.labels().len() {
        let gateway = gateway(sdl, |position| bits >> position & 1 == 1);
        let plan = gateway.plan(&Request::new(query), &RequestContext::new());
        match plan {
            Ok(_) => {}
            Err(errors)
                if errors
                    .iter()
                    .all(|it| it.code.as_str() == "PLAN_IMPOSSIBLE") =>
            {
                return Ok(());
            }
            Err(errors) => return Err(format!("{errors:?}\n{query}")),
        }
    }
    Err(format!("refused, and can be planned: {error}"))
}

/// Takes something away from a subgraph: a key, that it is resolvable, a directive of a field or a field.
fn take_away(sources: &mut [SubgraphSource], random: &mut Random) {
    let at = random.below(sources.len());
    let source = &mut sources[at];
    let mut document = ast::Document::parse(source.sdl.clone(), "subgraph.graphql").unwrap();
    let types = document.definitions.iter_mut().filter_map(|it| match it {
        Definition::ObjectTypeDefinition(ty) => Some(ty.make_mut()),
        _ => None,
    });
    let mut types: Vec<&mut ast::ObjectTypeDefinition> = types.collect();
    if types.is_empty() {
        return;
    }
    let chosen = random.below(types.len());
    let ty = &mut types[chosen];
    match random.below(4) {
        0 if !ty.directives.is_empty() => {
            let directive = random.below(ty.directives.len());
            ty.directives.remove(directive);
        }
        1 => {
            for key in ty.directives.iter_mut().filter(|it| it.name == "key") {
                let name = apollo_compiler::name!("resolvable");
                let value = Node::new(Value::Boolean(false));
                let argument = Node::new(ast::Argument { name, value });
                key.make_mut().arguments.push(argument);
            }
        }
        2 => {
            let field = random.below(ty.fields.len());
            let directives = &mut ty.fields[field].make_mut().directives;
            if !directives.is_empty() {
                let directive = random.below(directives.len());
                directives.remove(directive);
            }
        }
        _ if ty.fields.len() > 1 => {
            ty.fields.remove(random.below(ty.fields.len()));
        }
        _ => {}
    }
    source.sdl = document.to_string();
}
