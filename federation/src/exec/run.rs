//! Runs the requests of a plan.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;

use apollo_compiler::response::JsonMap;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use graphql_service::writer::{AnswerWriter, WriteResult, write_string};
use graphql_service::{
    Answer, ErrorCode, GraphqlError, PathSegment, RequestContext, code as shared,
};

use super::answer::{self, Envelope, Parsed, PathItem, SubgraphError};
use super::errors;
use super::project::{ErrorPaths, Introspect, Projection};
use super::representations::Representations;
use super::store::{ObjectId, Seg, Store, Value};
use super::walk::Walk;
use crate::code;
use crate::operation::Tree;
use crate::plan::{Entry, Plan, Request, Shape, Step};
use crate::supergraph::Supergraph;
use crate::transport::{SubgraphRequest, SubgraphTransport};

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
    /// Deadline and cancellation.
    pub context: &'e RequestContext,
    /// Maximum size of the answer of a subgraph, in bytes.
    pub subgraph_bytes: usize,
    /// Maximum size of the answer, in bytes.
    pub response_bytes: usize,
}

/// Executes a plan. `introspect` writes what introspection answers under a response key of the root.
pub async fn execute<'e>(
    execution: Execution<'e>,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Sync,
) -> Answer {
    let plan = execution.plan;
    let mut run = Run {
        execution,
        store: Store::new(plan.tree.class(Tree::ROOT).ty()),
        errors: Vec::new(),
    };
    run.requests().await;
    run.answer(&introspect)
}

/// A plan that is being carried out.
struct Run<'e> {
    execution: Execution<'e>,
    store: Store,
    errors: Vec<Reported>,
}

/// An error with where it comes from.
struct Reported {
    /// The position of the request in the plan.
    request: usize,
    /// The place of the value that failed; `None` where the request failed as a whole.
    place: Option<Vec<Seg>>,
    error: GraphqlError,
}

/// A request that was sent: its objects, for each step.
type Sent = Vec<Vec<Vec<ObjectId>>>;

/// Why a request has failed.
struct Failure {
    code: ErrorCode,
    reason: String,
}

type Answering<'e> =
    Pin<Box<dyn Future<Output = (usize, Sent, Result<Bytes, Failure>)> + Send + 'e>>;

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

    fn walk(&self) -> Walk<'_> {
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
            body: body(&request.document, &variables).into(),
            is_mutation: request.document.starts_with("mutation"),
            limit: execution.subgraph_bytes,
        };
        Some(Box::pin(async move {
            let context = execution.context;
            let answer = execution.transport.send(subgraph, message, context);
            let outcome = bounded(context, answer).await;
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

    /// Marks what a step would have fetched for an object.
    fn fail(&mut self, step: &Step, object: ObjectId) {
        if let Shape::Object(members) = &step.shape {
            for key in members.keys() {
                self.store.set_missing(object, key, Value::Failed);
            }
        }
    }

    fn complete(&mut self, request: &Request, sent: &Sent, outcome: Result<Bytes, Failure>) {
        let received = outcome.and_then(|body| {
            let parsed = read(request, &body)?;
            Ok(parsed)
        });
        match received {
            Ok((Some(data), found)) => {
                self.merge(request, sent, data, &found);
                // The types of objects tell under which names the client asked for what is in them.
                self.errors_of(request, sent, &found);
            }
            Ok((None, found)) if !found.is_empty() => {
                self.errors_of(request, sent, &found);
                self.fail_all(request, sent);
            }
            Ok((None, _)) => self.failed(request, sent, &Failure::new("there are no data")),
            Err(failure) => self.failed(request, sent, &failure),
        }
    }

    fn merge(&mut self, request: &Request, sent: &Sent, data: Parsed, found: &[SubgraphError]) {
        let supergraph = self.execution.supergraph;
        let Parsed::Object { mut members, .. } = data else {
            return self.failed(request, sent, &Failure::new("the data are not an object"));
        };
        for (step, objects) in request.steps.iter().zip(sent) {
            let Entry::Entities { key, .. } = &step.entry else {
                let root = Parsed::Object {
                    typename: None,
                    members: members.clone(),
                };
                for object in objects.iter().flatten() {
                    self.store.merge(supergraph, *object, root.clone());
                }
                continue;
            };
            let place = members.iter().position(|(known, _)| **known == **key);
            let list = place.map(|place| members.swap_remove(place).1);
            match list {
                Some(Parsed::List(entities)) if entities.len() == objects.len() => {
                    for (index, (entity, objects)) in entities.into_iter().zip(objects).enumerate()
                    {
                        let is_error = is_about(found, key, index);
                        self.entity(step, objects, &entity, is_error);
                    }
                }
                // Nobody is asked for no entities.
                _ if objects.is_empty() => {}
                _ => {
                    let only = vec![objects.clone()];
                    let reason = "the list of entities is missing, or has the wrong length";
                    if found.is_empty() {
                        self.error(request, &only, &Failure::new(reason));
                    }
                    for object in objects.iter().flatten() {
                        self.fail(step, *object);
                    }
                }
            }
        }
    }

    /// Adds what a subgraph knows of an entity; null where it does not know it.
    fn entity(&mut self, step: &Step, objects: &[ObjectId], entity: &Parsed, is_error: bool) {
        for object in objects {
            match (entity, &step.shape) {
                (Parsed::Object { .. }, _) => {
                    self.store
                        .merge(self.execution.supergraph, *object, entity.clone());
                }
                (_, Shape::Object(members)) if !is_error => {
                    for key in members.keys() {
                        self.store.set_missing(*object, key, Value::Null);
                    }
                }
                _ => self.fail(step, *object),
            }
        }
    }

    fn fail_all(&mut self, request: &Request, sent: &Sent) {
        for (step, objects) in request.steps.iter().zip(sent) {
            for object in objects.iter().flatten() {
                self.fail(step, *object);
            }
        }
    }

    fn failed(&mut self, request: &Request, sent: &Sent, failure: &Failure) {
        self.error(request, sent, failure);
        self.fail_all(request, sent);
    }

    /// Reports a failure at the longest path that its objects have in common.
    fn error(&mut self, request: &Request, sent: &Sent, failure: &Failure) {
        let path = self.common_path(sent);
        let name = &self.execution.supergraph.subgraph(request.subgraph).name;
        let error = errors::of_request(failure.code, &failure.reason, name, path);
        self.report(error, None);
    }

    fn report(&mut self, error: GraphqlError, place: Option<Vec<Seg>>) {
        self.errors.push(Reported {
            request: 0,
            place,
            error,
        });
    }

    fn common_path(&self, sent: &Sent) -> Vec<PathSegment> {
        let objects = sent.iter().flatten().flatten();
        let paths = objects.flat_map(|object| {
            let walk = self.walk();
            walk.client_paths(&self.store.path(*object))
        });
        errors::common(&paths.collect::<Vec<_>>())
    }

    /// Reports the errors of an answer at the client's places.
    fn errors_of(&mut self, request: &Request, sent: &Sent, found: &[SubgraphError]) {
        let name = &self.execution.supergraph.subgraph(request.subgraph).name;
        for error in found {
            let places = self.places(request, sent, error);
            if places.is_empty() {
                let made = errors::of_subgraph(error, name, self.common_path(sent));
                self.report(made, None);
            }
            for (place, path) in places {
                let made = errors::of_subgraph(error, name, path);
                self.report(made, Some(place));
            }
        }
    }

    /// Returns the places of an error of a subgraph with the client's paths to them: one for each object
    /// that its entity stands for.
    fn places(
        &self,
        request: &Request,
        sent: &Sent,
        error: &SubgraphError,
    ) -> Vec<(Vec<Seg>, Vec<PathSegment>)> {
        let path = error.path.as_deref().unwrap_or_default();
        let mut places = Vec::new();
        for (step, objects) in request.steps.iter().zip(sent) {
            let (objects, rest) = match (&step.entry, path) {
                (Entry::Root | Entry::Reentry(_), rest) if !rest.is_empty() => {
                    (objects.iter().flatten().collect::<Vec<_>>(), rest)
                }
                (
                    Entry::Entities { key, .. },
                    [PathItem::Key(first), PathItem::Index(index), rest @ ..],
                ) if first == key => (objects.get(*index).into_iter().flatten().collect(), rest),
                _ => continue,
            };
            for object in objects {
                let mut place = self.store.path(*object);
                place.extend(rest.iter().map(|item| match item {
                    PathItem::Index(index) => Seg::Index(*index),
                    PathItem::Key(key) => Seg::Key(key.as_str().into()),
                }));
                let paths = self.walk().client_paths(&place).into_iter();
                places.extend(paths.map(|path| (place.clone(), path)));
            }
        }
        places
    }

    /// Writes the answer.
    fn answer(
        mut self,
        introspect: &(impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Sync),
    ) -> Answer {
        let mut writer = AnswerWriter::new().with_limit(self.execution.response_bytes);
        let mut paths = ErrorPaths::default();
        for error in in_order(std::mem::take(&mut self.errors)) {
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
        projection.writer.finish(written)
    }
}

/// Puts errors in the order of the plan, whichever subgraph is faster. Of several subgraphs that say that
/// the same value failed, the first is believed.
fn in_order(mut reported: Vec<Reported>) -> Vec<GraphqlError> {
    reported.sort_by_key(|reported| reported.request);
    let mut first: HashMap<(Vec<Seg>, String), usize> = HashMap::new();
    let mut seen = HashSet::new();
    let mut errors = Vec::new();
    for Reported {
        request,
        place,
        error,
    } in reported
    {
        let by = place.map(|place| {
            let path = format!("{:?}", error.path);
            *first.entry((place, path)).or_insert(request)
        });
        if by.is_none_or(|by| by == request) && seen.insert(format!("{error:?}")) {
            errors.push(error);
        }
    }
    errors
}

impl Failure {
    fn new(reason: impl Into<String>) -> Self {
        Failure {
            code: code::DOWNSTREAM_SERVICE_ERROR,
            reason: reason.into(),
        }
    }
}

/// Reads an answer: its data, and its errors.
fn read(request: &Request, body: &Bytes) -> Result<(Option<Parsed>, Vec<SubgraphError>), Failure> {
    let wrong = |_| Failure::new("it is not a GraphQL response");
    let Envelope { data, errors } = answer::envelope(body).map_err(wrong)?;
    let found = errors.unwrap_or_default();
    let Some(data) = data else {
        return Ok((None, found));
    };
    let mut members = std::collections::HashMap::new();
    for step in &request.steps {
        match (&step.entry, &step.shape) {
            (Entry::Entities { key, .. }, shape) => {
                members.insert(key.as_str().into(), shape.clone());
            }
            (_, Shape::Object(root)) => members.extend(root.clone()),
            (_, Shape::Leaf) => {}
        }
    }
    let data = answer::data(body, data, &Shape::Object(members)).map_err(wrong)?;
    Ok((Some(data), found))
}

/// Returns whether an error is about the entity at an index as a whole.
fn is_about(found: &[SubgraphError], key: &str, index: usize) -> bool {
    found.iter().any(|error| match error.path.as_deref() {
        Some([PathItem::Key(first), PathItem::Index(place), ..]) => first == key && *place == index,
        Some([PathItem::Key(first)]) => first == key,
        Some(_) => false,
        None => true,
    })
}

/// Returns the JSON text of a request.
fn body(document: &str, variables: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::with_capacity(document.len() + 64);
    body.extend_from_slice(b"{\"query\":");
    write_string(&mut body, document);
    for (position, (name, value)) in variables.iter().enumerate() {
        body.extend_from_slice(if position == 0 {
            b",\"variables\":{"
        } else {
            b","
        });
        write_string(&mut body, name);
        body.push(b':');
        body.extend_from_slice(value);
    }
    body.extend_from_slice(if variables.is_empty() { b"}" } else { b"}}" });
    body
}

/// Waits for an answer until the deadline of the request, or until it is cancelled.
async fn bounded<E: std::error::Error>(
    context: &RequestContext,
    answer: impl Future<Output = Result<Bytes, E>> + Send,
) -> Result<Bytes, Failure> {
    let late = async {
        match context.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = context.cancellation.cancelled() => Err(Failure {
            code: shared::CANCELLED,
            reason: "the request was cancelled".to_owned(),
        }),
        answer = answer => answer.map_err(|error| Failure::new(error.to_string())),
        () = late => Err(Failure {
            code: shared::DEADLINE_EXCEEDED,
            reason: "the deadline passed".to_owned(),
        }),
    }
}
