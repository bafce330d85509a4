//! One case: an operation through the gateway and through the reference.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::request::coerce_variable_values;
use federation::plan::Plan;
use federation::{ActiveLabels, Gateway, GatewayLimits, GatewayOptions, Supergraph};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Map, Value as Json};

use crate::monolith;
use crate::strict::Strict;
use crate::world::{Rates, World};

/// What is compared.
pub(crate) struct Case<'c> {
    pub(crate) supergraph: &'c str,
    pub(crate) operation: &'c str,
    pub(crate) variables: Map<String, Json>,
    /// The labels that are active.
    pub(crate) labels: Vec<String>,
    pub(crate) seed: u64,
    pub(crate) rates: Rates,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) plan: Arc<Plan>,
    pub(crate) plan_text: String,
    pub(crate) data: Json,
    /// Paths and messages of the errors, sorted.
    pub(crate) errors: BTreeSet<(String, String)>,
    pub(crate) null_entities: usize,
    /// Answers of subgraphs with errors.
    pub(crate) failures: usize,
}

impl Case<'_> {
    /// Runs the case; the error tells what differs.
    pub(crate) fn run(&self) -> Result<Outcome, String> {
        let supergraph = Supergraph::parse(self.supergraph, "supergraph.graphql");
        let supergraph = Arc::new(supergraph.map_err(|errors| format!("{errors:#?}"))?);
        let labels = supergraph.labels().iter().enumerate();
        let active = labels.filter(|(_, label)| self.labels.contains(label));
        let active = ActiveLabels::new(active.map(|(position, _)| supergraph.label_id(position)));
        let strict = Strict::new(
            Arc::clone(&supergraph),
            active.clone(),
            self.seed,
            self.rates,
        )?;
        let strict = Arc::new(strict);
        let mut options = GatewayOptions::default();
        options.labels = active;
        // Few enough that a build without optimization is quick.
        options.gateway_limits = GatewayLimits::default().candidates(200);
        let transport: Arc<Strict> = Arc::clone(&strict);
        let gateway = Gateway::new(Arc::clone(&supergraph), transport, options)
            .map_err(|error| error.to_string())?;
        let request = || Request::new(self.operation).with_variables(self.variables.clone());
        let context = RequestContext::new();
        let plan = gateway.plan(&request(), &context);
        let plan = plan.map_err(|errors| format!("refused: {errors:?}\n{}", self.operation))?;
        let plan_text = plan.text(&supergraph);
        let reply = futures::executor::block_on(gateway.respond(request(), context));
        let body = reply.body.to_bytes();
        let response: Json = serde_json::from_slice(&body)
            .map_err(|e| format!("{e}: {}", String::from_utf8_lossy(&body)))?;
        let world = World::new(&supergraph, self.seed, self.rates);
        let api = supergraph.api();
        let document = ExecutableDocument::parse_and_validate(api, self.operation, "op").unwrap();
        let given = request().variables.unwrap_or_default();
        let operation = document.operations.get(None).unwrap();
        let coerced = coerce_variable_values(api, operation, &given).unwrap();
        let variables = serde_json::from_str(&serde_json::to_string(&*coerced).unwrap()).unwrap();
        let (expected, errors) = monolith::execute(&world, &document, &variables, false);
        let whole = World::new(&supergraph, self.seed, self.rates);
        let (_, allowed) = monolith::execute(&whole, &document, &variables, true);
        let mistakes = strict.log.lock().unwrap().mistakes.join("\n");
        if !mistakes.is_empty() {
            return Err(format!(
                "mistakes: {mistakes}\n{}\n{plan_text}",
                self.operation
            ));
        }
        let expected_errors = as_text(errors);
        let allowed = as_text(allowed);
        let listed = response
            .get("errors")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        let listed: Vec<(String, String)> = listed.map(path_and_message).collect();
        let errors: BTreeSet<(String, String)> = listed.iter().cloned().collect();
        let inputs = world.input_errors.take();
        // A field that only the gateway reads has no place of its own in the answer.
        let all_inputs = whole.input_errors.take();
        let is_unexplained = |error: &&(String, String)| !all_inputs.contains(&error.1);
        // Nor has a null one that such an error explains: it is at, above or below it.
        let of_inputs = errors.iter().filter(|error| all_inputs.contains(&error.1));
        let of_inputs: Vec<&str> = of_inputs.map(|(path, _)| path.as_str()).collect();
        let is_explained = |error: &&(String, String)| {
            error.1 == "null" && of_inputs.iter().any(|path| is_on_one_way(path, &error.0))
        };
        let missing = expected_errors.difference(&errors);
        let missing: Vec<_> = missing.filter(|error| !is_explained(error)).collect();
        let surplus = errors.difference(&allowed).filter(is_unexplained);
        let surplus: Vec<_> = surplus.collect();
        let is_silent = |input: &&String| !errors.iter().any(|(_, message)| message == *input);
        let silent: Vec<&String> = inputs.iter().filter(is_silent).collect();
        let is_doubled = listed.len() > errors.len();
        let errors_agree =
            missing.is_empty() && surplus.is_empty() && silent.is_empty() && !is_doubled;
        let data = response["data"].clone();
        // Text is compared, since the order of members counts.
        let (actual, wanted) = (data.to_string(), expected.to_string());
        if actual != wanted || !errors_agree {
            let mut out = String::from("the answers differ\n");
            let _ = writeln!(out, "{}\n{plan_text}", self.operation);
            let _ = writeln!(out, "gateway   {data}\nreference {expected}");
            let _ = writeln!(
                out,
                "errors: missing {missing:?}, surplus {surplus:?}, silent {silent:?}"
            );
            let _ = writeln!(out, "doubled {is_doubled}: {listed:?}");
            return Err(out);
        }
        let log = strict.log.lock().unwrap();
        Ok(Outcome {
            plan,
            plan_text,
            data,
            errors,
            null_entities: log.null_entities,
            failures: log.failures,
        })
    }
}

/// Returns whether one of two paths begins with the other.
fn is_on_one_way(one: &str, other: &str) -> bool {
    let segments = |path: &str| -> Vec<Json> { serde_json::from_str(path).unwrap() };
    let (one, other) = (segments(one), segments(other));
    one.iter().zip(&other).all(|(one, other)| one == other)
}

fn as_text(errors: Vec<(Vec<Json>, String)>) -> BTreeSet<(String, String)> {
    let errors = errors.into_iter();
    errors
        .map(|(path, message)| (Json::Array(path).to_string(), message))
        .collect()
}

fn path_and_message(error: &Json) -> (String, String) {
    let path = error
        .get("path")
        .cloned()
        .unwrap_or_else(|| Json::Array(Vec::new()));
    let message = match error["extensions"]["code"].as_str() {
        // The reference says no more of it.
        Some("NON_NULL_VIOLATED") => "null".to_owned(),
        _ => error["message"].as_str().unwrap_or_default().to_owned(),
    };
    (path.to_string(), message)
}
