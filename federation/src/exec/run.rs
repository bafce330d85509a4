//! Runs the requests of a plan.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use apollo_compiler::response::JsonMap;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use graphql_service::writer::{AnswerWriter, WriteResult};
use graphql_service::{GraphqlError, OutOfMemory, Reply, RequestContext};

use super::errors::{Reported, in_order};
use super::fetch::{self, Failure, Received};
use super::found::MAX_ERRORS;
use super::project::{ErrorPaths, Introspect, Projection};
use super::representations::Representations;
use super::store::{ObjectId, Seg, Store};
use super::walk::Walk;
use crate::limits::GatewayLimits;
use crate::operation::Tree;
use crate::plan::{Entry, Plan, Step};
use crate::supergraph::Supergraph;
use crate::transport::{Allowance, SubgraphRequest, SubgraphTransport, Together};

/// What a plan is executed with.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Execution<'e> {
    /// The supergraph of the plan.
    pub supergraph: &'e Supergraph,
    /// The plan.
    pub plan: &'e Plan,
    /// The coerced variables of the client.
    pub variables: &'e JsonMap,
    /// How subgraphs are reached.
    pub transport: &'e dyn SubgraphTransport,
    /// Deadline, cancellation, memory, and what is passed on to subgraphs.
    pub context: &'e RequestContext,
    /// Limits on the answers of subgraphs.
    pub limits: &'e GatewayLimits,
    /// Maximum size of the answer, in bytes.
    pub response_bytes: usize,
}

/// Executes a plan. `introspect` writes what introspection answers under a response key of the root.
pub async fn execute<'e>(
    execution: Execution<'e>,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Sync,
) -> Reply {
    let plan = execution.plan;
    let memory = Arc::clone(&execution.context.memory);
    let mut run = Run {
        execution,
        together: Together::new(execution.limits.all_subgraph_bytes, memory),
        store: Store::new(plan.tree.class(Tree::ROOT).ty()),
        held: Vec::new(),
        errors: Vec::new(),
        omitted: 0,
    };
    run.requests().await;
    run.answer(&introspect)
}

/// A plan that is being carried out.
pub(super) struct Run<'e> {
    pub(super) execution: Execution<'e>,
    /// What all answers may hold.
    together: Arc<Together>,
    pub(super) store: Store,
    /// What the answers in the store hold.
    pub(super) held: Vec<Arc<Allowance>>,
    pub(super) errors: Vec<Reported>,
    /// Number of errors that are not kept.
    pub(super) omitted: usize,
}

/// A request that was sent: its objects, for each step.
pub(super) type Sent = Vec<Vec<Vec<ObjectId>>>;

type Answering<'e> =
    Pin<Box<dyn Future<Output = (usize, Sent, Result<Received, Failure>)> + Send + 'e>>;

impl<'e> Run<'e> {
    /// Sends each request as soon as those that it waits for are complete.
    async fn requests(&mut self) {
        let plan = self.execution.plan;
        let mut is_done = vec![false; plan.requests.len()];
        let mut is_begun = is_done.clone();
        let mut open: FuturesUnordered<Answering<'e>> = FuturesUnordered::new();
        loop {
            let ready = |begun: &[bool], done: &[bool]| {
                plan.requests
                    .iter()
                    .enumerate()
                    .position(|(position, request)| {
                        !begun[position] && request.after.iter().all(|before| done[*before])
                    })
            };
            while let Some(position) = ready(&is_begun, &is_done) {
                is_begun[position] = true;
                match self.begin(position) {
                    Some(answering) => open.push(answering),
                    None => is_done[position] = true,
                }
            }
            let Some((position, sent, outcome)) = open.next().await else {
                break;
            };
            let before = self.errors.len();
            self.complete(&plan.requests[position], &sent, outcome);
            for reported in &mut self.errors[before..] {
                reported.request = position;
            }
            is_done[position] = true;
        }
    }

    pub(super) fn walk(&self) -> Walk<'_> {
        Walk {
            supergraph: self.execution.supergraph,
            tree: &self.execution.plan.tree,
            store: &self.store,
        }
    }

    /// Sends a request; `None` where there is nothing to ask for.
    fn begin(&mut self, position: usize) -> Option<Answering<'e>> {
        let execution = self.execution;
        let request = &execution.plan.requests[position];
        let mut variables: Vec<(String, Vec<u8>)> = Vec::new();
        for name in &request.variables {
            if let Some(value) = execution.variables.get(name.as_str()) {
                let text = serde_json::to_vec(value).expect("a JSON value has names as keys");
                variables.push((name.to_string(), text));
            }
        }
        let mut sent = Sent::new();
        for step in &request.steps {
            sent.push(self.objects(step, &mut variables));
        }
        if sent.iter().all(Vec::is_empty) {
            return None;
        }
        let subgraph = execution.supergraph.subgraph(request.subgraph);
        let message = SubgraphRequest {
            body: fetch::text(&request.document, &variables).into(),
            is_mutation: request.document.starts_with("mutation"),
            allowance: Arc::new(self.together.answer(execution.limits.subgraph_bytes)),
        };
        Some(Box::pin(async move {
            let (transport, context) = (execution.transport, execution.context);
            let outcome = fetch::fetch(transport, subgraph, message, context).await;
            (position, sent, outcome)
        }))
    }

    /// Returns the objects that a step is about, each list for one part of the answer.
    fn objects(
        &mut self,
        step: &Step,
        variables: &mut Vec<(String, Vec<u8>)>,
    ) -> Vec<Vec<ObjectId>> {
        match &step.entry {
            Entry::Root => vec![vec![Store::ROOT]],
            Entry::Reentry(class) => {
                let objects: Vec<ObjectId> = self
                    .walk()
                    .objects(*class)
                    .into_iter()
                    .map(|(object, _)| object)
                    .collect();
                if objects.is_empty() {
                    Vec::new()
                } else {
                    vec![objects]
                }
            }
            Entry::Entities {
                class,
                interface,
                is_whole,
                variable,
                inputs,
                ..
            } => {
                let position = self.walk().tree.class(*class).position;
                let mut objects = match position.filter(|_| *is_whole) {
                    Some(position) => {
                        let values = self.walk().values(position).into_iter();
                        values.map(|object| (object, None)).collect()
                    }
                    None => self.walk().objects(*class),
                };
                if interface.is_some() {
                    objects.iter_mut().for_each(|(_, ty)| *ty = *interface);
                }
                let made = Representations::new(self.walk(), objects, inputs);
                for object in &made.skipped {
                    self.fail(step, *object);
                }
                variables.push((variable.clone(), made.text));
                made.objects
            }
        }
    }

    /// Adds an error about a value, or about the request as a whole; of too many, only their number is
    /// kept.
    pub(super) fn report(&mut self, error: GraphqlError, place: Option<Vec<Seg>>) {
        match self.errors.len() < MAX_ERRORS {
            true => self.errors.push(Reported {
                request: 0,
                place,
                error,
            }),
            false => self.omitted += 1,
        }
    }

    /// Writes the answer.
    fn answer(
        mut self,
        introspect: &(impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Sync),
    ) -> Reply {
        let memory = Arc::clone(&self.execution.context.memory);
        let mut writer = AnswerWriter::new()
            .with_limit(self.execution.response_bytes)
            .with_memory(memory, Duration::ZERO);
        writer.omit_errors(self.omitted);
        let mut paths = ErrorPaths::default();
        let mut errors = std::mem::take(&mut self.errors);
        errors.retain(|reported| {
            let place = reported.place.as_ref();
            place.is_none_or(|place| self.walk().is_path_to(&reported.error.path, place))
        });
        for error in in_order(errors) {
            paths.add(&error.path);
            writer.push_error(error);
        }
        let adapter = |key: &str, writer: &mut AnswerWriter<'_>| introspect(key, writer);
        let introspect: &Introspect<'_> = &adapter;
        let mut projection = Projection {
            walk: self.walk(),
            api: self.execution.supergraph.api(),
            introspect,
            errors: paths,
            writer,
        };
        let written = projection.root();
        match projection.writer.is_out_of_memory() {
            true => Reply::Overloaded(OutOfMemory.into()),
            false => Reply::Executed(projection.writer.finish(written)),
        }
    }
}
