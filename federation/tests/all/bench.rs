//! One case: an operation through the gateway and through the reference.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use std::task::Poll;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::introspection::partial_execute;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;
use bytes::Bytes;
use federation::plan::Plan;
use federation::supergraph::Subgraph;
use federation::{
    ActiveLabels, Gateway, GatewayLimits, GatewayOptions, SubgraphRequest, SubgraphTransport,
    Supergraph, TransportError,
};
use futures::future::join_all;
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
    /// Returns whether operations are sent several times at once, and share what is done for them.
    fn is_crowded(&self) -> bool {
        self.seed.is_multiple_of(2) && !self.operation.starts_with("mutation")
    }

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
        let is_crowded = self.is_crowded();
        options.sharing.subgraph_requests = is_crowded;
        options.sharing.client_requests = is_crowded && self.seed.is_multiple_of(4);
        let gateway = |options: &GatewayOptions| {
            let transport: Arc<dyn SubgraphTransport> = if is_crowded {
                Arc::new(Late(Arc::clone(&strict)))
            } else {
                Arc::clone(&strict) as _
            };
            Gateway::new(Arc::clone(&supergraph), transport, options.clone())
                .map_err(|error| error.to_string())
        };
        let with_memo = gateway(&options)?;
        options.entity_memo.is_enabled = false;
        let without_memo = gateway(&options)?;
        let given = Request::new(self.operation).with_variables(self.variables.clone());
        let given = given.variables.unwrap_or_default();
        let bench = Bench {
            case: self,
            supergraph: &supergraph,
            strict: &strict,
            gateway: &with_memo,
            without_memo: &without_memo,
        };
        let outcome = bench.outcome(&given)?;
        if !self.operation.starts_with("mutation") {
            // The same operation once more, as another client sends it, and while a subgraph is down.
            let mut other = given.clone();
            let conditions = other.iter_mut().filter(|(_, value)| value.is_boolean());
            let is_conditional = conditions
                .map(|(_, value)| *value = (value.as_bool() == Some(false)).into())
                .count();
            if is_conditional > 0 {
                bench.outcome(&other)?;
            }
            bench.with_a_subgraph_down(&given)?;
        }
        Ok(outcome)
    }
}

/// Subgraphs that answer late enough for others to join.
struct Late(Arc<Strict>);

#[async_trait]
impl SubgraphTransport for Late {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let mut is_late = false;
        let once = std::future::poll_fn(|cx| {
            if std::mem::replace(&mut is_late, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        once.await;
        self.0.send(subgraph, request, context).await
    }
}

/// A gateway over strict subgraphs.
struct Bench<'b> {
    case: &'b Case<'b>,
    supergraph: &'b Arc<Supergraph>,
    strict: &'b Strict,
    gateway: &'b Gateway,
    without_memo: &'b Gateway,
}

/// What the gateway and the reference say of an operation.
struct Answers {
    response: Json,
    expected: Json,
    /// The errors that an answer has to have, and those that it may have.
    errors: BTreeSet<(String, String)>,
    allowed: BTreeSet<(String, String)>,
    /// Messages of errors of what only the gateway reads, likewise.
    inputs: BTreeSet<String>,
    all_inputs: BTreeSet<String>,
    document: Valid<ExecutableDocument>,
}

impl Bench<'_> {
    fn request(&self, variables: &JsonMap) -> Request {
        let mut request = Request::new(self.case.operation);
        request.variables = Some(variables.clone());
        request
    }

    fn answers(&self, given: &JsonMap) -> Result<Answers, String> {
        let respond = |_| {
            self.gateway
                .respond(self.request(given), RequestContext::new())
        };
        let times = if self.case.is_crowded() { 3 } else { 1 };
        let replies = futures::executor::block_on(join_all((0..times).map(respond)));
        let body = replies[0].body.to_bytes();
        // What failed as a whole is told where it was asked for; which lists were asked for together depends on the order in
        // which answers come, and on the memo.
        let is_down = self.strict.down.lock().unwrap().is_some();
        let part = |body: &Bytes| {
            if is_down { data_of(body) } else { body.clone() }
        };
        let is_other = |it: &Bytes| part(it) != part(&body);
        if let Some(other) = replies.iter().find(|it| is_other(&it.body.to_bytes())) {
            return Err(format!(
                "shared answers differ: {body:?} and {:?}",
                other.body
            ));
        }
        // A mutation that is carried out twice answers another thing.
        let without_memo = if self.case.operation.starts_with("mutation") {
            body.clone()
        } else {
            let reply = self
                .without_memo
                .respond(self.request(given), RequestContext::new());
            futures::executor::block_on(reply).body.to_bytes()
        };
        if part(&body) != part(&without_memo) {
            let operation = self.case.operation;
            let plan_text = self.plan_text(given);
            return Err(format!(
                "with the memo: {body:?}\nwithout:       {without_memo:?}\n{operation}\n{plan_text}"
            ));
        }
        let response: Json = serde_json::from_slice(&body)
            .map_err(|e| format!("{e}: {}", String::from_utf8_lossy(&body)))?;
        let world = World::new(self.supergraph, self.case.seed, self.case.rates);
        let api = self.supergraph.api();
        let text = self.case.operation;
        let document = ExecutableDocument::parse_and_validate(api, text, "op").unwrap();
        let operation = document.operations.get(None).unwrap();
        let coerced = coerce_variable_values(api, operation, given).unwrap();
        let variables = serde_json::from_str(&serde_json::to_string(&*coerced).unwrap()).unwrap();
        let (mut expected, errors) = monolith::execute(&world, &document, &variables, false);
        let implementers = api.implementers_map();
        let of_schema =
            partial_execute(api, &implementers, &document, operation, &coerced).unwrap();
        for (key, value) in of_schema.data.iter().flatten() {
            if let Some(known) = expected.get_mut(key.as_str()) {
                *known = serde_json::to_value(value).unwrap();
            }
        }
        let whole = World::new(self.supergraph, self.case.seed, self.case.rates);
        let (_, allowed) = monolith::execute(&whole, &document, &variables, true);
        Ok(Answers {
            response,
            expected,
            errors: as_text(errors),
            allowed: as_text(allowed),
            inputs: world.input_errors.take(),
            all_inputs: whole.input_errors.take(),
            document,
        })
    }

    /// Returns the plan as text; an empty one if there is none.
    fn plan_text(&self, given: &JsonMap) -> String {
        let plan = self
            .gateway
            .plan(&self.request(given), &RequestContext::new());
        plan.map_or_else(|_| String::new(), |plan| plan.text(self.supergraph))
    }

    fn mistakes(&self, plan_text: &str) -> Result<(), String> {
        match self.strict.log.lock().unwrap().mistakes.join("\n") {
            none if none.is_empty() => Ok(()),
            mistakes => {
                let operation = self.case.operation;
                Err(format!("mistakes: {mistakes}\n{operation}\n{plan_text}"))
            }
        }
    }

    /// Demands that the gateway answers as the reference does.
    fn outcome(&self, given: &JsonMap) -> Result<Outcome, String> {
        let plan = self
            .gateway
            .plan(&self.request(given), &RequestContext::new());
        let plan =
            plan.map_err(|errors| format!("refused: {errors:?}\n{}", self.case.operation))?;
        let plan_text = plan.text(self.supergraph);
        let answers = self.answers(given)?;
        self.mistakes(&plan_text)?;
        let listed = listed(&answers.response);
        let errors: BTreeSet<(String, String)> = listed.iter().cloned().collect();
        // A field that only the gateway reads has no place of its own in the answer.
        let is_unexplained = |error: &&(String, String)| !answers.all_inputs.contains(&error.1);
        // Nor has a null one that such an error explains: it is at, above or below it.
        let of_inputs = errors.iter();
        let of_inputs = of_inputs.filter(|error| answers.all_inputs.contains(&error.1));
        let of_inputs: Vec<&str> = of_inputs.map(|(path, _)| path.as_str()).collect();
        let is_explained = |error: &&(String, String)| {
            error.1 == "null" && of_inputs.iter().any(|path| is_on_one_way(path, &error.0))
        };
        let missing = answers.errors.difference(&errors);
        let missing: Vec<_> = missing.filter(|error| !is_explained(error)).collect();
        let surplus = errors.difference(&answers.allowed).filter(is_unexplained);
        let surplus: Vec<_> = surplus.collect();
        let is_silent = |input: &&String| !errors.iter().any(|(_, message)| message == *input);
        let silent: Vec<&String> = answers.inputs.iter().filter(is_silent).collect();
        // Several fields that only the gateway reads can fail alike, and have the place of one object.
        let is_doubled = listed.iter().filter(is_unexplained).count()
            > errors.iter().filter(is_unexplained).count();
        let internal = internal(&answers.document, &answers.response);
        let errors_agree = missing.is_empty()
            && surplus.is_empty()
            && silent.is_empty()
            && internal.is_empty()
            && !is_doubled;
        let (data, expected) = (answers.response["data"].clone(), answers.expected);
        // Text is compared, since the order of members counts.
        let (actual, wanted) = (data.to_string(), expected.to_string());
        if actual != wanted || !errors_agree {
            let mut out = String::from("the answers differ\n");
            let _ = writeln!(out, "{}\n{plan_text}", self.case.operation);
            let _ = writeln!(out, "gateway   {data}\nreference {expected}");
            let _ = writeln!(
                out,
                "errors: missing {missing:?}, surplus {surplus:?}, silent {silent:?}, internal {internal:?}"
            );
            let _ = writeln!(out, "doubled {is_doubled}: {listed:?}");
            return Err(out);
        }
        let log = self.strict.log.lock().unwrap();
        Ok(Outcome {
            plan,
            plan_text,
            data,
            errors,
            null_entities: log.null_entities,
            failures: log.failures,
        })
    }

    /// Demands that a subgraph which gives no answer only takes away: nothing else changes, and no request is
    /// made of what is not known.
    fn with_a_subgraph_down(&self, given: &JsonMap) -> Result<(), String> {
        let subgraphs = self.supergraph.subgraphs();
        let chosen = usize::try_from(self.case.seed).unwrap() % subgraphs.len();
        let name = &subgraphs[chosen].name;
        *self.strict.down.lock().unwrap() = self.supergraph.subgraph_id(name);
        let answers = self.answers(given)?;
        *self.strict.down.lock().unwrap() = None;
        let plan_text = self.plan_text(given);
        self.mistakes(&plan_text)?;
        let (data, expected) = (&answers.response["data"], &answers.expected);
        let internal = internal(&answers.document, &answers.response);
        // Conditions on types that nobody tells do not match.
        let types = self.supergraph.type_ids().map(|id| self.supergraph.ty(id));
        let mut joins = types.flat_map(|ty| &ty.joins);
        let may_lack = joins.any(|join| join.is_interface_object);
        let is_explained = data == expected || !listed(&answers.response).is_empty();
        if is_part(data, expected, may_lack) && is_explained && internal.is_empty() {
            return Ok(());
        }
        let operation = self.case.operation;
        Err(format!(
            "without {name} the answer is not a part\n{operation}\n{plan_text}\ngateway   {}\nreference {expected}",
            answers.response
        ))
    }
}

/// Returns the data of an answer.
fn data_of(body: &Bytes) -> Bytes {
    let answer: Json = serde_json::from_slice(body).unwrap();
    answer["data"].to_string().into()
}

/// Returns whether a value is another one with nulls in some places. Where members may be lacking, so may be the
/// one that made the whole null.
fn is_part(part: &Json, whole: &Json, may_lack: bool) -> bool {
    match (part, whole) {
        (Json::Null, _) => true,
        (_, Json::Null) => may_lack,
        (Json::Array(part), Json::Array(whole)) => {
            let mut pairs = part.iter().zip(whole);
            part.len() == whole.len() && pairs.all(|(part, whole)| is_part(part, whole, may_lack))
        }
        (Json::Object(part), Json::Object(whole)) => {
            let mut members = part.iter();
            (may_lack || part.len() == whole.len())
                && members.all(|(key, part)| {
                    let whole = whole.get(key);
                    whole.is_some_and(|whole| is_part(part, whole, may_lack))
                })
        }
        _ => part == whole,
    }
}

/// Returns the paths of errors that lead to something that the client has not asked for.
fn internal(document: &Valid<ExecutableDocument>, response: &Json) -> Vec<String> {
    let operation = document.operations.get(None).unwrap();
    let errors = response.get("errors").and_then(Json::as_array);
    let paths = errors
        .into_iter()
        .flatten()
        .filter_map(|error| error["path"].as_array());
    let is_foreign = |path: &&Vec<Json>| {
        let mut sets = vec![&operation.selection_set];
        let mut keys = path.iter().filter_map(Json::as_str);
        !keys.all(|key| {
            let mut below = Vec::new();
            for set in &sets {
                selected(document, set, key, &mut below);
            }
            sets = below;
            !sets.is_empty()
        })
    };
    let paths = paths.filter(is_foreign);
    paths
        .map(|path| Json::Array(path.clone()).to_string())
        .collect()
}

/// Adds what is selected under a response key, of whatever type.
fn selected<'d>(
    document: &'d ExecutableDocument,
    set: &'d SelectionSet,
    key: &str,
    found: &mut Vec<&'d SelectionSet>,
) {
    for selection in &set.selections {
        match selection {
            Selection::Field(field) if field.response_key() == key => {
                found.push(&field.selection_set);
            }
            Selection::Field(_) => {}
            Selection::InlineFragment(inline) => {
                selected(document, &inline.selection_set, key, found);
            }
            Selection::FragmentSpread(spread) => {
                let fragment = &document.fragments[&spread.fragment_name];
                selected(document, &fragment.selection_set, key, found);
            }
        }
    }
}

/// Returns the errors of an answer.
fn listed(response: &Json) -> Vec<(String, String)> {
    let errors = response.get("errors").and_then(Json::as_array);
    errors.into_iter().flatten().map(path_and_message).collect()
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
